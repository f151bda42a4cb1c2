// What one clock shows against another: a straight line through comparisons, and how far it can be
// wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fabriscope {

// One comparison.
struct ClockPoint {
  std::int64_t ticks = 0;      // of this clock
  std::int64_t common_ns = 0;  // of the other one, at that moment
  std::int64_t error_ns = 0;   // by how much that can be wrong at most
};

// Offset and drift by least squares, each point weighted by its error, with the clock's own idea of
// its rate as one more observation. The bound of the error is no estimate: it follows from the
// points' errors alone as long as both clocks keep a steady rate between the points, and that rate
// is within `rate_error` of the clock's own idea of it.
class ClockModel {
 public:
  ClockModel(double ns_per_tick, double rate_error)
      : nominal_(ns_per_tick), rate_error_(rate_error), slope_(ns_per_tick) {}

  // Points come in the order of time. One that contradicts the earlier ones (a clock has jumped or
  // changed its rate) makes the model forget those.
  void add(const ClockPoint& point);

  std::int64_t common_ns(std::int64_t ticks) const;
  std::int64_t ticks_at(std::int64_t common_ns) const;
  // Of common_ns(), at most.
  std::int64_t error_ns(std::int64_t ticks) const;

  double ns_per_tick() const { return slope_; }
  std::size_t point_count() const { return points_.size(); }

  // To another rank that reads the same clock.
  std::string packed() const;
  static ClockModel unpacked(const std::string& text);

 private:
  struct Interval {
    double low;
    double high;
  };

  void fit();
  void thin_out();
  double value(std::int64_t ticks) const;  // since origin_ns_
  double residual(const ClockPoint& point) const;
  Interval error_interval(std::int64_t ticks) const;

  double nominal_;
  double rate_error_;
  std::vector<ClockPoint> points_;
  // common_ns = origin_ns_ + offset_ + slope_ * (ticks - origin_ticks_)
  std::int64_t origin_ticks_ = 0;
  std::int64_t origin_ns_ = 0;
  double offset_ = 0.0;
  double slope_;
};

}  // namespace fabriscope

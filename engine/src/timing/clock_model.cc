#include "clock_model.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

#include "fabriscope/error.h"

namespace fabriscope {
namespace {

constexpr std::size_t kMostPoints = 32;
// Ticks and nanoseconds are whole numbers.
constexpr double kRoundingNs = 1.0;

double elapsed(std::int64_t later, std::int64_t earlier) {
  return static_cast<double>(later - earlier);
}

}  // namespace

void ClockModel::add(const ClockPoint& point) {
  points_.push_back(point);
  fit();
  for (Interval error = error_interval(point.ticks); error.low > error.high && points_.size() > 1;
       error = error_interval(point.ticks)) {
    points_.erase(points_.begin());
    fit();
  }
  if (points_.size() > kMostPoints) thin_out();
}

// Of the two inner points that are nearest to each other the worse one goes: so the oldest stays,
// which tells the drift best, and so does the newest.
void ClockModel::thin_out() {
  std::size_t nearest = 1;
  for (std::size_t i = 1; i + 2 < points_.size(); ++i) {
    const std::int64_t gap = points_[i + 1].ticks - points_[i].ticks;
    if (gap < points_[nearest + 1].ticks - points_[nearest].ticks) nearest = i;
  }
  if (points_[nearest + 1].error_ns > points_[nearest].error_ns) ++nearest;
  points_.erase(points_.begin() + static_cast<std::ptrdiff_t>(nearest));
  fit();
}

void ClockModel::fit() {
  origin_ticks_ = points_.back().ticks;
  origin_ns_ = points_.back().common_ns;
  double weights = 0.0, mean_x = 0.0, mean_y = 0.0;
  const auto weight_of = [](const ClockPoint& point) {
    const double error = static_cast<double>(point.error_ns) + kRoundingNs;
    return 1.0 / (error * error);
  };
  for (const ClockPoint& point : points_) {
    weights += weight_of(point);
    mean_x += weight_of(point) * elapsed(point.ticks, origin_ticks_);
    mean_y += weight_of(point) * elapsed(point.common_ns, origin_ns_);
  }
  mean_x /= weights;
  mean_y /= weights;
  slope_ = nominal_;
  if (rate_error_ > 0.0) {
    const double rate_ns = rate_error_ * nominal_;
    double over = nominal_ / (rate_ns * rate_ns), under = 1.0 / (rate_ns * rate_ns);
    for (const ClockPoint& point : points_) {
      const double x = elapsed(point.ticks, origin_ticks_) - mean_x;
      over += weight_of(point) * x * (elapsed(point.common_ns, origin_ns_) - mean_y);
      under += weight_of(point) * x * x;
    }
    slope_ = over / under;
  }
  offset_ = mean_y - slope_ * mean_x;
}

double ClockModel::value(std::int64_t ticks) const {
  return offset_ + slope_ * elapsed(ticks, origin_ticks_);
}

double ClockModel::residual(const ClockPoint& point) const {
  return value(point.ticks) - elapsed(point.common_ns, origin_ns_);
}

std::int64_t ClockModel::common_ns(std::int64_t ticks) const {
  return origin_ns_ + std::llround(value(ticks));
}

std::int64_t ClockModel::ticks_at(std::int64_t common_ns) const {
  return origin_ticks_ + std::llround((elapsed(common_ns, origin_ns_) - offset_) / slope_);
}

// Where the model can be, less where the truth is: at each point that is known to within the
// point's error. Away from it the difference grows by what the rate can be wrong, and along the
// line through two points by what both of them can be wrong. The truth is in all of these intervals
// at once.
ClockModel::Interval ClockModel::error_interval(std::int64_t ticks) const {
  const double infinity = std::numeric_limits<double>::infinity();
  Interval all{-infinity, infinity};
  const auto narrow = [&all](double center, double radius) {
    all.low = std::max(all.low, center - radius);
    all.high = std::min(all.high, center + radius);
  };
  for (std::size_t b = 0; b < points_.size(); ++b) {
    const double error_b = static_cast<double>(points_[b].error_ns) + kRoundingNs;
    const double residual_b = residual(points_[b]);
    const double since_b = elapsed(ticks, points_[b].ticks);
    narrow(residual_b + (slope_ - nominal_) * since_b,
           error_b + rate_error_ * nominal_ * std::abs(since_b));
    for (std::size_t a = 0; a < b; ++a) {
      if (points_[a].ticks == points_[b].ticks) continue;
      const double error_a = static_cast<double>(points_[a].error_ns) + kRoundingNs;
      const double share =
          elapsed(ticks, points_[a].ticks) / elapsed(points_[b].ticks, points_[a].ticks);
      narrow(residual(points_[a]) * (1 - share) + residual_b * share,
             error_a * std::abs(1 - share) + error_b * std::abs(share));
    }
  }
  return all;
}

std::int64_t ClockModel::error_ns(std::int64_t ticks) const {
  const Interval error = error_interval(ticks);
  const double most = std::max(std::abs(error.low), std::abs(error.high));
  return static_cast<std::int64_t>(std::ceil(most + kRoundingNs));
}

std::string ClockModel::packed() const {
  std::ostringstream text;
  text << std::setprecision(17) << nominal_ << ' ' << rate_error_;
  for (const ClockPoint& point : points_) {
    text << ' ' << point.ticks << ' ' << point.common_ns << ' ' << point.error_ns;
  }
  return text.str();
}

ClockModel ClockModel::unpacked(const std::string& text) {
  std::istringstream stream(text);
  double nominal = 0.0, rate_error = 0.0;
  stream >> nominal >> rate_error;
  ClockModel model(nominal, rate_error);
  ClockPoint point;
  while (stream >> point.ticks >> point.common_ns >> point.error_ns) {
    model.points_.push_back(point);
  }
  if (model.points_.empty()) throw RunError("a rank sent a clock that is none");
  model.fit();
  return model;
}

}  // namespace fabriscope

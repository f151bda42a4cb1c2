// What the ports count over time, on a made-up clock.
#include "series.h"

#include <sstream>
#include <string>

#include "check.h"

namespace fabriscope::lab {
namespace {

std::string written(const Series& series, std::size_t port, std::int64_t since_ns = 0,
                    std::int64_t offset_ns = 0) {
  std::ostringstream json;
  series.write(json, port, since_ns, offset_ns);
  return json.str();
}

TEST(a_sample_has_what_was_counted_since_the_one_before_and_the_fullest_queue) {
  Series series(2, 5);
  CHECK_EQUAL(series.add(5, 10, 1, {700, 1000, 2, 3, 0, 1, 40}), true);
  CHECK_EQUAL(series.add(10, 20, 1, {200, 2500, 5, 3, 2, 1, 90}), true);
  CHECK_EQUAL(
      written(series, 1),
      R"("at_unix_ns":[10,20],"length_ns":[5,10],"queue_bytes":[700,200],"wire_bytes":[1000,1500],"frames":[2,3],)"
      R"("dropped_frames":[3,0],"marked_frames":[0,2],"pauses":[1,0],"paused_ns":[40,50])");
  CHECK_EQUAL(series.since_ns(), 5);
}

TEST(where_nothing_happened_there_is_no_sample) {
  Series series(2, 0);
  CHECK_EQUAL(series.add(0, 10, 0, {0, 1000, 1, 0, 0, 0, 0}), true);
  CHECK_EQUAL(series.add(10, 20, 0, {0, 1000, 1, 0, 0, 0, 0}), false);
  CHECK_EQUAL(series.add(10, 20, 1, {}), false);
  CHECK_EQUAL(written(series, 0).substr(0, 34), R"("at_unix_ns":[10],"length_ns":[10])");
  CHECK_EQUAL(written(series, 1).substr(0, 15), R"("at_unix_ns":[])");
}

TEST(samples_are_given_from_a_moment_on_and_at_the_time_of_another_clock) {
  Series series(1, 0);
  for (std::int64_t at = 10; at <= 30; at += 10) series.add(at - 10, at, 0, {at, 0, 0, 0, 0, 0, 0});
  CHECK_EQUAL(written(series, 0, 10, 500).substr(0, 65),
              R"("at_unix_ns":[520,530],"length_ns":[10,10],"queue_bytes":[20,30],)");
}

TEST(of_more_than_is_kept_the_latest_stay_and_it_is_said_since_when) {
  Series series(1, 0);
  for (std::int64_t at = 1; at <= (1 << 16) + 2; ++at)
    series.add(at - 1, at, 0, {1, 0, 0, 0, 0, 0, 0});
  CHECK_EQUAL(series.since_ns(), 2);
  CHECK_EQUAL(written(series, 0, (1 << 16) + 1).substr(0, 21), R"("at_unix_ns":[65538],)");
}

TEST(after_a_reset_ports_count_from_nothing) {
  Series series(1, 0);
  series.add(0, 10, 0, {9, 1000, 1, 4, 0, 2, 70});
  series.reset(15);
  CHECK_EQUAL(series.add(15, 20, 0, {0, 300, 1, 1, 0, 0, 0}), true);
  CHECK_EQUAL(
      written(series, 0),
      R"("at_unix_ns":[20],"length_ns":[5],"queue_bytes":[0],"wire_bytes":[300],"frames":[1],"dropped_frames":[1],)"
      R"("marked_frames":[0],"pauses":[0],"paused_ns":[0])");
  CHECK_EQUAL(series.since_ns(), 15);
}

}  // namespace
}  // namespace fabriscope::lab

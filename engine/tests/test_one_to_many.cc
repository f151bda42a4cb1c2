// One to many: rank 0 to every other rank at once.
#include <string>

#include "check.h"
#include "fabriscope/error.h"
#include "helpers.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

constexpr char kOneToManyCases[] =
    "case id=s benchmark=one_to_many message_size_bytes=64\n"
    "case id=w benchmark=one_to_many message_size_bytes=70001 window_size=5\n"
    "case id=p benchmark=ping_pong message_size_bytes=8\n";

}  // namespace

TEST(all_others_receive_over_every_transport) {
  for (const char* transport : {"null", "shm", "tcp"}) {
    for (const int rank_count : {2, 3, 5}) {
      const Ran ran = run_in_threads(transport, spec_with(kOneToManyCases), rank_count);
      CHECK_EQUAL(ran.exit_code, kExitOk);
      CHECK_CONTAINS(last_line(ran.output), R"("status":"ok")");
      CHECK_EQUAL(count_of(ran.output, R"("type":"failure")"), 0U);
      for (const char* id : {"s", "w"}) {
        CHECK(count_of(ran.output, std::string(R"({"type":"block","case":")") + id + '"') > 0);
      }
    }
  }
}

TEST(each_of_them_gets_as_much_as_the_others) {
  const Ran ran = run_in_threads(
      "tcp", spec_with("case id=w benchmark=one_to_many message_size_bytes=70001 window_size=5\n"),
      4);
  const std::int64_t bytes = sent_bytes(ran.output, "0>1");
  CHECK(bytes > 0);
  CHECK_EQUAL(bytes % 70001, 0);
  CHECK_EQUAL(sent_bytes(ran.output, "0>2"), bytes);
  CHECK_EQUAL(sent_bytes(ran.output, "0>3"), bytes);
}

TEST(what_arrives_changed_is_told) {
  const Ran bad = run_in_threads("corrupting", spec_with(kOneToManyCases), 3);
  CHECK_CONTAINS(bad.output, R"("verification","case":"w","ok":false)");
}

// Many to one: rank 0 and every other rank.
#include <memory>
#include <vector>

#include "check.h"
#include "fabriscope/benchmark.h"
#include "fabriscope/error.h"
#include "helpers.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

constexpr char kIncastCases[] =
    "case id=s benchmark=incast message_size_bytes=64\n"
    "case id=l benchmark=incast message_size_bytes=300001\n"
    "case id=w benchmark=incast message_size_bytes=70000 window_size=5\n"
    "case id=p benchmark=ping_pong message_size_bytes=8\n";

void check_incast(const Ran& ran) {
  CHECK_EQUAL(ran.exit_code, kExitOk);
  CHECK_CONTAINS(last_line(ran.output), R"("status":"ok")");
  CHECK_EQUAL(count_of(ran.output, R"("type":"failure")"), 0U);
  for (const char* id : {"s", "l", "w"}) {
    const std::string head = std::string(R"({"type":"block","case":")") + id + '"';
    CHECK(count_of(ran.output, head) > 0);
  }
  // Rank 0's own part is timed, as in a benchmark of two ranks.
  CHECK_EQUAL(count_of(ran.output, "rank_block"), 0U);
  CHECK_EQUAL(count_of(ran.output, R"("timing":)"), 0U);
}

}  // namespace

TEST(all_others_answer_rank_0_over_every_transport) {
  for (const char* transport : {"null", "shm", "tcp"}) {
    for (const int rank_count : {2, 3, 5}) {
      check_incast(run_in_threads(transport, spec_with(kIncastCases), rank_count));
    }
  }
}

TEST(every_answer_is_checked) {
  const Ran ran = run_in_threads("shm", spec_with(kIncastCases), 4);
  CHECK_EQUAL(count_of(ran.output, R"("ok":true)"), 4U);
  const Ran bad = run_in_threads("corrupting", spec_with(kIncastCases), 3);
  CHECK_CONTAINS(bad.output, R"("verification","case":"l","ok":false)");
}

TEST(only_rank_0_has_a_place_for_every_sender) {
  const auto incast = benchmark_registry().create("incast");
  CHECK_EQUAL(incast->receive_buffer_bytes(1000, 5, 4), 4000U);
  CHECK_EQUAL(incast->receive_buffer_bytes(1000, 2, 1), 1000U);
  CHECK_EQUAL(incast->receive_buffer_bytes(1000, 5, 1), 1000U);
  CHECK_EQUAL(incast->buffer_bytes(1000, 5), 1000U);
}

TEST(a_pair_and_a_star_share_the_connections_that_are_alike) {
  const Ran ran = run_in_threads("tcp", spec_with(kIncastCases), 4);
  CHECK_EQUAL(count_of(ran.output, R"("type":"endpoint")"), 3U);
  CHECK_EQUAL(count_of(ran.output, R"("cases":["s","l","w","p"])"), 1U);
  CHECK_EQUAL(count_of(ran.output, R"("cases":["s","l","w"])"), 2U);
}

TEST(what_one_of_the_connections_cannot_have_fails_its_case_alone) {
  const Ran ran = run_in_threads(
      "tcp",
      spec_with(std::string(kIncastCases) +
                "case id=o benchmark=incast message_size_bytes=8 congestion_control=none\n"),
      4);
  CHECK_EQUAL(ran.exit_code, kExitOk);
  CHECK_EQUAL(count_of(ran.output, R"("type":"failure")"), 1U);
  CHECK_CONTAINS(ran.output, R"("failure","case":"o")");
  CHECK_CONTAINS(run_in_threads("tcp", spec_with(kIncastCases), 1).output,
                 "it takes 2 ranks or more, and this run has 1");
}

TEST(processes_of_their_own_answer_over_tcp) {
  const TemporaryFolder folder;
  std::vector<std::string> first =
      listening_rank("tcp", folder.write("spec", spec_with(kIncastCases)));
  first.insert(first.end(), {"--rank-count", "4"});
  Process rank0(folder, "rank0", first);
  std::vector<std::unique_ptr<Process>> others;
  for (const char* rank : {"1", "2", "3"}) {
    std::vector<std::string> arguments = connecting_rank("tcp", rank0.tcp_port(), rank);
    arguments.insert(arguments.end(), {"--rank-count", "4"});
    others.push_back(std::make_unique<Process>(folder, rank, arguments));
  }
  const int exit_code = rank0.wait(60);
  for (const auto& other : others) CHECK_EQUAL(other->wait(), kExitOk);
  check_incast({exit_code, rank0.output()});
}

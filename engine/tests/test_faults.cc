// What goes wrong, in processes of their own: every end has its status, its line and its footer.
#include <signal.h>

#include "check.h"
#include "fabriscope/error.h"
#include "helpers.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

constexpr char kPingPong[] = "case id=a benchmark=ping_pong message_size_bytes=8\n";
constexpr char kEndless[] = "budget_ns 60000000000\n";

std::vector<std::string> threads(const std::string& transport, const std::string& spec_path) {
  return {"--transport", transport, "--rendezvous", "threads", "--spec", spec_path};
}

// Starts both ranks of an endless run and returns once it measures.
struct EndlessPair {
  EndlessPair(const TemporaryFolder& folder, const std::string& transport)
      : rank0(folder, "rank0",
              listening_rank(transport, folder.write("spec", spec_with(kPingPong, kEndless)))),
        rank1(folder, "rank1", connecting_rank(transport, rank0.tcp_port())) {
    CHECK(rank0.wrote("\"measured\""));
  }
  Process rank0;
  Process rank1;
};

}  // namespace

TEST(changed_payload_is_found) {
  const TemporaryFolder folder;
  const std::string spec = folder.write(
      "spec", spec_with("case id=good benchmark=ping_pong message_size_bytes=100\n"
                        "case id=bad1 benchmark=ping_pong message_size_bytes=101\n"
                        "case id=bad2 benchmark=bandwidth message_size_bytes=8 window_size=5\n"
                        "case id=bad3 benchmark=bidirectional_bandwidth message_size_bytes=8\n"));
  Process process(folder, "run", threads("corrupting", spec));
  CHECK_EQUAL(process.wait(), kExitOk);
  const std::string output = process.output();
  CHECK_CONTAINS(output, R"("verification","case":"good","ok":true)");
  for (const char* id : {"bad1", "bad2", "bad3"}) {
    CHECK_CONTAINS(output, std::string(R"("verification","case":")") + id + R"(","ok":false)");
    CHECK_CONTAINS(output, std::string(R"("failure","case":")") + id + '"');
    CHECK_EQUAL(count_of(output, std::string(R"("block","case":")") + id + '"'), 0U);
  }
  CHECK_CONTAINS(output, "byte 100 of 101 in message 0 from rank 0");
  CHECK_CONTAINS(output, "byte 7 of 8 in message 4 from rank 0");
  CHECK_CONTAINS(output, R"("block","case":"good")");
}

TEST(the_watchdog_ends_a_run_that_hangs) {
  const TemporaryFolder folder;
  const std::string spec =
      folder.write("spec", spec_with(kPingPong, "case_timeout_ns 500000000\n"));
  Process process(folder, "run", threads("hanging", spec));
  CHECK_EQUAL(process.wait(), kExitWatchdog);
  const std::string output = process.output();
  CHECK_CONTAINS(output, R"("block","case":"a","round":0,"burst":0,"phase":"warmup")");
  CHECK_CONTAINS(output, R"("failure","case":"a","reason":"no progress for)");
  CHECK_CONTAINS(last_line(output), R"("type":"footer","status":"failed")");
}

TEST(a_signal_ends_the_run_in_order) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const TemporaryFolder folder;
    const std::string spec = folder.write("spec", spec_with(kPingPong, kEndless));
    Process process(folder, "run", threads("shm", spec));
    CHECK(process.wrote("\"measured\""));
    process.signal(number);
    CHECK_EQUAL(process.wait(), 128 + number);
    CHECK_CONTAINS(last_line(process.output()), R"("status":"interrupted")");
  }
}

TEST(a_signal_at_either_rank_ends_both) {
  for (const bool at_rank_0 : {true, false}) {
    const TemporaryFolder folder;
    EndlessPair pair(folder, "tcp");
    (at_rank_0 ? pair.rank0 : pair.rank1).signal(SIGTERM);
    CHECK_EQUAL(pair.rank0.wait(), 128 + SIGTERM);
    CHECK_EQUAL(pair.rank1.wait(), 128 + SIGTERM);
    CHECK_CONTAINS(last_line(pair.rank0.output()), R"("status":"interrupted")");
  }
}

TEST(a_rank_ends_when_its_peer_dies) {
  for (const char* transport : {"tcp", "shm"}) {
    for (const bool rank_0_dies : {true, false}) {
      const TemporaryFolder folder;
      EndlessPair pair(folder, transport);
      (rank_0_dies ? pair.rank0 : pair.rank1).signal(SIGKILL);
      CHECK_EQUAL((rank_0_dies ? pair.rank1 : pair.rank0).wait(), kExitFailure);
      if (rank_0_dies) continue;
      CHECK_CONTAINS(pair.rank0.output(), R"("type":"failure")");
      CHECK_CONTAINS(last_line(pair.rank0.output()), R"("status":"failed")");
    }
  }
}

TEST(shared_memory_has_no_name_that_could_stay) {
  const TemporaryFolder folder;
  EndlessPair pair(folder, "shm");
  for (const Process* rank : {&pair.rank0, &pair.rank1}) {
    CHECK_CONTAINS(rank->mappings(), "/memfd:fabriscope");
    CHECK_EQUAL(count_of(rank->mappings(), "/dev/shm/"), 0U);
  }
}

TEST(a_missing_peer_is_not_waited_for_for_ever) {
  const TemporaryFolder folder;
  const std::string spec = folder.write("spec", spec_with(kPingPong));
  std::vector<std::string> listening = listening_rank("tcp", spec);
  listening.insert(listening.end(), {"--connect-timeout-s", "1"});
  Process rank0(folder, "rank0", listening);
  CHECK_EQUAL(rank0.wait(), kExitFailure);
  CHECK_CONTAINS(rank0.output(), R"("failure","case":null)");
  CHECK_CONTAINS(last_line(rank0.output()), R"("status":"failed")");
  std::vector<std::string> connecting = connecting_rank("tcp", 1);
  connecting.insert(connecting.end(), {"--connect-timeout-s", "1"});
  Process rank1(folder, "rank1", connecting);
  CHECK_EQUAL(rank1.wait(), kExitFailure);
  CHECK_CONTAINS(rank1.errors(), "connect to 127.0.0.1:1");
}

TEST(a_signal_ends_the_wait_for_a_peer) {
  const TemporaryFolder folder;
  const std::string spec = folder.write("spec", spec_with(kPingPong));
  Process rank0(folder, "rank0", listening_rank("tcp", spec));
  rank0.tcp_port();
  rank0.signal(SIGTERM);
  CHECK_EQUAL(rank0.wait(), 128 + SIGTERM);
  CHECK_CONTAINS(last_line(rank0.output()), R"("status":"interrupted")");
}

TEST(wrong_usage_is_one_sentence_and_status_2) {
  const TemporaryFolder folder;
  const std::string good = folder.write("good", spec_with(kPingPong));
  const std::string bad = folder.write("bad", "fabriscope-spec 1\nbudget_ns soon\n");
  const std::vector<std::vector<std::string>> wrong{
      {},
      {"--nonsense"},
      {"--transport"},
      {"--transport", "carrier_pigeon", "--rendezvous", "threads", "--spec", good},
      {"--transport", "null", "--rendezvous", "seance", "--spec", good},
      {"--transport", "null", "--rendezvous", "threads"},
      {"--transport", "null", "--rendezvous", "threads", "--spec", folder.path("missing")},
      {"--transport", "null", "--rendezvous", "threads", "--spec", bad},
      {"--transport", "null", "--rendezvous", "threads", "--spec", good, "--rank-count", "0"},
      {"--transport", "null", "--rendezvous", "tcp", "--rank", "0", "--spec", good},
      {"--transport", "null", "--rendezvous", "tcp", "--rank", "0", "--listen", "my.host", "--spec",
       good},
      {"--transport", "null", "--rendezvous", "tcp", "--rank", "0", "--listen", "127.0.0.1",
       "--spec", bad},
  };
  for (const std::vector<std::string>& arguments : wrong) {
    Process process(folder, "wrong", arguments);
    CHECK_EQUAL(process.wait(), kExitUsage);
    CHECK_EQUAL(count_of(process.errors(), "\n"), 1U);
    CHECK_CONTAINS(process.errors(), "fabriscope-engine: ");
  }
}

TEST(the_list_tells_what_there_is) {
  const TemporaryFolder folder;
  Process process(folder, "list", {"--list"});
  CHECK_EQUAL(process.wait(), kExitOk);
  for (const char* name : {"tcp", "shm", "null", "mpi", "hanging", "ping_pong", "threads"}) {
    CHECK_CONTAINS(process.output(), std::string(R"({"name":")") + name + R"(","available":)");
  }
}

// Runs of other numbers of ranks than two.
#include <algorithm>
#include <memory>
#include <sstream>
#include <vector>

#include "check.h"
#include "fabriscope/error.h"
#include "helpers.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

constexpr char kPairs[] =
    "case id=l benchmark=multi_pair_latency message_size_bytes=64\n"
    "case id=n benchmark=multi_pair_latency message_size_bytes=300001 pairing=neighbour\n"
    "case id=r benchmark=message_rate message_size_bytes=8 window_size=16\n"
    "case id=s benchmark=message_rate message_size_bytes=100000 window_size=3 pairing=neighbour\n"
    "case id=p benchmark=ping_pong message_size_bytes=8\n";

// The lines that begin as `head` says and hold `part`.
std::vector<std::string> lines_with(const std::string& text, const std::string& head,
                                    const std::string& part) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind(head, 0) == 0 && line.find(part) != std::string::npos) lines.push_back(line);
  }
  return lines;
}

std::vector<std::int64_t> numbers_in(const std::string& line, const std::string& key) {
  const std::string begin = "\"" + key + "\":[";
  const std::size_t at = line.find(begin);
  if (at == std::string::npos) return {};
  std::istringstream stream(line.substr(at + begin.size()));
  std::vector<std::int64_t> numbers;
  for (std::int64_t number = 0; stream >> number;) {
    numbers.push_back(number);
    stream.ignore(1);
  }
  return numbers;
}

// Of each rank, what it says of the burst of `block`.
std::vector<std::vector<std::int64_t>> rank_numbers(const std::string& output,
                                                    const std::string& block,
                                                    const std::string& key) {
  const std::size_t at = block.find("\"case\"");
  const std::string burst = block.substr(at, block.find("\"start_ns\"") - at);
  std::vector<std::vector<std::int64_t>> all;
  for (const std::string& line : lines_with(output, R"({"type":"rank_block")", burst)) {
    all.push_back(numbers_in(line, key));
  }
  return all;
}

const std::string kMeasured = R"("phase":"measured")";

void check_pairs(const Ran& ran, std::size_t pair_count) {
  CHECK_EQUAL(ran.exit_code, kExitOk);
  CHECK_CONTAINS(last_line(ran.output), R"("status":"ok")");
  CHECK_EQUAL(count_of(ran.output, R"("type":"failure")"), 0U);
  for (const char* id : {"l", "n", "r", "s"}) {
    const std::string of_case = std::string(R"("case":")") + id + '"';
    const auto blocks = lines_with(ran.output, R"({"type":"block",)" + of_case, kMeasured);
    CHECK(!blocks.empty());
    for (const std::string& block : blocks) {
      const std::vector<std::int64_t> samples = numbers_in(block, "durations_ns");
      CHECK_EQUAL(numbers_in(block, "slowest_ranks").size(), samples.size());
      const auto ranks = rank_numbers(ran.output, block, "durations_ns");
      CHECK_EQUAL(ranks.size(), pair_count);
      for (const auto& durations : ranks) CHECK_EQUAL(durations.size(), samples.size());
    }
  }
}

}  // namespace

TEST(pairs_play_at_once_over_every_transport) {
  for (const char* transport : {"null", "shm", "tcp"}) {
    for (const int rank_count : {2, 6}) {
      check_pairs(run_in_threads(transport, spec_with(kPairs), rank_count),
                  static_cast<std::size_t>(rank_count / 2));
    }
  }
}

TEST(a_pairs_payload_is_checked) {
  const Ran ran = run_in_threads("shm", spec_with(kPairs), 4);
  CHECK_EQUAL(count_of(ran.output, R"("ok":true)"), 5U);
  const Ran bad = run_in_threads("corrupting", spec_with(kPairs), 2);
  CHECK_CONTAINS(bad.output, R"("verification","case":"n","ok":false)");
  CHECK_CONTAINS(bad.output, R"("verification","case":"r","ok":false)");
}

TEST(a_sample_of_pairs_is_their_mean) {
  const Ran ran = run_in_threads("shm", spec_with(kPairs), 6);
  const auto blocks = lines_with(ran.output, R"({"type":"block","case":"l")", kMeasured);
  CHECK(!blocks.empty());
  for (const std::string& block : blocks) {
    CHECK_CONTAINS(block, R"("timing":"pair_mean")");
    const std::vector<std::int64_t> samples = numbers_in(block, "durations_ns");
    const auto ranks = rank_numbers(ran.output, block, "durations_ns");
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::int64_t total = ranks[0][i] + ranks[1][i] + ranks[2][i];
      CHECK_EQUAL(samples[i], (total + 1) / 3);
    }
  }
}

TEST(partners_are_halves_or_neighbours) {
  const Ran ran = run_in_threads("shm", spec_with(kPairs), 4);
  const auto recorders = [&](const char* id) {
    std::string found;
    for (int rank = 0; rank < 4; ++rank) {
      const std::string head =
          std::string(R"({"type":"rank_block","case":")") + id + R"(","round":0)";
      const std::string part = R"("rank":)" + std::to_string(rank) + ",";
      if (!lines_with(ran.output, head, part).empty()) found += std::to_string(rank);
    }
    return found;
  };
  CHECK_EQUAL(recorders("l"), "01");
  CHECK_EQUAL(recorders("n"), "02");
}

TEST(who_has_no_partner_is_told) {
  const std::string cases = std::string(kPairs) +
                            "case id=x benchmark=message_rate message_size_bytes=8 pairing=all\n"
                            "case id=t benchmark=ping_pong message_size_bytes=8 timing=barrier\n";
  const Ran three = run_in_threads("shm", spec_with(cases), 3);
  CHECK_EQUAL(three.exit_code, kExitOk);
  CHECK_CONTAINS(three.output, "every rank needs a partner, and this run has 3 ranks");
  CHECK_CONTAINS(three.output, R"("type":"block","case":"p")");
  CHECK_CONTAINS(three.output, "timing is 'barrier', not one of origin");
  CHECK_CONTAINS(run_in_threads("shm", spec_with(cases), 2).output,
                 "pairing is 'all', not one of half, neighbour");
  const Ran one = run_in_threads("shm", spec_with(kPairs), 1);
  CHECK_EQUAL(one.exit_code, kExitOk);
  CHECK_CONTAINS(one.output, "it takes 2 ranks, and this run has 1");
}

TEST(ranks_of_their_own_meet_over_tcp) {
  const TemporaryFolder folder;
  std::vector<std::string> first = listening_rank("tcp", folder.write("spec", spec_with(kPairs)));
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
  check_pairs({exit_code, rank0.output()}, 2);
}

TEST(a_group_is_timed_after_a_barrier_or_back_to_back) {
  const Ran ran = run_in_threads(
      "grouped",
      spec_with("case id=b benchmark=meeting message_size_bytes=8 timing=barrier\n"
                "case id=c benchmark=meeting message_size_bytes=8 timing=back_to_back\n"),
      5);
  CHECK_EQUAL(ran.exit_code, kExitOk);
  CHECK_EQUAL(count_of(ran.output, R"("ok":true)"), 2U);
  for (const char* timing : {"barrier", "back_to_back"}) {
    const std::string kind = std::string(R"("timing":")") + timing + '"';
    std::vector<std::string> blocks;
    for (const std::string& line : lines_with(ran.output, R"({"type":"block")", kMeasured)) {
      if (line.find(kind) != std::string::npos) blocks.push_back(line);
    }
    CHECK(!blocks.empty());
    for (const std::string& block : blocks) {
      CHECK_CONTAINS(block, R"("details":{"operation_count":)");
      const std::vector<std::int64_t> samples = numbers_in(block, "durations_ns");
      const std::vector<std::int64_t> slowest = numbers_in(block, "slowest_ranks");
      const auto ranks = rank_numbers(ran.output, block, "durations_ns");
      CHECK_EQUAL(ranks.size(), 5U);
      for (std::size_t i = 0; i < samples.size(); ++i) {
        std::vector<std::int64_t> own;
        for (const auto& durations : ranks) own.push_back(durations[i]);
        const auto longest = std::max_element(own.begin(), own.end());
        CHECK_EQUAL(slowest[i], longest - own.begin());
        CHECK(samples[i] <= *longest && samples[i] >= *std::min_element(own.begin(), own.end()));
      }
    }
  }
}

TEST(what_a_group_cannot_do_fails_its_case_alone) {
  const std::string cases =
      "case id=odd benchmark=meeting message_size_bytes=7 timing=barrier\n"
      "case id=bad benchmark=meeting message_size_bytes=8 timing=barrier spoiled=2\n"
      "case id=opt benchmark=meeting message_size_bytes=8 timing=barrier colour=blue\n"
      "case id=how benchmark=meeting message_size_bytes=8 timing=sundial\n"
      "case id=good benchmark=meeting message_size_bytes=8 timing=barrier\n";
  const Ran ran = run_in_threads("grouped", spec_with(cases), 3);
  CHECK_EQUAL(ran.exit_code, kExitOk);
  CHECK_CONTAINS(ran.output, R"("failure","case":"odd","reason":"rank 2: an odd size")");
  CHECK_CONTAINS(ran.output, R"("verification","case":"bad","ok":false)");
  CHECK_CONTAINS(ran.output, "rank 2: the payload arrived changed: spoiled on purpose");
  CHECK_CONTAINS(ran.output, "takes no option 'colour'");
  CHECK_CONTAINS(ran.output, "timing is 'sundial', not one of common_clock, barrier");
  CHECK_EQUAL(count_of(ran.output, R"("type":"failure")"), 4U);
  CHECK_CONTAINS(ran.output, R"("type":"block","case":"good")");
  CHECK_CONTAINS(run_in_threads("shm", spec_with(cases), 3).output,
                 "the shm transport has no operations for all ranks at once, as 'meeting' needs");
}

namespace {

// A sample is first start to last end, by what each rank wrote down of it.
void check_common_clock(const Ran& ran, std::size_t rank_count) {
  CHECK_EQUAL(ran.exit_code, kExitOk);
  CHECK_CONTAINS(last_line(ran.output), R"("status":"ok")");
  const auto blocks = lines_with(ran.output, R"({"type":"block","case":"c")", kMeasured);
  CHECK(!blocks.empty());
  for (const std::string& block : blocks) {
    CHECK_CONTAINS(block, R"("timing":"common_clock","clock_error_ns":)");
    CHECK_CONTAINS(block, R"("late_tolerance_ns":)");
    const std::vector<std::int64_t> samples = numbers_in(block, "durations_ns");
    const std::vector<std::int64_t> slowest = numbers_in(block, "slowest_ranks");
    const auto durations = rank_numbers(ran.output, block, "durations_ns");
    const auto offsets = rank_numbers(ran.output, block, "start_offsets_ns");
    CHECK_EQUAL(durations.size(), rank_count);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      std::vector<std::int64_t> ends;
      std::int64_t first = offsets[0][i];
      for (std::size_t rank = 0; rank < rank_count; ++rank) {
        ends.push_back(offsets[rank][i] + durations[rank][i]);
        first = std::min(first, offsets[rank][i]);
      }
      const auto last = std::max_element(ends.begin(), ends.end());
      CHECK_EQUAL(first, 0);
      CHECK_EQUAL(samples[i], *last);
      CHECK_EQUAL(slowest[i], last - ends.begin());
    }
    const std::size_t late = count_of(block, R"("late_operation_count":0,)") == 0;
    CHECK(samples.size() + late > 0);
  }
}

}  // namespace

TEST(a_group_is_timed_on_the_common_clock) {
  const std::string cases = "case id=c benchmark=meeting message_size_bytes=8\n";
  for (const char* item : {"share_clocks 1\n", "share_clocks 0\n"}) {
    const bool shared = std::string(item) == "share_clocks 1\n";
    for (const int rank_count : {1, 2, 5}) {
      const Ran ran = run_in_threads(
          "grouped", spec_with(cases, std::string("budget_ns 100000000\n") + item), rank_count);
      check_common_clock(ran, static_cast<std::size_t>(rank_count));
      const auto models = lines_with(ran.output, R"({"type":"clock_model")", "");
      CHECK_EQUAL(models.size(), 1U);
      CHECK_EQUAL(count_of(models[0], R"("drift_ppm":)"), static_cast<std::size_t>(rank_count));
      const std::size_t compared = count_of(models[0], R"("compared_with":)") -
                                   count_of(models[0], R"("compared_with":null)");
      CHECK_EQUAL(compared, shared ? 0U : static_cast<std::size_t>(rank_count - 1));
    }
  }
}

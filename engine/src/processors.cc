#include "processors.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "fabriscope/error.h"
#include "spec.h"

namespace fabriscope {
namespace {

constexpr int kMostProcessors = 8192;  // as many as the kernel can be built for
// Who starts the ranks of an MPI job tells each its number, before MPI_Init: Open MPI, PMIx, Hydra,
// MVAPICH2, srun.
constexpr std::array<const char*, 5> kRankVariables{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                                    "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};

struct ProcessorSet {
  std::array<cpu_set_t, kMostProcessors / CPU_SETSIZE> sets{};

  void add(int processor) { CPU_SET_S(processor, sizeof sets, sets.data()); }
  bool has(int processor) const { return CPU_ISSET_S(processor, sizeof sets, sets.data()) != 0; }
  bool operator==(const ProcessorSet& other) const {
    return CPU_EQUAL_S(sizeof sets, sets.data(), other.sets.data()) != 0;
  }
};

int parse_processor(const std::string& text) {
  return static_cast<int>(parse_integer(text, "a processor", 0, kMostProcessors - 1));
}

// Throws UsageError.
ProcessorSet parse_set(const std::string& text) {
  ProcessorSet found;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    const int first = parse_processor(part.substr(0, dash));
    const int last = dash == std::string::npos ? first : parse_processor(part.substr(dash + 1));
    if (last < first) throw UsageError("'" + part + "' names no processors");
    for (int processor = first; processor <= last; ++processor) found.add(processor);
  }
  return found;
}

ProcessorSet allowed_set() {
  ProcessorSet found;
  if (sched_getaffinity(0, sizeof found.sets, found.sets.data()) != 0) return {};
  return found;
}

int rank_by_environment() {
  for (const char* name : kRankVariables) {
    if (const char* text = std::getenv(name)) {
      try {
        return static_cast<int>(parse_integer(text, name, 0, 1 << 20));
      } catch (const UsageError&) {
        return -1;
      }
    }
  }
  return -1;
}

std::string own_host() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

}  // namespace

std::vector<std::string> parse_rank_processors(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, '/');) {
    if (part.empty())
      throw UsageError("--processors has nothing for rank " + std::to_string(found.size()));
    try {
      parse_set(part);
    } catch (const UsageError& error) {
      throw UsageError(std::string("--processors: ") + error.what());
    }
    found.push_back(part);
  }
  if (found.empty()) throw UsageError("--processors needs a list for each rank, such as 0/1");
  return found;
}

void confine_to(const std::string& processors) {
  const ProcessorSet wanted = parse_set(processors);
  const std::string before = allowed_processors();
  const bool done = sched_setaffinity(0, sizeof wanted.sets, wanted.sets.data()) == 0;
  if (done && allowed_set() == wanted) return;
  throw CaseError("it cannot run on processor " + processors + " of " + own_host() +
                  ", which lets it use " + before);
}

void confine_early(const Settings& settings) {
  const bool has_several = settings.rendezvous == "threads";
  const int rank = settings.rank >= 0 ? settings.rank : rank_by_environment();
  if (has_several || rank < 0) return;
  if (static_cast<std::size_t>(rank) >= settings.processors.size()) return;
  try {
    confine_to(settings.processors[static_cast<std::size_t>(rank)]);
  } catch (const CaseError&) {
    // Nobody would hear of it yet.
  }
}

std::string allowed_processors() {
  const ProcessorSet allowed = allowed_set();
  std::string text;
  for (int first = 0; first < kMostProcessors; ++first) {
    if (!allowed.has(first)) continue;
    int last = first;
    while (last + 1 < kMostProcessors && allowed.has(last + 1)) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(first);
    if (last > first) text += "-" + std::to_string(last);
    first = last;
  }
  return text;
}

bool is_crowded(Rendezvous& rendezvous, const std::string& machine) {
  const ProcessorSet allowed = allowed_set();
  const std::string own = machine + ' ' + allowed_processors();
  const std::vector<std::string> all = rendezvous.exchange(own);
  const int processors = CPU_COUNT_S(sizeof allowed.sets, allowed.sets.data());
  return processors > 0 && std::count(all.begin(), all.end(), own) > processors;
}

}  // namespace fabriscope

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "../src/engine_version.h"
#include "program.h"

namespace {

using namespace fabriscope;
using namespace fabriscope::npb;

constexpr int kFormat = 1;
constexpr int kExitWrong = 3;
constexpr std::size_t kNameBytes = 256;

std::string exact(double value) {
  if (!std::isfinite(value)) return "null";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.16g", value);
  return text.data();
}

void write_line(const JsonObject& object) {
  if (std::printf("%s\n", object.text().c_str()) < 0 || std::fflush(stdout) != 0) {
    throw system_failure("write to standard output");
  }
}

// The error line, and the sentence for people.
int refuse(const CommandLine* line, int rank_count, const UsageError& error) {
  JsonObject object;
  object.add("type", "error");
  if (line != nullptr) {
    object.add("kernel", line->kernel)
        .add("class", std::string(1, kClassLetters[line->problem_class]))
        .add("rank_count", rank_count);
  }
  object.add("reason", error.what());
  std::string text = object.text();
  if (const auto* refusal = dynamic_cast<const Refusal*>(&error)) {
    text.back() = ',';
    text += refusal->details().text().substr(1);
  }
  std::printf("%s\n", text.c_str());
  std::fprintf(stderr, "fabriscope-npb: %s\n", error.what());
  return kExitUsage;
}

class MpiLibrary {
 public:
  MpiLibrary() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count_);
  }
  ~MpiLibrary() { MPI_Finalize(); }
  MpiLibrary(const MpiLibrary&) = delete;
  MpiLibrary& operator=(const MpiLibrary&) = delete;
  int rank() const { return rank_; }
  int rank_count() const { return rank_count_; }

 private:
  int rank_ = 0;
  int rank_count_ = 1;
};

// Of every rank, at rank 0.
std::vector<std::int64_t> gather(const MpiLibrary& mpi, std::int64_t value) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(mpi.rank_count()));
  MPI_Gather(&value, 1, MPI_INT64_T, values.data(), 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  return values;
}

std::vector<std::string> gather_hosts(const MpiLibrary& mpi) {
  std::array<char, kNameBytes> mine{};
  std::snprintf(mine.data(), mine.size(), "%s", host_name().c_str());
  std::vector<char> all(kNameBytes * static_cast<std::size_t>(mpi.rank_count()));
  MPI_Allgather(mine.data(), kNameBytes, MPI_CHAR, all.data(), kNameBytes, MPI_CHAR,
                MPI_COMM_WORLD);
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i < all.size(); i += kNameBytes) hosts.emplace_back(&all[i]);
  return hosts;
}

// The host that lacks most; every rank learns the same, and throws.
void check_all_memory(const MpiLibrary& mpi, const CommandLine& line, const Kernel& kernel,
                      const std::vector<std::string>& hosts) {
  const std::int64_t each = kernel.needed_bytes(line.problem_class, mpi.rank_count());
  const std::string& host = hosts[static_cast<std::size_t>(mpi.rank())];
  const std::int64_t ranks_here = std::count(hosts.begin(), hosts.end(), host);
  const std::array<std::int64_t, 2> mine{each * ranks_here, available_bytes()};
  std::vector<std::int64_t> all(2 * hosts.size());
  MPI_Allgather(mine.data(), 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, MPI_COMM_WORLD);
  std::size_t worst = 0;
  for (std::size_t i = 1; i < hosts.size(); ++i) {
    if (all[2 * i] - all[2 * i + 1] > all[2 * worst] - all[2 * worst + 1]) worst = i;
  }
  check_memory(line, {all[2 * worst], all[2 * worst + 1], hosts[worst]});
}

void write_start(const MpiLibrary& mpi, const CommandLine& line, const Kernel& kernel,
                 const std::vector<std::string>& hosts) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  std::string library(version.data(), static_cast<std::size_t>(length));
  library.resize(std::min(library.size(), library.find('\n')));
  std::string names;
  for (const std::string& host : hosts) names += (names.empty() ? "" : ",") + json_string(host);
  write_line(
      describe("start", line, kernel, mpi.rank_count())
          .add("format", kFormat)
          .add("program_version", kEngineVersion)
          .add("needed_bytes_per_rank", kernel.needed_bytes(line.problem_class, mpi.rank_count()))
          .add("mpi_library", library)
          .add_raw("hosts", "[" + names + "]"));
}

JsonObject phase_object(const char* name, const char* kind, const char* operation,
                        const std::vector<std::int64_t>& ns) {
  const std::int64_t sum = std::accumulate(ns.begin(), ns.end(), std::int64_t{0});
  JsonObject object;
  object.add("name", name).add("kind", kind);
  operation == nullptr ? object.add_null("operation") : object.add("operation", operation);
  object.add("slowest_ns", *std::max_element(ns.begin(), ns.end()))
      .add("mean_ns", sum / static_cast<std::int64_t>(ns.size()))
      .add("ns", ns);
  return object;
}

std::string gather_phases(const MpiLibrary& mpi, const Run& run) {
  std::int64_t compute_ns = run.ns();
  for (const Phase& phase : run.phases()) compute_ns -= phase.ns();
  std::string text = phase_object("compute", "compute", nullptr, gather(mpi, compute_ns)).text();
  for (const Phase& phase : run.phases()) {
    const auto ns = gather(mpi, phase.ns());
    text += "," + phase_object(phase.name(), "communication", phase.operation(), ns)
                      .add("call_count", gather(mpi, phase.call_count()))
                      .add("sent_bytes", gather(mpi, phase.sent_bytes()))
                      .text();
  }
  return "[" + text + "]";
}

bool report(const MpiLibrary& mpi, const CommandLine& line, const Kernel& kernel, const Run& run,
            int repeat) {
  const std::string phases = gather_phases(mpi, run);
  const std::vector<std::int64_t> times = gather(mpi, run.ns());
  int verified = std::all_of(run.checks().begin(), run.checks().end(),
                             [](const Check& check) { return check.passed(); })
                     ? 1
                     : 0;
  MPI_Bcast(&verified, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (mpi.rank() != 0) return verified != 0;
  const std::int64_t time_ns = *std::max_element(times.begin(), times.end());
  const Problem problem = kernel.problem(line.problem_class);
  std::string checks;
  for (const Check& check : run.checks()) {
    checks += (checks.empty() ? "" : ",") + JsonObject()
                                                .add("name", check.name)
                                                .add_raw("expected", exact(check.expected))
                                                .add_raw("computed", exact(check.computed))
                                                .add("tolerance", check.tolerance)
                                                .add("passed", check.passed())
                                                .text();
  }
  write_line(describe("result", line, kernel, mpi.rank_count())
                 .add("repeat", repeat)
                 .add("time_ns", time_ns)
                 .add_raw("operation_count", exact(problem.operation_count))
                 .add("operation", problem.operation)
                 .add("mops", problem.operation_count * 1e3 / static_cast<double>(time_ns))
                 .add("verified", verified != 0)
                 .add_raw("checks", "[" + checks + "]")
                 .add_raw("phases", phases));
  return verified != 0;
}

int run_all(const MpiLibrary& mpi, const CommandLine& line) {
  const auto kernel = kernel_registry().create(line.kernel);
  const std::vector<std::string> hosts = gather_hosts(mpi);
  check_rank_count(line, *kernel, mpi.rank_count());
  check_all_memory(mpi, line, *kernel, hosts);
  if (mpi.rank() == 0) write_start(mpi, line, *kernel, hosts);
  bool verified = true;
  for (int repeat = 0; repeat < line.repeat_count; ++repeat) {
    Run run(MPI_COMM_WORLD, line.problem_class, line.is_damaged);
    kernel->run(run);
    verified = report(mpi, line, *kernel, run, repeat) && verified;
  }
  return verified ? kExitOk : kExitWrong;
}

int run_dry(const CommandLine& line) {
  const auto kernel = kernel_registry().create(line.kernel);
  try {
    check_rank_count(line, *kernel, line.rank_count);
    const std::int64_t each = kernel->needed_bytes(line.problem_class, line.rank_count);
    check_memory(line, {each * line.rank_count, available_bytes(), host_name()});
    write_line(describe("start", line, *kernel, line.rank_count)
                   .add("format", kFormat)
                   .add("program_version", kEngineVersion)
                   .add("needed_bytes_per_rank", each));
    return kExitOk;
  } catch (const UsageError& error) {
    return refuse(&line, line.rank_count, error);
  }
}

int run_under_mpi(const CommandLine& line) {
  const MpiLibrary mpi;
  try {
    return run_all(mpi, line);
  } catch (const UsageError& error) {
    // All ranks are here.
    return mpi.rank() == 0 ? refuse(&line, mpi.rank_count(), error) : kExitUsage;
  } catch (const std::exception& error) {
    if (mpi.rank() == 0) {
      std::printf("%s\n",
                  JsonObject().add("type", "error").add("reason", error.what()).text().c_str());
      std::fflush(stdout);
    }
    std::fprintf(stderr, "fabriscope-npb: rank %d: %s\n", mpi.rank(), error.what());
    MPI_Abort(MPI_COMM_WORLD, kExitFailure);
    return kExitFailure;
  }
}

}  // namespace

int main(int argument_count, char** arguments) {
  try {
    if (!kernel_registry().start_error().empty()) throw UsageError(kernel_registry().start_error());
    const CommandLine line = parse_command_line({arguments + 1, arguments + argument_count});
    if (line.action == CommandLine::Action::kHelp) {
      std::fputs(help_text().c_str(), stdout);
      return kExitOk;
    }
    if (line.action == CommandLine::Action::kList) {
      std::printf("%s\n", list_text().c_str());
      return kExitOk;
    }
    return line.is_dry ? run_dry(line) : run_under_mpi(line);
  } catch (const UsageError& error) {
    // Under a launcher every rank is here, and one is to say so.
    const MpiLibrary mpi;
    return mpi.rank() == 0 ? refuse(nullptr, mpi.rank_count(), error) : kExitUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fabriscope-npb: %s\n", error.what());
    return kExitFailure;
  }
}

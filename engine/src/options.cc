#include "options.h"

#include <cstdlib>
#include <functional>
#include <map>

#include "fabriscope/error.h"
#include "processors.h"
#include "spec.h"

namespace fabriscope {
namespace {

using Setter = std::function<void(CommandLine&, const std::string&)>;

ClockChoice parse_clock(const std::string& text) {
  if (text == "auto") return ClockChoice::kAutomatic;
  if (text == "steady") return ClockChoice::kSteady;
  if (text == "tsc") return ClockChoice::kTsc;
  throw UsageError("--clock is '" + text + "', not one of auto, steady, tsc");
}

const std::map<std::string, Setter>& options_with_value() {
  using Line = CommandLine;
  using Text = const std::string&;
  static const std::map<std::string, Setter> options{
      {"--transport", [](Line& line, Text text) { line.settings.transport = text; }},
      {"--rendezvous", [](Line& line, Text text) { line.settings.rendezvous = text; }},
      {"--rank",
       [](Line& line, Text text) {
         line.settings.rank = static_cast<int>(parse_integer(text, "--rank", 0, 1 << 20));
       }},
      {"--rank-count",
       [](Line& line, Text text) {
         line.settings.rank_count =
             static_cast<int>(parse_integer(text, "--rank-count", 1, 1 << 20));
       }},
      {"--listen", [](Line& line, Text text) { line.settings.listen = text; }},
      {"--connect", [](Line& line, Text text) { line.settings.connect = text; }},
      {"--data-address", [](Line& line, Text text) { line.settings.data_address = text; }},
      {"--interface", [](Line& line, Text text) { line.settings.interface = text; }},
      {"--rdma-device", [](Line& line, Text text) { line.settings.rdma_device = text; }},
      {"--hca-port",
       [](Line& line, Text text) {
         line.settings.hca_port = static_cast<int>(parse_integer(text, "--hca-port", 1, 255));
       }},
      {"--gid-index",
       [](Line& line, Text text) {
         line.settings.gid_index = static_cast<int>(parse_integer(text, "--gid-index", 0, 255));
       }},
      {"--processors",
       [](Line& line, Text text) { line.settings.processors = parse_rank_processors(text); }},
      {"--processors-if-allowed",
       [](Line& line, Text text) {
         line.settings.processors = parse_rank_processors(text);
         line.settings.may_run_elsewhere = true;
       }},
      {"--spec", [](Line& line, Text text) { line.settings.spec_path = text; }},
      {"--output", [](Line& line, Text text) { line.settings.output_path = text; }},
      {"--clock", [](Line& line, Text text) { line.settings.clock = parse_clock(text); }},
      {"--connect-timeout-s",
       [](Line& line, Text text) {
         line.settings.connect_timeout_ns =
             parse_integer(text, "--connect-timeout-s", 1, 86'400) * 1'000'000'000;
       }},
  };
  return options;
}

bool set_flag(CommandLine& line, const std::string& name) {
  if (name == "--help") {
    line.action = Action::kHelp;
  } else if (name == "--version") {
    line.action = Action::kVersion;
  } else if (name == "--list") {
    line.action = Action::kList;
  } else if (name == "--copy-rate") {
    line.action = Action::kCopyRate;
  } else if (name == "--die-with-parent") {
    line.settings.die_with_parent = true;
  } else {
    return false;
  }
  return true;
}

void check(const Settings& settings) {
  if (settings.transport.empty()) throw UsageError("--transport is missing; --list names them");
  if (settings.rendezvous.empty()) throw UsageError("--rendezvous is missing; --list names them");
  if (settings.rank >= settings.rank_count) {
    throw UsageError("--rank must be less than --rank-count");
  }
  const auto rank_count = static_cast<std::size_t>(settings.rank_count);
  if (!settings.processors.empty() && settings.processors.size() != rank_count) {
    throw UsageError("--processors needs a list for each of " + std::to_string(rank_count) +
                     " ranks, and has " + std::to_string(settings.processors.size()));
  }
  const bool needs_spec = settings.rank <= 0;
  if (needs_spec && settings.spec_path.empty()) {
    throw UsageError("rank 0 needs --spec FILE, or --spec - for standard input");
  }
}

}  // namespace

CommandLine parse_command_line(int argument_count, const char* const* arguments) {
  CommandLine line;
  for (int i = 1; i < argument_count; ++i) {
    std::string name = arguments[i];
    if (set_flag(line, name)) continue;
    std::string value;
    const std::size_t equals = name.find('=');
    const bool joined = equals != std::string::npos;
    if (joined) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    const auto found = options_with_value().find(name);
    if (found == options_with_value().end()) {
      throw UsageError("there is no option '" + name + "'; --help names them");
    }
    if (!joined) {
      if (i + 1 >= argument_count) throw UsageError(name + " needs a value");
      value = arguments[++i];
    }
    found->second(line, value);
  }
  if (const char* token = std::getenv("FABRISCOPE_TOKEN")) line.settings.token = token;
  if (line.action == Action::kRun) check(line.settings);
  return line;
}

std::string help_text() {
  return R"(fabriscope-engine: moves bytes between ranks over one transport and writes down how long it took.

  fabriscope-engine --transport T --rendezvous tcp --rank 0 --rank-count 2 --listen ADDR[:PORT] --spec FILE
  fabriscope-engine --transport T --rendezvous tcp --rank 1 --rank-count 2 --connect ADDR:PORT
  mpirun -n 2 fabriscope-engine --transport mpi --rendezvous mpi --spec FILE
  fabriscope-engine --transport T --rendezvous threads --spec FILE

  --transport NAME          what carries the bytes (--list)
  --rendezvous NAME         how the ranks find each other (--list)
  --rank N                  who this is (tcp rendezvous)
  --rank-count N            how many there are (2)
  --listen ADDR[:PORT]      rank 0; without a port any free one; told as the first line of stdout
  --connect ADDR:PORT       the other ranks
  --connect-timeout-s N     how long the ranks wait for each other (30)
  --data-address IP         where the transport is to be reached; else that of --interface
  --interface NAME          bind the data connections to it, unless the case names another
  --rdma-device NAME        of the verbs transport, unless the case names another: rxe0, mlx5_0 (by rule)
  --hca-port N              likewise, its port (1)
  --gid-index N             likewise, the entry of the port's GID table (by rule)
  --processors LIST/LIST    those that rank 0 may run on, then rank 1 ...: 0/1, 0-3/4-7 (as they come)
  --processors-if-allowed LIST/LIST  the same, but for ranks that their host does not let run there
  --spec FILE               what to measure, for rank 0; - is standard input
  --output FILE             instead of standard output
  --clock auto|steady|tsc   what to time with (auto)
  --die-with-parent         end when the process (on Linux: the thread) that started this one ends
  --list                    the transports, benchmarks and rendezvous of this program, as JSON
  --copy-rate               how fast one thread copies memory on this host, as JSON; takes half a second
  --help, --version

The environment variable FABRISCOPE_TOKEN holds the run's token: every connection has to present it.
Exit status: 0 done, 1 failed while running, 2 wrong usage, 4 no progress, 128+N ended by signal N.
The output and the specification are described in docs/engine-output.md.
)";
}

}  // namespace fabriscope

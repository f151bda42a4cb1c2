#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

#include "program.h"

namespace fabriscope::npb {
namespace {

constexpr int kMostRanks = 1 << 20;
constexpr int kMostRepeats = 1000000;

int parse_count(const std::string& option, const std::string& text, int most) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < 1 || value > most) {
    throw UsageError(option + " takes a number from 1 to " + std::to_string(most) + ", not '" +
                     text + "'");
  }
  return value;
}

ProblemClass parse_class(const std::string& text) {
  if (text.size() == 1) {
    const char letter = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    const char* const at = std::strchr(kClassLetters, letter);
    if (at != nullptr) return static_cast<ProblemClass>(at - kClassLetters);
  }
  throw UsageError("there is no class '" + text + "'; known are: S, W, A, B, C, D");
}

void parse_option(CommandLine& line, const std::vector<std::string>& words, std::size_t& at) {
  const std::string& word = words[at];
  const auto value = [&] {
    if (at + 1 == words.size()) throw UsageError(word + " needs a number behind it");
    return words[++at];
  };
  if (word == "--help" || word == "-h") {
    line.action = CommandLine::Action::kHelp;
  } else if (word == "--list") {
    line.action = CommandLine::Action::kList;
  } else if (word == "--repeat") {
    line.repeat_count = parse_count(word, value(), kMostRepeats);
  } else if (word == "--rank-count") {
    line.rank_count = parse_count(word, value(), kMostRanks);
  } else if (word == "--dry-run") {
    line.is_dry = true;
  } else if (word == "--damage") {
    line.is_damaged = true;
  } else {
    throw UsageError("there is no option '" + word + "'; --help names them");
  }
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

std::string class_text(ProblemClass problem_class) { return {kClassLetters[problem_class]}; }

std::string gigabytes(std::int64_t bytes) {
  return json_number(static_cast<double>(bytes) / 1e9) + " GB";
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& words) {
  CommandLine line;
  std::vector<std::string> names;
  bool has_rank_count = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    has_rank_count |= words[i] == "--rank-count";
    if (words[i].rfind('-', 0) == 0) {
      parse_option(line, words, i);
    } else {
      names.push_back(words[i]);
    }
  }
  if (line.action != CommandLine::Action::kRun) return line;
  if (names.size() != 2) {
    throw UsageError("a kernel and a class are needed, as in: fabriscope-npb ft A");
  }
  if (has_rank_count && !line.is_dry) {
    throw UsageError("--rank-count goes with --dry-run alone: the MPI launcher starts the ranks");
  }
  line.kernel = lower(names[0]);
  kernel_registry().find(line.kernel);
  line.problem_class = parse_class(names[1]);
  return line;
}

std::string help_text() {
  return "fabriscope-npb KERNEL CLASS [options]    under an MPI launcher, for more than one rank\n"
         "\n"
         "Runs a kernel of the NAS Parallel Benchmarks and prints JSON Lines: the start, and each\n"
         "result with its rate, its verification, and where each rank's time went.\n"
         "\n"
         "  --repeat N        as many results; each begins from the initial data (1)\n"
         "  --dry-run         only say whether it could run here, without MPI\n"
         "  --rank-count N    with --dry-run: on how many ranks (1)\n"
         "  --damage          make one number wrong by one digit: it must not be verified\n"
         "  --list            kernels and classes, as JSON\n"
         "  --help            this text\n"
         "\n"
         "  mpirun -n 4 fabriscope-npb ft A\n"
         "  fabriscope-npb cg C --rank-count 12 --dry-run\n";
}

std::string list_text() {
  std::string kernels = "[";
  for (const auto& [name, entry] : kernel_registry().entries()) {
    const auto kernel = entry.factory();
    std::string classes;
    for (int i = 0; i < kClassCount; ++i) {
      const auto problem_class = static_cast<ProblemClass>(i);
      const Problem problem = kernel->problem(problem_class);
      classes +=
          (classes.empty() ? "" : ",") + JsonObject()
                                             .add("class", class_text(problem_class))
                                             .add("size", problem.size)
                                             .add("iteration_count", problem.iteration_count)
                                             .add("rank_counts", kernel->allowed(problem_class))
                                             .text();
    }
    kernels += (kernels.size() > 1 ? "," : "") +
               JsonObject().add("name", name).add_raw("classes", "[" + classes + "]").text();
  }
  return JsonObject().add("type", "list").add_raw("kernels", kernels + "]").text();
}

void check_rank_count(const CommandLine& line, const Kernel& kernel, int rank_count) {
  if (kernel.allows(line.problem_class, rank_count)) return;
  std::vector<std::int64_t> near;
  for (int count = rank_count - 1; count > 0 && near.empty(); --count) {
    if (kernel.allows(line.problem_class, count)) near.push_back(count);
  }
  for (int count = rank_count + 1; count <= 4 * rank_count + 4; ++count) {
    if (!kernel.allows(line.problem_class, count)) continue;
    near.push_back(count);
    break;
  }
  std::string names;
  for (const std::int64_t count : near) {
    names += (names.empty() ? "" : " and ") + std::to_string(count);
  }
  std::string kernel_name = line.kernel;
  for (char& letter : kernel_name) letter = static_cast<char>(std::toupper(letter));
  throw Refusal(kernel_name + " class " + class_text(line.problem_class) + " cannot use " +
                    std::to_string(rank_count) + (rank_count == 1 ? " rank" : " ranks") +
                    ": it takes " + kernel.allowed(line.problem_class) + "; nearest: " + names,
                JsonObject().add("allowed_rank_counts", near));
}

void check_memory(const CommandLine& line, const Memory& memory) {
  if (memory.needed_bytes <= memory.available_bytes) return;
  throw Refusal(line.kernel + " class " + class_text(line.problem_class) +
                    " does not fit the memory of " + memory.host + ": its ranks there need " +
                    gigabytes(memory.needed_bytes) + " and " + gigabytes(memory.available_bytes) +
                    " are available; take a smaller class or more hosts",
                JsonObject()
                    .add("needed_bytes", memory.needed_bytes)
                    .add("available_bytes", memory.available_bytes)
                    .add("host", memory.host));
}

JsonObject describe(const char* type, const CommandLine& line, const Kernel& kernel,
                    int rank_count) {
  const Problem problem = kernel.problem(line.problem_class);
  JsonObject object;
  object.add("type", type)
      .add("kernel", line.kernel)
      .add("class", class_text(line.problem_class))
      .add("rank_count", rank_count)
      .add("size", problem.size)
      .add("iteration_count", problem.iteration_count);
  return object;
}

}  // namespace fabriscope::npb

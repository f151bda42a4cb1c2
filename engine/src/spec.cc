#include "spec.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <limits>
#include <set>
#include <sstream>

#include "case_series.h"
#include "fabriscope/error.h"
#include "interrupt.h"
#include "net/unique_fd.h"

namespace fabriscope {
namespace {

constexpr std::int64_t kMaxInteger = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMaxDurationNs = 86'400LL * 1'000'000'000;
constexpr std::int64_t kMaxMessageBytes = 1LL << 30;  // MPI counts and frames stay inside an int
constexpr std::int64_t kMaxWindow = 1 << 16;
constexpr std::size_t kMaxSpecBytes = 16U << 20;

// The words of a line, up to a '#' that starts one.
std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word && word[0] != '#';) words.push_back(word);
  return words;
}

// Sizes and times of 0, and empty values, ask for the system's default as absence does.
bool asks_for_default(const std::string& key, const std::string& value) {
  const auto ends_with = [&](const std::string& unit) {
    return key.size() > unit.size() &&
           key.compare(key.size() - unit.size(), unit.size(), unit) == 0;
  };
  return value.empty() || (value == "0" && (ends_with("_bytes") || ends_with("_us")));
}

// Open MPI 5's mpirun passes on what it reads, but not that there is no more: waiting for the end
// of the file would be waiting for ever.
bool ends_with_end_line(const std::string& text) {
  const std::string end_line = "\nend\n";
  return text.size() >= end_line.size() &&
         text.compare(text.size() - end_line.size(), end_line.size(), end_line) == 0;
}

// `words` are key=value.
CaseSpec parse_case(const std::vector<std::string>& words) {
  CaseSpec spec;
  std::set<std::string> seen;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw UsageError("'" + word + "' is not key=value");
    }
    const std::string key = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    if (!seen.insert(key).second) throw UsageError("'" + key + "' is given twice");
    if (key == "id") {
      spec.id = value;
    } else if (key == "benchmark") {
      spec.benchmark = value;
    } else if (key == "message_size_bytes") {
      spec.message_size_bytes =
          static_cast<std::size_t>(parse_integer(value, key, 0, kMaxMessageBytes));
    } else if (key == "window_size") {
      spec.window_size = static_cast<std::size_t>(parse_integer(value, key, 1, kMaxWindow));
    } else if (!asks_for_default(key, value)) {
      spec.options[key] = value;
    }
  }
  for (const char* key : {"id", "benchmark", "message_size_bytes"}) {
    if (seen.count(key) == 0) throw UsageError(std::string("a case needs ") + key + "=");
  }
  if (spec.id.empty()) throw UsageError("a case's id is empty");
  return spec;
}

// What a group of programs that measure in turns needs; true where `key` is of it.
bool set_turns(TurnSpec& turns, const std::string& key, const std::string& value) {
  if (key == "turn_table") {
    if (value[0] != '/') throw UsageError("turn_table is '" + value + "', not a path from /");
    turns.table_path = value;
  } else if (key == "turn_member") {
    turns.member = static_cast<int>(parse_integer(value, key, 0, Turns::kMostMembers - 1));
  } else if (key == "turn_member_count") {
    turns.member_count = static_cast<int>(parse_integer(value, key, 1, Turns::kMostMembers));
  } else if (key == "turn_ns") {
    turns.turn_ns = parse_integer(value, key, 1'000'000, kMaxDurationNs);
  } else {
    return false;
  }
  return true;
}

void set_item(Spec& spec, const std::string& key, const std::string& value) {
  if (set_turns(spec.turns, key, value)) return;
  if (key == "seed") {
    spec.seed = static_cast<std::uint64_t>(parse_integer(value, key, 0, kMaxInteger));
  } else if (key == "budget_ns") {
    spec.budget_ns = parse_integer(value, key, 0, kMaxDurationNs);
  } else if (key == "burst_ns") {
    spec.burst_ns = parse_integer(value, key, 1, kMaxDurationNs);
  } else if (key == "max_burst_operations") {
    spec.max_burst_operations = parse_integer(value, key, 2, 1'000'000'000);
  } else if (key == "case_timeout_ns") {
    spec.case_timeout_ns = parse_integer(value, key, 1'000'000, kMaxDurationNs);
  } else if (key == "sample_memory_bytes") {
    spec.sample_memory_bytes = parse_integer(value, key, 4096, 1LL << 36);
  } else if (key == "pool_bytes") {
    spec.pool_bytes = parse_integer(value, key, 0, 1LL << 36);
  } else if (key == "verify") {
    spec.verify = parse_integer(value, key, 0, 1) != 0;
  } else if (key == "share_clocks") {
    spec.share_clocks = parse_integer(value, key, 0, 1) != 0;
  } else {
    throw UsageError("there is no item '" + key + "'");
  }
}

void add_case(Spec& spec, std::set<std::string>& seen, const std::vector<std::string>& words) {
  spec.cases.push_back(parse_case(words));
  if (!seen.insert("case " + spec.cases.back().id).second) {
    throw UsageError("two cases have the id '" + spec.cases.back().id + "'");
  }
}

void parse_line(Spec& spec, std::set<std::string>& seen, CaseSeries& series,
                const std::vector<std::string>& words) {
  if (words[0] == "case") return add_case(spec, seen, {words.begin() + 1, words.end()});
  if (words[0] == "cases") {
    for (const auto& one : series.read(words)) add_case(spec, seen, one);
    return;
  }
  if (words.size() != 2) throw UsageError("'" + words[0] + "' takes one value");
  if (!seen.insert(words[0]).second) throw UsageError("'" + words[0] + "' is given twice");
  set_item(spec, words[0], words[1]);
}

}  // namespace

std::int64_t parse_integer(const std::string& text, const std::string& what, std::int64_t least,
                           std::int64_t most) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  const bool is_number = error == std::errc() && stopped == end && text != "-0";
  if (!is_number || value < least || value > most) {
    throw UsageError(what + " is '" + text + "', not a whole number from " + std::to_string(least) +
                     " to " + std::to_string(most));
  }
  return value;
}

Spec parse_spec(const std::string& text) {
  std::istringstream stream(text);
  Spec spec;
  std::set<std::string> seen;
  CaseSeries series;
  int line_number = 0;
  bool begun = false;
  for (std::string line; std::getline(stream, line);) {
    ++line_number;
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) continue;
    if (begun && words.size() == 1 && words[0] == "end") break;
    try {
      if (begun) {
        parse_line(spec, seen, series, words);
      } else if (words.size() == 2 && words[0] == "fabriscope-spec" && words[1] == "1") {
        begun = true;
      } else {
        throw UsageError("it does not begin with 'fabriscope-spec 1'");
      }
    } catch (const UsageError& error) {
      throw UsageError("the specification, line " + std::to_string(line_number) + ": " +
                       error.what());
    }
  }
  if (!begun) throw UsageError("the specification is empty");
  if (spec.cases.empty()) throw UsageError("the specification has no case");
  if (spec.turns.member >= spec.turns.member_count) {
    throw UsageError("turn_member is " + std::to_string(spec.turns.member) +
                     ", and the group has " + std::to_string(spec.turns.member_count) +
                     " members, from 0");
  }
  return spec;
}

std::string read_spec_text(const std::string& path) {
  UniqueFd file;
  if (path != "-") {
    file = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) {
      throw UsageError(system_failure("open the specification " + path).what());
    }
  }
  const int fd = file ? file.get() : STDIN_FILENO;
  std::string text;
  std::vector<char> part(1 << 16);
  for (;;) {
    const ssize_t count = ::read(fd, part.data(), part.size());
    if (count < 0 && errno == EINTR) {
      throw_if_interrupted();
      continue;
    }
    if (count < 0) throw UsageError(system_failure("read the specification " + path).what());
    if (count == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
    if (ends_with_end_line(text)) return text;
    if (text.size() > kMaxSpecBytes) throw UsageError("the specification is longer than 16 MiB");
  }
}

}  // namespace fabriscope

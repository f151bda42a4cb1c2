// Runs of the engine, in this process and as processes of their own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fabriscope/settings.h"

namespace fabriscope::test {

// A folder of its own, gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;

 private:
  std::string path_;
};

// A specification with a short budget.
std::string spec_with(const std::string& cases, const std::string& items = "budget_ns 20000000\n");

struct Ran {
  int exit_code;
  std::string output;
};

// All ranks as threads of this process.
Ran run_in_threads(const std::string& transport, const std::string& spec, int rank_count = 2);

std::size_t count_of(const std::string& text, const std::string& part);
std::string last_line(const std::string& text);
// What a run's footer says that one rank sent to another, which are given as "0>1".
std::int64_t sent_bytes(const std::string& output, const std::string& ranks);

// An engine that runs beside the test; ended with this object if it has not ended before.
class Process {
 public:
  Process(const TemporaryFolder& folder, const std::string& name,
          const std::vector<std::string>& arguments, const std::string& token = "open-sesame");
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // The exit status, 128+N for a signal, or -1 where it does not end in time.
  int wait(int seconds = 20);
  void signal(int number) const;
  // Waits until the output holds `part`; false where that does not come to pass.
  bool wrote(const std::string& part, int seconds = 20) const;
  std::string output() const { return folder_.read(name_ + ".out"); }
  std::string errors() const { return folder_.read(name_ + ".err"); }
  // What is mapped into its memory, as /proc tells it.
  std::string mappings() const;
  // Of the "listening" line.
  int tcp_port() const;

 private:
  const TemporaryFolder& folder_;
  std::string name_;
  pid_t pid_;
};

std::vector<std::string> listening_rank(const std::string& transport, const std::string& spec_path);
std::vector<std::string> connecting_rank(const std::string& transport, int tcp_port,
                                         const std::string& rank = "1");

// A TCP connection from nowhere that says `text`; returns its descriptor.
int connect_stranger(int tcp_port, const std::string& text);
// A greeting as the protocol frames it.
std::string greeting(const std::string& token, const std::string& purpose);

}  // namespace fabriscope::test

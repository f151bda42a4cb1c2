// How the ranks find each other and agree, apart from the transport under test.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fabriscope/registry.h"
#include "fabriscope/settings.h"

namespace fabriscope {

// Every rank makes the same calls in the same order. Failures throw RunError.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;

  virtual int rank() const = 0;
  virtual int rank_count() const = 0;

  // At rank 0: every rank's text, by rank. Elsewhere: nothing.
  virtual std::vector<std::string> gather(const std::string& text) = 0;
  // Everywhere: rank 0's text.
  virtual std::string broadcast(const std::string& text) = 0;

  // Nobody leaves before all have come.
  virtual void barrier() {
    gather({});
    broadcast({});
  }

  // Every rank's text at every rank.
  std::vector<std::string> exchange(const std::string& text);

  // All ranks wait until rank 0's `wait` is over, and none of them uses a processor meanwhile.
  virtual void rest(const std::function<void()>& wait) {
    if (rank() == 0) wait();  // the others sleep in the kernel until they hear of rank 0
  }

  // Asked by the watchdog from its own thread: the rank that has gone away, or -1.
  virtual int departed_rank() { return -1; }
  // Called by a thread that has a table of files of its own: closes in there what a library besides
  // us has connected, so that what it closes itself is closed for good, and its peers notice.
  virtual void close_library_sockets() const {}
  virtual std::int64_t rejected_connection_count() const { return 0; }
  // Ends the other ranks, where the end of this process would not do so by itself.
  virtual void abort(int /*exit_code*/) {}
};

// Runs `step` on every rank and returns what each rank's step returned. Where the step failed on
// any rank, all ranks throw the same CaseError: so the ranks stay in step through a set-up that
// can fail on either side.
std::vector<std::string> agree(Rendezvous& rendezvous, const std::function<std::string()>& step);

// One way to find each other.
class RendezvousKind {
 public:
  virtual ~RendezvousKind() = default;
  using RankProgram = std::function<int(Rendezvous&)>;

  // Brings the ranks together, runs the program for those that live in this process, and returns
  // the exit status.
  virtual int run(const Settings& settings, const RankProgram& program) = 0;
};

using RendezvousRegistry = Registry<RendezvousKind>;
RendezvousRegistry& rendezvous_registry();

}  // namespace fabriscope

// What this rank was told on its command line and by its environment.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fabriscope/clock.h"

namespace fabriscope {

struct Settings {
  std::string transport;
  std::string rendezvous;
  int rank = -1;  // -1: the rendezvous knows
  int rank_count = 2;
  std::string listen;        // ADDR[:PORT] of the tcp rendezvous, rank 0
  std::string connect;       // ADDR:PORT of the tcp rendezvous, the other ranks
  std::string data_address;  // where the transport is to be reached
  std::string interface;     // unless the case names another
  std::string rdma_device;   // this rank's own, unless the case names another; empty: by rule
  int hca_port = -1;         // likewise; -1: by rule
  int gid_index = -1;
  std::vector<std::string> processors;  // of each rank, those that it may run on; empty: all
  bool may_run_elsewhere = false;  // ranks that are not allowed to run there run where they may
  std::string spec_path;           // "-": standard input
  std::string output_path;         // empty: standard output
  std::string token;               // from FABRISCOPE_TOKEN
  std::int64_t connect_timeout_ns = 30'000'000'000;
  ClockChoice clock = ClockChoice::kAutomatic;
  bool die_with_parent = false;

  // Called by rank 0's tcp rendezvous when it listens and before it waits for the others.
  std::function<void(int tcp_port)> on_listening;
};

}  // namespace fabriscope

// What a case of the verbs transport can ask for.
#pragma once

#include <optional>
#include <string>

#include "fabriscope/transport.h"

namespace fabriscope {

// What is absent is chosen by rule (device.h) or is the device's own.
struct VerbsOptions {
  std::string device;
  std::optional<int> hca_port;
  std::optional<int> gid_index;
  std::optional<int> path_mtu_bytes;
  std::optional<int> ack_timeout;  // n: sent again after 4.096 us * 2^n; 0: never
  int service_level = 0;
  int traffic_class = 0;
  int queue_depth = 128;  // of either queue
  int signal_every = 64;  // sends for each completion
  int inline_limit =
      236;  // bytes of a message that travels in the request; less where the device says so
  bool by_event = false;    // wait for a completion's event, and do not poll
  bool by_manager = false;  // connect by the connection manager, as iWARP always does
};

// `own`: what holds at this rank where the case does not say. Throws CaseError.
VerbsOptions parse_verbs_options(const OptionSet& asked, const VerbsOptions& own);

}  // namespace fabriscope

// Which RDMA device, port and GID a rank uses, chosen by rule where the case does not say.
#pragma once

#include "library.h"

#ifdef FABRISCOPE_WITH_VERBS

#include <cstdint>
#include <string>
#include <vector>

#include "fabriscope/fields.h"
#include "options.h"

namespace fabriscope {

// One entry of a port's GID table that is in use.
struct GidEntry {
  int index;
  std::string type;       // "RoCE v2", "IB/RoCE v1"; empty where the kernel does not say
  std::string interface;  // empty where there is none: InfiniBand
  bool is_ipv4;           // an IPv4 address in IPv6's clothes
};

// A device's port, chosen and looked at, not opened.
struct PortChoice {
  std::string device;
  int hca_port = 1;
  int gid_index = 0;
  std::string gid_type;
  std::string reason;  // why this GID, for the output
  bool is_iwarp = false;
  bool is_infiniband = false;  // the link layer
};

// The GIDs in use at a port, from /sys/class/infiniband.
std::vector<GidEntry> read_gids(const std::string& device, int hca_port);
// RoCE v2 before v1, IPv4 before IPv6, those of `interface` alone where one is named. Throws
// CaseError where there is none.
GidEntry choose_gid(const std::vector<GidEntry>& gids, const std::string& interface,
                    const std::string& where);

// The device that the options name, or the only one that serves `interface`, or the only one with
// an active port. Throws CaseError.
PortChoice choose_port(const VerbsLibrary& library, const VerbsOptions& options,
                       const std::string& interface);

}  // namespace fabriscope

#endif

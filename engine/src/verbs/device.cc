#include "device.h"

#ifdef FABRISCOPE_WITH_VERBS

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "fabriscope/error.h"

namespace fabriscope {
namespace {

constexpr int kMostGids = 256;

std::string port_folder(const std::string& device, int hca_port) {
  return "/sys/class/infiniband/" + device + "/ports/" + std::to_string(hca_port) + "/";
}

// The first line of a file, empty where it cannot be read: an unused GID's attributes cannot.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool is_zero(const std::string& gid) {
  return gid.empty() || gid.find_first_not_of("0:") == std::string::npos;
}

struct Candidate {
  std::string name;
  bool is_iwarp;
};

std::vector<Candidate> list_devices(const VerbsLibrary& library) {
  int count = 0;
  errno = 0;
  const std::unique_ptr<ibv_device*, void (*)(ibv_device**)> list(library.get_device_list(&count),
                                                                  library.free_device_list);
  if (!list && errno != 0 && errno != ENOSYS) throw system_failure("list the RDMA devices");
  std::vector<Candidate> found;
  for (int i = 0; list && i < count; ++i) {
    ibv_device* device = list.get()[i];
    found.push_back(
        {library.get_device_name(device), device->transport_type == IBV_TRANSPORT_IWARP});
  }
  if (found.empty()) {
    throw CaseError(
        "there is no RDMA device on this host: load its driver, or add one by "
        "`rdma link add rxe0 type rxe netdev INTERFACE`");
  }
  return found;
}

// An iWARP port's GID is the address of its network card, and names no interface.
bool has_hardware_address(const std::string& device, int hca_port, const std::string& interface) {
  const auto digits = [](std::string text) {
    text.erase(std::remove(text.begin(), text.end(), ':'), text.end());
    return text;
  };
  const std::string address = digits(first_line("/sys/class/net/" + interface + "/address"));
  const std::string gid = digits(first_line(port_folder(device, hca_port) + "gids/0"));
  return !address.empty() && gid.rfind(address, 0) == 0;
}

bool serves(const Candidate& candidate, int hca_port, const std::string& interface) {
  if (candidate.is_iwarp) return has_hardware_address(candidate.name, hca_port, interface);
  const std::vector<GidEntry> gids = read_gids(candidate.name, hca_port);
  return std::any_of(gids.begin(), gids.end(),
                     [&](const GidEntry& gid) { return gid.interface == interface; });
}

bool is_active(const std::string& device, int hca_port) {
  return first_line(port_folder(device, hca_port) + "state").find("ACTIVE") != std::string::npos;
}

std::string names_of(const std::vector<Candidate>& devices) {
  std::string names;
  for (const Candidate& device : devices) names += (names.empty() ? "" : ", ") + device.name;
  return names;
}

Candidate choose_device(const std::vector<Candidate>& devices, const VerbsOptions& options,
                        const std::string& interface) {
  std::vector<Candidate> fitting;
  const int hca_port = options.hca_port.value_or(1);
  for (const Candidate& device : devices) {
    if (!options.device.empty() ? device.name == options.device
        : !interface.empty()    ? serves(device, hca_port, interface)
                                : is_active(device.name, hca_port)) {
      fitting.push_back(device);
    }
  }
  if (fitting.size() == 1) return fitting.front();
  const std::string known = "; this host has " + names_of(devices);
  if (!options.device.empty()) {
    throw CaseError("there is no RDMA device '" + options.device + "'" + known);
  }
  const std::string which =
      interface.empty() ? " with an active port " + std::to_string(hca_port) : " of " + interface;
  if (fitting.empty()) throw CaseError("there is no RDMA device" + which + known);
  throw CaseError("there is more than one RDMA device" + which + " (" + names_of(fitting) +
                  "): name one by the option device");
}

}  // namespace

std::vector<GidEntry> read_gids(const std::string& device, int hca_port) {
  const std::string folder = port_folder(device, hca_port);
  std::vector<GidEntry> gids;
  for (int index = 0; index < kMostGids; ++index) {
    const std::string gid = first_line(folder + "gids/" + std::to_string(index));
    if (is_zero(gid)) continue;
    gids.push_back({index, first_line(folder + "gid_attrs/types/" + std::to_string(index)),
                    first_line(folder + "gid_attrs/ndevs/" + std::to_string(index)),
                    gid.rfind("0000:0000:0000:0000:0000:ffff:", 0) == 0});
  }
  return gids;
}

GidEntry choose_gid(const std::vector<GidEntry>& gids, const std::string& interface,
                    const std::string& where) {
  const auto merit = [](const GidEntry& gid) {
    return (gid.type == "RoCE v2" ? 2 : 0) + (gid.is_ipv4 ? 1 : 0);
  };
  const GidEntry* best = nullptr;
  for (const GidEntry& gid : gids) {
    if (!interface.empty() && !gid.interface.empty() && gid.interface != interface) continue;
    if (best == nullptr || merit(gid) > merit(*best)) best = &gid;
  }
  if (best == nullptr) {
    throw CaseError(where + " has no GID" + (interface.empty() ? "" : " of " + interface) +
                    ": give the interface an address and set it up");
  }
  return *best;
}

PortChoice choose_port(const VerbsLibrary& library, const VerbsOptions& options,
                       const std::string& interface) {
  const Candidate device = choose_device(list_devices(library), options, interface);
  PortChoice choice;
  choice.device = device.name;
  choice.hca_port = options.hca_port.value_or(1);
  choice.is_iwarp = device.is_iwarp;
  const std::string folder = port_folder(device.name, choice.hca_port);
  const std::string where = "port " + std::to_string(choice.hca_port) + " of " + device.name;
  const std::string state = first_line(folder + "state");
  if (state.empty()) throw CaseError("there is no " + where);
  if (!is_active(device.name, choice.hca_port)) {
    throw CaseError(where + " is not active but '" + state + "': set its interface up");
  }
  choice.is_infiniband = first_line(folder + "link_layer") == "InfiniBand";
  const std::vector<GidEntry> gids = read_gids(device.name, choice.hca_port);
  if (options.gid_index) {
    const auto found = std::find_if(gids.begin(), gids.end(), [&](const GidEntry& gid) {
      return gid.index == *options.gid_index;
    });
    if (found == gids.end()) {
      throw CaseError(where + " has no GID " + std::to_string(*options.gid_index));
    }
    choice.gid_index = found->index;
    choice.gid_type = found->type;
    choice.reason = "the case asks for it";
  } else if (!device.is_iwarp && !choice.is_infiniband) {
    const GidEntry gid = choose_gid(gids, interface, where);
    choice.gid_index = gid.index;
    choice.gid_type = gid.type;
    choice.reason = "RoCE v2 before v1, IPv4 before IPv6" +
                    (interface.empty() ? std::string() : ", of " + interface);
  } else {
    choice.reason = "the first";
  }
  return choice;
}

}  // namespace fabriscope

#endif

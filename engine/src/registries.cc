#include "fabriscope/benchmark.h"
#include "fabriscope/rendezvous.h"
#include "fabriscope/transport.h"

namespace fabriscope {

// Inside functions, so that they stand before the first plug-in registers.
TransportRegistry& transport_registry() {
  static TransportRegistry registry("transport");
  return registry;
}

BenchmarkRegistry& benchmark_registry() {
  static BenchmarkRegistry registry("benchmark");
  return registry;
}

RendezvousRegistry& rendezvous_registry() {
  static RendezvousRegistry registry("rendezvous");
  return registry;
}

void refuse_options(const std::string& transport_name, const OptionSet& options) {
  if (options.empty()) return;
  throw CaseError("the " + transport_name + " transport takes no option '" +
                  options.begin()->first + "'");
}

}  // namespace fabriscope

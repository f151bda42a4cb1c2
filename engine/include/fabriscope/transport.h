// What carries the bytes under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fabriscope/fields.h"
#include "fabriscope/registry.h"
#include "fabriscope/rendezvous.h"

namespace fabriscope {

class RemoteMemory;

// Options asked of one endpoint, by name. What is absent is left at the system's default.
using OptionSet = std::map<std::string, std::string>;

// The connection to one peer with one set of options. Everything here but the set-up calls runs
// in the timed region: no allocation, no system call that the transfer does not need. A transfer
// that cannot be completed throws RunError.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  // Return when the buffer may be used again, and when the whole message has arrived.
  virtual void send(const void* data, std::size_t size_bytes) = 0;
  virtual void recv(void* data, std::size_t size_bytes) = 0;

  // Set-up: room for this many requests of each direction before the next wait_all().
  virtual void reserve(std::size_t request_count) = 0;
  // Requests complete in wait_all(); both directions make progress there.
  virtual void post_send(const void* data, std::size_t size_bytes) = 0;
  virtual void post_recv(void* data, std::size_t size_bytes) = 0;
  virtual void wait_all() = 0;
  // For a rank with several endpoints: comes further without waiting, and is true once nothing is
  // left that wait_all() would wait for.
  virtual bool test_all() {
    wait_all();
    return true;
  }
  // How much has come of what test_all() has found not to be complete; -1: it cannot tell.
  virtual std::int64_t partly_arrived_bytes() const { return -1; }
  // What can be polled for reading until test_all() may come further; -1: nothing, look again.
  virtual int readable_fd() { return -1; }

  // Set-up: messages will come from and go to this memory, until it is released. Other memory is
  // good for messages of up to 64 bytes.
  virtual void use_memory(void* /*data*/, std::size_t /*size_bytes*/) {}
  virtual void release_memory(void* /*data*/) {}
  // The next `count` receives that are not asked for yet will be of such a message: a transport
  // whose receives must stand ready before the message comes makes them so. They are asked for by
  // recv() or post_recv() all the same, and in this order.
  virtual void expect(void* /*data*/, std::size_t /*size_bytes*/, std::size_t /*count*/) {}

  virtual std::size_t maximum_message_bytes() const {
    return std::numeric_limits<std::size_t>::max();
  }
  // Null where the transport cannot work on the peer's memory.
  virtual RemoteMemory* remote_memory() { return nullptr; }

  // What the system made of the options, as it says itself.
  virtual Fields effective_options() const { return {}; }
};

struct TransportCapabilities {
  bool carries_payload = true;  // false: nothing arrives, so nothing can be verified
  std::size_t minimum_message_bytes = 0;
  bool has_group_operations = false;  // of the library, for all ranks at once: kGroup benchmarks
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual TransportCapabilities capabilities() const { return {}; }
  virtual std::optional<std::string> library_version() const { return std::nullopt; }

  // Called by all ranks at once, each with its own peer. A rank whose peer is -1 has none: it takes
  // part and gets null or an endpoint that nobody uses. Throws CaseError, at all ranks, for an
  // option that this transport or this system cannot take.
  virtual std::unique_ptr<Endpoint> open(Rendezvous& rendezvous, int peer,
                                         const OptionSet& options) = 0;

  virtual std::int64_t rejected_connection_count() const { return 0; }
};

// Throws CaseError unless `options` is empty: for transports that take none.
void refuse_options(const std::string& transport_name, const OptionSet& options);

using TransportRegistry = Registry<Transport, const Settings&>;
TransportRegistry& transport_registry();

}  // namespace fabriscope

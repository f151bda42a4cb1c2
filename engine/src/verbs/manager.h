// Connecting by librdmacm, which iWARP cannot do without.
#pragma once

#include "library.h"

#ifdef FABRISCOPE_WITH_VERBS

#include <functional>
#include <memory>
#include <string>

namespace fabriscope {

// One end of a managed connection. What fails throws CaseError or std::system_error.
class ManagedId {
 public:
  virtual ~ManagedId() = default;

  // Listens at the address; returns it with its port.
  virtual std::string listen(const std::string& address) = 0;
  // Waits for the one that knows the secret. `prepare` is told the device as soon as it is known.
  virtual void accept(const std::string& secret, const std::function<void()>& prepare) = 0;
  virtual void connect(const std::string& own_address, const std::string& peer_address,
                       const std::string& secret, const std::function<void()>& prepare) = 0;
  // From `prepare` on.
  virtual ibv_context* context() const = 0;
  virtual ibv_qp* create_queue_pair(ibv_pd* pd, ibv_qp_init_attr& attributes) = 0;
  virtual void destroy_queue_pair() = 0;

  // How many reads and atomics may be under way.
  static constexpr int kReadsAtOnce = 8;
};

// Throws CaseError where the engine was built without librdmacm's headers.
std::unique_ptr<ManagedId> make_managed_id();

}  // namespace fabriscope

#endif

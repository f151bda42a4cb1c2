// libibverbs and librdmacm, loaded when they are first needed: their headers come with us
// (engine/third_party), and the engine runs without the libraries and then says so.
#pragma once

#ifndef FABRISCOPE_WITHOUT_VERBS
#define FABRISCOPE_WITH_VERBS 1

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <memory>
#include <string>

namespace fabriscope {

// X(member, name of the function)
#define FABRISCOPE_VERBS_CALLS(X)              \
  X(get_device_list, ibv_get_device_list)      \
  X(free_device_list, ibv_free_device_list)    \
  X(get_device_name, ibv_get_device_name)      \
  X(open_device, ibv_open_device)              \
  X(close_device, ibv_close_device)            \
  X(query_device, ibv_query_device)            \
  X(query_port, ibv_query_port)                \
  X(query_gid, ibv_query_gid)                  \
  X(alloc_pd, ibv_alloc_pd)                    \
  X(dealloc_pd, ibv_dealloc_pd)                \
  X(reg_mr, ibv_reg_mr)                        \
  X(dereg_mr, ibv_dereg_mr)                    \
  X(create_channel, ibv_create_comp_channel)   \
  X(destroy_channel, ibv_destroy_comp_channel) \
  X(create_cq, ibv_create_cq)                  \
  X(destroy_cq, ibv_destroy_cq)                \
  X(get_cq_event, ibv_get_cq_event)            \
  X(ack_cq_events, ibv_ack_cq_events)          \
  X(create_qp, ibv_create_qp)                  \
  X(modify_qp, ibv_modify_qp)                  \
  X(query_qp, ibv_query_qp)                    \
  X(destroy_qp, ibv_destroy_qp)                \
  X(status_text, ibv_wc_status_str)

struct VerbsLibrary {
// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares
#define FABRISCOPE_DECLARE(member, name) decltype(&::name) member = nullptr;
  FABRISCOPE_VERBS_CALLS(FABRISCOPE_DECLARE)

  // Throws CaseError with the linker's own words.
  static VerbsLibrary load(const std::string& file);
  // Loaded once and never unloaded.
  static const VerbsLibrary& get();
};

// Connects where a device cannot be connected by hand: iWARP.
#define FABRISCOPE_RDMA_CM_CALLS(X)                    \
  X(create_event_channel, rdma_create_event_channel)   \
  X(destroy_event_channel, rdma_destroy_event_channel) \
  X(create_id, rdma_create_id)                         \
  X(destroy_id, rdma_destroy_id)                       \
  X(bind_addr, rdma_bind_addr)                         \
  X(resolve_addr, rdma_resolve_addr)                   \
  X(resolve_route, rdma_resolve_route)                 \
  X(listen, rdma_listen)                               \
  X(get_src_port, rdma_get_src_port)                   \
  X(create_qp, rdma_create_qp)                         \
  X(destroy_qp, rdma_destroy_qp)                       \
  X(connect, rdma_connect)                             \
  X(accept, rdma_accept)                               \
  X(reject, rdma_reject)                               \
  X(disconnect, rdma_disconnect)                       \
  X(get_cm_event, rdma_get_cm_event)                   \
  X(ack_cm_event, rdma_ack_cm_event)                   \
  X(event_text, rdma_event_str)

struct RdmaCmLibrary {
  FABRISCOPE_RDMA_CM_CALLS(FABRISCOPE_DECLARE)

  static const RdmaCmLibrary& get();
};

#undef FABRISCOPE_DECLARE

// Something of the library's, given back by its own function.
template <typename Thing>
using Held = std::unique_ptr<Thing, int (*)(Thing*)>;

}  // namespace fabriscope

#endif

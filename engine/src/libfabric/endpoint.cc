#include "endpoint.h"

#ifdef FABRISCOPE_WITH_LIBFABRIC

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "../transports/backoff.h"
#include "fabriscope/error.h"
#include "signals.h"

namespace fabriscope {
namespace {

constexpr std::uint32_t kApiVersion = FI_VERSION(1, 9);
constexpr std::size_t kSlotBytes = 64;  // what Endpoint::use_memory allows of other memory
constexpr std::size_t kLeastRequests = 4;
constexpr std::size_t kLongestAddressBytes = 512;
constexpr std::chrono::seconds kGreetingLimit{10};

std::string hex_of(const unsigned char* bytes, std::size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4U];
    text += kDigits[bytes[i] & 15U];
  }
  return text;
}

std::vector<unsigned char> bytes_of(const std::string& hex) {
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<unsigned char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// Those whose endpoints are reached by an IP address, and take the one that they are given.
bool is_reached_by_ip(const std::string& provider) {
  const std::string core = provider.substr(0, provider.find(';'));
  return core == "tcp" || core == "net" || core == "sockets" || core == "udp" || core == "verbs";
}

}  // namespace

LibfabricEndpoint::LibfabricEndpoint(const LibfabricOptions& options,
                                     const std::string& data_address)
    : library_(LibfabricLibrary::get()),
      info_(find(options, data_address)),
      registers_(options.registers_always || (info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0) {
  open();
  grow(kLeastRequests);
}

// ---- set-up

LibfabricEndpoint::Info LibfabricEndpoint::find(const LibfabricOptions& options,
                                                const std::string& data_address) const {
  const Info hints(library_.duplicate_info(nullptr), library_.free_info);
  if (!hints) throw CaseError("libfabric has no memory");
  hints->caps = FI_TAGGED;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_ENDPOINT;
  hints->fabric_attr->prov_name = ::strdup(options.provider.c_str());
  const bool by_ip = is_reached_by_ip(options.provider) && !data_address.empty();
  const KeptSignals kept;
  fi_info* found = nullptr;
  const int status = library_.get_info(kApiVersion, by_ip ? data_address.c_str() : nullptr, nullptr,
                                       by_ip ? FI_SOURCE : 0, hints.get(), &found);
  if (status != 0 || found == nullptr) {
    throw CaseError("libfabric's provider '" + options.provider + "' offers no reliable datagrams" +
                    (by_ip ? " at " + data_address : std::string()) + ": " +
                    library_.error_text(-status) + " (`fi_info -p " + options.provider +
                    " -t FI_EP_RDM` lists what there is)");
  }
  return {found, library_.free_info};
}

void LibfabricEndpoint::open() {
  const KeptSignals kept;
  fid_fabric* fabric = nullptr;
  require(library_.open_fabric(info_->fabric_attr, &fabric, nullptr), "open the fabric");
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  require(fi_domain(fabric, info_.get(), &domain, nullptr), "open the domain");
  domain_.reset(domain);
  fi_av_attr address_attributes{};
  address_attributes.type = info_->domain_attr->av_type;
  fid_av* addresses = nullptr;
  require(fi_av_open(domain, &address_attributes, &addresses, nullptr), "make an address vector");
  addresses_.reset(addresses);
  fi_cq_attr attributes{};
  attributes.size = info_->tx_attr->size + info_->rx_attr->size;
  attributes.format = FI_CQ_FORMAT_MSG;
  attributes.wait_obj = FI_WAIT_NONE;
  fid_cq* completions = nullptr;
  require(fi_cq_open(domain, &attributes, &completions, nullptr), "make a completion queue");
  completions_.reset(completions);
  fid_ep* endpoint = nullptr;
  require(fi_endpoint(domain, info_.get(), &endpoint, nullptr), "make an endpoint");
  endpoint_.reset(endpoint);
  require(fi_ep_bind(endpoint, &addresses->fid, 0), "bind the address vector");
  require(fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV), "bind the queue");
  require(fi_enable(endpoint), "enable the endpoint");
}

std::string LibfabricEndpoint::address() const {
  std::array<unsigned char, kLongestAddressBytes> bytes{};
  std::size_t size_bytes = bytes.size();
  require(fi_getname(&endpoint_->fid, bytes.data(), &size_bytes), "ask for the own address");
  return hex_of(bytes.data(), size_bytes);
}

void LibfabricEndpoint::aim(const std::string& peers_address, std::uint64_t tag) {
  const std::vector<unsigned char> bytes = bytes_of(peers_address);
  if (fi_av_insert(addresses_.get(), bytes.data(), 1, &peer_, 0, nullptr) != 1) {
    throw CaseError("libfabric's provider " + std::string(info_->fabric_attr->prov_name) +
                    " does not take the peer's address (another host?)");
  }
  tag_ = tag;
}

void LibfabricEndpoint::greet(bool speaks_first) {
  const auto deadline = std::chrono::steady_clock::now() + kGreetingLimit;
  std::array<unsigned char, 1> said{};
  std::array<unsigned char, 1> heard{};
  const auto pass = [&](Queue& queue, unsigned char* data) {
    ask(queue, data, 1);
    wait_until([&] {
      if (queue.is_done()) return true;
      if (std::chrono::steady_clock::now() < deadline) return false;
      throw CaseError("the peer cannot be reached by libfabric's provider " +
                      std::string(info_->fabric_attr->prov_name) + ": no message passed in 10 s");
    });
  };
  if (!speaks_first) pass(receives_, heard.data());
  pass(sends_, said.data());
  if (speaks_first) pass(receives_, heard.data());
}

void LibfabricEndpoint::reserve(std::size_t request_count) {
  grow(std::max(request_count + 1, kLeastRequests));
}

// While nothing is under way.
void LibfabricEndpoint::grow(std::size_t request_count) {
  if (request_count <= sends_.requests.size()) return;
  if (registers_) {
    release_memory(slots_.data());
    slots_.assign(2 * request_count * kSlotBytes, 0);
    use_memory(slots_.data(), slots_.size());
  }
  unsigned char* slot = slots_.data();
  for (Queue* queue : {&sends_, &receives_}) {
    queue->requests.assign(request_count, Request{});
    for (Request& request : queue->requests) {
      request.receives = queue == &receives_;
      if (!registers_) continue;
      request.slot = slot;
      slot += kSlotBytes;
    }
  }
}

void LibfabricEndpoint::use_memory(void* data, std::size_t size_bytes) {
  if (!registers_ || size_bytes == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  for (Region& region : regions_) {
    if (region.begin == begin && region.end >= begin + size_bytes) {
      ++region.uses;
      return;
    }
  }
  regions_.push_back({begin, begin + size_bytes, registered(data, size_bytes), 1});
}

void LibfabricEndpoint::release_memory(void* data) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const auto found = std::find_if(regions_.begin(), regions_.end(),
                                  [begin](const Region& region) { return region.begin == begin; });
  if (found != regions_.end() && --found->uses == 0) regions_.erase(found);
}

FabricObject<fid_mr> LibfabricEndpoint::registered(void* data, std::size_t size_bytes) {
  const std::string what = "register " + std::to_string(size_bytes) + " bytes of memory";
  fid_mr* memory = nullptr;
  require(fi_mr_reg(domain_.get(), data, size_bytes, FI_SEND | FI_RECV, 0, next_key_++, 0, &memory,
                    nullptr),
          what);
  FabricObject<fid_mr> held(memory);
  if ((info_->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
    require(fi_mr_bind(memory, &endpoint_->fid, 0), what);
    require(fi_mr_enable(memory), what);
  }
  return held;
}

void LibfabricEndpoint::require(int status, const std::string& attempted) const {
  if (status >= 0) return;
  throw CaseError("cannot " + attempted + " of libfabric's provider " +
                  info_->fabric_attr->prov_name + ": " + library_.error_text(-status));
}

Fields LibfabricEndpoint::effective_options() const {
  return {{"provider", std::string(info_->fabric_attr->prov_name)},
          {"fabric", std::string(info_->fabric_attr->name)},
          {"domain", std::string(info_->domain_attr->name)},
          {"registers_memory", static_cast<std::int64_t>(registers_)},
          {"transmit_queue_depth", static_cast<std::int64_t>(info_->tx_attr->size)},
          {"receive_queue_depth", static_cast<std::int64_t>(info_->rx_attr->size)}};
}

// ---- messages

void LibfabricEndpoint::send(const void* data, std::size_t size_bytes) {
  ask(sends_, const_cast<void*>(data), size_bytes);
  wait_until([this] { return sends_.is_done(); });
}

void LibfabricEndpoint::recv(void* data, std::size_t size_bytes) {
  ask(receives_, data, size_bytes);
  wait_until([this] { return receives_.is_done(); });
}

void LibfabricEndpoint::post_send(const void* data, std::size_t size_bytes) {
  ask(sends_, const_cast<void*>(data), size_bytes);
}

void LibfabricEndpoint::post_recv(void* data, std::size_t size_bytes) {
  ask(receives_, data, size_bytes);
}

void LibfabricEndpoint::wait_all() {
  wait_until([this] { return sends_.is_done() && receives_.is_done(); });
}

bool LibfabricEndpoint::test_all() {
  do {
    pump();
  } while (progress());
  return sends_.is_done() && receives_.is_done();
}

template <typename Condition>
void LibfabricEndpoint::wait_until(Condition condition) {
  Backoff backoff;
  while (!condition()) {
    pump();
    if (progress()) {
      backoff = Backoff();
    } else {
      backoff.wait();
    }
  }
}

void LibfabricEndpoint::ask(Queue& queue, void* data, std::size_t size_bytes) {
  if (queue.is_done()) queue.asked = queue.posted = queue.done = 0;
  if (queue.asked == queue.requests.size()) {
    throw RunError("more messages are under way than there is room for");
  }
  Request& request = queue.requests[queue.asked];
  request.data = data;
  request.size_bytes = size_bytes;
  if (registers_) find_descriptor(request);
  ++queue.asked;
  pump();
}

// Memory that nobody has announced is copied through the request's slot.
void LibfabricEndpoint::find_descriptor(Request& request) {
  const Region* region = region_of(request.data, request.size_bytes);
  request.is_in_slot = region == nullptr;
  if (region == nullptr) {
    if (request.size_bytes > kSlotBytes) {
      throw RunError("the memory of a message of " + std::to_string(request.size_bytes) +
                     " bytes is not known to the libfabric transport");
    }
    region = region_of(request.slot, kSlotBytes);
    if (!request.receives) std::memcpy(request.slot, request.data, request.size_bytes);
  }
  request.descriptor = fi_mr_desc(region->memory.get());
}

const LibfabricEndpoint::Region* LibfabricEndpoint::region_of(const void* data,
                                                              std::size_t size_bytes) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  for (const Region& region : regions_) {
    if (begin >= region.begin && begin + size_bytes <= region.end) return &region;
  }
  return nullptr;
}

// As much as the provider has room for: receives first, so that what comes finds its place.
void LibfabricEndpoint::pump() {
  for (Queue* queue : {&receives_, &sends_}) {
    while (queue->posted < queue->asked && post(queue->requests[queue->posted])) ++queue->posted;
  }
}

// False where the provider has no room.
bool LibfabricEndpoint::post(Request& request) {
  void* data = request.is_in_slot ? request.slot : request.data;
  const ssize_t status =
      request.receives ? fi_trecv(endpoint_.get(), data, request.size_bytes, request.descriptor,
                                  FI_ADDR_UNSPEC, tag_, 0, &request.context)
                       : fi_tsend(endpoint_.get(), data, request.size_bytes, request.descriptor,
                                  peer_, tag_, &request.context);
  if (status == -FI_EAGAIN) return false;
  if (status < 0) fail("a message cannot be posted", static_cast<int>(-status));
  return true;
}

// ---- completions

// Whether anything was complete.
bool LibfabricEndpoint::progress() {
  std::array<fi_cq_msg_entry, 16> entries;
  const ssize_t count = fi_cq_read(completions_.get(), entries.data(), entries.size());
  if (count == -FI_EAGAIN) return false;
  if (count == -FI_EAVAIL) fail_completion();
  if (count < 0) fail("the completion queue cannot be read", static_cast<int>(-count));
  for (ssize_t i = 0; i < count; ++i) complete(entries[static_cast<std::size_t>(i)]);
  return count > 0;
}

void LibfabricEndpoint::complete(const fi_cq_msg_entry& entry) {
  const Request& request = *static_cast<const Request*>(entry.op_context);
  if (!request.receives) {
    ++sends_.done;
    return;
  }
  if (entry.len != request.size_bytes) {
    throw RunError("a message of " + std::to_string(entry.len) + " bytes came where one of " +
                   std::to_string(request.size_bytes) + " was expected");
  }
  if (request.is_in_slot) std::memcpy(request.data, request.slot, request.size_bytes);
  ++receives_.done;
}

void LibfabricEndpoint::fail_completion() const {
  fi_cq_err_entry error{};
  const ssize_t count = fi_cq_readerr(completions_.get(), &error, 0);
  fail("a transfer failed", count == 1 ? error.err : static_cast<int>(-count));
}

void LibfabricEndpoint::fail(const std::string& what, int error) const {
  throw RunError(what + " by libfabric's provider " + info_->fabric_attr->prov_name + ": " +
                 library_.error_text(error));
}

}  // namespace fabriscope

#endif

#include "rdma.h"

#include <vector>

#include "fabriscope/error.h"

namespace fabriscope {
namespace {

// Before the words of a rank that cannot; other words are numbers.
constexpr char kRefusal = '!';

}  // namespace

// All ranks exchange words whatever happens, so that they stay in step.
void Rdma::prepare(const BenchmarkContext& context) {
  std::string words;
  if (context.endpoint != nullptr) {
    RemoteMemory* remote = context.endpoint->remote_memory();
    try {
      if (remote == nullptr) {
        throw CaseError(
            "this transport cannot work on the peer's memory: take the transport verbs");
      }
      if (const std::string reason = refusal(context, *remote); !reason.empty()) {
        throw CaseError(reason);
      }
      words = remote->expose(context.receive_buffer,
                             buffer_bytes(context.message_size_bytes, context.rank_count));
    } catch (const CaseError& error) {
      words = kRefusal + std::string(error.what());
    }
  }
  const std::vector<std::string> all = context.rendezvous.exchange(words);
  for (const std::string& text : all) {
    if (!text.empty() && text.front() == kRefusal) throw CaseError(text.substr(1));
  }
  if (context.peer >= 0) peers_words_ = all[static_cast<std::size_t>(context.peer)];
}

RemoteMemory& Rdma::aimed(const BenchmarkContext& context) const {
  RemoteMemory& remote = *context.endpoint->remote_memory();
  remote.aim(peers_words_);
  return remote;
}

void Rdma::tell(Endpoint& endpoint) {
  const unsigned char byte = 1;
  endpoint.send(&byte, sizeof byte);
}

void Rdma::hear(Endpoint& endpoint) {
  unsigned char byte = 0;
  endpoint.recv(&byte, sizeof byte);
}

}  // namespace fabriscope

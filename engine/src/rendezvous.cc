#include "fabriscope/rendezvous.h"

#include <cstddef>
#include <cstring>

namespace fabriscope {
namespace {

// Texts one after the other, each behind its length: so any bytes may be in them.
std::string pack(const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) packed += std::to_string(text.size()) + ":" + text;
  return packed;
}

std::vector<std::string> unpack(const std::string& packed) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < packed.size();) {
    const std::size_t colon = packed.find(':', at);
    const std::size_t length = std::stoul(packed.substr(at, colon - at));
    texts.push_back(packed.substr(colon + 1, length));
    at = colon + 1 + length;
  }
  return texts;
}

}  // namespace

std::vector<std::string> Rendezvous::exchange(const std::string& text) {
  const std::vector<std::string> texts = gather(text);
  return unpack(broadcast(rank() == 0 ? pack(texts) : std::string()));
}

std::vector<std::string> agree(Rendezvous& rendezvous, const std::function<std::string()>& step) {
  std::string mine;
  try {
    mine = "+" + step();
  } catch (const CaseError& error) {
    mine = std::string("-") + error.what();
  } catch (const std::system_error& error) {
    mine = std::string("-") + error.what();
  }
  std::vector<std::string> texts = rendezvous.exchange(mine);
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank][0] != '+') {
      throw CaseError("rank " + std::to_string(rank) + ": " + texts[rank].substr(1));
    }
    texts[rank].erase(0, 1);
  }
  return texts;
}

}  // namespace fabriscope

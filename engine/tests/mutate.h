// Text changed at random, the same for the same seed: for tests of what reads foreign text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace fabriscope::test {

// FABRISCOPE_FUZZ_COUNT, or what a test does by itself.
inline std::uint64_t fuzz_count(std::uint64_t unless_set) {
  const char* text = std::getenv("FABRISCOPE_FUZZ_COUNT");
  return text == nullptr ? unless_set : std::strtoull(text, nullptr, 10);
}

// The files of a folder: inputs that once found something.
inline std::vector<std::string> corpus(const std::string& folder) {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

class Mutator {
 public:
  Mutator(std::uint64_t seed, std::vector<std::string> texts)
      : draw_(seed), texts_(std::move(texts)) {}

  std::string next() {
    std::string text = texts_[below(texts_.size())];
    for (std::size_t left = 1 + below(4); left > 0; --left) change(text);
    return text;
  }
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : draw_() % limit; }

 private:
  void change(std::string& text) {
    static const std::vector<std::string> kPieces{"-1",
                                                  "+5",
                                                  " 12",
                                                  "0x10",
                                                  "1e3",
                                                  "1e3x",
                                                  "9223372036854775807",
                                                  "9223372036854775808",
                                                  "18446744073709551616",
                                                  "1000000000000000000",
                                                  "00",
                                                  "-0",
                                                  "nan",
                                                  "inf",
                                                  "=",
                                                  ",",
                                                  "#",
                                                  "\n",
                                                  "\r\n",
                                                  std::string(1, '\0'),
                                                  "\xff\xfe",
                                                  "\"",
                                                  "\\",
                                                  "{}",
                                                  "%s%n",
                                                  "end\n",
                                                  "x"};
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min<std::size_t>(below(12), text.size() - at);
    switch (below(7)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, kPieces[below(kPieces.size())]);
        break;
      case 2:
        text.replace(at, length, kPieces[below(kPieces.size())]);
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(draw_() & 255U);
        break;
      case 4:
        text.insert(at, text.substr(at, length));
        break;
      case 5:
        text.resize(at);
        break;
      default: {
        const std::string& other = texts_[below(texts_.size())];
        text.insert(at, other.substr(below(other.size()), below(60)));
      }
    }
  }

  std::mt19937_64 draw_;
  std::vector<std::string> texts_;
};

}  // namespace fabriscope::test

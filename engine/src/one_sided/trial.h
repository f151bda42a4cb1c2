// What a check moves, and what must come of it: both ranks know it from the seed alone.
#pragma once

#ifdef FABRISCOPE_WITH_MPI

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "one_sided_case.h"

namespace fabriscope {

class Trial {
 public:
  // `target`: the rank whose memory must not stay as it is. `is_expected`: compare_and_swap finds
  // what it compares with.
  Trial(const OneSidedCase& its_case, std::uint64_t seed, int target, bool is_expected);

  // What stands in a rank's memory before, and what it sends.
  void before(unsigned char* out, int rank, std::size_t message) const;
  void sent(unsigned char* out, int rank) const;
  void comparison(unsigned char* out, int target) const;
  // What stands in the target's memory afterwards.
  void after(unsigned char* out, int target, std::size_t message) const;
  // Nothing of what should come back to an origin.
  void spoil(unsigned char* result, int target) const;

  // What is wrong with the target's memory, and with what came back to its peer; or nothing.
  std::optional<std::string> wrong_memory(const unsigned char* memory, int target) const;
  std::optional<std::string> wrong_result(const unsigned char* result, int target) const;

 private:
  TestValues values() const;
  bool changes(int target) const;
  std::optional<std::string> difference(const unsigned char* found, const unsigned char* expected,
                                        std::size_t message, const std::string& where) const;

  const OneSidedCase& case_;
  std::uint64_t seed_;
  bool is_expected_;
};

}  // namespace fabriscope

#endif

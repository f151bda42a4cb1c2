// The ranks' exchange between the two halves of FT's transform: planes of z with all of x and y,
// and rows of y with all of z.
#pragma once

#include <cstddef>
#include <vector>

#include "kernel.h"

namespace fabriscope::npb {

struct Complex {
  double real;
  double imaginary;
};

struct FtSizes {
  int x, y, z;
};

class Transpose {
 public:
  Transpose(Run& run, const FtSizes& sizes);

  // This rank's planes, and its rows of y.
  const Share& planes() const { return planes_; }
  const Share& rows() const { return rows_; }

  // Where a row of x begins in what is sent: [rank][my z][its y][x]. With one rank: [z][y][x].
  std::size_t row_at(std::size_t z, std::size_t y) const;

  // From that order to [z][my y][x], and back. There is more than one rank.
  void forward(const Complex* from, Complex* to);
  void back(const Complex* from, Complex* to);

 private:
  // What this rank has for each other, in units of one x.
  struct Parts {
    std::vector<int> counts, places;
  };
  void exchange(const Complex* from, const Parts& sent, Complex* to, const Parts& received);

  Run& run_;
  std::size_t x_;
  Share planes_, rows_;
  std::vector<Share> rows_of_;       // each rank's
  std::vector<std::size_t> owners_;  // of each y
  Parts by_rank_, by_plane_;
  bool is_even_;
  Phase& phase_;
};

}  // namespace fabriscope::npb

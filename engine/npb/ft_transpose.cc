#include "ft_transpose.h"

namespace fabriscope::npb {

Transpose::Transpose(Run& run, const FtSizes& sizes)
    : run_(run),
      x_(static_cast<std::size_t>(sizes.x)),
      planes_(share_of(sizes.z, run.rank_count(), run.rank())),
      rows_(share_of(sizes.y, run.rank_count(), run.rank())),
      is_even_(sizes.z % run.rank_count() == 0 && sizes.y % run.rank_count() == 0),
      phase_(run.add_phase("transpose", is_even_ ? "alltoall" : "alltoallv")) {
  const std::int64_t x = sizes.x;
  for (int rank = 0; rank < run.rank_count(); ++rank) {
    const Share planes = share_of(sizes.z, run.rank_count(), rank);
    const Share rows = share_of(sizes.y, run.rank_count(), rank);
    rows_of_.push_back(rows);
    owners_.insert(owners_.end(), static_cast<std::size_t>(rows.count),
                   static_cast<std::size_t>(rank));
    by_rank_.counts.push_back(static_cast<int>(planes_.count * rows.count * x));
    by_rank_.places.push_back(static_cast<int>(planes_.count * rows.begin * x));
    by_plane_.counts.push_back(static_cast<int>(planes.count * rows_.count * x));
    by_plane_.places.push_back(static_cast<int>(planes.begin * rows_.count * x));
  }
}

std::size_t Transpose::row_at(std::size_t z, std::size_t y) const {
  const Share& rows = rows_of_[owners_[y]];
  const auto before = static_cast<std::size_t>(rows.begin * planes_.count);
  const auto first = static_cast<std::size_t>(rows.begin);
  return (before + z * static_cast<std::size_t>(rows.count) + y - first) * x_;
}

void Transpose::forward(const Complex* from, Complex* to) {
  exchange(from, by_rank_, to, by_plane_);
}

void Transpose::back(const Complex* from, Complex* to) { exchange(from, by_plane_, to, by_rank_); }

void Transpose::exchange(const Complex* from, const Parts& sent, Complex* to,
                         const Parts& received) {
  std::int64_t count = -sent.counts[static_cast<std::size_t>(run_.rank())];
  for (const int each : sent.counts) count += each;
  phase_.time(count * std::int64_t{sizeof(Complex)}, [&] {
    if (is_even_) {
      MPI_Alltoall(from, sent.counts[0], MPI_C_DOUBLE_COMPLEX, to, received.counts[0],
                   MPI_C_DOUBLE_COMPLEX, run_.communicator());
    } else {
      MPI_Alltoallv(from, sent.counts.data(), sent.places.data(), MPI_C_DOUBLE_COMPLEX, to,
                    received.counts.data(), received.places.data(), MPI_C_DOUBLE_COMPLEX,
                    run_.communicator());
    }
  });
}

}  // namespace fabriscope::npb

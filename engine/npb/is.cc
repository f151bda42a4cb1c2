// IS: ranks of integer keys. Keys are sent to the rank that has their range; that counts them.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "is_classes.h"
#include "kernel.h"
#include "random.h"

namespace fabriscope::npb {
namespace {

constexpr std::uint64_t kSeed = 314159265;
constexpr int kNumbersPerKey = 4;
// Of class D: beyond it the keys of a rank are more than MPI's counts hold.
constexpr int kLeastRanksOfD = 4;

// One rank's keys, and the steps of ranking them.
class Ranking {
 public:
  explicit Ranking(Run& run);

  void change_keys(int iteration);
  void rank(int iteration);
  void reset() { computed_.fill({}); }
  void check(Run& run);

 private:
  using Key = std::int32_t;
  using Tests = std::array<std::int64_t, kIsTests>;

  void make_keys();
  void damage();
  void count_buckets();
  void share_out_buckets();
  void sort_by_bucket();
  void exchange();
  void count_keys();
  void note_tests(int iteration);
  double count_disorder();

  const Run& run_;
  const IsClass& sizes_;
  std::size_t ranks_;
  Share mine_;
  int bucket_shift_;
  Phase& bucket_phase_;
  Phase& count_phase_;
  Phase& key_phase_;
  std::vector<Key> keys_;
  std::vector<Key> sorted_;    // by bucket, so that counting a bucket's keys stays in a cache
  std::vector<Key> received_;  // those of this rank's range
  const Key* ranged_ = nullptr;
  std::size_t ranged_count_ = 0;
  std::vector<std::int32_t> local_buckets_;
  std::vector<std::int32_t> buckets_;  // of all ranks, and behind them the tests' keys
  std::vector<std::int32_t> places_;   // of each bucket in sorted_
  std::vector<int> send_counts_, send_places_, receive_counts_, receive_places_;
  std::int64_t first_key_ = 0;
  std::int64_t key_count_ = 0;       // keys that are possible in this rank's range
  std::int64_t lesser_ = 0;          // keys in ranges below
  std::vector<std::int32_t> up_to_;  // how many of this range's keys are no greater
  std::array<Tests, kIsIterations + 1> computed_{};
};

Ranking::Ranking(Run& run)
    : run_(run),
      sizes_(kIsClasses[run.problem_class()]),
      ranks_(static_cast<std::size_t>(run.rank_count())),
      mine_(share_of(std::int64_t{1} << sizes_.log_keys, run.rank_count(), run.rank())),
      bucket_shift_(sizes_.log_max_key - sizes_.log_buckets),
      bucket_phase_(run.add_phase("bucket_sizes", "allreduce")),
      count_phase_(run.add_phase("key_counts", "alltoall")),
      key_phase_(run.add_phase("keys", "alltoallv")),
      keys_(static_cast<std::size_t>(mine_.count)),
      sorted_(ranks_ > 1 ? keys_.size() : 0),
      local_buckets_(std::size_t{1} << static_cast<unsigned>(sizes_.log_buckets)),
      buckets_(local_buckets_.size() + kIsTests),
      places_(local_buckets_.size()),
      send_counts_(ranks_),
      send_places_(ranks_),
      receive_counts_(ranks_),
      receive_places_(ranks_) {
  make_keys();
  if (run.is_damaged()) damage();
}

void Ranking::make_keys() {
  Random random(kSeed, static_cast<std::uint64_t>(mine_.begin) * kNumbersPerKey);
  const double quarter = static_cast<double>(std::int64_t{1} << (sizes_.log_max_key - 2));
  for (Key& key : keys_) {
    double sum = random.next();
    for (int i = 1; i < kNumbersPerKey; ++i) sum += random.next();
    key = static_cast<Key>(quarter * sum);
  }
}

// A key whose first digit is lost becomes one of the least, below the keys that are looked at.
void Ranking::damage() {
  const std::int64_t max_key = std::int64_t{1} << sizes_.log_max_key;
  std::int64_t first_digit = 1;
  while (first_digit * 10 <= max_key) first_digit *= 10;
  for (std::size_t i = 2 * kIsIterations + 2; i < keys_.size(); ++i) {
    if (keys_[i] < first_digit || keys_[i] % first_digit >= max_key / 256) continue;
    keys_[i] %= static_cast<Key>(first_digit);
    return;
  }
}

void Ranking::change_keys(int iteration) {
  if (run_.rank() != 0) return;
  keys_[static_cast<std::size_t>(iteration)] = iteration;
  keys_[static_cast<std::size_t>(iteration + kIsIterations)] =
      static_cast<Key>((std::int64_t{1} << sizes_.log_max_key) - iteration);
}

void Ranking::rank(int iteration) {
  change_keys(iteration);
  count_buckets();
  share_out_buckets();
  if (ranks_ > 1) {
    sort_by_bucket();
    exchange();
  } else {
    ranged_ = keys_.data();
    ranged_count_ = keys_.size();
  }
  count_keys();
  note_tests(iteration);
}

// With it the ranks learn what the keys of the tests are.
void Ranking::count_buckets() {
  const std::size_t count = local_buckets_.size();
  std::fill(local_buckets_.begin(), local_buckets_.end(), 0);
  if (ranks_ > 1) {
    const int shift = bucket_shift_;
    std::int32_t* const counts = local_buckets_.data();
    for (const Key key : keys_) ++counts[key >> shift];
  }
  std::copy(local_buckets_.begin(), local_buckets_.end(), buckets_.begin());
  for (std::size_t i = 0; i < kIsTests; ++i) {
    const std::int64_t at = sizes_.index[i] - mine_.begin;
    const bool is_mine = at >= 0 && at < mine_.count;
    buckets_[count + i] = is_mine ? keys_[static_cast<std::size_t>(at)] : 0;
  }
  const auto bytes = static_cast<std::int64_t>(buckets_.size() * sizeof(std::int32_t));
  bucket_phase_.time(bytes, [&] {
    MPI_Allreduce(MPI_IN_PLACE, buckets_.data(), static_cast<int>(buckets_.size()), MPI_INT32_T,
                  MPI_SUM, run_.communicator());
  });
}

// Neighbouring buckets to one rank, until it has its share of all keys so far.
void Ranking::share_out_buckets() {
  const std::int64_t total = std::int64_t{1} << sizes_.log_keys;
  std::size_t owner = 0;
  std::int64_t sum = 0;
  const auto me = static_cast<std::size_t>(run_.rank());
  std::size_t first = 0;
  std::size_t end = 0;
  lesser_ = 0;
  std::fill(send_counts_.begin(), send_counts_.end(), 0);
  for (std::size_t bucket = 0; bucket < buckets_.size() - kIsTests; ++bucket) {
    if (owner < me) first = bucket + 1;
    if (owner < me) lesser_ = sum + buckets_[bucket];
    if (owner == me) end = bucket + 1;
    sum += buckets_[bucket];
    send_counts_[owner] += local_buckets_[bucket];
    const auto share =
        total * static_cast<std::int64_t>(owner + 1) / static_cast<std::int64_t>(ranks_);
    if (sum >= share && owner + 1 < ranks_) ++owner;
  }
  end = std::max(end, first);
  first_key_ = static_cast<std::int64_t>(first) << bucket_shift_;
  key_count_ = static_cast<std::int64_t>(end - first) << bucket_shift_;
}

void Ranking::sort_by_bucket() {
  std::exclusive_scan(send_counts_.begin(), send_counts_.end(), send_places_.begin(), 0);
  std::exclusive_scan(local_buckets_.begin(), local_buckets_.end(), places_.begin(), 0);
  const int shift = bucket_shift_;  // a store could have changed a member, but no local
  std::int32_t* const next = places_.data();
  Key* const sorted = sorted_.data();
  const Key* key = keys_.data();
  const Key* const end = key + keys_.size();
  for (; end - key >= 4; key += 4) {  // read before any is written, which could have changed them
    const std::array<Key, 4> four{key[0], key[1], key[2], key[3]};
    for (const Key one : four) sorted[next[one >> shift]++] = one;
  }
  for (; key != end; ++key) sorted[next[*key >> shift]++] = *key;
}

void Ranking::exchange() {
  const auto others = static_cast<std::int64_t>(ranks_) - 1;
  count_phase_.time(others * std::int64_t{sizeof(int)}, [&] {
    MPI_Alltoall(send_counts_.data(), 1, MPI_INT, receive_counts_.data(), 1, MPI_INT,
                 run_.communicator());
  });
  std::exclusive_scan(receive_counts_.begin(), receive_counts_.end(), receive_places_.begin(), 0);
  ranged_count_ = static_cast<std::size_t>(receive_places_.back() + receive_counts_.back());
  if (received_.size() < ranged_count_) received_.resize(ranged_count_ + kIsIterations);
  ranged_ = received_.data();
  const auto own = send_counts_[static_cast<std::size_t>(run_.rank())];
  key_phase_.time((mine_.count - own) * std::int64_t{sizeof(Key)}, [&] {
    MPI_Alltoallv(sorted_.data(), send_counts_.data(), send_places_.data(), MPI_INT32_T,
                  received_.data(), receive_counts_.data(), receive_places_.data(), MPI_INT32_T,
                  run_.communicator());
  });
}

void Ranking::count_keys() {
  up_to_.assign(static_cast<std::size_t>(key_count_), 0);
  std::int32_t* const counts = up_to_.data();
  const auto first = static_cast<Key>(first_key_);
  const Key* const upper = ranged_ + ranged_count_ / 2;  // two at a time seldom wait for one count
  for (std::size_t i = 0; i < ranged_count_ / 2; ++i) {
    ++counts[ranged_[i] - first];
    ++counts[upper[i] - first];
  }
  if (ranged_count_ % 2 != 0) ++counts[ranged_[ranged_count_ - 1] - first];
  std::partial_sum(up_to_.begin(), up_to_.end(), up_to_.begin());
}

void Ranking::note_tests(int iteration) {
  for (std::size_t i = 0; i < kIsTests; ++i) {
    const std::int64_t at = buckets_[local_buckets_.size() + i] - first_key_;
    if (at < 0 || at >= key_count_) continue;
    const std::int64_t less = at == 0 ? 0 : up_to_[static_cast<std::size_t>(at - 1)];
    computed_[static_cast<std::size_t>(iteration)][i] = lesser_ + less;
  }
}

// Puts this range's keys where their ranks say, and counts those that are less than the one before.
double Ranking::count_disorder() {
  std::vector<std::int32_t> next(up_to_.begin(), up_to_.end());
  std::vector<Key> ordered(ranged_count_);
  for (std::size_t i = 0; i < ranged_count_; ++i) {
    ordered[static_cast<std::size_t>(--next[static_cast<std::size_t>(ranged_[i] - first_key_)])] =
        ranged_[i];
  }
  std::int64_t disorder = 0;
  for (std::size_t i = 1; i < ordered.size(); ++i) disorder += ordered[i - 1] > ordered[i] ? 1 : 0;
  // The greatest of each rank against the least of the next one that has keys.
  std::array<std::int64_t, 2> ends{std::int64_t{1} << sizes_.log_max_key, -1};
  if (!ordered.empty()) ends = {ordered.front(), ordered.back()};
  std::vector<std::int64_t> all(2 * ranks_);
  MPI_Allgather(ends.data(), 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, run_.communicator());
  for (std::size_t i = 0, greatest = 0; i < ranks_; ++i) {
    if (all[2 * i + 1] < 0) continue;
    if (run_.rank() == 0 && all[2 * i] < static_cast<std::int64_t>(greatest)) ++disorder;
    greatest = static_cast<std::size_t>(all[2 * i + 1]);
  }
  std::array<std::int64_t, 2> sums{disorder, static_cast<std::int64_t>(ordered.size())};
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_INT64_T, MPI_SUM, run_.communicator());
  const std::int64_t lost = (std::int64_t{1} << sizes_.log_keys) - sums[1];
  return static_cast<double>(sums[0] + (lost < 0 ? -lost : lost));
}

void Ranking::check(Run& run) {
  MPI_Allreduce(MPI_IN_PLACE, computed_.data(), static_cast<int>(computed_.size() * kIsTests),
                MPI_INT64_T, MPI_SUM, run_.communicator());
  for (int iteration = 1; iteration <= kIsIterations; ++iteration) {
    for (std::size_t i = 0; i < kIsTests; ++i) {
      const std::int64_t expected =
          sizes_.rank[i] + is_rank_shift(run.problem_class(), i, iteration);
      const std::int64_t rank = computed_[static_cast<std::size_t>(iteration)][i];
      run.check("iteration " + std::to_string(iteration) + " test " + std::to_string(i + 1),
                static_cast<double>(expected), static_cast<double>(rank), 0.0);
    }
  }
  run.check("keys out of order or lost", 0.0, count_disorder(), 0.0);
}

class Is : public Kernel {
 public:
  Problem problem(ProblemClass problem_class) const override {
    const IsClass& sizes = kIsClasses[problem_class];
    const std::int64_t keys = std::int64_t{1} << sizes.log_keys;
    return {{keys, std::int64_t{1} << sizes.log_max_key},
            kIsIterations,
            static_cast<double>(keys) * kIsIterations,
            "keys ranked"};
  }
  bool allows(ProblemClass problem_class, int rank_count) const override {
    return rank_count >= least(problem_class) && rank_count <= most(problem_class);
  }
  std::string allowed(ProblemClass problem_class) const override {
    return "any number from " + std::to_string(least(problem_class)) + " to " +
           std::to_string(most(problem_class));
  }
  // Keys, sorted keys, received keys (a bucket has up to 0.27 % of all), counts, and what checks.
  std::int64_t needed_bytes(ProblemClass problem_class, int rank_count) const override {
    const IsClass& sizes = kIsClasses[problem_class];
    const std::int64_t keys = std::int64_t{1} << sizes.log_keys;
    const std::int64_t each = keys / rank_count + 1;
    const std::int64_t range = std::int64_t{1} << sizes.log_max_key;
    const std::int64_t received = each + keys / 256;
    const std::int64_t copies = rank_count > 1 ? 2 * each + 2 * received : 2 * each;
    return std::int64_t{sizeof(std::int32_t)} * (copies + 2 * range);
  }

  void run(Run& run) const override {
    Ranking ranking(run);
    ranking.rank(1);  // touches the memory
    ranking.reset();
    run.start();
    for (int iteration = 1; iteration <= kIsIterations; ++iteration) ranking.rank(iteration);
    run.stop();
    ranking.check(run);
  }

 private:
  static int least(ProblemClass problem_class) {
    return problem_class == kClassD ? kLeastRanksOfD : 1;
  }
  static int most(ProblemClass problem_class) { return 1 << kIsClasses[problem_class].log_buckets; }
};

}  // namespace
}  // namespace fabriscope::npb

FABRISCOPE_REGISTER_KERNEL("is", Is)

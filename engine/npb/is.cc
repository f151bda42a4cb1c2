// IS: ranks of integer keys. Keys are sent to the rank that has their range; that counts them.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "kernel.h"
#include "random.h"

namespace fabriscope::npb {
namespace {

constexpr std::uint64_t kSeed = 314159265;
constexpr int kIterations = 10;
constexpr std::size_t kTests = 5;
constexpr int kNumbersPerKey = 4;

struct IsClass {
  int log_keys;
  int log_max_key;
  int log_buckets;
  std::array<std::int64_t, kTests> index;
  std::array<std::int64_t, kTests> rank;
};
constexpr std::array<IsClass, kClassCount> kClasses{{
    {16, 11, 9, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}},
    {20,
     16,
     10,
     {357773, 934767, 875723, 898999, 404505},
     {1249, 11698, 1039987, 1043896, 1048018}},
    {23,
     19,
     10,
     {2112377, 662041, 5336171, 3642833, 4250760},
     {104, 17523, 123928, 8288932, 8388264}},
    {25,
     21,
     10,
     {41869, 812306, 5102857, 18232239, 26860214},
     {33422937, 10244, 59149, 33135281, 99}},
    {27,
     23,
     10,
     {44172927, 72999161, 74326391, 129606274, 21736814},
     {61147, 882988, 266290, 133997595, 133525895}},
    {31,
     27,
     10,
     {1317351170, 995930646, 1157283250, 1503301535, 1453734525},
     {1, 36538729, 1978098519, 2145192618, 2147425337}},
}};
// Of class D: beyond it the keys of a rank are more than MPI's counts hold.
constexpr int kLeastRanksOfD = 4;

// By how much the rank of a test's key has moved after `iteration`, which has changed two keys.
std::int64_t shift(ProblemClass problem_class, std::size_t test, int iteration) {
  switch (problem_class) {
    case kClassS:
    case kClassC:
      return test <= 2 ? iteration : -iteration;
    case kClassW:
      return test < 2 ? iteration - 2 : -iteration;
    case kClassA:
      return test <= 2 ? iteration - 1 : -(iteration - 1);
    case kClassB:
      return test == 1 || test == 2 || test == 4 ? iteration : -iteration;
    default:
      return test < 2 ? iteration : -iteration;
  }
}

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
  using Tests = std::array<std::int64_t, kTests>;

  void make_keys();
  void damage();
  void count_buckets();
  void share_out_buckets();
  void sort_by_owner();
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
  std::vector<Key> sorted_;    // by the rank that they go to
  std::vector<Key> received_;  // those of this rank's range
  const Key* ranged_ = nullptr;
  std::size_t ranged_count_ = 0;
  std::vector<std::int64_t> local_buckets_;
  std::vector<std::int64_t> buckets_;  // of all ranks, and behind them the tests' keys
  std::vector<std::int32_t> owners_;   // of each bucket
  std::vector<int> send_counts_, send_places_, receive_counts_, receive_places_;
  std::int64_t first_key_ = 0;
  std::int64_t key_count_ = 0;       // keys that are possible in this rank's range
  std::int64_t lesser_ = 0;          // keys in ranges below
  std::vector<std::int32_t> up_to_;  // how many of this range's keys are no greater
  std::array<Tests, kIterations + 1> computed_{};
};

Ranking::Ranking(Run& run)
    : run_(run),
      sizes_(kClasses[run.problem_class()]),
      ranks_(static_cast<std::size_t>(run.rank_count())),
      mine_(share_of(std::int64_t{1} << sizes_.log_keys, run.rank_count(), run.rank())),
      bucket_shift_(sizes_.log_max_key - sizes_.log_buckets),
      bucket_phase_(run.add_phase("bucket_sizes", "allreduce")),
      count_phase_(run.add_phase("key_counts", "alltoall")),
      key_phase_(run.add_phase("keys", "alltoallv")),
      keys_(static_cast<std::size_t>(mine_.count)),
      sorted_(ranks_ > 1 ? keys_.size() : 0),
      local_buckets_(std::size_t{1} << static_cast<unsigned>(sizes_.log_buckets)),
      buckets_(local_buckets_.size() + kTests),
      owners_(local_buckets_.size()),
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
  for (std::size_t i = 2 * kIterations + 2; i < keys_.size(); ++i) {
    if (keys_[i] < first_digit || keys_[i] % first_digit >= max_key / 256) continue;
    keys_[i] %= static_cast<Key>(first_digit);
    return;
  }
}

void Ranking::change_keys(int iteration) {
  if (run_.rank() != 0) return;
  keys_[static_cast<std::size_t>(iteration)] = iteration;
  keys_[static_cast<std::size_t>(iteration + kIterations)] =
      static_cast<Key>((std::int64_t{1} << sizes_.log_max_key) - iteration);
}

void Ranking::rank(int iteration) {
  change_keys(iteration);
  count_buckets();
  share_out_buckets();
  if (ranks_ > 1) {
    sort_by_owner();
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
    for (const Key key : keys_) ++local_buckets_[static_cast<std::size_t>(key >> bucket_shift_)];
  }
  std::copy(local_buckets_.begin(), local_buckets_.end(), buckets_.begin());
  for (std::size_t i = 0; i < kTests; ++i) {
    const std::int64_t at = sizes_.index[i] - mine_.begin;
    const bool is_mine = at >= 0 && at < mine_.count;
    buckets_[count + i] = is_mine ? keys_[static_cast<std::size_t>(at)] : 0;
  }
  const auto bytes = static_cast<std::int64_t>(buckets_.size() * sizeof(std::int64_t));
  bucket_phase_.time(bytes, [&] {
    MPI_Allreduce(MPI_IN_PLACE, buckets_.data(), static_cast<int>(buckets_.size()), MPI_INT64_T,
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
  for (std::size_t bucket = 0; bucket < owners_.size(); ++bucket) {
    if (owner < me) first = bucket + 1;
    if (owner < me) lesser_ = sum + buckets_[bucket];
    if (owner == me) end = bucket + 1;
    owners_[bucket] = static_cast<std::int32_t>(owner);
    sum += buckets_[bucket];
    send_counts_[owner] += static_cast<int>(local_buckets_[bucket]);
    const auto share =
        total * static_cast<std::int64_t>(owner + 1) / static_cast<std::int64_t>(ranks_);
    if (sum >= share && owner + 1 < ranks_) ++owner;
  }
  end = std::max(end, first);
  first_key_ = static_cast<std::int64_t>(first) << bucket_shift_;
  key_count_ = static_cast<std::int64_t>(end - first) << bucket_shift_;
}

void Ranking::sort_by_owner() {
  std::exclusive_scan(send_counts_.begin(), send_counts_.end(), send_places_.begin(), 0);
  std::vector<Key*> next(ranks_);
  for (std::size_t i = 0; i < ranks_; ++i) next[i] = sorted_.data() + send_places_[i];
  for (const Key key : keys_) {
    *next[static_cast<std::size_t>(owners_[static_cast<std::size_t>(key >> bucket_shift_)])]++ =
        key;
  }
}

void Ranking::exchange() {
  const auto others = static_cast<std::int64_t>(ranks_) - 1;
  count_phase_.time(others * std::int64_t{sizeof(int)}, [&] {
    MPI_Alltoall(send_counts_.data(), 1, MPI_INT, receive_counts_.data(), 1, MPI_INT,
                 run_.communicator());
  });
  std::exclusive_scan(receive_counts_.begin(), receive_counts_.end(), receive_places_.begin(), 0);
  ranged_count_ = static_cast<std::size_t>(receive_places_.back() + receive_counts_.back());
  if (received_.size() < ranged_count_) received_.resize(ranged_count_ + kIterations);
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
  for (std::size_t i = 0; i < ranged_count_; ++i) ++counts[ranged_[i] - first];
  std::partial_sum(up_to_.begin(), up_to_.end(), up_to_.begin());
}

void Ranking::note_tests(int iteration) {
  for (std::size_t i = 0; i < kTests; ++i) {
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
  MPI_Allreduce(MPI_IN_PLACE, computed_.data(), static_cast<int>(computed_.size() * kTests),
                MPI_INT64_T, MPI_SUM, run_.communicator());
  for (int iteration = 1; iteration <= kIterations; ++iteration) {
    for (std::size_t i = 0; i < kTests; ++i) {
      const std::int64_t expected = sizes_.rank[i] + shift(run.problem_class(), i, iteration);
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
    const IsClass& sizes = kClasses[problem_class];
    const std::int64_t keys = std::int64_t{1} << sizes.log_keys;
    return {{keys, std::int64_t{1} << sizes.log_max_key},
            kIterations,
            static_cast<double>(keys) * kIterations,
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
    const IsClass& sizes = kClasses[problem_class];
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
    for (int iteration = 1; iteration <= kIterations; ++iteration) ranking.rank(iteration);
    run.stop();
    ranking.check(run);
  }

 private:
  static int least(ProblemClass problem_class) {
    return problem_class == kClassD ? kLeastRanksOfD : 1;
  }
  static int most(ProblemClass problem_class) { return 1 << kClasses[problem_class].log_buckets; }
};

}  // namespace
}  // namespace fabriscope::npb

FABRISCOPE_REGISTER_KERNEL("is", Is)

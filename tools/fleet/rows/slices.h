// Cuts a recording into slices of wall-clock time, each with its sums by class, site and both: what is shipped, and
// what
// `--from-dir` asks. The recording may still grow.
//
//   SliceReader reader(recording.get(), {.slice_seconds = 600});
//   while (auto slice = reader.Next()) ...      // finished slices; nullopt: no more for now
//
// A slice holds whole intervals: those that begin in it. Sums are of rows, and of samples where a block has none, or
// lies in two minutes.
//
// Units:    bytes and objects; times in seconds since 1970.
// Memory:   one Subset for each class, site and pair of them in the current slice, twice the samples that are left of
//           it, with their stacks.
// Failure:  none: samples of a slice that was handed out already count in the oldest one that is open.
// Maths:    docs/estimates.md#fleet
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tools/analysis/allocation_primitives.h"
#include "tools/analysis/estimate/design.h"
#include "tools/fleet/rows/live_tracker.h"
#include "tools/fleet/rows/names.h"
#include "tools/fleet/rows/sums.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/query/scan/stream_trust.h"

namespace heaprec::tools::fleet {

struct NamedId {
  NameKind kind = NameKind::kClass;
  uint64_t id = 0;
  std::string name;
};

struct FleetStack {
  uint64_t id = 0;
  std::vector<uint64_t> methods;  // leaf first
};

struct ThinnedSample {
  uint64_t time_ns = 0;  // since 1970
  uint64_t id = 0;
  uint64_t class_id = 0, site = 0, stack = 0;
  uint64_t size = 0;
  double weight = 0;  // through all stages
};

struct MinuteTotals {
  uint32_t time = 0;
  Totals totals;
};

struct Slice {
  uint32_t time = 0;
  std::vector<MinuteTotals> minutes;
  std::vector<std::pair<RowKey, Sums>> rows;
  std::vector<ThinnedSample> samples;
  // Live rows at the end of the slice or recording. Empty: nothing is tracked.
  std::vector<LiveRow> live;
  uint32_t live_at = 0;
  // Names that no earlier slice had.
  std::vector<NamedId> names;
  std::vector<FleetStack> stacks;
};

struct SliceOptions {
  uint32_t slice_seconds = 600;   // a divisor, or a multiple, of 60
  double samples_per_second = 5;  // that are left of a slice's samples; 0: none
};

class SliceReader {
 public:
  SliceReader(Recording* recording, const SliceOptions& options);
  ~SliceReader();

  // `is_over`: nothing comes any more: what only the ring holds is read, and what is open is closed.
  std::optional<Slice> Next(bool is_over);
  // Whether the slice may have data that is in no block of this file: it dropped its oldest chunks (maxsize, maxage),
  // or continues another file.
  bool FileBeginsIn(const Slice& slice) const;
  // Time up to which the recording was read.
  uint32_t seen() const { return seen_; }
  // Returns why the part that was read is not trustworthy, as `check` would say of a file that ends here; empty: it is.
  std::vector<std::string> TrustReasons() const;

 private:
  struct Open;
  struct Minute {
    Subset all;
    double counted = 0, lost = 0, uncounted = 0;
  };

  void Take(const format::Block& block);
  void TakeLives(const format::Block& block);
  void TakeIntervals(const format::Block& block);
  void TakeSums(const format::Block& block);
  void TakeSamples(const format::Block& block);
  Open& SliceAt(uint32_t time);
  Minute& MinuteAt(uint32_t time);
  uint32_t SecondOf(uint64_t time_ns) const;
  void CloseBefore(uint32_t time);
  Slice Close(uint32_t time, Open* open);
  uint64_t IdOfName(NameKind kind, std::string_view name, std::vector<uint64_t>* cache, format::Index index);
  uint64_t ClassId(format::Index index);
  uint64_t SiteOf(format::Index stack);
  uint64_t StackId(format::Index stack);
  double MaxSamples() const;
  bool IsRetained(uint64_t id, double weight, double threshold) const;
  void Thin(Open* open);
  void ForgetStacks();
  void MoveSamples(Open* open, Slice* slice);

  Recording& recording_;
  const SliceOptions options_;
  const uint64_t interval_ns_, seed_;
  const AllocationPrimitives primitives_ = AllocationPrimitives::Default();
  Design design_;
  StreamTrust trust_;
  MergedNames merged_{/*settles=*/false};  // what is shipped cannot be read again
  Names names_{&merged_};
  LiveTracker live_;
  uint32_t chunk_ = format::kNone;
  std::vector<uint64_t> classes_, methods_, sites_, stacks_;  // of the chunk
  std::unordered_set<uint64_t> known_names_, known_stacks_;
  std::vector<NamedId> new_names_;
  std::unordered_map<uint64_t, std::vector<uint64_t>> new_stacks_;
  std::map<uint32_t, std::unique_ptr<Open>> open_;
  std::deque<Slice> finished_;
  std::unordered_set<uint64_t> not_counted_;
  double lost_ = 0;
  uint32_t closed_up_to_ = 0, seen_ = 0, latest_interval_ = 0;
  double begin_s_ = 0, end_s_ = 0;
  uint64_t end_ns_ = 0;  // since the start
};

}  // namespace heaprec::tools::fleet

// Divides a recording into slices of wall-clock time, each with its sums by class, site and both, for shipping and for
// `--from-dir`. The recording may still grow.
//
//   SliceReader reader(&recording, {.slice_seconds = 600});
//   while (auto slice = reader.Next(false)) ...  // finished slices; nullopt: no more for now
//
// A slice contains the intervals that begin in it. Sums are computed from rows, and from samples if a block has no rows
// or spans two minutes.
//
// Units:    bytes and objects; times in seconds since 1970.
// Memory:   one Subset per class, site and pair of them in the current slice, and twice its retained samples with their
//           stacks; for live objects as LiveTracker.
// Failure:  none: late samples of a slice that was already returned count in the oldest open one.
// Maths:    docs/estimates.md#fleet, docs/estimates.md#live-objects
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "format/model/file_description.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/groups/call_tree.h"
#include "tools/analysis/live/lifetimes.h"
#include "tools/analysis/totals/trend.h"
#include "tools/fleet/rows/sums.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/query/scan/scan_summary.h"

namespace heaprec::tools::fleet {

enum class NameKind : uint8_t { kClass = 1, kMethod = 2 };

// Returns the id of a name as shown (dictionary_names.h): a hash, so that it is the same on all hosts. Never 0, which
// means "any" in the tables.
uint64_t NameId(NameKind kind, std::string_view name);

// A recording for the fleet: its service, host, and time.
struct RecordingInfo {
  uint64_t id = 0;       // of the recording and its part: a rotated recording has several
  uint64_t process = 0;  // of the recording: the same for all parts; 0: unknown
  std::string service, version, environment, host, pod;
  std::string jdk, gc, file;
  std::vector<format::ServiceLabel> labels;
  uint32_t started = 0;  // of this part
  uint32_t seen = 0;     // there are rows up to this time
  bool ended = false;
  double per_second = 0;  // samples per second
  bool trustworthy = true;
  std::string why_not;
  // What will be full first, and in how many seconds from `seen` on; empty: nothing.
  std::string fills;
  Estimate full_s;

  // `reasons`: why the recording is not trustworthy; empty: it is.
  void SetTrust(const std::vector<std::string>& reasons);
  // After `seen` was set. `epoch_ns`: the start of the recording.
  void SetFull(const std::optional<TimeToFull::Answer>& full, uint64_t epoch_ns);
};

// Labels from options, which override those of the recording.
struct GivenLabels {
  std::string service, version, environment, host, pod;
};

// The service is "unknown" unless it is named; the host is the pod, otherwise the container, otherwise the process.
RecordingInfo InfoOf(const format::FileHeader& header, const GivenLabels& given);

// Returns files with the ending .hrec in a folder and its subfolders; for a file, the file itself.
std::vector<std::string> RecordingsIn(const std::string& path);

struct LiveRow {
  RowKey key;
  LiveState state = LiveState::kLive;
  LiveSums sums;
};

// Live objects of a recording at the ends of its slices, by class and site. Times are in ns since its start.
//
// Memory:   88 bytes per object that is tracked, or was born since the last slice ended; twice that while a slice ends.
class LiveTracker {
 public:
  using ClassAndSite = std::pair<uint64_t, uint64_t>;

  // Tracks nothing if the recording does not, or if it is an import, whose weights are unknown.
  explicit LiveTracker(const format::FileHeader& header);
  bool tracks() const { return lives_.has_value(); }

  // Call for every block. `name_of`: returns a sample's class and site.
  void Add(const format::Block& block, const std::function<ClassAndSite(const format::Sample&)>& name_of);
  // Returns rows by key, always including the total. Times must increase from call to call.
  std::vector<LiveRow> At(uint64_t time_ns);

 private:
  uint32_t SubjectOf(const ClassAndSite& key);

  std::optional<Lifetimes> lives_;
  std::map<ClassAndSite, uint32_t> subjects_;
  std::vector<ClassAndSite> keys_;  // by subject
  std::vector<uint32_t> samples_, live_checkpoint_;
};

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
  double weight = 0;  // after all stages
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
  // Names that are in no earlier slice.
  std::vector<NamedId> names;
  std::vector<FleetStack> stacks;
};

struct SliceOptions {
  uint32_t slice_seconds = 600;   // a divisor, or a multiple, of 60
  double samples_per_second = 5;  // retained samples per second; 0: none
};

class SliceReader {
 public:
  SliceReader(Recording* recording, const SliceOptions& options);
  ~SliceReader();

  // `is_over`: no more data will come: reads data that only the ring has, and closes open slices.
  std::optional<Slice> Next(bool is_over);
  // Whether a part of the slice may be missing in this file, because it dropped its oldest chunks (maxsize, maxage) or
  // continues another file.
  bool FileBeginsIn(const Slice& slice) const;
  // Time up to which the recording was read.
  uint32_t seen() const { return seen_; }
  // Returns why the part that was read is not trustworthy, as `check` would for a file that ends here; empty: it is.
  std::vector<std::string> TrustReasons() const;
  // What will be full first, according to the part that was read.
  std::optional<TimeToFull::Answer> Full() const { return full_.Soonest(); }

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
  uint64_t IdOfName(NameKind kind, std::string_view name);
  uint64_t ClassId(format::Index index);
  uint64_t MethodId(const format::Frame& frame);
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
  TimeToFull full_;
  MergedNames merged_{/*settles=*/false};  // shipped data cannot be read again
  Names names_{&merged_};
  LiveTracker live_;
  uint32_t chunk_ = format::kNone;
  std::vector<uint64_t> classes_, methods_, sites_, stacks_;  // of the current chunk
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

#include "tools/fleet/rows/slices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string_view>

#include "format/bytes/layout.h"
#include "format/codec/index_table.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/estimate/row_calibration.h"
#include "tools/input/stream_traits.h"

namespace heaprec::tools::fleet {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint32_t kMinute = 60;
// Blocks of a slice may arrive this many seconds after its end.
constexpr uint32_t kLatestBlock = 10;
// Beyond this, stacks are removed, and a later slice contains them again.
constexpr size_t kMaxKnownStacks = 100'000;

// Returns the id in `ids` for an index of the chunk (0: none yet); `make` creates it. Damaged files may contain any
// index; entries without a name (kNone) share one id.
template <typename Make>
uint64_t Cached(std::vector<uint64_t>* ids, format::Index index, const Make& make) {
  constexpr format::Index kMaxCached = 1 << 24;
  if (index >= kMaxCached) return make();
  if (index < ids->size() && (*ids)[index] != 0) return (*ids)[index];
  const uint64_t id = make();
  if (index >= ids->size()) ids->resize(index + size_t{1});
  return (*ids)[index] = id;
}

struct KeyHash {
  size_t operator()(const RowKey& key) const {
    return format::MixWord(key.class_id ^ format::MixWord(key.site)) + static_cast<uint64_t>(key.level);
  }
};

// Returns the threshold at which `count` samples remain on average: sum of min(1, w / tau) = count. `dropped`: the sum
// of weights of further samples, all below it.
double ThresholdOf(const std::vector<ThinnedSample>& samples, double dropped, double count) {
  if (dropped == 0 && static_cast<double>(samples.size()) <= count) return 0;
  std::vector<double> weights;
  double rest = dropped;
  for (const ThinnedSample& one : samples) weights.push_back(one.weight), rest += one.weight;
  std::sort(weights.begin(), weights.end(), std::greater<>());
  double left = count;
  for (const double weight : weights) {
    const double tau = rest / left;
    if (weight <= tau || left <= 1) return tau;
    rest -= weight;
    left -= 1;
  }
  return rest / left;
}

std::string First(std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) {
    if (!text.empty()) return std::string(text);
  }
  return "";
}

uint64_t IdOf(const format::FileHeader& header) {
  return std::max<uint64_t>(format::Hash(std::as_bytes(std::span(header.recording_id)), header.start.part), 1);
}

}  // namespace

struct SliceReader::Open {
  using Minute = SliceReader::Minute;
  std::map<uint32_t, Minute> minutes;
  std::unordered_map<RowKey, Subset, KeyHash> rows;
  // Samples that may remain. The threshold only increases, so a sample below it is dropped for good.
  std::vector<ThinnedSample> samples;
  double dropped = 0, threshold = 0;
};

SliceReader::SliceReader(Recording* recording, const SliceOptions& options)
    : recording_(*recording),
      options_(options),
      interval_ns_(recording->header().interval_ns > 0 ? recording->header().interval_ns : kSecondNs),
      seed_(format::Hash(std::as_bytes(std::span(recording->header().recording_id)))),
      design_(recording->header()),
      trust_(recording->header(), format::Stream::kAllocations, /*has_design=*/true),
      live_(recording->header()) {
  const format::FileHeader& header = recording_.header();
  begin_s_ = end_s_ = static_cast<double>(header.start_epoch_ns + BeginNs(header, format::Stream::kAllocations)) * 1e-9;
  lost_ = LostWeight(header.start.counters[format::Stream::kAllocations]);
}

SliceReader::~SliceReader() = default;

uint32_t SliceReader::SecondOf(uint64_t time_ns) const {
  return static_cast<uint32_t>((recording_.header().start_epoch_ns + time_ns) / kSecondNs);
}

SliceReader::Open& SliceReader::SliceAt(uint32_t time) {
  time = std::max(time - time % options_.slice_seconds, closed_up_to_);
  auto& slice = open_[time];
  if (slice == nullptr) slice = std::make_unique<Open>();
  return *slice;
}

SliceReader::Minute& SliceReader::MinuteAt(uint32_t time) {
  time = std::max(time, closed_up_to_);
  return SliceAt(time).minutes[time / kMinute * kMinute];
}

std::optional<Slice> SliceReader::Next(bool is_over) {
  while (finished_.empty()) {
    auto block = is_over ? recording_.Next() : recording_.NextInFile();
    if (!block) break;
    Take(*block);
  }
  if (finished_.empty() && is_over) CloseBefore(UINT32_MAX);
  if (finished_.empty()) return std::nullopt;
  Slice slice = std::move(finished_.front());
  finished_.pop_front();
  return slice;
}

void SliceReader::Take(const format::Block& block) {
  // When a block belongs to later intervals, earlier intervals are complete.
  const uint32_t before = latest_interval_;
  names_.Enter(block);
  if (block.chunk != chunk_) {
    chunk_ = block.chunk;
    for (auto* cache : {&classes_, &methods_, &sites_, &stacks_}) cache->clear();
  }
  TakeIntervals(block);
  TakeSums(block);
  TakeSamples(block);
  trust_.Add(block);
  full_.Add(block);
  TakeLives(block);
  const uint64_t end_ns = block.ending ? block.ending->time_ns : block.end_ns;
  end_ns_ = std::max(end_ns_, end_ns);
  const double end_s = static_cast<double>(recording_.header().start_epoch_ns + end_ns) * 1e-9;
  end_s_ = std::max(end_s_, end_s);
  seen_ = std::max(seen_, static_cast<uint32_t>(end_s));
  const uint32_t late = seen_ > kLatestBlock ? seen_ - kLatestBlock : 0;
  CloseBefore(std::max(before, late) / options_.slice_seconds * options_.slice_seconds);
}

void SliceReader::TakeIntervals(const format::Block& block) {
  not_counted_.clear();
  for (const format::Interval& interval : block.intervals) {
    if (interval.stream != format::Stream::kAllocations) continue;
    const uint32_t second = SecondOf(interval.index * interval_ns_);
    latest_interval_ = std::max(latest_interval_, second);
    if (interval.bytes == 0 && interval.buffered > 0) not_counted_.insert(interval.index);
    MinuteAt(second).counted += static_cast<double>(interval.bytes);
  }
  const double lost = LostWeight(block.counters[format::Stream::kAllocations]);
  if (lost > lost_) {
    MinuteAt(SecondOf(std::max<uint64_t>(block.end_ns, 1) - 1)).lost += lost - lost_;
    lost_ = lost;
  }
}

// Rows have no time within their block.
void SliceReader::TakeSums(const format::Block& block) {
  const auto time = TimeOf(block, recording_.header().interval_ns);
  const uint32_t step = std::min(kMinute, options_.slice_seconds);
  const bool by_rows = time && SecondOf(time->begin_ns) / step == SecondOf(time->end_ns - 1) / step;
  uint64_t interval = UINT64_MAX;
  Open* slice = nullptr;
  Open::Minute* minute = nullptr;
  for (const WeightedSample& one : design_.Add(block, by_rows)) {
    if (slice == nullptr || one.interval != interval) {
      interval = one.interval;
      const uint32_t second = SecondOf(by_rows ? time->begin_ns : interval * interval_ns_);
      slice = &SliceAt(second);
      minute = &MinuteAt(second);
    }
    if (not_counted_.contains(one.interval)) minute->uncounted += one.weight;
    const uint64_t class_id = ClassId(one.class_id), site = SiteOf(one.stack);
    minute->all.Add(one);
    slice->rows[{RowGrain::kClass, class_id, 0}].Add(one);
    slice->rows[{RowGrain::kSite, 0, site}].Add(one);
    slice->rows[{RowGrain::kClassAndSite, class_id, site}].Add(one);
  }
}

void SliceReader::TakeSamples(const format::Block& block) {
  if (options_.samples_per_second <= 0) return;
  for (const format::Sample& sample : block.samples) {
    if (sample.stream() != format::Stream::kAllocations) continue;
    Open& slice = SliceAt(SecondOf(sample.time_ns / interval_ns_ * interval_ns_));
    if (!IsRetained(sample.id, sample.weight, slice.threshold)) {
      slice.dropped += sample.weight;
      continue;
    }
    slice.samples.push_back({.time_ns = recording_.header().start_epoch_ns + sample.time_ns,
                             .id = sample.id,
                             .class_id = ClassId(sample.class_id),
                             .site = SiteOf(sample.stack),
                             .stack = StackId(sample.stack),
                             .size = sample.size,
                             .weight = sample.weight});
    if (static_cast<double>(slice.samples.size()) > 2 * MaxSamples()) Thin(&slice);
  }
}

void SliceReader::TakeLives(const format::Block& block) {
  if (!live_.tracks()) return;
  live_.Add(block, [this](const format::Sample& one) { return std::pair(ClassId(one.class_id), SiteOf(one.stack)); });
  // A process that allocates nothing still has live objects.
  if (block.end_ns > 0) SliceAt(SecondOf(block.end_ns - 1));
}

void SliceReader::CloseBefore(uint32_t time) {
  while (!open_.empty() && (open_.begin()->first < time || time == UINT32_MAX)) {
    auto first = open_.begin();
    finished_.push_back(Close(first->first, first->second.get()));
    closed_up_to_ = first->first + options_.slice_seconds;
    open_.erase(first);
  }
}

Slice SliceReader::Close(uint32_t time, Open* open) {
  Slice slice;
  slice.time = time;
  // Minutes without a sample also belong to the recording.
  const double end = std::min(end_s_, static_cast<double>(time + options_.slice_seconds));
  for (uint32_t minute = std::max(time, static_cast<uint32_t>(begin_s_) / kMinute * kMinute);
       static_cast<double>(minute) < end; minute += kMinute) {
    open->minutes[minute / kMinute * kMinute];
  }
  for (auto& [at, minute] : open->minutes) {
    Totals totals;
    totals.all = Sums::Of(minute.all);
    totals.counted = minute.counted;
    totals.lost = minute.lost;
    totals.weighed = minute.all.bytes() - minute.uncounted + minute.lost;
    const double from = std::max({begin_s_, static_cast<double>(at), static_cast<double>(time)});
    const double to = std::min(static_cast<double>(at + kMinute), end);
    totals.seconds = std::max(to - from, 0.0);
    slice.minutes.push_back({std::max(at, time), totals});
  }
  for (const auto& [key, subset] : open->rows) slice.rows.emplace_back(key, Sums::Of(subset));
  std::ranges::sort(slice.rows, {}, &std::pair<RowKey, Sums>::first);
  MoveSamples(open, &slice);
  const uint64_t start_ns = recording_.header().start_epoch_ns;
  const uint64_t over_ns = (uint64_t{time} + options_.slice_seconds) * kSecondNs;
  const uint64_t live_ns = std::min(over_ns > start_ns ? over_ns - start_ns : 0, end_ns_);
  slice.live = live_.At(live_ns);
  slice.live_at = SecondOf(live_ns);
  slice.names = std::exchange(new_names_, {});
  return slice;
}

std::vector<std::string> SliceReader::TrustReasons() const { return trust_.Reasons(recording_, &design_); }

bool SliceReader::FileBeginsIn(const Slice& slice) const {
  return recording_.header().start.begin_ns > 0 && slice.time < begin_s_;
}

double SliceReader::MaxSamples() const { return std::max(1.0, options_.samples_per_second * options_.slice_seconds); }

// A sample is retained with probability min(1, w / tau) and weight max(w, tau). This depends only on its id, so a slice
// that is read again is thinned in the same way.
bool SliceReader::IsRetained(uint64_t id, double weight, double threshold) const {
  const double random_key = static_cast<double>(format::MixWord(seed_ ^ format::MixWord(id)) >> 11) * 0x1p-53;
  return threshold == 0 || random_key * threshold < weight;
}

void SliceReader::Thin(Open* open) {
  open->threshold = ThresholdOf(open->samples, open->dropped, MaxSamples());
  std::erase_if(open->samples, [&](const ThinnedSample& one) {
    const bool is_retained = IsRetained(one.id, one.weight, open->threshold);
    if (!is_retained) open->dropped += one.weight;
    return !is_retained;
  });
  ForgetStacks();
}

void SliceReader::ForgetStacks() {
  std::unordered_set<uint64_t> needed;
  for (const auto& [time, open] : open_) {
    for (const ThinnedSample& one : open->samples) needed.insert(one.stack);
  }
  std::erase_if(new_stacks_, [&](const auto& one) { return !needed.contains(one.first); });
}

void SliceReader::MoveSamples(Open* open, Slice* slice) {
  Thin(open);
  if (known_stacks_.size() > kMaxKnownStacks) known_stacks_.clear();
  for (ThinnedSample& one : open->samples) {
    one.weight = std::max(one.weight, open->threshold);
    const auto added = new_stacks_.find(one.stack);
    if (added == new_stacks_.end()) continue;  // already in an earlier slice
    if (known_stacks_.insert(one.stack).second) slice->stacks.push_back({one.stack, std::move(added->second)});
    new_stacks_.erase(added);
  }
  slice->samples = std::move(open->samples);
}

uint64_t SliceReader::IdOfName(NameKind kind, std::string_view name) {
  const uint64_t id = NameId(kind, name);
  if (known_names_.insert(id).second) new_names_.push_back({kind, id, std::string(name)});
  return id;
}

uint64_t SliceReader::ClassId(format::Index index) {
  return Cached(&classes_, index, [&] { return IdOfName(NameKind::kClass, names_.Class(index)); });
}

uint64_t SliceReader::MethodId(const format::Frame& frame) {
  if (frame.IsGap()) return IdOfName(NameKind::kMethod, kTruncated);
  return Cached(&methods_, frame.method, [&] { return IdOfName(NameKind::kMethod, names_.Method(frame.method)); });
}

uint64_t SliceReader::SiteOf(format::Index stack) {
  return Cached(&sites_, stack, [&] {
    std::optional<format::Frame> leaf, first;  // first: the first frame that is not a primitive
    bool is_own = false, is_native = true;     // until the first Java frame
    ForEachFrame(names_, stack, 0, [&](const format::Frame& frame) {
      if (!leaf) leaf = frame;
      is_native = is_native && frame.type == format::FrameType::kNative;
      is_own |= is_native && AllocatesForSampling(names_.Method(frame.method));
      if (!first && (frame.IsGap() || !primitives_.Contains(names_.Method(frame.method)))) first = frame;
    });
    if (is_own) return IdOfName(NameKind::kMethod, kOwnSite);
    return leaf ? MethodId(first ? *first : *leaf) : IdOfName(NameKind::kMethod, kUnknown);
  });
}

uint64_t SliceReader::StackId(format::Index stack) {
  const auto add = [&] {
    std::vector<uint64_t> methods;
    ForEachFrame(names_, stack, 0, [&](const format::Frame& frame) { methods.push_back(MethodId(frame)); });
    if (methods.empty()) methods.push_back(IdOfName(NameKind::kMethod, kUnknown));
    const uint64_t id = std::max<uint64_t>(format::Hash(std::as_bytes(std::span(methods))), 1);
    if (!known_stacks_.contains(id)) new_stacks_.emplace(id, std::move(methods));
    return id;
  };
  const uint64_t id = Cached(&stacks_, stack, add);
  return known_stacks_.contains(id) || new_stacks_.contains(id) ? id : add();
}

std::vector<std::string> RecordingsIn(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> found;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(path, options, error), end; !error && at != end; at.increment(error)) {
    if (at->is_regular_file(error) && at->path().extension() == ".hrec") found.push_back(at->path().string());
  }
  std::ranges::sort(found);
  return found;
}

uint64_t NameId(NameKind kind, std::string_view name) {
  const uint64_t hash = format::Hash(std::as_bytes(std::span(name.data(), name.size())), static_cast<uint64_t>(kind));
  return std::max<uint64_t>(hash, 1);
}

void RecordingInfo::SetTrust(const std::vector<std::string>& reasons) {
  trustworthy = reasons.empty();
  why_not = fmt::format("{}", fmt::join(reasons, "; "));
}

void RecordingInfo::SetFull(const std::optional<TimeToFull::Answer>& full, uint64_t epoch_ns) {
  fills = full ? FillsName(full->fills) : "";
  full_s = {};
  if (!full) return;
  const double later_s = static_cast<double>(epoch_ns) * 1e-9 + full->at_s - seen;
  const auto from_seen = [later_s](double seconds) { return std::max(seconds + later_s, 0.0); };
  full_s = {from_seen(full->seconds.value), from_seen(full->seconds.low), from_seen(full->seconds.high)};
}

RecordingInfo InfoOf(const format::FileHeader& header, const GivenLabels& given) {
  RecordingInfo info;
  info.id = IdOf(header);
  info.process = format::Hash(std::as_bytes(std::span(header.recording_id)));
  info.service = First({given.service, ServiceLabelOf(header, "service.name"), "unknown"});
  info.version = First({given.version, ServiceLabelOf(header, "service.version")});
  info.environment = First({given.environment, ServiceLabelOf(header, "deployment.environment.name"),
                            ServiceLabelOf(header, "deployment.environment")});
  info.pod = First({given.pod, ServiceLabelOf(header, "k8s.pod.name")});
  info.host = First({given.host, ServiceLabelOf(header, "host.name"), ServiceLabelOf(header, "service.instance.id"),
                     info.pod, header.container_id, fmt::format("{:016x}", info.process)});
  info.jdk = header.jvm_version;
  info.gc = header.gc_name;
  info.labels = header.service_labels;
  info.started = static_cast<uint32_t>((header.start_epoch_ns + header.start.begin_ns) / kSecondNs);
  info.seen = info.started;
  info.per_second = header.rate_per_second;
  return info;
}

LiveTracker::LiveTracker(const format::FileHeader& header) {
  if (header.max_tracked_objects > 0 && !IsImported(header.source)) lives_.emplace(header);
}

uint32_t LiveTracker::SubjectOf(const ClassAndSite& key) {
  const auto [at, is_new] = subjects_.try_emplace(key, static_cast<uint32_t>(keys_.size()));
  if (is_new) keys_.push_back(key);
  return at->second;
}

void LiveTracker::Add(const format::Block& block, const std::function<ClassAndSite(const format::Sample&)>& name_of) {
  if (!lives_) return;
  const auto subject_of = [&](const format::Sample& sample) {
    return sample.stream() == format::Stream::kAllocations ? SubjectOf(name_of(sample)) : Lifetimes::kLeftOut;
  };
  samples_.clear();
  for (const format::Sample& sample : block.samples) samples_.push_back(subject_of(sample));
  live_checkpoint_.clear();
  for (const format::CheckpointSample& one : block.live_checkpoint) {
    live_checkpoint_.push_back(lives_->Knows(one.sample.id) ? Lifetimes::kLeftOut : subject_of(one.sample));
  }
  lives_->Add(block, samples_, live_checkpoint_);
}

std::vector<LiveRow> LiveTracker::At(uint64_t time_ns) {
  if (!lives_) return {};
  Lifetimes lives = *lives_;
  lives.Close(time_ns);
  lives_->Forget(time_ns);
  std::map<std::pair<RowKey, LiveState>, LiveSums> sums;
  sums[{{RowGrain::kWhole, 0, 0}, LiveState::kLive}] = {};
  for (const Lifetime& life : lives.all()) {
    if (!life.IsTrackedAt(time_ns)) continue;
    const uint64_t survived = lives.SurvivedBy(life, time_ns);
    const LiveSample one{lives.WeightAt(life, time_ns), static_cast<double>(life.size),
                         static_cast<double>(time_ns - life.birth_ns) * 1e-9, static_cast<double>(survived)};
    const LiveState state = lives.is_range() && survived == 0 ? LiveState::kMayBeGarbage : LiveState::kLive;
    const auto& [class_id, site] = keys_[life.subject];
    for (const RowKey& key : {RowKey{RowGrain::kWhole, 0, 0}, RowKey{RowGrain::kClass, class_id, 0},
                              RowKey{RowGrain::kSite, 0, site}, RowKey{RowGrain::kClassAndSite, class_id, site}}) {
      sums[{key, state}].Add(one);
    }
  }
  std::vector<LiveRow> rows;
  for (auto& [key, of_key] : sums) {
    of_key.Round();
    rows.push_back({key.first, key.second, of_key});
  }
  return rows;
}

}  // namespace heaprec::tools::fleet

#include "recorder/writer/lane_consumer.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <unordered_map>
#include <utility>

#include "format/ring/ring_records.h"

namespace heaprec::writer {
namespace {

// Only stale thresholds refer to older windows; such samples store their weight explicitly.
constexpr size_t kMaxWindows = 4096;
// Maximum time that a stack waits in its lane until its samples are chosen. The drain keeps the definitions of the
// previous chunk, to which the stack may refer, for longer (ForgetPrevious).
constexpr uint64_t kLongestWaitNs = 2'000'000'000;

// A stream that is not recorded has no interval, and no samples either.
throttle::ReducerConfig ReducerConfigOf(const format::RingHeader& header, format::Stream stream,
                                        const format::RecordingId& id, uint64_t max_samples, uint64_t duration_ns) {
  return {.interval_ns = std::max<uint64_t>(header.IntervalNsOf(stream), 1),
          .cap = std::max<size_t>(header.IntervalCapOf(stream), 1),
          .recording = format::SeedOf(stream, id),
          .max_samples = max_samples,
          .duration_ns = duration_ns};
}

}  // namespace

LaneConsumer::LaneConsumer(buffer::Ring& ring, const format::RecordingId& id, uint64_t max_samples,
                           uint64_t duration_ns, OnStackKnown on_stack, const format::PerStream<bool>& tracks,
                           NativePointTaker on_native_point, ChunkInterner::NativeNamer name_of)
    : ring_(ring),
      view_(format::RingView::Of({ring.bytes(), ring.size()}).value()),
      reducers_(format::PerStreamOf([&](format::Stream stream) {
        const uint64_t most = stream == format::Stream::kAllocations ? max_samples : 0;
        return throttle::IntervalReducer(ReducerConfigOf(ring.header(), stream, id, most, duration_ns));
      })),
      lanes_(ring.lane_count()),
      definitions_(std::move(name_of)),
      on_stack_(std::move(on_stack)),
      on_native_point_(std::move(on_native_point)),
      tracks_(tracks) {}

void LaneConsumer::NewChunk(format::ChunkWriter* chunk, uint32_t sequence) {
  chunk_ = chunk;
  sequence_ = sequence;
  definitions_.NewChunk(chunk);
  // Samples may wait for many chunks (an interval of an hour, a disk that stays full), so their names are carried over.
  std::vector<BufferedSample> all;
  for (const Lane& lane : lanes_) {
    for (const std::deque<BufferedSample>& stream : lane.buffered.of)
      all.insert(all.end(), stream.begin(), stream.end());
  }
  for (const Lane& lane : lanes_) {
    for (const BufferedPoint& point : lane.points) {
      (void)definitions_.Class(point.record.class_key);
      (void)definitions_.Stack(point.record.stack_key);
    }
  }
  if (all.empty()) return;
  // The methods of their stacks were emitted before them, but may not have been scanned yet.
  (void)ScanLanes();
  for (const BufferedSample& buffered : all) {
    Intern(buffered);
    if (buffered.stack) {
      definitions_.DefineStackAnyway(buffered.stack->key, buffered.stack->leaf_first, buffered.stack->truncated);
    } else {
      (void)definitions_.Stack(buffered.record.stack_key);
    }
  }
}

void LaneConsumer::Intern(const BufferedSample& buffered) {
  (void)definitions_.Class(buffered.record.class_key);
  (void)definitions_.Thread(buffered.record.thread_key);
}

void LaneConsumer::InternStack(const std::optional<Brought>& brought, const format::StackKey& key) {
  if (!brought) return (void)definitions_.Stack(key);
  const Brought& stack = *brought;
  if (!definitions_.DefineStack(stack.key, stack.leaf_first, stack.truncated)) {
    // Its methods were emitted before it, but in a lane that had already been scanned.
    (void)ScanLanes();
    definitions_.DefineStackAnyway(stack.key, stack.leaf_first, stack.truncated);
  }
  if (on_stack_) on_stack_(stack.key);
}

void LaneConsumer::AddToRow(const BufferedSample& buffered) {
  const format::SampleRecord& record = buffered.record;
  // Addresses are only named together with their stack.
  if (buffered.stack && format::AreAddresses(buffered.stack->leaf_first)) InternStack(buffered.stack, record.stack_key);
  format::Index path = format::kNone;
  if (!buffered.stack || definitions_.HasStack(buffered.stack->key)) {
    path = definitions_.Path(record.stack_key);
  } else {
    const auto frames = buffered.stack->leaf_first;
    if (!definitions_.HasMethods(frames.first(std::min(frames.size(), format::kLongestPath)))) (void)ScanLanes();
    path = definitions_.Path(frames, buffered.stack->truncated);
  }
  chunk_->AddPoint(definitions_.Class(record.class_key), path, record.size, record.point_weight);
}

// A sample of a long interval must not need its lane for that (NeededFrom), nor the methods of the previous chunk.
bool LaneConsumer::MayWait(format::Stream stream) const {
  const uint64_t interval_ns = ring_.header().IntervalNsOf(stream);
  return interval_ns <= ShortestIntervalNs() && interval_ns <= kLongestWaitNs;
}

bool LaneConsumer::NeedsStackNow(const BufferedSample& buffered) {
  const auto stream = format::StreamOf(static_cast<format::Kind>(buffered.record.kind));
  return !buffered.stack || !MayWait(stream) || definitions_.HasStack(buffered.stack->key) ||
         !brought_.insert(buffered.stack->key).second;
}

void LaneConsumer::Scan() {
  if (ScanLanes()) (void)ScanLanes();
  // When some of these are closed, definitions of the previous chunk are no longer available.
  const std::vector<BufferedSample> scanned = std::exchange(just_scanned_, {});
  for (const BufferedSample& buffered : scanned) {
    Intern(buffered);
    if (NeedsStackNow(buffered)) InternStack(buffered.stack, buffered.record.stack_key);
  }
  // Each point has a row, so its names will be needed. Defining them may scan more points.
  while (!just_scanned_points_.empty()) {
    const std::vector<ScannedPoint> points = std::exchange(just_scanned_points_, {});
    for (const ScannedPoint& point : points) {
      (void)definitions_.Class(point.class_key);
      InternStack(point.stack, point.stack_key);
    }
  }
  while (!just_scanned_events_.empty()) {
    for (const ScannedEvent& event : std::exchange(just_scanned_events_, {})) AddEvent(event);
  }
}

void LaneConsumer::AddCensus(const format::RingCensusPage& page) {
  format::VisitNames(page, *this);
  for (const format::KeyedCensusRow& keyed : format::CensusRowsOf(page)) {
    format::CensusRow row = keyed.row;
    row.thread = definitions_.Thread(keyed.thread_key);
    row.class_id = definitions_.Class(keyed.class_key);
    keyed.is_total ? chunk_->AddCensusTotal(row) : chunk_->AddCensus(row);
  }
}

// Returns true if samples of native points were committed to the lanes meanwhile.
bool LaneConsumer::ScanLanes() {
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    if (lane.damaged) continue;
    // Acquire: everything published before this head is complete (pairs with the release in LaneLease::Commit).
    const uint64_t head = ring_.lane(i).head.load(std::memory_order_acquire);
    if (head == lane.scanned) {
      ForgetOrphan(i);
      continue;
    }
    auto reached = format::WalkLane(view_, i, lane.scanned, head, *this);
    if (reached.ok()) {
      lane.scanned = *reached;
    } else {
      lane.damaged = true;
    }
  }
  return TakeNativePoints();
}

// Commits them in order of time, because an interval accepts samples up to its end and all go into one lane.
bool LaneConsumer::TakeNativePoints() {
  if (native_points_.empty()) return false;
  std::vector<NativePoint> points = std::exchange(native_points_, {});
  std::ranges::stable_sort(points, {}, [](const NativePoint& point) { return point.record->monotonic_ns; });
  for (const NativePoint& point : points) {
    on_native_point_(*point.record, point.pcs, point.java);
    // Set after the sample is committed or counted as lost: after a kill, a reader of the ring takes all other points.
    std::atomic_ref(point.record->header.is_taken).store(1, std::memory_order_release);
  }
  return true;
}

// Forgets a stack without a sample.
void LaneConsumer::ForgetOrphan(uint32_t index) {
  const format::LaneHeader& lane = ring_.lane(index);
  // Reads the lease first: a thread that has released it has published everything before.
  if (!lanes_[index].stack || lane.lease.load(std::memory_order_acquire) != 0) return;
  if (lane.head.load(std::memory_order_acquire) == lanes_[index].scanned) lanes_[index].stack.reset();
}

uint64_t LaneConsumer::next_close_ns(format::Stream stream) const {
  const format::RingHeader& header = ring_.header();
  return header.start_monotonic_ns + (next_interval_[stream] + 1) * header.IntervalNsOf(stream);
}

std::vector<LaneConsumer::Writer> LaneConsumer::ActiveWriters() {
  std::vector<Writer> writers;
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    const format::LaneHeader& lane = ring_.lane(i);
    // Reads the head first: if it moves later, the writer has published since.
    const uint64_t head = lane.head.load(std::memory_order_acquire);
    if (lane.lease.load(std::memory_order_acquire) != 0) writers.push_back({i, head});
  }
  return writers;
}

bool LaneConsumer::IsStillWriting(const Writer& writer) {
  const format::LaneHeader& lane = ring_.lane(writer.lane);
  return lane.lease.load(std::memory_order_acquire) != 0 && lane.head.load(std::memory_order_acquire) == writer.head;
}

ClosedInterval LaneConsumer::CloseNext(format::Stream stream) {
  const uint64_t index = next_interval_[stream];
  const uint64_t begin_ns = index * ring_.header().IntervalNsOf(stream);
  const std::vector<BufferedSample> taken = TakeUntil(stream, next_close_ns(stream));
  const uint64_t light = stream == format::Stream::kAllocations ? AddPointsUntil(next_close_ns(stream)) : 0;
  brought_.clear();
  ClosedInterval closed;
  std::vector<throttle::BufferedPoint> points;
  points.reserve(taken.size());
  for (const BufferedSample& buffered : taken) {
    const format::SampleRecord& record = buffered.record;
    if (stream == format::Stream::kAllocations) AddToRow(buffered);
    closed.buffered_weight += record.weight;
    points.push_back({record.id, record.weight, TimeOf(record, ring_.header().start_monotonic_ns, begin_ns),
                      record.class_key, record.call_path, record.stack_key.low, record.thread_key});
  }
  const throttle::IntervalReduction reduction = reducers_[stream].Reduce(index, points);
  const bool has_light_ones_only = points.empty() && light > 0;
  if (has_light_ones_only) reducers_[stream].NoteIntervalsWithPoints(1);

  closed.totals.stream = stream;
  closed.totals.index = index;
  closed.totals.buffered = taken.size() + light;
  closed.totals.kept = reduction.kept.size();
  // 0 would mean that its samples are lost.
  closed.totals.tau = has_light_ones_only ? std::numeric_limits<double>::infinity() : reduction.tau;
  closed.samples.reserve(reduction.kept.size());
  for (const throttle::KeptPoint& point : reduction.kept) {
    const BufferedSample& buffered = taken[point.index];
    UseWindow(buffered.record.window);
    InternStack(buffered.stack, buffered.record.stack_key);
    closed.samples.push_back(
        SampleOf(buffered.record, NamesOf(buffered.record), points[point.index].time_ns, point.weight));
  }
  std::sort(closed.samples.begin(), closed.samples.end(),
            [](const format::Sample& a, const format::Sample& b) { return a.time_ns < b.time_ns; });
  if (tracks_[stream]) closed.births = BirthsOf(taken, closed.samples);
  ++next_interval_[stream];
  return closed;
}

double LaneConsumer::BufferedWeight(format::Stream stream) const {
  double weight = 0;
  for (const Lane& lane : lanes_) {
    for (const BufferedSample& buffered : lane.buffered[stream]) weight += buffered.record.weight;
  }
  return weight;
}

std::vector<ClosedSample> LaneConsumer::BirthsOf(const std::vector<BufferedSample>& buffered,
                                                 const std::vector<format::Sample>& kept) {
  std::unordered_map<uint64_t, const format::Sample*> samples;
  for (const format::Sample& sample : kept) samples.emplace(sample.id, &sample);
  std::vector<ClosedSample> births;
  births.reserve(buffered.size());
  for (const BufferedSample& one : buffered) {
    const format::SampleRecord& record = one.record;
    ClosedSample birth;
    birth.tracking_index = record.tracking_index;
    if (const auto sample = samples.find(record.id); sample != samples.end()) {
      birth.is_kept = true;
      birth.sample = *sample->second;
      birth.keys = {record.class_key, record.thread_key, record.stack_key};
    }
    birth.sample.id = record.id;
    births.push_back(birth);
  }
  return births;
}

std::vector<LaneConsumer::BufferedSample> LaneConsumer::TakeUntil(format::Stream stream, uint64_t end_ns) {
  std::vector<BufferedSample> taken;
  for (Lane& lane : lanes_) {
    std::deque<BufferedSample>& buffered = lane.buffered[stream];
    while (!buffered.empty() && buffered.front().record.monotonic_ns < end_ns) {
      taken.push_back(buffered.front());
      buffered.pop_front();
    }
  }
  return taken;
}

uint64_t LaneConsumer::AddPointsUntil(uint64_t end_ns) {
  uint64_t count = 0;
  for (Lane& lane : lanes_) {
    for (; !lane.points.empty() && lane.points.front().record.monotonic_ns < end_ns; lane.points.pop_front()) {
      const auto& [point, begin, is_of_native, is_outside] = lane.points.front();
      const format::Index class_id = definitions_.Class(point.class_key);
      if (is_outside) {
        chunk_->AddOutside(class_id, static_cast<uint64_t>(point.weight), point.size);
        continue;
      }
      const format::Index path =
          is_of_native ? definitions_.Path(point.stack_key) : definitions_.Stack(point.stack_key);
      chunk_->AddPoint(class_id, path, point.size, point.weight);
      ++count;
    }
  }
  return count;
}

// A death of a buffered sample is needed as long as the sample, but occupies at most half of the lane. Each position is
// the start of a record, because a reader of the ring begins there after a kill.
std::vector<uint64_t> LaneConsumer::Positions(const format::PerStream<TrackedSet>& deaths) const {
  std::vector<uint64_t> least, positions;
  for (const Lane& lane : lanes_) {
    least.push_back(lane.scanned - std::min<uint64_t>(lane.scanned, ring_.lane_bytes() / 2));
    positions.push_back(NeededFrom(lane));
  }
  for (const TrackedSet& one : deaths.of) one.LowerTo(least, &positions);
  return positions;
}

// Returns the position from which the lane must be kept: that of the oldest buffered sample. Samples of a stream with
// longer intervals than another one keep at most half of the lane: older ones are only in the drain's memory, and a
// kill loses them.
uint64_t LaneConsumer::NeededFrom(const Lane& lane) const {
  uint64_t needed = lane.stack ? lane.stack->begin : lane.scanned;
  const auto lower_to_oldest = [&](const auto& waiting, format::Stream stream) {
    const bool may_wait = ring_.header().IntervalNsOf(stream) <= ShortestIntervalNs();
    for (const auto& buffered : waiting) {
      if (!may_wait && lane.scanned - buffered.begin > ring_.lane_bytes() / 2) continue;
      needed = std::min(needed, buffered.begin);
      break;
    }
  };
  for (const format::Stream stream : format::kAllStreams) lower_to_oldest(lane.buffered[stream], stream);
  lower_to_oldest(lane.points, format::Stream::kAllocations);
  return needed;
}

uint64_t LaneConsumer::ShortestIntervalNs() const {
  uint64_t shortest_ns = UINT64_MAX;
  for (const format::Stream stream : format::kAllStreams) {
    const uint64_t interval_ns = ring_.header().IntervalNsOf(stream);
    if (interval_ns > 0) shortest_ns = std::min(shortest_ns, interval_ns);
  }
  return shortest_ns;
}

void LaneConsumer::Release(const std::vector<uint64_t>& positions) {
  for (uint32_t i = 0; i < positions.size(); ++i) {
    // Release: the released bytes have been read (pairs with the acquire of tail in LaneLease).
    ring_.lane(i).tail.store(positions[i], std::memory_order_release);
  }
}

bool LaneConsumer::IsShortOfRoom(const format::PerStream<TrackedSet>& deaths) const {
  const std::vector<uint64_t> needed = Positions(deaths);
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    const format::LaneHeader& lane = ring_.lane(i);
    const uint64_t tail = lane.tail.load(std::memory_order_relaxed);  // only the drain writes it
    const uint64_t used = lane.head.load(std::memory_order_relaxed) - tail;
    if (used > ring_.lane_bytes() / 2 && needed[i] != tail) return true;
  }
  return false;
}

uint64_t LaneConsumer::UsedRoom() const {
  uint64_t used = 0;
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    const format::LaneHeader& lane = ring_.lane(i);
    used += lane.head.load(std::memory_order_relaxed) - lane.tail.load(std::memory_order_relaxed);
  }
  return used;
}

format::SampleNames LaneConsumer::NamesOf(const format::SampleRecord& record) {
  return {definitions_.Class(record.class_key), definitions_.Thread(record.thread_key),
          definitions_.Stack(record.stack_key)};
}

void LaneConsumer::OnClass(uint64_t key, std::string_view name) { definitions_.DefineClass(key, name); }

void LaneConsumer::OnMethod(uint64_t key, std::string_view class_name, std::string_view name,
                            std::string_view descriptor) {
  definitions_.DefineMethod(key, class_name, name, descriptor);
}

void LaneConsumer::OnStack(format::StackKey key, std::span<const format::RingFrame> leaf_first, bool truncated,
                           uint32_t lane, uint64_t begin) {
  lanes_[lane].stack = Brought{key, leaf_first, truncated, begin};
}

void LaneConsumer::OnThread(uint64_t key, const format::ThreadRecord& record, std::string_view name) {
  definitions_.DefineThread(key, format::ThreadOf(record, name));
}

void LaneConsumer::OnWindow(const format::WindowRecord& record) {
  const format::Window window = format::WindowOf(record, ring_.header().start_monotonic_ns);
  auto& known = windows_[format::StreamOfWindow(window.id)];
  known.insert_or_assign(window.id, KnownWindow{window, -1});
  UseWindow(window.id);
  if (known.size() > kMaxWindows) known.erase(known.begin());
}

void LaneConsumer::UseWindow(uint32_t id) {
  auto& windows = windows_[format::StreamOfWindow(id)];
  const auto known = windows.find(id);
  if (known == windows.end() || known->second.chunk == sequence_) return;
  chunk_->Add(known->second.window);
  known->second.chunk = sequence_;
}

void LaneConsumer::OnSample(const format::SampleRecord& record, uint32_t lane, uint64_t begin, uint64_t /*end*/) {
  std::optional<Brought> stack = TakeStack(lane, record.stack_key);
  just_scanned_.push_back({record, begin, stack});
  const format::Stream stream = format::StreamOf(static_cast<format::Kind>(record.kind));
  if (!MayWait(stream)) stack.reset();  // Scan will have added it to the chunk
  lanes_[lane].buffered[stream].push_back({record, stack ? stack->begin : begin, stack});
}

// The stack that a sample or point has included: the previous record in the lane, because the lease's owner writes both
// together. That record may also be another definition.
std::optional<LaneConsumer::Brought> LaneConsumer::TakeStack(uint32_t lane, const format::StackKey& key) {
  std::optional<Brought> stack = std::exchange(lanes_[lane].stack, std::nullopt);
  if (stack && !(stack->key == key)) stack.reset();
  return stack;
}

void LaneConsumer::OnPoint(const format::PointRecord& record, uint32_t lane, uint64_t begin) {
  const std::optional<Brought> stack = TakeStack(lane, record.stack_key);
  just_scanned_points_.push_back({record.class_key, record.stack_key, stack});
  lanes_[lane].points.push_back(
      {record, stack ? stack->begin : begin, stack && format::AreAddresses(stack->leaf_first)});
}

// The record waits for its interval like a point, so that a block releases exactly the records that it contains.
void LaneConsumer::OnOutside(const format::PointRecord& record, uint32_t lane, uint64_t begin) {
  just_scanned_points_.push_back({record.class_key, record.stack_key, std::nullopt});
  lanes_[lane].points.push_back({record, begin, false, true});
}

void LaneConsumer::OnDeath(const format::DeathRecord& record, uint32_t lane, uint64_t begin) {
  if (tracks_[format::StreamOfId(record.sample)]) deaths_.push_back({record, lane, begin});
}

void LaneConsumer::OnNativePoint(const format::NativePointRecord* record, std::span<const uint64_t> pcs,
                                 std::span<const format::RingFrame> java) {
  // The drain may modify it: the view refers to ring_'s own memory.
  if (on_native_point_) native_points_.push_back({const_cast<format::NativePointRecord*>(record), pcs, java});
}

void LaneConsumer::Name(const NameKeys& keys, format::Sample* sample) {
  sample->class_id = definitions_.Class(keys.class_key);
  sample->thread = definitions_.Thread(keys.thread_key);
  sample->stack = definitions_.Stack(keys.stack_key);
}

void LaneConsumer::OnState(const format::StateRecord& record, std::span<const uint64_t> amounts) {
  format::ProcessState state = format::StateOf(record, amounts, ring_.header().start_monotonic_ns);
  state.account = NotWritten(state);
  chunk_->Add(state);
}

// docs/format/recording.md#account. Snapshots come once a second, each a little late.
format::ProcessAccount LaneConsumer::NotWritten(const format::ProcessState& snapshot) {
  constexpr uint64_t kPeriodNs = 9'500'000'000;
  format::ProcessAccount news;
  for (const auto& [item, amount] : snapshot.account.taken()) {
    WrittenAmount& before = written_[static_cast<size_t>(item)];
    if (before.amount == amount && snapshot.time_ns < before.time_ns + kPeriodNs) continue;
    before = {amount, snapshot.time_ns};
    news.Set(item, amount);
  }
  return news;
}

void LaneConsumer::OnEvent(const format::EventRecord& record, std::string_view text, uint32_t lane) {
  just_scanned_events_.push_back({record, std::string(text), TakeStack(lane, record.stack_key)});
}

void LaneConsumer::AddEvent(const ScannedEvent& event) {
  const format::EventRecord& record = event.record;
  if (event.stack) InternStack(event.stack, record.stack_key);
  const format::SampleNames names{definitions_.Class(record.class_key), definitions_.Thread(record.thread_key),
                                  definitions_.Stack(record.stack_key)};
  chunk_->Add(format::EventOf(record, event.text, names, ring_.header().start_monotonic_ns));
}

}  // namespace heaprec::writer

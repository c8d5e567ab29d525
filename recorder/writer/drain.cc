#include "recorder/writer/drain.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "format/ring/ring_reader.h"
#include "recorder/writer/signal_masked_thread.h"

namespace heaprec::writer {
namespace {

constexpr uint64_t kMs = 1'000'000;
// Short enough that a window rises within 2 % of an interval; falling needs no tick (WindowPublisher::OnPoint).
constexpr uint64_t kTickNs = 20 * kMs;
constexpr uint64_t kQuietTickNs = 100 * kMs;
constexpr uint64_t kTicksUntilQuiet = 50;
// Maximum wait for a writer. A writer holds its lane for microseconds unless it is descheduled.
constexpr uint64_t kWriterPatienceNs = 50 * kMs;
constexpr uint64_t kMaxUnflushedNs = 5'000 * kMs;
constexpr uint64_t kRetryNs = 1'000 * kMs;
// Maximum number of samples per block, so that it is written before the ring is full, at any rate.
constexpr uint64_t kMaxInBlock = 2048;
// A drain that is later than this part of an interval divides the counts among intervals.
constexpr uint64_t kLatePart = 20;
// A thread that has checked which definitions are emitted commits its sample within microseconds, unless it is
// descheduled.
constexpr uint64_t kForgetAfterNs = 5'000 * kMs;

// Waits for threads that write, but not beyond `deadline_ns`.
template <typename IsDone>
void Await(const std::function<uint64_t()>& now, uint64_t deadline_ns, const IsDone& is_done) {
  constexpr timespec kPause{0, 100'000};
  while (!is_done() && now() < deadline_ns) nanosleep(&kPause, nullptr);
}

std::vector<format::Stream> StreamsOf(const format::RingHeader& header) {
  std::vector<format::Stream> streams;
  for (const format::Stream stream : format::kAllStreams) {
    if (header.IntervalNsOf(stream) > 0) streams.push_back(stream);
  }
  return streams;
}

}  // namespace

Drain::Drain(buffer::Ring& ring, Store store, const DrainConfig& config, DrainCallbacks callbacks)
    : ring_(ring),
      shared_counters_of_(format::PerStreamOf(
          [&ring](format::Stream stream) { return buffer::SharedCounters(ring.header().CountersOf(stream)); })),
      streams_(StreamsOf(ring.header())),
      store_(std::move(store)),
      config_(config),
      callbacks_(std::move(callbacks)),
      live_(format::PerStreamOf([this](format::Stream stream) { return LiveSetOf(stream); })),
      consumer_(ring, config.header.recording_id, config.max_samples, config.duration_ns, callbacks_.on_stack,
                format::PerStreamOf([this](format::Stream stream) { return live_[stream].tracks(); }),
                callbacks_.on_native_point, callbacks_.name_of),
      census_(ring.census()),
      open_rows_(ring.path().empty() ? nullptr : ring.rows(), ring.header().start_epoch_ns) {
  const uint64_t now_ns = callbacks_.now();
  behind_written_ = StartBehind(now_ns, CountersWithPending());
  BeginChunk(now_ns, behind_written_);
  last_flush_ns_ = now_ns;
  path_ = store_.path();
  ring_.SetRecordingPath(path_);
}

TrackedSet Drain::LiveSetOf(format::Stream stream) const {
  const uint64_t seed = format::SeedOf(stream, config_.header.recording_id);
  return {config_.header.MaxTracked(stream), config_.buffered_per_interval[stream], seed, callbacks_.tracked[stream],
          stream};
}

Drain::~Drain() {
  if (started_) pthread_join(thread_, nullptr);
}

Drain::Pending& Drain::Pending::operator+=(const Pending& other) {
  written += other.written;
  second_stage += other.second_stage;
  untracked += other.untracked;
  weight += other.weight;
  intervals.insert(intervals.end(), other.intervals.begin(), other.intervals.end());
  return *this;
}

bool Drain::TryJoin() {
  if (started_ && pthread_tryjoin_np(thread_, nullptr) == 0) started_ = false;
  return !started_;
}

Status Drain::Start() {
  auto thread = StartSignalMaskedThread(
      "heaprec-drain", [](void* self) { static_cast<Drain*>(self)->Run(); }, nullptr, this);
  if (!thread.ok()) return thread.error();
  thread_ = *thread;
  started_ = true;
  return {};
}

void Drain::RequestStop(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (!stop_requested_) stop_reason_ = reason;
  stop_requested_ = true;
  changed_.notify_all();
}

bool Drain::Wait(uint64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), [this] { return finished_; });
}

std::string Drain::path() {
  const std::lock_guard lock(mutex_);
  return path_;
}

Unwritten Drain::unwritten() {
  Unwritten so_far;
  for (const buffer::SharedCounters& shared_counters : shared_counters_of_.of) {
    so_far.lost_samples += shared_counters.Snapshot().lost[static_cast<size_t>(format::LossReason::kWriteFailed)];
  }
  const std::lock_guard lock(mutex_);
  so_far.error = write_error_;
  return so_far;
}

void Drain::Run() {
  try {
    if (callbacks_.on_start) callbacks_.on_start();
    while (!SleepOneTick()) Tick();
    End();
  } catch (...) {
    GiveUp();
  }
}

// Called without memory: readers can still use the file and the ring. Nothing may throw here, and there may still be no
// memory.
void Drain::GiveUp() {
  try {
    callbacks_.on_stop();
  } catch (...) {  // threads then lose their samples, because the ring is full
  }
  ring_.KeepFile();
  const std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
  try {
    RefuseSnapshots();
  } catch (...) {  // waiting callers get std::future_errc::broken_promise
  }
}

bool Drain::SleepOneTick() {
  uint64_t tick = quiet_ticks_ > kTicksUntilQuiet ? kQuietTickNs : kTickNs;
  // Exactly the end of an interval, because its bytes are those counted until then.
  const uint64_t now_ns = callbacks_.now();
  for (const format::Stream stream : streams_) {
    const uint64_t close_ns = consumer_.next_close_ns(stream);
    if (close_ns > now_ns) tick = std::min(tick, close_ns - now_ns);
  }
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::nanoseconds(tick), [this] { return stop_requested_; });
}

void Drain::Tick() {
  const uint64_t now_ns = callbacks_.now();
  callbacks_.on_tick(now_ns);
  uint64_t candidates = 0;
  for (const buffer::SharedCounters& shared_counters : shared_counters_of_.of)
    candidates += shared_counters.Snapshot().candidates;
  quiet_ticks_ = candidates == last_candidates_ ? quiet_ticks_ + 1 : 0;
  last_candidates_ = candidates;
  ring_.header().heartbeat_ns.store(now_ns, std::memory_order_relaxed);
  Scan();
  CloseDueIntervals(now_ns);
  FlushIfDue(now_ns);
  AnswerSnapshots(now_ns);
  store_.Tick(SinceStart(now_ns));
  ReportSyncFailure();
  if (now_ns - chunk_start_ns_ >= kForgetAfterNs) consumer_.ForgetPrevious();
  StopIfDone(now_ns);
}

void Drain::CloseDueIntervals(uint64_t now_ns) {
  const auto is_due = [&](format::Stream stream) { return now_ns >= consumer_.next_close_ns(stream); };
  if (std::none_of(streams_.begin(), streams_.end(), is_due)) return;
  AwaitWriters();
  Scan();
  for (const format::Stream stream : streams_) {
    while (is_due(stream)) AddInterval(stream);
  }
}

void Drain::AwaitWriters() {
  const uint64_t deadline = callbacks_.now() + kWriterPatienceNs;
  for (const LaneConsumer::Writer& writer : consumer_.ActiveWriters()) {
    Await(callbacks_.now, deadline, [&] { return !consumer_.IsStillWriting(writer); });
  }
}

void Drain::Scan() {
  consumer_.Scan();
  for (const LaneConsumer::Death& death : consumer_.TakeDeaths()) {
    const format::LifecycleEvent lifecycle = format::LifecycleOf(death.record, ring_.header().start_monotonic_ns);
    live_[lifecycle.stream].Died(lifecycle, death.lane, death.begin);
  }
}

// Adds all known lifecycle events to the next block, which may also have their samples.
void Drain::AddLifecycleEvents() {
  for (TrackedSet& live : live_.of) {
    for (const format::LifecycleEvent& lifecycle : live.TakeLifecycleEvents()) {
      chunk_->Add(lifecycle);
      if (lifecycle.kind == format::LifecycleKind::kUntracked) ++pending_[lifecycle.stream].untracked;
    }
  }
}

// All rows of a walk are in one block.
uint64_t Drain::AddCensus(bool is_last) {
  uint64_t number = census_.written();
  const uint64_t deadline = callbacks_.now() + kWriterPatienceNs;
  for (const format::RingCensusPage* const page : census_.Take(is_last)) {
    Await(callbacks_.now, deadline, [page] { return page->users.load() == 0; });
    if (page->users.load() != 0 && !is_last) break;  // left for the next block
    consumer_.AddCensus(*page);
    number = page->number.load();
  }
  chunk_->SetCensus(format::CountersOf(ring_.header().census), number);
  return number;
}

// Called if a recording ends without its file and without a ring's file.
void Drain::LoseCensus() {
  const auto add = [this](format::CensusCount what, uint64_t n) {
    ring_.header().census.counters[static_cast<size_t>(what)].fetch_add(n, std::memory_order_relaxed);
  };
  for (const format::RingCensusPage* const page : census_.Take(/*is_last=*/true)) {
    for (const format::KeyedCensusRow& keyed : format::CensusRowsOf(*page)) {
      if (!keyed.is_total) continue;
      add(format::CensusCount::kLost, keyed.row.walks);
      add(format::CensusCount::kLostBytes, keyed.row.bytes.counted);
    }
  }
}

// Not counted towards the limit that ends a chunk, which the stacks of thousands of samples might exceed.
void Drain::AddCheckpoint() {
  for (const TrackedSet& live : live_.of) {
    for (const auto& [id, tracked] : live.tracked()) {
      format::CheckpointSample checkpoint_sample = tracked.checkpoint_sample;
      checkpoint_sample.threshold = live.ThresholdSince(checkpoint_sample.sample.time_ns);
      consumer_.Name(tracked.keys, &checkpoint_sample.sample);
      chunk_->Add(checkpoint_sample);
    }
  }
  survivor_bytes_ = name_bytes();
}

// `share`: the part of the counts since the last close that belongs to this interval.
void Drain::CountBytes(format::Stream stream, double share, ClosedInterval* closed) {
  const format::StreamCounters counters = shared_counters_of_[stream].Snapshot();
  format::StreamCounters& before = at_last_close_[stream];
  const auto part = [share](uint64_t counted) {
    return share < 1 ? static_cast<uint64_t>(share * static_cast<double>(counted)) : counted;
  };
  closed->totals.candidates = part(counters.candidates - before.candidates);
  closed->totals.bytes = part(counters.candidate_bytes - before.candidate_bytes);
  before.candidates += closed->totals.candidates;
  before.candidate_bytes += closed->totals.bytes;
}

// Counters are not per interval. If the drain runs late, a part of the counts belongs to later intervals. Each gets a
// part in proportion to its buffered weight, and the last one gets the rest.
void Drain::AddInterval(format::Stream stream, Closing closing) {
  const uint64_t close_ns = consumer_.next_close_ns(stream), now_ns = callbacks_.now();
  const uint64_t end_ns = SinceStart(std::min(close_ns, now_ns));
  const bool is_late =
      closing == Closing::kOnTime && now_ns > close_ns + ring_.header().IntervalNsOf(stream) / kLatePart;
  ClosedInterval closed = consumer_.CloseNext(stream);
  live_[stream].Close(end_ns, closed.births);
  const double later = is_late ? consumer_.BufferedWeight(stream) : 0;
  CountBytes(stream, later > 0 ? closed.buffered_weight / (closed.buffered_weight + later) : 1, &closed);
  closed_intervals_[stream] = closed.totals.index + 1;
  if (closed.totals.buffered > 0) ++intervals_with_points_[stream];
  chunk_->Add(closed.totals);
  Pending& pending = pending_[stream];
  pending.intervals.push_back(closed.totals);
  for (const format::Sample& sample : closed.samples) {
    chunk_->Add(sample);
    pending.weight += sample.weight;
  }
  pending.written += closed.totals.kept;
  pending.second_stage += closed.totals.buffered - closed.totals.kept;
}

void Drain::FlushIfDue(uint64_t now_ns) {
  const auto has_samples = [](const Pending& pending) { return pending.written != 0 || pending.second_stage != 0; };
  const bool samples = std::any_of(pending_.of.begin(), pending_.of.end(), has_samples) || census_.has_rows();
  const uint64_t since_ns = now_ns - last_flush_ns_;
  const bool too_early = waiting_  ? since_ns < kRetryNs && !IsBacklogTooLarge()
                         : samples ? MayBlockGrow(since_ns)
                                   : since_ns < kMaxUnflushedNs;
  if (!too_early && !Flush(now_ns, nullptr)) WriteProvisional(now_ns);  // failed data waits
}

bool Drain::MayBlockGrow(uint64_t since_ns) const {
  const uint64_t room = uint64_t{ring_.lane_count()} * ring_.lane_bytes();
  return since_ns < config_.block_ns && PendingSamples() < kMaxInBlock && consumer_.UsedRoom() < room / 4 &&
         !census_.is_filling();
}

void Drain::StopIfDone(uint64_t now_ns) {
  if (config_.duration_ns != 0 && SinceStart(now_ns) >= config_.duration_ns) RequestStop("duration");
}

void Drain::End() {
  callbacks_.on_stop();
  AwaitSettled();
  Scan();
  const uint64_t now_ns = callbacks_.now();
  callbacks_.on_tick(now_ns);
  for (const format::Stream stream : streams_) {
    while (consumer_.next_close_ns(stream) <= now_ns) AddInterval(stream);
    AddInterval(stream, Closing::kCutShort);
  }
  format::EndMarker ending{SinceStart(now_ns), {}};
  {
    const std::lock_guard lock(mutex_);
    ending.reason = stop_reason_;
  }
  if (WriteEnd(now_ns, ending)) {
    ring_.Close();
  } else {
    ring_.KeepFile();
  }
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    RefuseSnapshots();
    changed_.notify_all();
  }
  // Does not delay anything, because it protects only against a power cut. The drain itself stays in memory until the
  // next recording begins.
  store_.Finish();
  ReportSyncFailure();
}

// Waits until every point has a counted outcome: a thread may be between the JVM's callback and its lane.
void Drain::AwaitSettled() {
  const uint64_t deadline = callbacks_.now() + kWriterPatienceNs;
  const auto is_settled = [](const buffer::SharedCounters& shared_counters) {
    const format::StreamCounters counters = shared_counters.Snapshot();
    return counters.points <= counters.SettledPoints();
  };
  Await(callbacks_.now, deadline, [&] { return std::ranges::all_of(shared_counters_of_.of, is_settled); });
  AwaitWriters();
}

}  // namespace heaprec::writer

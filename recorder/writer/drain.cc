#include "recorder/writer/drain.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <utility>

#include "format/ring_reader.h"
#include "recorder/writer/quiet_thread.h"

namespace heaprec::writer {
namespace {

constexpr uint64_t kMs = 1'000'000;
// Fast enough that a window rises within 2 % of an interval; falling needs no tick (WindowBoard::OnPoint).
constexpr uint64_t kTickNs = 20 * kMs;
constexpr uint64_t kQuietTickNs = 100 * kMs;
constexpr uint64_t kTicksUntilQuiet = 50;
// A writer holds its lane for microseconds; one that was descheduled meanwhile is not waited for any longer than this.
constexpr uint64_t kWriterPatienceNs = 50 * kMs;
constexpr uint64_t kMostUnflushedNs = 5'000 * kMs;
constexpr uint64_t kRetryNs = 1'000 * kMs;
// On the heap, while blocks cannot be written.
constexpr uint64_t kMostWaitingBytes = 1 << 20;
// Of samples that share a block: it is to be written before the ring runs short, whatever the rate.
constexpr uint64_t kMostInBlock = 2048;
constexpr uint64_t kChunkRawBytes = 8 << 20;
// Bounds the heap where every stack is new: it is the dictionaries that take most of it.
constexpr uint64_t kChunkDefinitionBytes = 2 << 20;
// A thread that has looked up what is announced commits its sample within microseconds, or when it is scheduled again.
constexpr uint64_t kForgetAfterNs = 5'000 * kMs;

// Points that never got into the ring.
uint64_t LostPoints(const format::Books& books) {
  uint64_t lost = 0;
  for (const format::Loss loss :
       {format::Loss::kMissed, format::Loss::kRingFull, format::Loss::kLanesBusy, format::Loss::kOversized}) {
    lost += books.lost[static_cast<size_t>(loss)];
  }
  return lost;
}

uint64_t SeedOf(const format::RecordingId& id) {
  uint64_t seed = 0;
  std::memcpy(&seed, id.data(), sizeof(seed));
  return seed;
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
      ledgers_{{buffer::Ledger(ring.header().BooksOf(format::Stream::kAllocations)),
                buffer::Ledger(ring.header().BooksOf(format::Stream::kExceptions))}},
      streams_(StreamsOf(ring.header())),
      store_(std::move(store)),
      config_(config),
      callbacks_(std::move(callbacks)),
      live_(config.header.live_bound, config.held_per_interval, SeedOf(config.header.recording_id),
            callbacks_.followed),
      collector_(ring, config.header.recording_id, config.max_samples, config.duration_ns, callbacks_.on_stack,
                 live_.follows()) {
  const uint64_t now_ns = callbacks_.now();
  BeginChunk(now_ns);
  last_flush_ns_ = now_ns;
  path_ = store_.path();
}

Drain::~Drain() {
  if (started_) pthread_join(thread_, nullptr);
}

Drain::Pending& Drain::Pending::operator+=(const Pending& other) {
  written += other.written;
  second_stage += other.second_stage;
  not_followed += other.not_followed;
  weight += other.weight;
  return *this;
}

bool Drain::TryJoin() {
  if (started_ && pthread_tryjoin_np(thread_, nullptr) == 0) started_ = false;
  return !started_;
}

format::Result<std::monostate> Drain::Start() {
  auto thread = StartQuietThread(
      "heaprec-drain", [](void* self) { static_cast<Drain*>(self)->Run(); },
      [](void* self) { static_cast<Drain*>(self)->GiveUp(); }, this);
  if (!thread.ok()) return thread.error();
  thread_ = *thread;
  started_ = true;
  return std::monostate{};
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

void Drain::Run() {
  while (!SleepOneTick()) Tick();
  End();
}

// Out of memory: what is in the file and in the ring stays there for readers.
void Drain::GiveUp() {
  callbacks_.on_stop();
  ring_.Leave();
  const std::lock_guard lock(mutex_);
  finished_ = true;
  RefuseSnapshots();
  changed_.notify_all();
}

bool Drain::SleepOneTick() {
  uint64_t tick = quiet_ticks_ > kTicksUntilQuiet ? kQuietTickNs : kTickNs;
  // At the end of an interval to the point: its bytes are those counted by then.
  const uint64_t now_ns = callbacks_.now();
  for (const format::Stream stream : streams_) {
    const uint64_t close_ns = collector_.next_close_ns(stream);
    if (close_ns > now_ns) tick = std::min(tick, close_ns - now_ns);
  }
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::nanoseconds(tick), [this] { return stop_requested_; });
}

void Drain::Tick() {
  const uint64_t now_ns = callbacks_.now();
  callbacks_.on_tick(now_ns);
  uint64_t candidates = 0;
  for (const buffer::Ledger& ledger : ledgers_.of) candidates += ledger.Snapshot().candidates;
  quiet_ticks_ = candidates == last_candidates_ ? quiet_ticks_ + 1 : 0;
  last_candidates_ = candidates;
  ring_.header().heartbeat_ns.store(now_ns, std::memory_order_relaxed);
  Scan();
  CloseDueIntervals(now_ns);
  FlushIfDue(now_ns);
  AnswerSnapshots(now_ns);
  store_.Tick(SinceStart(now_ns));
  if (now_ns - chunk_start_ns_ >= kForgetAfterNs) collector_.ForgetPrevious();
  StopIfDone(now_ns);
}

void Drain::CloseDueIntervals(uint64_t now_ns) {
  const auto is_due = [&](format::Stream stream) { return now_ns >= collector_.next_close_ns(stream); };
  if (std::none_of(streams_.begin(), streams_.end(), is_due)) return;
  AwaitWriters();
  Scan();
  for (const format::Stream stream : streams_) {
    while (is_due(stream)) AddInterval(stream);
  }
}

void Drain::AwaitWriters() {
  const uint64_t deadline = callbacks_.now() + kWriterPatienceNs;
  for (const Collector::Writer& writer : collector_.WritersAtWork()) {
    while (collector_.StillAtWork(writer) && callbacks_.now() < deadline) {
      const timespec pause{0, 100'000};
      nanosleep(&pause, nullptr);
    }
  }
}

void Drain::Scan() {
  collector_.Scan();
  for (const Collector::Death& death : collector_.TakeDeaths()) {
    live_.Died(format::FateOf(death.record, ring_.header().start_monotonic_ns), death.lane, death.begin);
  }
}

// All fates that are known stand in the next block, be it that of their samples.
void Drain::AddFates() {
  for (const format::Fate& fate : live_.TakeFates()) {
    chunk_->Add(fate);
    if (fate.kind == format::FateKind::kNotFollowed) ++pending_[format::Stream::kAllocations].not_followed;
  }
}

// Of a walk everything stands in one block. What it found is then needed in its lane no longer.
void Drain::AddCensus() {
  pending_census_ = collector_.GiveCensus();
  census_positions_ = collector_.Scanned();
  chunk_->SetCensus(format::BooksOf(ring_.header().census), census_positions_);
}

void Drain::LoseCensus(const format::CensusSums::Pending& lost) {
  const auto add = [this](format::CensusCount what, uint64_t n) {
    ring_.header().census.counters[static_cast<size_t>(what)].fetch_add(n, std::memory_order_relaxed);
  };
  add(format::CensusCount::kLost, lost.walks);
  add(format::CensusCount::kLostBytes, lost.bytes);
}

// The stacks of thousands may be more than what ends a chunk: they are not counted towards that.
void Drain::AddSurvivors() {
  for (const auto& [id, followed] : live_.followed()) {
    format::Survivor survivor = followed.survivor;
    survivor.threshold = live_.ThresholdSince(survivor.sample.time_ns);
    collector_.Name(followed.keys, &survivor.sample);
    chunk_->Add(survivor);
  }
  survivor_bytes_ = name_bytes();
}

void Drain::AddInterval(format::Stream stream) {
  // The last one is cut short.
  const uint64_t end_ns = SinceStart(std::min(collector_.next_close_ns(stream), callbacks_.now()));
  ClosedInterval closed = collector_.CloseNext(stream);
  if (stream == format::Stream::kAllocations) live_.Close(end_ns, closed.births);
  const format::Books books = ledgers_[stream].Snapshot();
  closed.totals.candidates = books.candidates - at_last_close_[stream].candidates;
  closed.totals.bytes = books.candidate_bytes - at_last_close_[stream].candidate_bytes;
  at_last_close_[stream] = books;
  closed_intervals_[stream] = closed.totals.index + 1;
  if (closed.totals.held > 0) ++held_intervals_[stream];
  chunk_->Add(closed.totals);
  Pending& pending = pending_[stream];
  for (const format::Sample& sample : closed.samples) {
    chunk_->Add(sample);
    pending.weight += sample.weight;
  }
  pending.written += closed.totals.kept;
  pending.second_stage += closed.totals.held - closed.totals.kept;
}

void Drain::FlushIfDue(uint64_t now_ns) {
  const auto has_samples = [](const Pending& pending) { return pending.written != 0 || pending.second_stage != 0; };
  const bool samples = std::any_of(pending_.of.begin(), pending_.of.end(), has_samples) || collector_.has_census();
  const uint64_t since_ns = now_ns - last_flush_ns_;
  const bool too_early = waiting_  ? since_ns < kRetryNs && !TooMuchWaits()
                         : samples ? MayBlockGrow(since_ns)
                                   : since_ns < kMostUnflushedNs;
  if (!too_early) (void)Flush(now_ns, nullptr);  // what fails waits
}

bool Drain::MayBlockGrow(uint64_t since_ns) const {
  uint64_t samples = 0;
  for (const format::Stream stream : streams_) samples += pending_[stream].written;
  const uint64_t room = uint64_t{ring_.lane_count()} * ring_.lane_bytes();
  return since_ns < config_.block_ns && samples < kMostInBlock && collector_.UsedRoom() < room / 4;
}

// The block's books count the block itself; the ring's follow when it is in the file.
format::PerStream<format::Books> Drain::BooksWithPending() const {
  format::PerStream<format::Books> all;
  for (const format::Stream stream : streams_) {
    Pending counted = pending_[stream];
    if (waiting_) counted += waiting_->counted[stream];
    all[stream] = ledgers_[stream].Snapshot();
    all[stream].written += counted.written;
    all[stream].second_stage += counted.second_stage;
    all[stream].not_followed = counted.not_followed + (stream == format::Stream::kAllocations ? not_followed_ : 0);
  }
  const format::RingStacks& stacks = ring_.header().stacks;
  format::Books& books = all[format::Stream::kAllocations];
  books.stacks_walked = stacks.walked.load(std::memory_order_relaxed);
  books.stacks_asked = stacks.asked.load(std::memory_order_relaxed);
  books.stacks_differed = stacks.differed.load(std::memory_order_relaxed);
  return all;
}

bool Drain::Flush(uint64_t now_ns, const format::Ending* ending) {
  last_flush_ns_ = now_ns;
  if (waiting_ && !WriteWaiting()) {
    if (ending == nullptr && TooMuchWaits()) LoseWaiting(now_ns);
    return false;
  }
  AddFates();
  AddCensus();
  const std::vector<uint64_t> positions = collector_.Positions(live_);
  const format::PerStream<format::Books> books = BooksWithPending();
  const bool rotates = ending == nullptr && store_.OpenNext(SinceStart(now_ns), StartBehind(now_ns, books, positions));
  const bool last = ending != nullptr || (!rotates && ChunkIsFull(now_ns));
  auto block = last ? chunk_->Finish(books, positions, SinceStart(now_ns), ending)
                    : chunk_->Flush(books, positions, SinceStart(now_ns));
  const bool written = block.ok() && store_.Append(*block);
  if (!written && ending != nullptr) return false;
  if (written) {
    Account(std::exchange(pending_, {}), true);
    pending_census_ = {};
    if (rotates && EndFile(now_ns, books, positions)) {
      callbacks_.on_new_chunk();
    } else if (ending == nullptr && (rotates || last)) {
      BeginChunk(now_ns);
    }
    collector_.Release(positions);
    return true;
  }
  if (rotates) store_.GoOn(/*ended=*/false);
  waiting_ = Waiting{block.ok() ? std::move(*block) : format::ByteBuffer(),
                     std::exchange(pending_, {}),
                     std::exchange(pending_census_, {}),
                     positions,
                     {}};
  // What the compressor refuses will not be written ever.
  if (!block.ok() || TooMuchWaits()) {
    LoseWaiting(now_ns);
  } else if (last) {
    BeginChunk(now_ns);
  }
  return false;
}

bool Drain::ChunkIsFull(uint64_t now_ns) const {
  return store_.ChunkIsFull(SinceStart(now_ns)) || chunk_->raw_bytes() >= kChunkRawBytes ||
         name_bytes() - survivor_bytes_ >= kChunkDefinitionBytes;
}

// A block of its own, which nothing depends on: if it cannot be written, this file goes on. Before it, the next file is
// begun with the names that were announced: samples that come before their writers know of the new chunk refer to them,
// their definitions may have left the ring, and a reader of that file has no other.
bool Drain::EndFile(uint64_t now_ns, const format::PerStream<format::Books>& books,
                    const std::vector<uint64_t>& positions) {
  const format::Ending rotation{SinceStart(now_ns), "rotated"};
  const auto last = chunk_->Finish(books, positions, SinceStart(now_ns), &rotation);
  AdoptChunk(store_.NextHeader(), now_ns);
  collector_.CarryDefinitionsOver();
  const auto names = chunk_->Flush(books, positions, SinceStart(now_ns));
  const bool has_names = names.ok() && store_.BeginNext(*names);
  const bool ended = (has_names || store_.BeginNext({})) && last.ok() && store_.Append(*last);
  store_.GoOn(ended);
  const std::lock_guard lock(mutex_);
  path_ = store_.path();
  return ended && has_names;
}

bool Drain::WriteWaiting() {
  if (!store_.Append(waiting_->block)) return false;
  const Waiting written = *std::exchange(waiting_, std::nullopt);
  Account(written.counted, true);
  if (written.next_chunk) store_.BeginChunk(*written.next_chunk);
  collector_.Release(written.positions);
  return true;
}

bool Drain::TooMuchWaits() const {
  uint64_t samples = 0;
  for (const format::Stream stream : streams_) samples += pending_[stream].written;
  return collector_.IsShortOfRoom(live_) ||
         waiting_->block.size() + samples * sizeof(format::Sample) > kMostWaitingBytes ||
         name_bytes() - survivor_bytes_ > kChunkDefinitionBytes + kMostWaitingBytes;
}

void Drain::LoseWaiting(uint64_t now_ns) {
  const Waiting lost = *std::exchange(waiting_, std::nullopt);
  Account(lost.counted, false);
  Account(std::exchange(pending_, {}), false);
  LoseCensus(lost.census);
  LoseCensus(std::exchange(pending_census_, {}));
  LoseCensus(collector_.DropCensus());  // what came since would grow as long as nothing can be written
  census_positions_ = collector_.Scanned();
  (void)live_.TakeFates();  // of samples that the next chunk does not have
  BeginChunk(now_ns);
  collector_.Release(collector_.Positions(live_));
}

void Drain::Account(const format::PerStream<Pending>& counted, bool written) {
  for (const format::Stream stream : streams_) {
    const Pending& pending = counted[stream];
    if (written) {
      ledgers_[stream].Written(pending.written);
    } else {
      ledgers_[stream].Lost(format::Loss::kWriteFailed, pending.written, pending.weight);
    }
    ledgers_[stream].SecondStage(pending.second_stage);
    if (written) not_followed_ += pending.not_followed;
  }
}

// What was counted of intervals that are still open will be told by the blocks to come.
format::FileStart Drain::StartBehind(uint64_t now_ns, const format::PerStream<format::Books>& books,
                                     const std::vector<uint64_t>& positions) const {
  format::FileStart start;
  start.begin_ns = SinceStart(now_ns);
  start.lane_positions = positions;
  start.next_interval = closed_intervals_;
  start.held_intervals = held_intervals_;
  for (const format::Stream stream : streams_) {
    format::Books& before = start.books[stream] = books[stream];
    const uint64_t settled =
        before.written + before.second_stage + before.lost[static_cast<size_t>(format::Loss::kWriteFailed)];
    const uint64_t open = before.committed - std::min(before.committed, settled);
    before.committed -= open;
    before.points -= std::min(before.points, open);
    before.candidates = at_last_close_[stream].candidates;
    before.candidate_bytes = at_last_close_[stream].candidate_bytes;
  }
  return start;
}

void Drain::BeginChunk(uint64_t now_ns) {
  const format::FileStart start = StartBehind(now_ns, BooksWithPending(), {});
  AdoptChunk(store_.HeaderFor(start), now_ns);
  if (waiting_) {
    waiting_->next_chunk = start;
  } else {
    store_.BeginChunk(start);
  }
  callbacks_.on_new_chunk();
}

void Drain::AdoptChunk(const format::FileHeader& header, uint64_t now_ns) {
  collector_.EndChunk();
  chunk_.reset();  // one compressor at a time
  chunk_ = std::make_unique<format::ChunkWriter>(header, next_chunk_);
  chunk_start_ns_ = now_ns;
  collector_.NewChunk(chunk_.get(), next_chunk_++);
  chunk_->SetCensus(format::BooksOf(ring_.header().census), census_positions_);
  AddSurvivors();
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
    while (collector_.next_close_ns(stream) <= now_ns) AddInterval(stream);
    AddInterval(stream);  // the last one, cut short
  }
  format::Ending ending{SinceStart(now_ns), {}};
  {
    const std::lock_guard lock(mutex_);
    ending.reason = stop_reason_;
  }
  // If the last block cannot be written, the ring stays: it has all that is missing in the file.
  if (Flush(now_ns, &ending)) {
    ring_.Close();
  } else {
    ring_.Leave();
  }
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    RefuseSnapshots();
    changed_.notify_all();
  }
  // Nobody waits for this: it helps against a power cut only. The drain itself stays in memory until the next
  // recording begins.
  store_.Finish();
}

// Waits until every point has met its fate: a thread may be on its way from the JVM to a lane.
void Drain::AwaitSettled() {
  const uint64_t deadline = callbacks_.now() + kWriterPatienceNs;
  const auto is_settled = [](const buffer::Ledger& ledger) {
    const format::Books books = ledger.Snapshot();
    return books.points <= books.committed + books.thinned + LostPoints(books);
  };
  while (callbacks_.now() < deadline && !std::all_of(ledgers_.of.begin(), ledgers_.of.end(), is_settled)) {
    const timespec pause{0, 100'000};
    nanosleep(&pause, nullptr);
  }
  AwaitWriters();
}

}  // namespace heaprec::writer

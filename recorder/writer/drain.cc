#include "recorder/writer/drain.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

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
constexpr uint64_t kChunkNs = 60'000 * kMs;
constexpr uint64_t kChunkRawBytes = 8 << 20;

// Points that never got into the ring.
uint64_t LostPoints(const format::Books& books) {
  uint64_t lost = 0;
  for (const format::Loss loss :
       {format::Loss::kMissed, format::Loss::kRingFull, format::Loss::kLanesBusy, format::Loss::kOversized}) {
    lost += books.lost[static_cast<size_t>(loss)];
  }
  return lost;
}

std::vector<format::Stream> StreamsOf(const format::RingHeader& header) {
  std::vector<format::Stream> streams;
  for (const format::Stream stream : format::kAllStreams) {
    if (header.IntervalNsOf(stream) > 0) streams.push_back(stream);
  }
  return streams;
}

}  // namespace

Drain::Drain(buffer::Ring& ring, RecordingFile file, const DrainConfig& config, DrainCallbacks callbacks)
    : ring_(ring),
      ledgers_{{buffer::Ledger(ring.header().BooksOf(format::Stream::kAllocations)),
                buffer::Ledger(ring.header().BooksOf(format::Stream::kExceptions))}},
      streams_(StreamsOf(ring.header())),
      file_(std::move(file)),
      config_(config),
      callbacks_(std::move(callbacks)),
      collector_(ring, config.header.recording_id, config.max_samples, config.duration_ns) {
  const uint64_t now_ns = callbacks_.now();
  BeginChunk(now_ns);
  last_flush_ns_ = last_sync_ns_ = now_ns;
}

Drain::~Drain() { Join(); }

void Drain::Join() {
  if (started_) pthread_join(thread_, nullptr);
  started_ = false;
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
  collector_.Scan();
  CloseDueIntervals(now_ns);
  FlushIfDue(now_ns);
  SyncIfDue(now_ns);
  StopIfDone(now_ns);
}

void Drain::CloseDueIntervals(uint64_t now_ns) {
  const auto is_due = [&](format::Stream stream) { return now_ns >= collector_.next_close_ns(stream); };
  if (std::none_of(streams_.begin(), streams_.end(), is_due)) return;
  AwaitWriters();
  collector_.Scan();
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

void Drain::AddInterval(format::Stream stream) {
  ClosedInterval closed = collector_.CloseNext(stream);
  const format::Books books = ledgers_[stream].Snapshot();
  closed.totals.candidates = books.candidates - at_last_close_[stream].candidates;
  closed.totals.bytes = books.candidate_bytes - at_last_close_[stream].candidate_bytes;
  at_last_close_[stream] = books;
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
  const bool samples = std::any_of(pending_.of.begin(), pending_.of.end(), has_samples);
  if (!samples && now_ns - last_flush_ns_ < kMostUnflushedNs) return;
  (void)Flush(now_ns, nullptr);  // counted if it fails
}

// The block's books count the block itself; the ring's follow when it is in the file.
format::PerStream<format::Books> Drain::BooksWithPending() const {
  format::PerStream<format::Books> all;
  for (const format::Stream stream : streams_) {
    all[stream] = ledgers_[stream].Snapshot();
    all[stream].written += pending_[stream].written;
    all[stream].second_stage += pending_[stream].second_stage;
  }
  const format::RingStacks& stacks = ring_.header().stacks;
  format::Books& books = all[format::Stream::kAllocations];
  books.stacks_walked = stacks.walked.load(std::memory_order_relaxed);
  books.stacks_asked = stacks.asked.load(std::memory_order_relaxed);
  books.stacks_differed = stacks.differed.load(std::memory_order_relaxed);
  return all;
}

bool Drain::Flush(uint64_t now_ns, const format::Ending* ending) {
  const std::vector<uint64_t> positions = collector_.Positions();
  const format::PerStream<format::Books> books = BooksWithPending();
  const bool full = now_ns - chunk_start_ns_ >= kChunkNs || chunk_->raw_bytes() >= kChunkRawBytes;
  auto bytes = ending != nullptr || full ? chunk_->Finish(books, positions, SinceStart(now_ns), ending)
                                         : chunk_->Flush(books, positions, SinceStart(now_ns));
  const bool written = bytes.ok() && file_.Append(*bytes).ok();
  last_flush_ns_ = now_ns;
  if (!written && ending != nullptr) return false;
  for (const format::Stream stream : streams_) {
    const Pending& pending = pending_[stream];
    if (written) {
      ledgers_[stream].Written(pending.written);
    } else {
      ledgers_[stream].Lost(format::Loss::kWriteFailed, pending.written, pending.weight);
    }
    ledgers_[stream].SecondStage(pending.second_stage);
  }
  pending_ = {};
  if (ending == nullptr && (full || !written)) BeginChunk(now_ns);
  collector_.Release(positions);
  return written;
}

void Drain::BeginChunk(uint64_t now_ns) {
  auto next = std::make_unique<format::ChunkWriter>(config_.header, next_chunk_);
  collector_.NewChunk(next.get(), next_chunk_++);
  chunk_ = std::move(next);
  chunk_start_ns_ = now_ns;
  callbacks_.on_new_chunk();
}

void Drain::SyncIfDue(uint64_t now_ns) {
  if (config_.sync_ns == 0 || now_ns - last_sync_ns_ < config_.sync_ns || synced_size_ == file_.size()) return;
  last_sync_ns_ = now_ns;
  // A sync that fails leaves the last durable state where it was; the next one tries again.
  if (file_.Sync().ok()) synced_size_ = file_.size();
}

void Drain::StopIfDone(uint64_t now_ns) {
  if (config_.duration_ns != 0 && SinceStart(now_ns) >= config_.duration_ns) RequestStop("duration");
}

void Drain::End() {
  callbacks_.on_stop();
  AwaitSettled();
  collector_.Scan();
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
    changed_.notify_all();
  }
  // Nobody waits for this: it helps against a power cut only.
  if (config_.sync_ns != 0) (void)file_.Sync().ok();
  file_.Close();  // the drain itself stays in memory until the next recording begins
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

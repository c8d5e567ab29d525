#include "tools/input/parallel_reader.h"

#include <algorithm>
#include <utility>

namespace heaprec::tools {
namespace {

// Returns the entries of `all` from `*sent` on.
template <typename Entry>
std::vector<Entry> NewOf(const std::vector<Entry>& all, size_t* sent) {
  std::vector<Entry> added(all.begin() + static_cast<std::ptrdiff_t>(*sent), all.end());
  *sent = all.size();
  return added;
}

template <typename Entry>
void MoveTo(std::vector<Entry>* into, std::vector<Entry> added) {
  into->insert(into->end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
}

}  // namespace

ReadAheadReader::ReadAheadReader(std::unique_ptr<format::Reader> within, size_t blocks_before)
    : within_(std::move(within)),
      header_(within_->header()),
      blocks_before_(blocks_before),
      position_(within_->position()) {}

ReadAheadReader::~ReadAheadReader() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::optional<format::Block> ReadAheadReader::Next() {
  if (is_direct_ && blocks_before_ == 0 && !at_end_) {
    is_direct_ = false;
    thread_ = std::thread([this] { Run(); });
  }
  if (!is_direct_) {
    if (auto step = TakeStep()) return Apply(std::move(*step));
    thread_.join();
    is_direct_ = true;
  }
  if (blocks_before_ > 0) --blocks_before_;
  // There may now be data after the previous end.
  return GiveOut(Read(within_->Next()));
}

std::optional<format::Block> ReadAheadReader::TakeOpen() {
  if (!is_direct_) return std::nullopt;
  return GiveOut(Read(within_->TakeOpen()));
}

std::optional<format::Block> ReadAheadReader::GiveOut(std::optional<Step> step) {
  std::optional<format::Block> block;
  if (step) block = Apply(std::move(*step));
  skipped_ = within_->skipped();
  position_ = within_->position();
  return block;
}

std::optional<ReadAheadReader::Step> ReadAheadReader::Read(std::optional<format::Block> block) {
  if (!block) return std::nullopt;
  Step step{.block = std::move(*block), .names = {}, .skipped = {}, .position = within_->position()};
  NoteNames(&step);
  step.skipped = NewOf(within_->skipped(), &ranges_sent_);
  return step;
}

// Dictionaries grow until new ones begin.
void ReadAheadReader::NoteNames(Step* step) {
  const format::Dictionaries& all = *step->block.dictionaries;
  if (step->block.starts_names) sent_ = {};
  step->names = {.classes = NewOf(all.classes, &sent_.classes),
                 .methods = NewOf(all.methods, &sent_.methods),
                 .frames = NewOf(all.frames, &sent_.frames),
                 .stacks = NewOf(all.stacks, &sent_.stacks),
                 .threads = NewOf(all.threads, &sent_.threads)};
}

void ReadAheadReader::Run() {
  for (;;) {
    auto step = Read(within_->Next());
    std::unique_lock lock(mutex_);
    if (!step) at_end_ = true;
    if (!step || stop_) break;
    samples_waiting_ += step->block.samples.size();
    waiting_.push_back(std::move(*step));
    changed_.notify_all();
    changed_.wait(lock, [this] { return (samples_waiting_ <= kMaxWaiting && waiting_.size() < kMaxBlocks) || stop_; });
  }
  changed_.notify_all();
}

std::optional<ReadAheadReader::Step> ReadAheadReader::TakeStep() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !waiting_.empty() || at_end_; });
  if (waiting_.empty()) return std::nullopt;
  Step step = std::move(waiting_.front());
  waiting_.pop_front();
  samples_waiting_ -= step.block.samples.size();
  changed_.notify_all();
  return step;
}

format::Block ReadAheadReader::Apply(Step step) {
  if (step.block.starts_names) names_ = {};
  MoveTo(&names_.classes, std::move(step.names.classes));
  MoveTo(&names_.methods, std::move(step.names.methods));
  MoveTo(&names_.frames, std::move(step.names.frames));
  MoveTo(&names_.stacks, std::move(step.names.stacks));
  MoveTo(&names_.threads, std::move(step.names.threads));
  MoveTo(&skipped_, std::move(step.skipped));
  position_ = step.position;
  step.block.dictionaries = &names_;
  return std::move(step.block);
}

ParallelReader::ParallelReader(format::ByteSource* source, std::unique_ptr<format::Reader> within, size_t threads,
                               Known known)
    : source_(*source),
      header_(within->header()),
      threads_wanted_(std::clamp<size_t>(threads > 0 ? threads : std::thread::hardware_concurrency(), 1, kMaxThreads)),
      within_(std::move(within)),
      position_(within_->position()),
      known_(std::move(known)),
      planned_(position_) {}

ParallelReader::~ParallelReader() { Stop(); }

std::optional<format::Block> ParallelReader::Next() {
  if (within_) Start();
  while (!rest_ && (!at_hand_ || at_hand_->blocks.empty())) Enter();
  if (rest_) return rest_->Next();
  Decoded decoded = std::move(at_hand_->blocks.front());
  at_hand_->blocks.pop_front();
  position_ = decoded.position;
  return std::move(decoded.block);
}

void ParallelReader::Start() {
  Plan();
  if (chunks_.size() < kFewChunks) {
    chunks_.clear();
    ReadRest(std::move(within_));
    return;
  }
  within_.reset();
  for (size_t i = 0; i < threads_wanted_; ++i) threads_.emplace_back([this] { Work(); });
}

std::optional<format::ChunkSpan> ParallelReader::NextSpan() {
  const uint64_t most = leaves_out_ ? kMaxRawBytesLeftOut : kMaxRawBytes;
  if (known_ == nullptr) return format::FindChunk(&source_, header_, planned_, most);
  if (taken_ == known_->size()) return std::nullopt;
  const format::ChunkSpan& next = (*known_)[taken_++];
  return next.begin == planned_ && next.raw_bytes <= most ? std::optional(next) : std::nullopt;
}

// Only this thread adds and removes chunks.
void ParallelReader::Plan() {
  const size_t most = std::max(threads_wanted_ + 1, kFewChunks);
  while (!is_planned_ && chunks_.size() < most) {
    auto span = NextSpan();
    is_planned_ = !span;
    if (!span) break;
    planned_ = span->next;
    auto chunk = std::make_unique<Chunk>();
    chunk->span = std::move(*span);
    const std::lock_guard lock(mutex_);
    chunks_.push_back(std::move(chunk));
    changed_.notify_all();
  }
}

void ParallelReader::Enter() {
  Plan();
  if (chunks_.empty()) return ReadRest(format::ReadFrom(&source_, header_, planned_));
  {
    std::unique_lock lock(mutex_);
    if (at_hand_) used_.push_back(std::move(at_hand_));
    changed_.wait(lock, [this] { return chunks_.front()->is_done; });
    if (chunks_.front()->is_whole) {
      at_hand_ = std::move(chunks_.front());
      chunks_.pop_front();
      --begun_;
      return;
    }
  }
  const uint64_t begin = chunks_.front()->span.begin;
  ReadRest(format::ReadFrom(&source_, header_, begin));
}

void ParallelReader::ReadRest(std::unique_ptr<format::Reader> reader) {
  Stop();
  at_hand_.reset();
  if (joins_) reader->JoinRowIntervals();
  rest_ = std::make_unique<ReadAheadReader>(std::move(reader));
}

void ParallelReader::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void ParallelReader::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return begun_ < chunks_.size() || stop_; });
    if (stop_) return;
    Chunk* const chunk = chunks_[begun_++].get();
    std::vector<std::unique_ptr<Chunk>> used;
    used.swap(used_);
    lock.unlock();
    used.clear();
    Decode(chunk);
    lock.lock();
    chunk->is_done = true;
    changed_.notify_all();
  }
}

bool ParallelReader::TakeRollUp(Chunk* chunk) const {
  if (!leaves_out_) return false;
  auto block = format::ReadRollUp(&source_, header_, chunk->span, &chunk->roll_up.emplace());
  if (!block || !leaves_out_(*block)) return false;
  Decoded& decoded = chunk->blocks.emplace_back();
  decoded.block = std::move(*block);
  decoded.position = chunk->span.end;
  return true;
}

void ParallelReader::Decode(Chunk* chunk) const {
  chunk->is_whole = TakeRollUp(chunk);
  if (chunk->is_whole) return;
  chunk->bytes.emplace(&source_, 0, chunk->span.next);  // including what follows the last block
  chunk->reader = format::ReadFrom(&*chunk->bytes, header_, chunk->span.begin, leaves_out_);
  format::Reader& reader = *chunk->reader;
  if (joins_) reader.JoinRowIntervals();
  size_t samples = 0;
  while (auto block = reader.Next()) {
    if ((samples += block->samples.size()) > kMaxSamples) return;
    Decoded& decoded = chunk->blocks.emplace_back();
    decoded.block = std::move(*block);
    decoded.position = reader.position();
  }
  // For an abandoned chunk, whose rows are not in the file.
  while (auto block = reader.TakeOpen()) {
    Decoded& decoded = chunk->blocks.emplace_back();
    decoded.block = std::move(*block);
    decoded.position = reader.position();
  }
  chunk->is_whole = reader.skipped().empty();
}

}  // namespace heaprec::tools

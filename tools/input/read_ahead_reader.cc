#include "tools/input/read_ahead_reader.h"

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

}  // namespace heaprec::tools

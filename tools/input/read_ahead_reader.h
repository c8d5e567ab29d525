// Decodes on a separate thread, a few blocks ahead of the caller. Returns the blocks of the wrapped reader in the same
// order.
//
// The thread starts after some blocks, so that small recordings do not need it, and ends at the current end of the
// file. Before and after that, blocks are read when they are requested, so later ones are not missed.
//
// Memory:   waiting blocks: kMaxWaiting samples or kMaxBlocks blocks; the names of the current chunk twice.
// Threads:  one calls it. The wrapped reader and its source belong to the other thread while it runs.
// Failure:  as format/reader/reader.h.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "format/reader/reader.h"

namespace heaprec::tools {

class ReadAheadReader final : public format::Reader {
 public:
  static constexpr size_t kBlocksBefore = 16;
  static constexpr size_t kMaxWaiting = 1 << 15, kMaxBlocks = 256;

  // `blocks_before`: number of blocks to read before the thread starts.
  explicit ReadAheadReader(std::unique_ptr<format::Reader> within, size_t blocks_before = kBlocksBefore);
  ~ReadAheadReader() override;

  const format::FileHeader& header() const override { return header_; }
  void JoinRowIntervals() override { within_->JoinRowIntervals(); }
  std::optional<format::Block> Next() override;
  const format::Block* open() const override { return is_direct_ ? within_->open() : nullptr; }
  std::optional<format::Block> TakeOpen() override;
  const std::vector<format::SkippedRange>& skipped() const override { return skipped_; }
  uint64_t position() const override { return position_; }

 private:
  // A block, and the changes that come with it.
  struct Step {
    format::Block block;

    format::Dictionaries names;  // entries that it adds
    std::vector<format::SkippedRange> skipped;
    uint64_t position = 0;
  };
  std::optional<Step> Read(std::optional<format::Block> block);
  std::optional<format::Block> GiveOut(std::optional<Step> step);
  void NoteNames(Step* step);
  void Run();
  std::optional<Step> TakeStep();
  format::Block Apply(Step step);

  // Used by the reading thread.
  const std::unique_ptr<format::Reader> within_;
  size_t ranges_sent_ = 0;
  struct Counts {
    size_t classes = 0, methods = 0, frames = 0, stacks = 0, threads = 0;
  } sent_;  // numbers of the chunk's names that were sent

  // Used by the caller's thread.
  const format::FileHeader header_;
  size_t blocks_before_;
  bool is_direct_ = true;  // there is no thread, or it has ended
  format::Dictionaries names_;
  std::vector<format::SkippedRange> skipped_;
  uint64_t position_ = 0;

  // Shared by both threads.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Step> waiting_;
  size_t samples_waiting_ = 0;
  bool at_end_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace heaprec::tools

#include "tools/snapshot.h"

#include <algorithm>
#include <ctime>
#include <vector>

#include "format/chunk_writer.h"

namespace heaprec::tools {
namespace {

using format::Index;
using format::kNone;

constexpr size_t kPiece = 1 << 16;

uint64_t NowNs(const format::FileHeader& header) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t ns = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  return ns > header.start_monotonic_ns ? ns - header.start_monotonic_ns : 0;
}

// Puts blocks into a chunk, under its indices.
class Rewriter {
 public:
  explicit Rewriter(format::ChunkWriter* chunk) : chunk_(*chunk) {}

  void Add(const format::Block& block) {
    const format::Dictionaries& names = *block.dictionaries;
    for (const format::Window& window : block.windows) chunk_.Add(window);
    for (const format::Interval& interval : block.intervals) chunk_.Add(interval);
    for (format::Sample sample : block.samples) {
      if (sample.thread != kNone) sample.thread = chunk_.InternThread(names.threads[sample.thread]);
      if (sample.class_id != kNone) sample.class_id = chunk_.InternClass(names.classes[sample.class_id]);
      if (sample.stack != kNone) sample.stack = Stack(names, sample.stack);
      chunk_.Add(sample);
    }
  }

 private:
  Index Stack(const format::Dictionaries& names, Index leaf) {
    std::vector<format::StackFrame> frames;
    bool truncated = false;
    for (Index at = leaf; at != kNone; at = names.stacks[at].parent) {
      const format::Frame& frame = names.frames[names.stacks[at].frame];
      const Index method = frame.method == kNone ? kNone : chunk_.InternMethod(names.methods[frame.method]);
      frames.push_back({method, frame.bci, frame.line});
      truncated = names.stacks[at].truncated;
    }
    return chunk_.InternStack(frames, truncated);
  }

  format::ChunkWriter& chunk_;
};

format::Result<uint64_t> CopyFile(const Recording& recording, uint64_t bytes, Output* output) {
  auto source = FileSource::Open(recording.source().name());
  if (!source.ok()) return source.error();
  std::vector<std::byte> piece(kPiece);
  for (uint64_t at = 0; at < bytes && !output->failed();) {
    auto got = (*source)->ReadAt(at, piece.data(), std::min<uint64_t>(piece.size(), bytes - at));
    if (!got.ok()) return got.error();
    if (*got == 0) return format::Error{recording.source().name() + ": shrank while it was read"};
    output->Append({reinterpret_cast<const char*>(piece.data()), *got});
    output->Tick();
    at += *got;
  }
  return bytes;
}

}  // namespace

format::Result<uint64_t> WriteSnapshot(Recording* recording, const std::string& reason, Output* output) {
  std::vector<format::Block> salvaged;
  uint32_t next_chunk = 0;
  uint64_t end_ns = 0;
  std::vector<uint64_t> positions;
  while (auto block = recording->Next()) {
    end_ns = std::max(end_ns, block->end_ns);
    positions = block->lane_positions;
    if (recording->salvage().ring_found) {
      salvaged.push_back(std::move(*block));
    } else {
      next_chunk = block->chunk + 1;
    }
  }
  auto copied = CopyFile(*recording, recording->bytes_read(), output);
  if (!copied.ok()) return copied.error();
  if (recording->ending()) return recording->events();

  format::ChunkWriter chunk(recording->header().recording_id, next_chunk);
  Rewriter rewriter(&chunk);
  for (const format::Block& block : salvaged) rewriter.Add(block);
  const uint64_t now_ns = std::max(end_ns, recording->running() ? NowNs(recording->header()) : 0);
  const format::Ending ending{now_ns, reason};
  auto bytes = chunk.Finish(recording->books_of_all(), positions, now_ns, &ending);
  if (!bytes.ok()) return bytes.error();
  output->Append({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  return recording->events();
}

}  // namespace heaprec::tools

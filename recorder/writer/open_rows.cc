#include "recorder/writer/open_rows.h"

#include <algorithm>
#include <utility>

namespace heaprec::writer {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
// The interval lasts a second per this many rows (4 to 6 bytes each), at most ten seconds: with 12 sites one interval
// per block, with 300 six seconds. Beyond that, intervals are longer so that rows take less than 2 kB a second.
constexpr uint64_t kRowsPerSecond = 50, kMostRowsPerSecond = 400;
constexpr uint64_t kLongestNs = 10 * kSecond;
// The duration of a block with its open interval, which the next block may reach.
constexpr uint64_t kAheadNs = 3 * kSecond, kIntervalNs = kSecond;
constexpr uint64_t kMinuteNs = 60 * kSecond;
// Limited because a reader holds all blocks of an interval in memory.
constexpr uint64_t kMaxSamples = 1 << 16;

uint64_t LengthFor(uint64_t rows) {
  return std::max(std::min(rows * kSecond / kRowsPerSecond, kLongestNs), rows * kSecond / kMostRowsPerSecond);
}

}  // namespace

bool OpenRows::AreDue(const format::ChunkWriter& chunk, uint64_t samples, uint64_t now_ns) {
  const uint64_t rows = chunk.pending_rows();
  const uint64_t before_ns = std::exchange(last_ns_, now_ns);
  const auto minute = [this](uint64_t time_ns) { return (start_epoch_ns_ + time_ns) / kMinuteNs; };
  const bool is_at_minute = minute(now_ns + kAheadNs) != minute(before_ns - std::min(before_ns, kIntervalNs));
  samples_ += samples;
  const bool fits = pages_ != nullptr && rows <= format::kRingRows && samples_ <= kMaxSamples;
  return !fits || is_at_minute || now_ns - std::min(begin_ns_, now_ns) >= LengthFor(rows);
}

OpenRows::Page OpenRows::Publish(uint32_t chunk_number, const format::ChunkWriter& chunk) {
  if (chunk.pending_rows() == 0) {
    begin_ns_ = last_ns_;
    samples_ = 0;
    return std::nullopt;
  }
  const size_t page = 1 - in_use_;
  format::FillRowPage(format::RowPageOf(chunk_number, chunk.next_block() - 1), chunk.rows(), chunk.outside(),
                      &(*pages_)[page]);
  return page;
}

void OpenRows::Written(Page page) {
  if (page) in_use_ = *page;
}

}  // namespace heaprec::writer

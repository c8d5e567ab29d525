#include "tools/import/jfr/chunk_header.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "tools/import/jfr/cursor.h"

namespace heaprec::tools::jfr {
namespace {

constexpr std::string_view kMagic("FLR\0", 4);
constexpr uint64_t kMajor = 2;
constexpr uint8_t kCompressed = 1;
constexpr double kNsPerSecond = 1e9;
constexpr double kMaxNs = 0x1p61;  // 73 years: sums of two fit

}  // namespace

format::Result<ChunkHeader> ChunkHeader::Parse(std::string_view bytes) {
  Cursor at(bytes, /*compressed=*/false);
  if (at.Take(kMagic.size()) != kMagic) return format::Error{"not a JFR file"};
  const uint64_t major = at.Fixed(2), minor = at.Fixed(2);
  if (major != kMajor) {
    return format::Error{fmt::format("JFR version {}.{}; only 2.x can be read (JDK 11 and newer)", major, minor)};
  }
  ChunkHeader header;
  header.size = at.Fixed(8);
  at.Fixed(8);  // constants: found as events
  header.metadata_at = at.Fixed(8);
  header.start_ns = at.Long();
  header.duration_ns = at.Long();
  header.start_ticks = at.Long();
  header.ticks_per_second = at.Long();
  header.finished = at.Byte() == 0;
  at.Take(2);
  header.compressed = (at.Byte() & kCompressed) != 0;
  if (header.size < kChunkHeaderBytes || header.metadata_at < kChunkHeaderBytes) {
    return format::Error{
        "unfinished chunk: its JVM is still writing it or was killed (try `jfr assemble` on its repository)"};
  }
  if (header.metadata_at >= header.size || header.start_ns < 0 || header.start_ns >= INT64_MAX / 2 ||
      header.ticks_per_second <= 0) {
    return format::Error{"damaged chunk header"};
  }
  return header;
}

// As jdk.jfr.consumer computes it. What is too far away to be true ends at the chunk's begin.
int64_t ChunkHeader::TimeOf(int64_t ticks) const {
  const double ticks_per_ns = static_cast<double>(ticks_per_second) / kNsPerSecond;
  const auto since_start = static_cast<int64_t>(static_cast<uint64_t>(ticks) - static_cast<uint64_t>(start_ticks));
  const double ns = static_cast<double>(since_start) / ticks_per_ns;
  return std::abs(ns) < kMaxNs ? start_ns + static_cast<int64_t>(ns) : start_ns;
}

}  // namespace heaprec::tools::jfr

#include "tools/import/jfr/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace heaprec::tools::jfr {
namespace {

constexpr size_t kPiece = 1 << 18;
constexpr size_t kSizeAndType = 18;                     // maximum, in bytes
constexpr uint64_t kMaxEventBytes = uint64_t{1} << 30;  // all constants of a chunk may be in one event

constexpr int64_t kMetadata = 0, kConstants = 1;  // types of events that every file has

constexpr std::string_view kMagic("FLR\0", 4);
constexpr uint64_t kMajor = 2;
constexpr uint8_t kCompressed = 1;
constexpr double kNsPerSecond = 1e9;
constexpr double kMaxNs = 0x1p61;  // 73 years: the sum of two does not overflow

}  // namespace

bool File::Damaged(uint64_t offset, std::string why) {
  if (!damage_) damage_ = format::SkippedRange{offset, std::max(next_chunk_, offset), std::move(why)};
  return false;
}

// Returns the available bytes, at most `size`; valid until the next call.
std::string_view File::BytesAt(uint64_t offset, size_t size) {
  if (offset < piece_at_ || offset + size > piece_at_ + piece_.size()) {
    piece_.resize(std::max(size, kPiece));
    const auto read = source_.ReadAt(offset, reinterpret_cast<std::byte*>(piece_.data()), piece_.size());
    piece_.resize(read.ok() ? *read : 0);
    piece_at_ = offset;
  }
  return std::string_view(piece_).substr(offset - piece_at_, size);
}

bool File::NextChunk() {
  if (damage_) return false;
  begin_ = next_chunk_;
  const std::string_view bytes = BytesAt(begin_, kChunkHeaderBytes);
  if (bytes.empty() && chunks_ > 0) return false;
  if (bytes.size() < kChunkHeaderBytes) return Damaged(begin_, "not a JFR file, or a truncated one");
  const auto header = ChunkHeader::Parse(bytes);
  if (!header.ok()) return Damaged(begin_, header.error().message);
  header_ = *header;
  if (header_.size > UINT64_MAX / 2 || BytesAt(begin_ + header_.size - 1, 1).empty()) {
    return Damaged(begin_, fmt::format("the file ends inside this chunk of {} bytes", header_.size));
  }
  next_chunk_ = begin_ + header_.size;
  next_event_ = begin_ + kChunkHeaderBytes;
  ++chunks_;
  if (!header_.finished) ++unfinished_;
  return ReadMetadata() && ReadConstants();
}

std::optional<File::Span> File::SpanAt(uint64_t offset, uint64_t* size) {
  const uint64_t left = next_chunk_ - offset;
  Cursor start(BytesAt(offset, std::min<uint64_t>(left, kSizeAndType)), header_.compressed);
  const int32_t bytes = start.Int();
  if (bytes <= 0 || static_cast<uint64_t>(bytes) > std::min(left, kMaxEventBytes)) return std::nullopt;
  *size = static_cast<uint64_t>(bytes);
  Cursor event(BytesAt(offset, *size), header_.compressed);
  event.Int();
  const int64_t type_id = event.Long();
  if (!event.ok()) return std::nullopt;
  return Span{type_id, event.Take(event.left())};
}

bool File::ReadMetadata() {
  uint64_t size = 0;
  const auto event = SpanAt(begin_ + header_.metadata_at, &size);
  if (!event || event->type_id != kMetadata) return Damaged(begin_, "no metadata at the offset in the chunk header");
  auto metadata = Metadata::Parse(Cursor(event->rest, header_.compressed));
  if (!metadata.ok()) return Damaged(begin_, metadata.error().message);
  constants_.reset();
  metadata_ = std::make_unique<Metadata>(std::move(*metadata));
  return true;
}

// They may be anywhere between the events that need them.
bool File::ReadConstants() {
  constants_ = std::make_unique<Constants>(metadata_.get(), header_.compressed);
  for (uint64_t at = next_event_, size = 0; at < next_chunk_; at += size) {
    const auto event = SpanAt(at, &size);
    if (!event) return Damaged(at, "an event with an invalid size");
    if (event->type_id != kConstants) continue;
    if (const Status added = constants_->Add(event->rest); !added) return Damaged(at, added.error().message);
  }
  return true;
}

std::optional<Event> File::NextEvent() {
  while (next_event_ < next_chunk_) {
    uint64_t size = 0;
    const auto event = SpanAt(next_event_, &size);
    // ReadConstants has read all of them completely, so the file has changed meanwhile.
    if (!event) {
      Damaged(next_event_, "the file changed during the import");
      return std::nullopt;
    }
    next_event_ += size;
    if (event->type_id == kMetadata || event->type_id == kConstants) continue;
    const Type* const type = metadata_->WithId(event->type_id);
    if (type != nullptr) return Event{type, Cursor(event->rest, header_.compressed)};
  }
  return std::nullopt;
}

Result<ChunkHeader> ChunkHeader::Parse(std::string_view bytes) {
  Cursor at(bytes, /*compressed=*/false);
  if (at.Take(kMagic.size()) != kMagic) return Error{"not a JFR file"};
  const uint64_t major = at.Fixed(2), minor = at.Fixed(2);
  if (major != kMajor) {
    return Error{fmt::format("JFR version {}.{}; only 2.x can be read (JDK 11 and newer)", major, minor)};
  }
  ChunkHeader header;
  header.size = at.Fixed(8);
  at.Fixed(8);  // position of constants; they are found as events
  header.metadata_at = at.Fixed(8);
  header.start_ns = at.Long();
  header.duration_ns = at.Long();
  header.start_ticks = at.Long();
  header.ticks_per_second = at.Long();
  header.finished = at.Byte() == 0;
  at.Take(2);
  header.compressed = (at.Byte() & kCompressed) != 0;
  if (header.size < kChunkHeaderBytes || header.metadata_at < kChunkHeaderBytes) {
    return Error{"unfinished chunk: its JVM is still writing it or was killed (try `jfr assemble` on its repository)"};
  }
  if (header.metadata_at >= header.size || header.start_ns < 0 || header.start_ns >= INT64_MAX / 2 ||
      header.ticks_per_second <= 0) {
    return Error{"damaged chunk header"};
  }
  return header;
}

// As computed by jdk.jfr.consumer. Implausible times become the beginning of the chunk.
int64_t ChunkHeader::TimeOf(int64_t ticks) const {
  const double ticks_per_ns = static_cast<double>(ticks_per_second) / kNsPerSecond;
  const auto since_start = static_cast<int64_t>(static_cast<uint64_t>(ticks) - static_cast<uint64_t>(start_ticks));
  const double ns = static_cast<double>(since_start) / ticks_per_ns;
  return std::abs(ns) < kMaxNs ? start_ns + static_cast<int64_t>(ns) : start_ns;
}

}  // namespace heaprec::tools::jfr

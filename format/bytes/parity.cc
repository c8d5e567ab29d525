#include "format/bytes/parity.h"

#include <algorithm>
#include <bit>

namespace heaprec::format {
namespace {

constexpr uint64_t kMaxOverhead = 20;  // chunk bytes per byte of parity records
constexpr size_t kRegionBytes = 24 << 10;
constexpr uint64_t kRegionNs = 10'000'000'000;
// The smallest record of a region of up to 1,000 bytes. Each chunk reserves this much, so that even a short last region
// gets a record.
constexpr size_t kMinLastRecord = ParityShape{1000 - kParityHeadBytes, kMinParityWidth}.record_bytes();
static_assert(kMinLastRecord == 60);

void AppendShape(ByteBuffer* buffer, uint64_t magic, const ParityShape& shape) {
  ByteSink sink(buffer);
  sink.U64(magic);
  sink.U32(shape.region_bytes);
  sink.U32(shape.width);
}

// Decodes what follows the magic number.
std::optional<ParityShape> TakeShape(ByteCursor* cursor, uint64_t magic) {
  if (cursor->U64() != magic) return std::nullopt;
  const ParityShape shape{cursor->U32(), cursor->U32()};
  const bool is_bounded = shape.region_bytes <= kMaxParityRegionBytes && shape.width >= kMinParityWidth &&
                          shape.width <= kMaxParityWidth && std::has_single_bit(shape.width);
  return cursor->ok() && is_bounded ? std::optional(shape) : std::nullopt;
}

bool EndsWithItsChecksum(Bytes bytes) {
  const size_t size = bytes.size() - sizeof(uint32_t);
  return ByteCursor(bytes.subspan(size)).U32() == Crc32(bytes.first(size));
}

}  // namespace

void AppendParityHead(ByteBuffer* buffer, const ParityShape& shape) {
  const size_t begin = buffer->size();
  AppendShape(buffer, kParityHeadMagic, shape);
  ByteSink(buffer).U32(Crc32(Bytes(*buffer).subspan(begin)));
}

std::optional<ParityShape> DecodeParityHead(Bytes bytes) {
  if (bytes.size() < kParityHeadBytes) return std::nullopt;
  ByteCursor cursor(bytes);
  const auto shape = TakeShape(&cursor, kParityHeadMagic);
  return shape && EndsWithItsChecksum(bytes.first(kParityHeadBytes)) ? shape : std::nullopt;
}

void AppendParityTail(ByteBuffer* buffer, const ParityTail& tail) {
  const size_t begin = buffer->size();
  AppendShape(buffer, kParityTailMagic, tail.shape);
  for (const uint32_t checksum : tail.checksums) ByteSink(buffer).U32(checksum);
  ByteSink(buffer).U32(Crc32(Bytes(*buffer).subspan(begin)));
}

std::optional<ParityTail> DecodeParityTail(Bytes bytes) {
  ByteCursor cursor(bytes);
  const auto shape = TakeShape(&cursor, kParityTailMagic);
  if (!shape || bytes.size() < shape->tail_bytes()) return std::nullopt;
  if (!EndsWithItsChecksum(bytes.first(shape->tail_bytes()))) return std::nullopt;
  ParityTail tail{*shape, std::vector<uint32_t>(shape->checksums())};
  for (uint32_t& checksum : tail.checksums) checksum = cursor.U32();
  return tail;
}

const char* WhyBadParityRecord(const ParityShape& shape, Bytes record) {
  const auto tail = DecodeParityTail(record.subspan(kParityHeadBytes + shape.width));
  if (!tail || tail->shape != shape) return "parity record checksum differs";
  return tail->checksums.back() == Crc32(record.subspan(kParityHeadBytes, shape.width)) ? nullptr : "parity differs";
}

void ParityWriter::Add(Bytes bytes) {
  chunk_bytes_ += bytes.size();
  while (!bytes.empty()) {
    const size_t at = region_bytes_ % kParityPieceBytes;
    const Bytes part = bytes.first(std::min(bytes.size(), kParityPieceBytes - at));
    static_assert(kParityPieceBytes == kMaxParityWidth);
    for (size_t i = 0; i < part.size(); ++i) columns_[at + i] ^= part[i];
    piece_checksum_ = Crc32(part, piece_checksum_);
    region_bytes_ += part.size();
    if (region_bytes_ % kParityPieceBytes == 0) {
      checksums_.push_back(piece_checksum_);
      piece_checksum_ = 0;
    }
    bytes = bytes.subspan(part.size());
  }
}

bool ParityWriter::Affords(uint32_t width, size_t reserve) const {
  const ParityShape shape{static_cast<uint32_t>(region_bytes_), width};
  return region_bytes_ > 0 && region_bytes_ <= kMaxParityRegionBytes &&
         spent_bytes_ + shape.record_bytes() + reserve <= chunk_bytes_ / kMaxOverhead;
}

// The first record comes early: most names are defined in a chunk's first blocks.
void ParityWriter::AppendIfDue(uint64_t now_ns, ByteBuffer* file) {
  const bool is_due = spent_bytes_ == 0 || region_bytes_ >= kRegionBytes || now_ns - last_ns_ >= kRegionNs;
  if (!is_due || !Affords(kMaxParityWidth, kMinLastRecord)) return;
  Append(kMaxParityWidth, file);
  last_ns_ = now_ns;
}

void ParityWriter::AppendLast(ByteBuffer* file) {
  for (uint32_t width = kMaxParityWidth; width >= kMinParityWidth; width /= 2) {
    if (Affords(width, 0)) return Append(width, file);
  }
}

void ParityWriter::Append(uint32_t width, ByteBuffer* file) {
  const ParityShape shape{static_cast<uint32_t>(region_bytes_), width};
  const uint64_t chunk_bytes = chunk_bytes_;
  ByteBuffer record;
  AppendParityHead(&record, shape);
  Add(record);
  if (region_bytes_ % kParityPieceBytes != 0) checksums_.push_back(piece_checksum_);
  std::array<std::byte, kMaxParityWidth> folded{};
  for (size_t column = 0; column < columns_.size(); ++column) folded[column % width] ^= columns_[column];
  for (size_t i = 0; i < width; ++i) record.push_back(folded[(region_bytes_ + i) % width]);
  checksums_.push_back(Crc32(Bytes(record).subspan(kParityHeadBytes)));
  AppendParityTail(&record, {shape, checksums_});
  ByteSink(file).Append(record);
  const uint64_t spent_bytes = spent_bytes_ + record.size(), last_ns = last_ns_;
  *this = {};
  chunk_bytes_ = chunk_bytes;
  spent_bytes_ = spent_bytes;
  last_ns_ = last_ns;
}

}  // namespace heaprec::format

#include "format/reader/reader.h"

#include <algorithm>
#include <utility>

#include "format/bytes/layout.h"
#include "format/bytes/parity.h"
#include "format/codec/file_header.h"
#include "format/reader/chunk_decoder.h"
#include "format/reader/chunk_span.h"
#include "format/reader/recovery.h"
#include "format/reader/repaired_source.h"
#include "format/reader/row_interval.h"

namespace heaprec::format {
namespace {

class BlockReader : public Reader {
 public:
  BlockReader(ByteSource* source, FileHeader header, uint64_t begin, LeavesOut leaves_out = {})
      : source_(source),
        header_(std::move(header)),
        seed_(HeaderSeed(header_.recording_id)),
        decoder_(std::move(leaves_out)),
        scan_(&source_, header_.recording_id),
        position_(begin) {}

  // Continues although the file begins with unreadable bytes: its header cannot be repaired, later parts may be.
  void BeginDamaged(const std::string& why) {
    Repair(why);
    Skip(why);
  }

  const FileHeader& header() const override { return header_; }
  const std::vector<SkippedRange>& skipped() const override { return skipped_; }
  uint64_t position() const override { return position_; }
  void JoinRowIntervals() override { joins_ = true; }
  std::optional<Block> Next() override;
  const Block* open() const override { return joiner_.open(); }
  std::optional<Block> TakeOpen() override;

 private:
  // kOpen: an open row interval ends here.
  enum class Step { kBlock, kOn, kOpen, kEnd };

  Step TakeOne(Block* block);
  Step TakeChunkHeader(Bytes bytes);
  Step TakeBlock(Bytes bytes, Block* block);
  Step TakeParity(Bytes bytes);
  void StartChunk(uint32_t sequence);
  // Returns nullptr if the block is valid at this position, otherwise the reason.
  const char* Place(const BlockHeader& header);
  void NoteMissing(const char* what);
  Step SkipDamage();
  // Handles invalid bytes: repairs them and reads again, or skips them.
  Step Damaged(const std::string& why);
  Step Skip(std::string why);
  bool Repair(const std::string& why);
  void NoteRepaired(const ByteRange& range, const std::string& why);
  void Note(SkippedRange range);
  void NoteNow(SkippedRange range);
  void NoteDeferred();
  void NoteRepairsBefore(uint64_t offset);
  Step Unfinished(const char* why);
  // Ends with bytes that the next call reads again.
  Step EndWith(SkippedRange tail);
  // Returns fewer bytes than requested at the end of the source, or if it cannot be read.
  bool HasByteAt(uint64_t offset);

  RepairedSource source_;
  FileHeader header_;
  const uint64_t seed_;
  ChunkDecoder decoder_;
  Resync scan_;
  ByteBuffer fixed_, payload_;
  uint64_t position_;
  bool in_chunk_ = false;
  bool has_header_again_ = false;  // the chunk's header occurred again after some of its blocks
  std::optional<uint32_t> chunk_;  // the latest chunk
  uint32_t next_block_ = 0;
  std::optional<SkippedRange> damage_;  // a damaged range whose end is not found yet
  uint64_t torn_at_ = 0;                // the unfinished block after which scan_ searches for another one
  std::vector<SkippedRange> skipped_;
  std::vector<SkippedRange> repairs_;  // repaired ranges at later offsets, which are not in skipped_ yet
  bool has_tail_ = false;              // skipped_.back() was added by EndWith
  bool joins_ = false;
  RowIntervalJoiner joiner_;
  std::vector<SkippedRange> deferred_;  // ranges after the blocks that joiner_ holds
};

std::optional<Block> BlockReader::Next() {
  if (std::exchange(has_tail_, false)) skipped_.pop_back();
  NoteDeferred();
  if (auto next = joiner_.Next()) return next;
  for (;;) {
    if (!deferred_.empty()) return joiner_.TakeOpen();
    Block block;
    switch (damage_ ? SkipDamage() : TakeOne(&block)) {
      case Step::kBlock:
        NoteRepairsBefore(position_);
        if (!joins_) return block;
        if (auto joined = joiner_.Add(std::move(block))) return joined;
        break;
      case Step::kOpen:
        return joiner_.TakeOpen();
      case Step::kEnd:
        if (!has_tail_) NoteRepairsBefore(UINT64_MAX);
        return std::nullopt;
      case Step::kOn:
        break;
    }
  }
}

std::optional<Block> BlockReader::TakeOpen() {
  NoteDeferred();
  auto next = joiner_.Next();
  return next ? std::move(next) : joiner_.TakeOpen();
}

BlockReader::Step BlockReader::TakeOne(Block* block) {
  const Bytes bytes = source_.Peek(position_, kBlockHeaderBytes, &fixed_);
  if (bytes.empty()) return Step::kEnd;
  const auto begins_as = [bytes](uint64_t magic) {
    return std::memcmp(bytes.data(), &magic, std::min(bytes.size(), sizeof(magic))) == 0;
  };
  const bool maybe_block = begins_as(kBlockMagic);
  const bool maybe_chunk = begins_as(kChunkMagic);
  if (maybe_chunk && (!maybe_block || bytes.size() >= sizeof(kChunkMagic))) return TakeChunkHeader(bytes);
  if (maybe_block) return TakeBlock(bytes, block);
  if (begins_as(kParityHeadMagic)) return TakeParity(bytes);
  return Damaged("neither a chunk nor a block");
}

BlockReader::Step BlockReader::TakeChunkHeader(Bytes bytes) {
  if (bytes.size() < kChunkHeaderBytes) return Unfinished("truncated chunk header");
  const auto header = DecodeChunkHeader(bytes.first(kChunkHeaderBytes));
  if (!header) return Damaged("chunk header hash differs");
  if (header->recording != header_.recording_id) return Damaged("chunk of another recording");
  // The header occurs a second time: the chunk continues, or begins again.
  const bool is_again = in_chunk_ && header->sequence == chunk_;
  if (!is_again && joiner_.open() != nullptr) return Step::kOpen;
  position_ += kChunkHeaderBytes;
  has_header_again_ = is_again;
  if (!is_again) StartChunk(header->sequence);
  return Step::kOn;
}

void BlockReader::StartChunk(uint32_t sequence) {
  decoder_.StartChunk();
  in_chunk_ = true;
  has_header_again_ = false;
  chunk_ = sequence;
  next_block_ = 0;
}

// Earlier blocks may be lost, and so may the chunk's header.
const char* BlockReader::Place(const BlockHeader& header) {
  if (!in_chunk_ || header.chunk != chunk_) {
    if (chunk_ && header.chunk <= *chunk_) return "block of another chunk";
    StartChunk(header.chunk);
    NoteMissing("the header of a chunk is missing");
  }
  if (header.sequence < next_block_) {
    if (!has_header_again_) return "block out of sequence";
    StartChunk(header.chunk);
  }
  if (header.sequence > next_block_) NoteMissing("blocks are missing");
  return nullptr;
}

// Adds nothing if damaged bytes explain the missing part.
void BlockReader::NoteMissing(const char* what) {
  if (!skipped_.empty() && skipped_.back().end == position_ && !skipped_.back().repaired) return;
  Note({position_, position_, what});
}

// The file may end within the record, and continue later.
BlockReader::Step BlockReader::TakeParity(Bytes bytes) {
  if (bytes.size() < kParityHeadBytes) return Unfinished("truncated parity record");
  const auto shape = DecodeParityHead(bytes);
  if (!shape) return Damaged("parity record checksum differs");
  const uint64_t end = position_ + shape->record_bytes();
  if (!HasByteAt(end - 1)) return Unfinished("truncated parity record");
  const Bytes record = source_.Peek(position_, shape->record_bytes(), &payload_);
  if (record.size() < shape->record_bytes()) return Unfinished("truncated parity record");
  if (const char* why = WhyBadParityRecord(*shape, record)) {
    if (Repair(why)) return Step::kOn;
    if (const auto rebuilt = source_.RebuildTail(position_, *shape)) {
      NoteRepaired(*rebuilt, why);
    } else {
      Note({position_, end, why});
    }
  }
  position_ = end;
  return Step::kOn;
}

BlockReader::Step BlockReader::TakeBlock(Bytes bytes, Block* block) {
  if (bytes.size() < kBlockHeaderBytes) return Unfinished("truncated block header");
  const auto header = DecodeBlockHeader(bytes, seed_);
  if (!header) return Damaged("block header hash differs");
  const uint64_t end = position_ + kBlockHeaderBytes + header->payload_bytes;
  if (!HasByteAt(end - 1)) return Unfinished("truncated block");
  const bool continues = in_chunk_ && header->chunk == chunk_ && header->sequence >= next_block_;
  if (!continues && joiner_.open() != nullptr) return Step::kOpen;
  if (const char* why = Place(*header)) return Damaged(why);
  const Bytes payload = source_.Peek(position_ + kBlockHeaderBytes, header->payload_bytes, &payload_);
  if (payload.size() < header->payload_bytes) return Unfinished("truncated block");
  if ((header->flags & BlockHeader::kRollUp) != 0) {
    if (Hash(payload) != header->payload_hash) return Damaged("roll-up payload hash differs");
    position_ = end;
    next_block_ = header->sequence + 1;
    in_chunk_ = false;
    return Step::kOn;
  }
  block->offset = position_;
  const ChunkDecoder::Decoded decoded = decoder_.Decode(*header, payload, block);
  if (decoded.outcome == ChunkDecoder::Outcome::kDamaged) return Damaged(decoded.why);
  const uint64_t begin = std::exchange(position_, end);
  next_block_ = header->sequence + 1;
  if ((header->flags & BlockHeader::kLastOfChunk) != 0) in_chunk_ = false;
  if (decoded.outcome == ChunkDecoder::Outcome::kDecoded) return Step::kBlock;
  Note({begin, end, decoded.why});
  return Step::kOn;
}

BlockReader::Step BlockReader::Damaged(const std::string& why) { return Repair(why) ? Step::kOn : Skip(why); }

bool BlockReader::Repair(const std::string& why) {
  const auto range = source_.RepairBehind(position_);
  if (range) NoteRepaired(*range, why);
  return range.has_value();
}

void BlockReader::NoteRepaired(const ByteRange& range, const std::string& why) {
  repairs_.push_back({range.begin, range.end, why, /*at_end=*/false, /*repaired=*/true});
}

// Adds the range once all blocks before it have been returned.
void BlockReader::Note(SkippedRange range) {
  if (joiner_.open() == nullptr) return NoteNow(std::move(range));
  deferred_.push_back(std::move(range));
}

void BlockReader::NoteDeferred() {
  for (SkippedRange& range : std::exchange(deferred_, {})) NoteNow(std::move(range));
}

// Keeps the ranges in ascending order.
void BlockReader::NoteNow(SkippedRange range) {
  NoteRepairsBefore(range.begin);
  if (!skipped_.empty() && skipped_.back().repaired) {
    skipped_.back().end = std::min(skipped_.back().end, range.begin);
  }
  skipped_.push_back(std::move(range));
}

void BlockReader::NoteRepairsBefore(uint64_t offset) {
  for (; !repairs_.empty() && repairs_.front().begin < offset; repairs_.erase(repairs_.begin())) {
    SkippedRange& range = repairs_.front();
    range.begin = std::max(range.begin, skipped_.empty() ? 0 : skipped_.back().end);
    range.end = std::max(range.end, range.begin);
    skipped_.push_back(std::move(range));
  }
}

BlockReader::Step BlockReader::Skip(std::string why) {
  damage_ = SkippedRange{position_, position_, std::move(why), /*at_end=*/false};
  scan_.Start(position_ + 1);
  return Step::kOn;
}

BlockReader::Step BlockReader::SkipDamage() {
  const auto next = scan_.Find();
  damage_->end = next ? *next : std::max(scan_.end(), position_ + 1);
  if (!next) {
    SkippedRange tail = *damage_;
    tail.at_end = scan_.ends_with_zeros();
    return EndWith(std::move(tail));
  }
  Note(*std::exchange(damage_, std::nullopt));
  position_ = *next;
  return Step::kOn;
}

// The block begins with valid bytes, so it may still grow. If another chunk or block follows, it will never be
// complete.
BlockReader::Step BlockReader::Unfinished(const char* why) {
  if (std::exchange(torn_at_, position_) != position_) scan_.Start(position_ + 1);
  const auto next = scan_.Find();
  if (!next) return EndWith({position_, std::max(scan_.end(), position_ + 1), why, /*at_end=*/true});
  Note({position_, *next, why});
  position_ = *next;
  return Step::kOn;
}

BlockReader::Step BlockReader::EndWith(SkippedRange tail) {
  NoteNow(std::move(tail));
  has_tail_ = true;
  return Step::kEnd;
}

bool BlockReader::HasByteAt(uint64_t offset) {
  std::byte byte;
  const auto read = source_.ReadAt(offset, &byte, 1);
  return read && *read == 1;
}

struct OwnHeader {
  FileHeader fields;
  size_t bytes = 0;
};

// Sets *is_damaged if the header is unreadable and a copy may help.
Result<OwnHeader> ReadFileHeader(ByteSource* source, bool* is_damaged) {
  *is_damaged = true;
  ByteBuffer bytes(kFilePrefixBytes);
  auto read = source->ReadAt(0, bytes.data(), bytes.size());
  if (!read) return read.error();
  const auto size = FileHeaderBytes(Bytes(bytes).first(*read));
  if (!size) return size.error();
  bytes.resize(*size);
  read = source->ReadAt(0, bytes.data(), bytes.size());
  if (!read) return read.error();
  if (*read < bytes.size()) return Error{"file header is truncated"};
  *is_damaged = !IsUndamaged(bytes);
  auto fields = DecodeFileHeader(bytes);
  if (!fields) return fields.error();
  return OwnHeader{std::move(*fields), *size};
}

}  // namespace

Result<std::unique_ptr<Reader>> Reader::Open(ByteSource* source) {
  bool is_damaged = false;
  auto own = ReadFileHeader(source, &is_damaged);
  if (own) return std::unique_ptr<Reader>(std::make_unique<BlockReader>(source, std::move(own->fields), own->bytes));
  auto copy = is_damaged ? FindHeaderCopy(source) : std::nullopt;
  // The chunk with the copy may be damaged as well.
  RepairedSource repaired(source);
  if (!copy && is_damaged && repaired.RepairBehind(0)) copy = FindHeaderCopy(&repaired);
  if (!copy) return Error{source->name() + ": " + own.error().message};
  auto reader = std::make_unique<BlockReader>(source, std::move(*copy), 0);
  reader->BeginDamaged(own.error().message);
  return std::unique_ptr<Reader>(std::move(reader));
}

std::unique_ptr<Reader> ReadFrom(ByteSource* source, const FileHeader& header, uint64_t offset, LeavesOut leaves_out) {
  return std::make_unique<BlockReader>(source, header, offset, std::move(leaves_out));
}

}  // namespace heaprec::format

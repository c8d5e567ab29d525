// Raw bytes of a target's making as the blocks of a file whose hashes hold, and what must be true of all that is read.
#pragma once

#include "format/bytes/block_stream.h"
#include "format/bytes/columns.h"
#include "format/bytes/layout.h"
#include "tests/format/memory_source.h"
#include "tests/format/recordings.h"
#include "tests/fuzz/fuzz_target.h"

namespace heaprec::fuzz {

inline uint64_t Seed(const format::FileHeader& header) { return format::HeaderSeed(header.recording_id); }

inline format::ByteBuffer EmptyChunk() {
  const format::FileHeader header = format::testing::SomeFileHeader();
  format::ByteBuffer file = format::EncodeFileHeader(header);
  AppendTo(&file, format::ChunkHeader{0, header.recording_id});
  return file;
}

// Two blocks, so that what one leaves behind meets the other.
inline format::ByteBuffer Seal(format::Bytes first, format::Bytes second) {
  format::ByteBuffer file = EmptyChunk();
  format::BlockPacker packer(0, Seed(format::testing::SomeFileHeader()));
  for (const format::Bytes raw : {first, second}) Require(packer.Pack(raw, {}, &file).ok());
  return file;
}

// Sections out of bytes, so that the frames are always right: each is a byte that chooses the number, two bytes of
// length, and the body.
template <size_t kNumbers>
format::ByteBuffer Framed(format::Bytes bytes, const uint64_t (&numbers)[kNumbers]) {
  format::ByteBuffer raw;
  while (bytes.size() > 3) {
    const uint64_t number = numbers[static_cast<size_t>(bytes[0]) % kNumbers];
    const size_t length =
        std::min(static_cast<size_t>(bytes[1]) | static_cast<size_t>(bytes[2]) << 8, bytes.size() - 3);
    format::AppendFramed(&raw, number, /*critical=*/true, bytes.subspan(3, length));
    bytes = bytes.subspan(3 + length);
  }
  return raw;
}

// The other way: of the raw bytes of a block, the sections that are in `numbers`.
template <size_t kNumbers>
Input Unframed(format::Bytes raw, const uint64_t (&numbers)[kNumbers]) {
  Input input;
  format::ByteCursor cursor(raw);
  while (cursor.ok() && !cursor.at_end()) {
    const format::Framed section = format::TakeFramed(&cursor);
    const auto* at = std::find(std::begin(numbers), std::end(numbers), section.number);
    if (at == std::end(numbers) || section.body.size() > 0xffff) continue;
    input.push_back(static_cast<uint8_t>(at - std::begin(numbers)));
    input.push_back(static_cast<uint8_t>(section.body.size()));
    input.push_back(static_cast<uint8_t>(section.body.size() >> 8));
    Append(section.body, &input);
  }
  return input;
}

// The raw bytes of the blocks of a recording's first chunk.
inline std::vector<format::ByteBuffer> RawBlocks(const format::testing::RandomRecording& recording, int blocks) {
  std::vector<format::ByteBuffer> raws;
  size_t at = recording.chunk_begins()[0] + format::kChunkHeaderBytes;
  for (int block = 0; block < blocks; ++block) {
    const format::Bytes bytes = format::Bytes(recording.bytes()).subspan(at);
    const auto header = *format::DecodeBlockHeader(bytes.first(format::kBlockHeaderBytes), Seed(recording.header()));
    format::BlockUnpacker unpacker;
    raws.emplace_back();
    Require(unpacker.Unpack(header, bytes.subspan(format::kBlockHeaderBytes, header.payload_bytes), &raws.back()) ==
            nullptr);
    at += format::kBlockHeaderBytes + header.payload_bytes;
  }
  return raws;
}

// Everything that a block yields can be tracked without leaving its dictionaries.
inline void Follow(const format::Block& block) {
  using format::kNone;
  const format::Dictionaries& names = *block.dictionaries;
  uint64_t last_time = 0;
  for (const format::Sample& sample : block.samples) {
    Require(sample.time_ns >= last_time);
    last_time = sample.time_ns;
    Require(sample.class_id == kNone || sample.class_id < names.classes.size());
    Require(sample.thread == kNone || sample.thread < names.threads.size());
    Require(sample.stack == kNone || sample.stack < names.stacks.size());
  }
  for (const format::Row& row : block.rows) {
    Require(row.class_id == kNone || row.class_id < names.classes.size());
    Require(row.stack == kNone || row.stack < names.stacks.size());
    Require(row.points > 0 && row.seen >= row.points && row.bytes >= static_cast<double>(row.seen));
    Require(row.bytes_variance >= 0 && row.objects >= static_cast<double>(row.points));
  }
  for (size_t i = 0; i < names.stacks.size(); ++i) {
    Require(names.stacks[i].parent == kNone || names.stacks[i].parent < i);
    Require(names.stacks[i].frame < names.frames.size());
  }
  for (const format::Frame& frame : names.frames) Require(frame.method == kNone || frame.method < names.methods.size());
}

// With the blocks of row intervals as one nothing else is read.
inline size_t SamplesOfJoined(format::MemoryByteSource* source, size_t skipped) {
  auto reader = format::Reader::Open(source);
  (*reader)->JoinRowIntervals();
  size_t samples = 0;
  const auto follow = [&](const std::optional<format::Block>& block) {
    if (!block) return false;
    samples += block->samples.size();
    Follow(*block);
    return true;
  };
  while (follow((*reader)->Next())) {
  }
  while (follow((*reader)->TakeOpen())) {
  }
  Require((*reader)->skipped().size() == skipped);
  return samples;
}

// The reader comes to an end, and what it yields and skips are ranges of the file in ascending order.
inline void ReadWhole(format::Bytes file) {
  format::MemoryByteSource source(file);
  auto reader = format::Reader::Open(&source);
  if (!reader) return;
  uint64_t last = 0;
  size_t samples = 0;
  while (const auto block = (*reader)->Next()) {
    Require(block->offset >= last && block->offset < file.size());
    last = (*reader)->position();
    samples += block->samples.size();
    Follow(*block);
  }
  uint64_t end = 0;
  for (const format::SkippedRange& range : (*reader)->skipped()) {
    Require(range.begin >= end && range.begin <= range.end && range.end <= file.size());
    end = range.end;
  }
  const size_t skipped = (*reader)->skipped().size();
  Require(!(*reader)->Next() && (*reader)->skipped().size() == skipped);
  Require(SamplesOfJoined(&source, skipped) == samples);
}

}  // namespace heaprec::fuzz

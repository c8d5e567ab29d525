// Property: whatever the bytes, the reader comes to an end, everything it yields can be followed without leaving the
// dictionaries, and what it yields and skips are ranges of the file in ascending order.
//
// Hashes would keep mutations from the inner layers, so the first byte chooses where they begin:
// 0 the file; 1 the raw bytes of two blocks; 2 the compressed payload of a block.
#include <cstdlib>

#include "format/block_stream.h"
#include "format/layout.h"
#include "format/memory_source.h"
#include "tests/format/recordings.h"
#include "tests/fuzz/fuzz_target.h"

namespace heaprec::fuzz {
namespace {

using namespace heaprec::format;           // NOLINT(google-build-using-namespace): a test of that room
using namespace heaprec::format::testing;  // NOLINT(google-build-using-namespace)

void Require(bool holds) {
  if (!holds) std::abort();
}

ByteBuffer EmptyChunk() {
  ByteBuffer file = EncodeFileHeader(SomeFileHeader());
  AppendTo(&file, ChunkHeader{0, SomeFileHeader().recording_id});
  return file;
}

// Two blocks, so that what one leaves behind meets the other; the first byte says where the second begins.
ByteBuffer SealRaw(Bytes raw) {
  ByteBuffer file = EmptyChunk();
  BlockPacker packer(0, 1);
  if (raw.empty()) return file;
  const size_t split = static_cast<size_t>(raw[0]) * (raw.size() - 1) / 256;
  raw = raw.subspan(1);
  for (const Bytes part : {raw.first(split), raw.subspan(split)}) Require(packer.Pack(part, {}, &file).ok());
  return file;
}

ByteBuffer SealPayload(Bytes payload) {
  ByteBuffer file = EmptyChunk();
  BlockHeader header;
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  header.raw_bytes = static_cast<uint32_t>(4 * payload.size());
  header.payload_hash = Hash(payload);
  AppendTo(&file, header);
  ByteSink(&file).Append(payload);
  return file;
}

void Follow(const Block& block) {
  const Dictionaries& names = *block.dictionaries;
  uint64_t last_time = 0;
  for (const Sample& sample : block.samples) {
    Require(sample.time_ns >= last_time);
    last_time = sample.time_ns;
    Require(sample.class_id == kNone || sample.class_id < names.classes.size());
    Require(sample.thread == kNone || sample.thread < names.threads.size());
    Require(sample.stack == kNone || sample.stack < names.stacks.size());
  }
  for (size_t i = 0; i < names.stacks.size(); ++i) {
    Require(names.stacks[i].parent == kNone || names.stacks[i].parent < i);
    Require(names.stacks[i].frame < names.frames.size());
  }
  for (const Frame& frame : names.frames) Require(frame.method == kNone || frame.method < names.methods.size());
}

void ReadWhole(Bytes file) {
  MemoryByteSource source(file);
  auto reader = Reader::Open(&source);
  if (!reader) return;
  uint64_t last = 0;
  while (const auto block = (*reader)->Next()) {
    Require(block->offset >= last && block->offset < file.size());
    last = (*reader)->position();
    Follow(*block);
  }
  uint64_t end = 0;
  for (const SkippedRange& range : (*reader)->skipped()) {
    Require(range.begin >= end && range.begin < range.end && range.end <= file.size());
    end = range.end;
  }
  const size_t skipped = (*reader)->skipped().size();
  Require(!(*reader)->Next() && (*reader)->skipped().size() == skipped);
}

Input WithMode(uint8_t mode, Bytes bytes) {
  Input input{mode};
  for (const std::byte byte : bytes) input.push_back(static_cast<uint8_t>(byte));
  return input;
}

}  // namespace

std::vector<Input> Seeds() {
  std::vector<Input> seeds;
  for (const uint32_t seed : {1U, 2U, 3U}) {
    RandomRecording recording(seed);
    recording.AddChunk(3, 12);
    recording.AddChunk(1, 4, /*ending=*/true);
    seeds.push_back(WithMode(0, recording.bytes()));
    BlockUnpacker unpacker;
    unpacker.StartChunk();
    size_t at = recording.chunk_begins()[0] + kChunkHeaderBytes;
    ByteBuffer raws(1);  // where SealRaw splits
    for (int block = 0; block < 3; ++block) {
      const Bytes bytes = Bytes(recording.bytes()).subspan(at);
      const BlockHeader header = *DecodeBlockHeader(bytes.first(kBlockHeaderBytes));
      const Bytes payload = bytes.subspan(kBlockHeaderBytes, header.payload_bytes);
      ByteBuffer raw;
      Require(unpacker.Unpack(header, payload, &raw) == nullptr);
      ByteSink(&raws).Append(raw);
      seeds.push_back(WithMode(1, raws));
      seeds.push_back(WithMode(2, payload));
      at += kBlockHeaderBytes + payload.size();
    }
  }
  return seeds;
}

}  // namespace heaprec::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using heaprec::format::Bytes;
  if (size == 0) return 0;
  const Bytes rest = std::as_bytes(std::span(bytes + 1, size - 1));
  switch (bytes[0]) {
    case 1:
      heaprec::fuzz::ReadWhole(heaprec::fuzz::SealRaw(rest));
      break;
    case 2:
      heaprec::fuzz::ReadWhole(heaprec::fuzz::SealPayload(rest));
      break;
    default:
      heaprec::fuzz::ReadWhole(rest);
  }
  return 0;
}

// Property: whatever the bytes of a file, or of a block's payload, reading ends, and yields only what can be tracked.
//
// Hashes would keep mutations from the inner layers, so the first byte chooses where they begin:
// 0 the file; 1 the raw bytes of two blocks; 2 the compressed payload of a block.
#include "tests/fuzz/sealed_block.h"

namespace heaprec::fuzz {
namespace {

using namespace heaprec::format;           // NOLINT(google-build-using-namespace): a test of that room
using namespace heaprec::format::testing;  // NOLINT(google-build-using-namespace)

// The first byte says where the second block begins.
ByteBuffer SealRaw(Bytes raw) {
  if (raw.empty()) return EmptyChunk();
  const size_t split = static_cast<size_t>(raw[0]) * (raw.size() - 1) / 256;
  raw = raw.subspan(1);
  return Seal(raw.first(split), raw.subspan(split));
}

ByteBuffer SealPayload(Bytes payload) {
  ByteBuffer file = EmptyChunk();
  BlockHeader header;
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  header.raw_bytes = static_cast<uint32_t>(4 * payload.size());
  header.payload_hash = Hash(payload);
  AppendTo(&file, header, Seed(SomeFileHeader()));
  ByteSink(&file).Append(payload);
  return file;
}

Input WithMode(uint8_t mode, Bytes bytes) {
  Input input{mode};
  Append(bytes, &input);
  return input;
}

std::vector<Input> Seeds() {
  std::vector<Input> seeds;
  for (const uint32_t seed : {1U, 2U, 3U}) {
    RandomRecording recording(seed);
    recording.AddChunk(3, 12);
    recording.AddChunk(1, 4, /*ending=*/true);
    seeds.push_back(WithMode(0, recording.bytes()));
    ByteBuffer raws(1);  // where SealRaw splits
    for (const ByteBuffer& raw : RawBlocks(recording, 3)) {
      ByteSink(&raws).Append(raw);
      seeds.push_back(WithMode(1, raws));
    }
    const size_t payload = recording.chunk_begins()[0] + kChunkHeaderBytes + kBlockHeaderBytes;
    seeds.push_back(WithMode(2, Bytes(recording.bytes()).subspan(payload, recording.block_ends()[0] - payload)));
  }
  return seeds;
}

void Check(const uint8_t* bytes, size_t size) {
  using format::Bytes;
  if (size == 0) return;
  const Bytes rest = BytesOf(bytes + 1, size - 1);
  switch (bytes[0]) {
    case 1:
      ReadWhole(SealRaw(rest));
      break;
    case 2:
      ReadWhole(SealPayload(rest));
      break;
    default:
      ReadWhole(rest);
  }
}

const Registered kRegistered({.name = "reader", .seeds = Seeds, .check = Check});

}  // namespace
}  // namespace heaprec::fuzz

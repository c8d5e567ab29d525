// Properties: one run of damage, as long as the parity is wide, is repaired wherever it is; and whatever parity records
// say, reading ends and changes nothing outside of what they cover.
//
// Checksums would keep mutations from the inner layers. The first byte chooses: 0 a file whose parity records get the
// checksums of what they say; else bytes 1-4 are place and length of a run in the rest, and in its record.
#include <algorithm>
#include <cstring>

#include "format/bytes/parity.h"
#include "format/reader/repaired_source.h"
#include "tests/fuzz/sealed_block.h"

namespace heaprec::fuzz {
namespace {

using namespace heaprec::format;           // NOLINT(google-build-using-namespace): a test of that room
using namespace heaprec::format::testing;  // NOLINT(google-build-using-namespace)

void PutChecksum(ByteBuffer* file, size_t begin, size_t size) {
  if (size < sizeof(uint32_t) || begin + size > file->size()) return;
  const uint32_t checksum = Crc32(Bytes(*file).subspan(begin, size - sizeof(uint32_t)));
  std::memcpy(file->data() + begin + size - sizeof(checksum), &checksum, sizeof(checksum));
}

ByteBuffer Sealed(Bytes bytes) {
  ByteBuffer file(bytes.begin(), bytes.end());
  for (size_t at = 0; at + kParityHeadBytes <= file.size(); ++at) {
    ByteCursor cursor(Bytes(file).subspan(at));
    const uint64_t magic = cursor.U64();
    const ParityShape shape{cursor.U32(), cursor.U32()};
    if (magic == kParityHeadMagic) PutChecksum(&file, at, kParityHeadBytes);
    if (magic == kParityTailMagic) PutChecksum(&file, at, shape.tail_bytes());
  }
  return file;
}

void Read(Bytes bytes) {
  const ByteBuffer file = Sealed(bytes);
  ReadWhole(file);
  MemoryByteSource source(file);
  RepairedSource repaired(&source);
  for (uint64_t at = 0; at < file.size(); at += 1 + file.size() / 8) {
    const auto range = repaired.RepairBehind(at);
    Require(!range || (range->begin < range->end && range->end <= file.size()));
  }
}

void Repair(Bytes place, Bytes region) {
  ParityWriter writer;
  ByteBuffer record;
  writer.Add(region);
  writer.AppendLast(&record);
  if (record.empty()) return;
  Require(record.size() <= region.size() / 20);
  const auto shape = DecodeParityHead(record);
  Require(shape && WhyBadParityRecord(*shape, record) == nullptr);
  ByteBuffer file(region.begin(), region.end());
  ByteSink(&file).Append(record);
  const ByteBuffer whole = file;
  const auto number = [place](size_t i) {
    return static_cast<size_t>(place[i]) | static_cast<size_t>(place[i + 1]) << 8;
  };
  const size_t length = 1 + number(2) % shape->width;
  const size_t at = number(0) % (shape->codeword_bytes() - length + 1);
  for (size_t i = at; i < at + length; ++i) file[i] ^= region[i % region.size()] | std::byte{1};
  MemoryByteSource source(file);
  RepairedSource repaired(&source);
  Require(repaired.RepairBehind(region.size()).has_value());
  ByteBuffer read(file.size());
  Require(*repaired.ReadAt(0, read.data(), read.size()) == read.size() && read == whole);
}

std::vector<Input> Seeds() {
  std::vector<Input> seeds;
  RandomRecording recording(1);
  recording.AddChunk(4, 30);
  recording.AddChunk(3, 30, /*ending=*/true);
  for (const uint8_t mode : {0, 1}) {
    Input input{mode};
    Append(recording.bytes(), &input);
    seeds.push_back(input);
  }
  return seeds;
}

void Check(const uint8_t* bytes, size_t size) {
  using format::Bytes;
  constexpr size_t kPlace = 4;
  if (size <= 1 + kPlace) return;
  const Bytes rest = BytesOf(bytes + 1, size - 1);
  if (bytes[0] == 0) {
    Read(rest);
  } else {
    Repair(rest.first(kPlace), rest.subspan(kPlace));
  }
}

const Registered kRegistered({.name = "parity", .seeds = Seeds, .check = Check});

}  // namespace
}  // namespace heaprec::fuzz

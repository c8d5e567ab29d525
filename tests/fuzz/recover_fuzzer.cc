// Property: whatever the file and the ring hold, recovering them ends, and what comes out is a whole recording with as
// many events as were read, nothing of it damaged, and its rows and names consistent.
//
// Input: 4 bytes of how many bytes the file has, the file, the ring. The ring belongs to the recording (its id is set
// right); its path in the file's header is that of a file in memory.
#include <unistd.h>

#include <cstring>
#include <string>

#include "format/codec/file_header.h"
#include "format/ring/ring_layout.h"
#include "tests/format/recordings.h"
#include "tests/format/ring_image.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"
#include "tools/input/recording.h"
#include "tools/rewrite/recording_editor.h"
#include "tools/text/output.h"

namespace heaprec::fuzz {
namespace {

using format::Bytes;

const MemoryFile& Ring() {
  static const MemoryFile ring;
  return ring;
}

format::FileHeader Header() {
  format::FileHeader header = format::testing::SomeFileHeader();
  header.ring_path = Ring().path();
  header.interval_ns = 1'000'000'000;
  header.interval_cap = 100;
  return header;
}

// A file of two blocks, and a ring with one record of each kind.
Input Seed(uint32_t blocks) {
  format::ByteBuffer file = EncodeFileHeader(Header());
  format::ChunkWriter writer(Header(), 0);
  for (uint32_t block = 0; block < blocks; ++block) {
    format::Sample sample;
    sample.id = block + 1;
    sample.time_ns = block * 1000;
    sample.class_id = writer.InternClass("p/Class");
    sample.weight = 100;
    sample.size = 16;
    writer.Add(sample);
    format::PerStream<format::StreamCounters> counters;
    counters[format::Stream::kAllocations].written = block + 1;
    const uint64_t positions[] = {0, 0};
    const auto bytes = writer.Flush(counters, positions, block * 1000);
    Require(bytes.ok());
    format::ByteSink(&file).Append(*bytes);
  }
  format::testing::RingImage ring(2, 1024);
  const uint64_t head = format::testing::PutOneOfEach(&ring, 0, 0);
  std::memcpy(ring.header().recording_id, Header().recording_id.data(), sizeof(ring.header().recording_id));
  std::memcpy(ring.bytes().data() + format::kRingHeaderBytes, &head, sizeof(head));
  const auto size = static_cast<uint32_t>(file.size());
  Input input(4);
  std::memcpy(input.data(), &size, sizeof(size));
  Append(file, &input);
  Append(ring.bytes(), &input);
  return input;
}

void Recover(Bytes file, format::ByteBuffer ring) {
  static const MemoryFile recording;
  static const MemoryFile recovered;
  constexpr size_t kIdAt = 16;
  if (ring.size() >= format::kRingHeaderBytes) {
    std::memcpy(ring.data() + kIdAt, Header().recording_id.data(), Header().recording_id.size());
  }
  recording.Set(file);
  Ring().Set(ring);
  recovered.Set({});
  auto opened = tools::Recording::Open(recording.path());
  // A path that the mutation made up is none of ours to read.
  if (!opened.ok() || (*opened)->header().ring_path != Ring().path()) return;
  Require(lseek(recovered.descriptor(), 0, SEEK_SET) == 0);
  tools::Output output(recovered.descriptor());
  const auto rewritten = tools::Rewrite(opened->get(), format::kEndRecovered, &output);
  if (!rewritten.ok()) return;
  output.Flush();
  Require(!output.failed());
  auto again = tools::Recording::Open(recovered.path());
  Require(again.ok());
  uint64_t events = 0;
  while (const auto block = (*again)->Next()) events += block->samples.size();
  Require((*again)->skipped().empty() && (*again)->ending().has_value());
  Require(events == rewritten->events);
}

std::vector<Input> Seeds() { return {Seed(0), Seed(1), Seed(3)}; }

void Check(const uint8_t* bytes, size_t size) {
  if (size < 4) return;
  uint32_t file_bytes = 0;
  std::memcpy(&file_bytes, bytes, sizeof(file_bytes));
  const auto rest = BytesOf(bytes + 4, size - 4);
  const size_t split = std::min<size_t>(file_bytes, rest.size());
  Recover(rest.first(split), {rest.begin() + static_cast<std::ptrdiff_t>(split), rest.end()});
}

const Registered kRegistered({.name = "recover", .seeds = Seeds, .check = Check});

}  // namespace
}  // namespace heaprec::fuzz

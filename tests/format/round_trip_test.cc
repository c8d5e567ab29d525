#include <algorithm>
#include <catch2/catch.hpp>

#include "format/bytes/layout.h"
#include "format/reader/chunk_span.h"
#include "format/writer/chunk_writer.h"
#include "tests/format/read_back.h"
#include "tests/format/recordings.h"

namespace heaprec::format::testing {
namespace {

TEST_CASE("Every field of the file header round-trips") {
  FileHeader given = SomeFileHeader();
  given.exceptions_unavailable_reason = "the JVM does not let us";
  given.native_unavailable_reason = "somebody else has it";
  given.native_not_seen = "what libc asks for";
  given.start.part = 3;
  given.start.begin_ns = 61'000'000'123;
  given.start.counters[Stream::kAllocations].committed = 4711;
  given.start.counters[Stream::kAllocations].lost[1] = 7;
  given.start.counters[Stream::kExceptions].lost_weight[6] = 0.1;
  given.start.next_interval[Stream::kAllocations] = 61;
  given.start.intervals_with_points[Stream::kExceptions] = 12;
  given.start.lane_positions = {1, 1 << 20, 0};
  const Opened file(EncodeFileHeader(given));
  const FileHeader& read = file.reader->header();
  CHECK(read.recording_id == given.recording_id);
  CHECK(read.start_epoch_ns == given.start_epoch_ns);
  CHECK(read.start_monotonic_ns == given.start_monotonic_ns);
  CHECK(read.interval_ns == given.interval_ns);
  CHECK(read.interval_cap == given.interval_cap);
  CHECK(read.rate_per_second == given.rate_per_second);
  CHECK(read.pid == given.pid);
  CHECK(read.boot_id == given.boot_id);
  CHECK(read.container_id == given.container_id);
  CHECK(read.jvm_name == given.jvm_name);
  CHECK(read.jvm_version == given.jvm_version);
  CHECK(read.gc_name == given.gc_name);
  CHECK(read.agent_version == given.agent_version);
  CHECK(read.agent_options == given.agent_options);
  CHECK(read.source == given.source);
  CHECK(read.source_reason == given.source_reason);
  CHECK(read.source_facts == given.source_facts);
  CHECK(read.ring_path == given.ring_path);
  CHECK(read.max_samples == given.max_samples);
  CHECK(read.duration_ns == given.duration_ns);
  CHECK(read.CapOf(Stream::kAllocations).interval_cap == given.interval_cap);
  CHECK(read.exceptions.interval_ns == given.exceptions.interval_ns);
  CHECK(read.exceptions.interval_cap == given.exceptions.interval_cap);
  CHECK(read.exceptions.rate_per_second == given.exceptions.rate_per_second);
  CHECK(read.exceptions_unavailable_reason == given.exceptions_unavailable_reason);
  CHECK(read.native_unavailable_reason == given.native_unavailable_reason);
  CHECK(read.native_not_seen == given.native_not_seen);
  CHECK(read.start == given.start);
  CHECK(read.service_labels == given.service_labels);
  CHECK_FALSE(file.reader->Next().has_value());
  CHECK(file.reader->skipped().empty());
}

TEST_CASE("Written data round-trips, for many seeds") {
  const uint32_t seed = GENERATE(range(1U, 60U));
  CAPTURE(seed);
  RandomRecording recording(seed);
  recording.AddChunk(3, static_cast<int>(seed));
  recording.AddChunk(1, 0);
  recording.AddChunk(2, 40, /*ending=*/true);
  const ReadResult result = Read(recording.bytes());
  CHECK(result.skipped.empty());
  REQUIRE(result.blocks.size() == recording.blocks().size());
  for (size_t i = 0; i < result.blocks.size(); ++i) RequireSame(result.blocks[i], recording.blocks()[i]);
}

TEST_CASE("Samples are returned in order of time, whatever the order of insertion") {
  ChunkWriter writer(SomeFileHeader(), 0);
  writer.Add(Window{1, 0, 1e-5});
  for (const uint64_t time : {900U, 100U, 500U}) {
    Sample sample;
    sample.id = time;
    sample.time_ns = time * kTickNs;
    sample.window = 1;
    sample.size = 16;
    sample.weight = 1;
    writer.Add(sample);
  }
  auto block = writer.Finish({}, {}, 1000 * kTickNs, nullptr);
  REQUIRE(block.ok());
  const ReadResult result = Read(Appended(EncodeFileHeader(SomeFileHeader()), *block));
  REQUIRE(result.blocks.size() == 1);
  std::vector<uint64_t> ids;
  for (const PlainSample& plain : result.blocks[0].samples) ids.push_back(plain.sample.id);
  CHECK(ids == std::vector<uint64_t>{100, 500, 900});
}

TEST_CASE("A provisional block overwrites a longer earlier one, and its counts are readable") {
  const FileHeader header = SomeFileHeader();
  const auto counts_of = [&](uint64_t intervals) {
    ChunkWriter writer(header, 0);
    for (uint64_t i = 0; i < intervals; ++i) writer.Add(Interval{.index = i, .bytes = i * i * 7919});
    PerStream<StreamCounters> counters;
    counters[Stream::kAllocations].candidates = intervals;
    auto chunk = writer.Finish(counters, {}, intervals * 1'000'000'000, nullptr);
    REQUIRE(chunk.ok());
    return *chunk;
  };
  const ByteBuffer earlier = ProvisionalBlock(counts_of(1000), header.recording_id);
  for (const uint64_t shorter : {uint64_t{0}, uint64_t{1}, uint64_t{7}, earlier.size() / 2}) {
    const ByteBuffer later = ProvisionalBlock(counts_of(500), header.recording_id, earlier.size() - shorter);
    CHECK(later.size() >= earlier.size() - shorter);
    ByteBuffer file = Appended(EncodeFileHeader(header), earlier);
    const uint64_t offset = file.size() - earlier.size();
    std::copy(later.begin(), later.end(), file.begin() + static_cast<std::ptrdiff_t>(offset));
    const ReadResult result = Read(file);
    CHECK(result.blocks.empty());
    MemoryByteSource source(file);
    const auto block = ReadProvisionalBlock(&source, header, offset);
    REQUIRE(block);
    CHECK(block->counters[Stream::kAllocations].candidates == 500);
    CHECK(block->intervals.size() == 500);
  }
  // A skippable frame has at least 8 bytes.
  const ByteBuffer just = ProvisionalBlock(counts_of(3), header.recording_id);
  for (uint64_t more = 1; more <= 20; ++more) {
    MemoryByteSource source(ProvisionalBlock(counts_of(3), header.recording_id, just.size() + more));
    CHECK(ReadProvisionalBlock(&source, header, 0));
  }
}

TEST_CASE("Exceptions are weighted in events, and ordered by time among the allocations") {
  ChunkWriter writer(SomeFileHeader(), 0);
  writer.Add(Window{1, 0, 1e-5});
  writer.Add(Window{kWindowStreamBit + 1, 0, 0.125});
  for (const uint64_t time : {100U, 200U, 300U}) {
    Sample sample;
    sample.kind = time == 200 ? Kind::kException : Kind::kTlab;
    sample.id = time;
    sample.time_ns = time * kTickNs;
    sample.window = time == 200 ? kWindowStreamBit + 1 : 1;
    sample.size = time == 200 ? 0 : 16;
    sample.weight = 8;
    writer.Add(sample);
  }
  auto block = writer.Finish({}, {}, 1000 * kTickNs, nullptr);
  REQUIRE(block.ok());
  const ReadResult result = Read(Appended(EncodeFileHeader(SomeFileHeader()), *block));
  REQUIRE(result.blocks.size() == 1);
  REQUIRE(result.blocks[0].samples.size() == 3);
  const Sample& thrown = result.blocks[0].samples[1].sample;
  CHECK(thrown.id == 200);
  CHECK(thrown.stream() == Stream::kExceptions);
  CHECK(thrown.weight_bytes() == 0);
  CHECK(thrown.weight_objects() == 8);
  CHECK(thrown.probability() == 0.125);
  CHECK(result.blocks[0].samples[0].sample.weight_bytes() == 8);
  CHECK(result.blocks[0].samples[0].sample.weight_objects() == 0.5);
}

TEST_CASE("The writer refuses more rows than a block may have") {
  ChunkWriter writer(SomeFileHeader(), 0);
  for (uint32_t i = 0; i <= kMaxBlockRows; ++i) writer.Add(Sample{});
  CHECK_FALSE(writer.Flush({}, {}, 0).ok());
}

}  // namespace
}  // namespace heaprec::format::testing

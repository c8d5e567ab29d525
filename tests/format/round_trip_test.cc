#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>

#include "format/bytes/layout.h"
#include "format/bytes/parity.h"
#include "format/reader/provisional_block.h"
#include "format/writer/chunk_writer.h"
#include "format/writer/provisional_block.h"
#include "tests/format/programs.h"
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
  MemoryByteSource source(EncodeFileHeader(given));
  auto reader = Reader::Open(&source);
  REQUIRE(reader.ok());
  const FileHeader& read = (*reader)->header();
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
  CHECK_FALSE((*reader)->Next().has_value());
  CHECK((*reader)->skipped().empty());
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
    writer.Add(Sample{.id = time, .time_ns = time * kTickNs, .size = 16, .window = 1, .weight = 1});
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
    Sample sample{.id = time, .time_ns = time * kTickNs, .kind = time == 200 ? Kind::kException : Kind::kTlab};
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

// Bytes per event, everything in: headers, names, windows, intervals, counters, parity.

constexpr int kSeconds = 20;
constexpr double kMaxParity = 0.05;

size_t ParityBytesOf(Bytes file) {
  size_t bytes = 0;
  for (size_t at = 0; at + kParityHeadBytes <= file.size(); ++at) {
    if (const auto shape = DecodeParityHead(file.subspan(at))) bytes += shape->record_bytes();
  }
  return bytes;
}

double BytesPerEvent(Program* program) {
  const ByteBuffer file = RecordingOf(program, kSeconds, kSeconds, /*ends=*/false);
  return static_cast<double>(file.size()) / (kProgramRate * kSeconds);
}

TEST_CASE("a synthetic program of depth 10 costs at most 10 bytes per event") {
  Synthetic program(1);
  const double bytes = BytesPerEvent(&program);
  std::printf("synthetic, depth 10: %.2f bytes per event\n", bytes);
  CHECK(bytes <= 10);
}

TEST_CASE("a compiler of depth 41, nearly every stack new, costs at most 50 bytes per event") {
  Compiler program(1);
  const double bytes = BytesPerEvent(&program);
  std::printf("javac-like, depth 41: %.2f bytes per event\n", bytes);
  CHECK(bytes <= 50);
}

// A minute of snapshots, in blocks of two seconds. Of the account's 50 items 20 change by some pages each second; all
// are written every ten seconds.
size_t BytesOfSnapshots(bool with_account) {
  constexpr size_t kTaken = 50, kChanging = 20;
  std::mt19937_64 random(3);
  std::array<uint64_t, kTaken> amounts;
  for (uint64_t& amount : amounts) amount = (random() % (uint64_t{1} << 18)) << 12;
  ChunkWriter writer(FileHeader(), 0);
  size_t bytes = 0;
  for (uint64_t second = 0; second < 60; ++second) {
    ProcessState state;
    state.id = second + 1;
    state.time_ns = second * 1'000'000'000;
    for (size_t item = 0; item < kTaken; ++item) {
      if (item < kChanging) amounts[item] += (random() % 256) << 12;
      if (with_account && (item < kChanging || second % 10 == 0))
        state.account.Set(static_cast<AccountItem>(item), Amount::Of(amounts[item]));
    }
    writer.Add(state);
    if (second % 2 == 1) bytes += writer.Flush({}, {}, state.time_ns).value().size();
  }
  return bytes;
}

TEST_CASE("an account of the process costs at most 200 bytes a second") {
  const double bytes = static_cast<double>(BytesOfSnapshots(true) - BytesOfSnapshots(false)) / 60;
  std::printf("account: %.0f bytes a second\n", bytes);
  CHECK(bytes <= 200);
}

TEST_CASE("parity adds at most 5 % to recordings of any length, and is there") {
  for (const int seconds : {1, 2, 3, 4, 6, 9, 20, 61, 150}) {
    for (const int chunk_seconds : {1, 5, 60}) {
      Synthetic synthetic(2);
      Compiler compiler(2);
      for (Program* program : {static_cast<Program*>(&synthetic), static_cast<Program*>(&compiler)}) {
        const ByteBuffer file = RecordingOf(program, seconds, chunk_seconds);
        const size_t parity = ParityBytesOf(file);
        const double overhead = static_cast<double>(parity) / static_cast<double>(file.size() - parity);
        CAPTURE(seconds, chunk_seconds, file.size(), overhead);
        CHECK(overhead <= kMaxParity);
        CHECK((parity > 0 || file.size() < 3000));
        if (chunk_seconds == 60 && (seconds == 9 || seconds == 150)) {
          std::printf("%d s, %zu bytes: %.2f %% parity\n", seconds, file.size(), 100 * overhead);
        }
      }
    }
  }
}

}  // namespace

}  // namespace heaprec::format::testing

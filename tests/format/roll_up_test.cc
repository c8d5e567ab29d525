// The roll-up of a chunk: it is what the blocks add up to, and whoever reads blocks does not see it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "format/reader/chunk_span.h"
#include "format/reader/memory_source.h"
#include "format/reader/recordings_in_file.h"
#include "format/writer/chunk_writer.h"
#include "tests/format/recordings.h"

namespace heaprec::format::testing {
namespace {

class Chunks {
 public:
  explicit Chunks(uint32_t seed) : random_(seed), header_(SomeFileHeader(seed)), bytes_(EncodeFileHeader(header_)) {}

  // As the sum of its rows by class and path, and its intervals.
  struct Sums {
    std::map<std::string, Row> rows;
    std::map<std::string, uint64_t> outside;  // bytes by class
    std::vector<Interval> intervals;
    PerStream<StreamCounters> counters;
    std::vector<ProcessState> states;
    uint64_t samples = 0, begin = 0;
  };
  Sums Add(uint32_t number, bool with_rows, bool with_census, const EndMarker* ending) {
    Sums sums;
    sums.begin = bytes_.size();
    ChunkWriter writer(header_, number);
    const uint64_t blocks = 1 + Below(5);
    for (uint64_t block = 0; block < blocks; ++block) {
      writer.Add(Window{++window_, Now(), 1e-5 / static_cast<double>(1 + Below(9))});
      AddSamples(&writer, with_rows ? AddRows(&writer, &sums) : 5, &sums);
      for (uint64_t i = Below(3); i > 0; --i) {
        const auto kind = static_cast<ProcessStateKind>(Below(kProcessStateKinds));
        ProcessState state;
        state.id = ++state_;
        state.time_ns = Now();
        state.kind = kind;
        state.used = Below(999);
        if (IsEvent(kind)) {
          const StackFrame frame{writer.InternMethod("p/Event", "m" + std::to_string(Below(3)), "()V"), 1, 2};
          state.stack = writer.InternStack(std::span(&frame, 1), false);
          state.thread = writer.InternThread({Below(3), 1, false, "t"});
          state.class_id = writer.InternClass("p/Error" + std::to_string(state.used % 3));
        }
        sums.states.push_back(state);
        writer.Add(sums.states.back());
      }
      for (uint64_t i = Below(3); i > 0; --i) {
        const std::string class_name = "p/Large" + std::to_string(Below(3));
        const uint64_t objects = 1 + Below(9);
        writer.AddOutside(writer.InternClass(class_name), objects, objects * 5000);
        sums.outside[class_name] += objects * 5000;
      }
      if (with_census) writer.AddCensusTotal(CensusRow());
      const bool is_last = block + 1 == blocks;
      const auto rows = block % 2 == 0 ? ChunkWriter::RowsAre::kOpen : ChunkWriter::RowsAre::kDue;
      auto written =
          is_last ? writer.Finish(sums.counters, {}, Now(), ending) : writer.Flush(sums.counters, {}, Now(), rows);
      REQUIRE(written.ok());
      ByteSink(&bytes_).Append(*written);
    }
    return sums;
  }
  const FileHeader& header() const { return header_; }
  const ByteBuffer& bytes() const { return bytes_; }
  uint64_t Below(uint64_t below) { return std::uniform_int_distribution<uint64_t>(0, below - 1)(random_); }

 private:
  uint64_t Now() { return now_ns_ += 1'000'000; }
  // Of a block with so many points.
  void AddSamples(ChunkWriter* writer, uint64_t points, Sums* sums) {
    const uint64_t samples = Below(points + 1);
    const StackFrame frame{writer->InternMethod("p/Sample", "m" + std::to_string(Below(9)), "()V"), 1, 2};
    for (uint64_t i = 0; i < samples; ++i) {
      Sample sample;
      sample.id = ++id_;
      sample.time_ns = Now();
      sample.class_id = writer->InternClass("p/OfSample" + std::to_string(Below(9)));
      sample.stack = writer->InternStack({&frame, 1}, false);
      sample.size = 24;
      sample.weight = 1000;
      writer->Add(sample);
    }
    sums->samples += samples;
    for (const Stream stream : {Stream::kAllocations, Stream::kExceptions}) {
      const Interval interval{++interval_, Below(99), 1 + Below(99), points, samples, 1, stream};
      writer->Add(interval);
      sums->intervals.push_back(interval);
      if (stream == Stream::kExceptions) sums->samples += samples;
    }
    sums->counters[Stream::kAllocations].written += samples;
  }
  uint64_t AddRows(ChunkWriter* writer, Sums* sums) {
    const uint64_t points = 1 + Below(20);
    for (uint64_t i = points; i > 0; --i) {
      const std::string class_name = "p/C" + std::to_string(Below(5)), method = "site" + std::to_string(Below(9));
      const bool truncated = Below(4) == 0;
      const StackFrame frame{writer->InternMethod("p/Site", method, "()V"), 3, 4};
      const uint64_t size = 8 * (2 + Below(20));
      const double weight = static_cast<double>(size) + static_cast<double>(Below(10'000));
      const Index stack = Below(9) == 0 ? kNone : writer->InternStack({&frame, 1}, truncated);
      writer->AddPoint(writer->InternClass(class_name), stack, size, weight);
      Row row;
      row.Add(size, weight);
      sums->rows[class_name + (stack == kNone ? "" : " p/Site." + method + (truncated ? " ..." : ""))] += row;
    }
    return points;
  }

  std::mt19937_64 random_;
  const FileHeader header_;
  ByteBuffer bytes_;
  uint32_t window_ = 0;
  uint64_t id_ = 0, interval_ = 0, state_ = 0, now_ns_ = 0;
};

std::string NameOf(const Row& row, const Dictionaries& names) {
  std::string name = names.classes.at(row.class_id);
  if (row.stack == kNone) return name;
  const StackNode& node = names.stacks.at(row.stack);
  const Method& method = names.methods.at(names.frames.at(node.frame).method);
  return name + " " + method.class_name + "." + method.name + (node.truncated ? " ..." : "");
}

}  // namespace

TEST_CASE("A roll-up is the sum of its chunk's blocks, with its own names") {
  const uint32_t seed = GENERATE(range(1U, 40U));
  CAPTURE(seed);
  Chunks chunks(seed);
  std::vector<Chunks::Sums> given;
  std::vector<bool> has;
  for (uint32_t number = 0; number < 4; ++number) {
    const bool with_rows = chunks.Below(5) != 0, with_census = chunks.Below(5) == 0;
    given.push_back(chunks.Add(number, with_rows, with_census, nullptr));
    has.push_back(with_rows && !with_census);
  }
  const EndMarker ending{1'000'000'000, "jvm exit"};
  given.push_back(chunks.Add(4, true, false, &ending));
  MemoryByteSource source(chunks.bytes());
  // All of them from one walk over the file, but for the last, which no other follows.
  const std::vector<RecordingSpan> recordings = RecordingsIn(&source);
  REQUIRE(recordings.size() == 1);
  const ChunkSpans& spans = recordings.front().chunks;
  REQUIRE(spans.size() == has.size());
  uint64_t begin = given[0].begin;
  for (size_t i = 0; i < has.size(); ++i) {
    CAPTURE(i);
    const auto chunk = FindChunk(&source, chunks.header(), begin, UINT64_MAX);
    REQUIRE(chunk);
    CHECK(*chunk == spans[i]);
    CHECK(chunk->sequence == i);
    begin = chunk->next;
    REQUIRE(begin == given[i + 1].begin);
    ChunkDecoder decoder;
    const auto block = ReadRollUp(&source, chunks.header(), *chunk, &decoder);
    REQUIRE(block.has_value() == has[i]);
    if (!block) continue;
    CHECK(block->samples.empty());
    CHECK(block->samples_left_out == given[i].samples);
    CHECK(block->counters[Stream::kAllocations] == given[i].counters[Stream::kAllocations]);
    REQUIRE(block->states.size() == given[i].states.size());
    for (size_t at = 0; at < block->states.size(); ++at) {
      CHECK(block->states[at].id == given[i].states[at].id);
      CHECK(block->states[at].kind == given[i].states[at].kind);
      CHECK(block->states[at].used == given[i].states[at].used);
      if (!IsEvent(block->states[at].kind)) continue;
      const Dictionaries& names = *block->dictionaries;
      CHECK(names.classes.at(block->states[at].class_id) == "p/Error" + std::to_string(block->states[at].used % 3));
      CHECK(names.threads.at(block->states[at].thread).name == "t");
      const Frame& frame = names.frames.at(names.stacks.at(block->states[at].stack).frame);
      CHECK(names.methods.at(frame.method).class_name == "p/Event");
    }
    REQUIRE(block->intervals.size() == given[i].intervals.size());
    for (const Stream stream : {Stream::kAllocations, Stream::kExceptions}) {
      std::vector<uint64_t> found, expected;
      for (const Interval& one : block->intervals) {
        if (one.stream == stream) found.insert(found.end(), {one.index, one.candidates, one.bytes, one.buffered});
      }
      for (const Interval& one : given[i].intervals) {
        if (one.stream == stream) expected.insert(expected.end(), {one.index, one.candidates, one.bytes, one.buffered});
      }
      CHECK(found == expected);
    }
    REQUIRE(block->rows.size() == given[i].rows.size());
    // Of the dictionaries it has no more than its rows and events need.
    CHECK(block->dictionaries->classes.size() <= 5 + 3 + 3);
    std::map<std::string, uint64_t> outside;
    for (const Row& row : block->outside) outside[block->dictionaries->classes.at(row.class_id)] += row.seen;
    CHECK(outside == given[i].outside);
    CHECK(block->dictionaries->methods.size() <= 9 + 3);
    for (const Row& row : block->rows) {
      const std::string name = NameOf(row, *block->dictionaries);
      CAPTURE(name);
      REQUIRE(given[i].rows.count(name) == 1);
      const Row& sum = given[i].rows.at(name);
      CHECK(row.points == sum.points);
      CHECK(row.seen == sum.seen);
      CHECK(row.bytes == Approx(sum.bytes).epsilon(1e-3));
      CHECK(row.objects == Approx(sum.objects).epsilon(2e-3));
      CHECK(row.bytes_variance == Approx(sum.bytes_variance).epsilon(0.05));
    }
  }
  CHECK_FALSE(FindChunk(&source, chunks.header(), begin, UINT64_MAX));
}

TEST_CASE("The limit of rows ends roll-ups at a block, and a part has no roll-up") {
  const FileHeader header = SomeFileHeader(3);
  ChunkWriter writer(header, 0);
  writer.LimitRows(7);
  const StackFrame frame{writer.InternMethod("p/Site", "make", "()V"), 1, 2};
  const Index path = writer.InternStack({&frame, 1}, false);
  ByteBuffer bytes = EncodeFileHeader(header);
  const uint64_t rows_of_block[] = {3, 2, 3, 1};
  const uint64_t begin = bytes.size();
  for (uint64_t block = 0; block < std::size(rows_of_block); ++block) {
    for (uint64_t row = 0; row < rows_of_block[block]; ++row)
      writer.AddPoint(writer.InternClass("p/C" + std::to_string(row)), path, 24, 1000);
    writer.Add(Interval{block, 0, 0, rows_of_block[block], 0, 1});
    const auto written = block == 3 ? writer.Finish({}, {}, block, nullptr) : writer.Flush({}, {}, block);
    REQUIRE(written.ok());
    ByteSink(&bytes).Append(*written);
  }
  CHECK(writer.rows_left() == 0);
  AppendTo(&bytes, ChunkHeader{1, header.recording_id});
  MemoryByteSource source(bytes);
  std::vector<size_t> rows;
  const auto reader = Reader::Open(&source);
  REQUIRE(reader.ok());
  while (const auto block = (*reader)->Next()) rows.push_back(block->rows.size());
  CHECK(rows == std::vector<size_t>{3, 2, 0, 0});
  const auto chunk = FindChunk(&source, header, begin, UINT64_MAX);
  REQUIRE(chunk);
  CHECK(chunk->roll_up == 0);
}

TEST_CASE("There is no roll-up if bytes were counted only for some points") {
  const FileHeader header = SomeFileHeader(5);
  for (const uint64_t bytes_of_second : {uint64_t{0}, uint64_t{9}}) {
    for (const uint64_t bytes_of_first : {uint64_t{0}, uint64_t{7}}) {
      CAPTURE(bytes_of_first, bytes_of_second);
      ChunkWriter writer(header, 0);
      for (int i = 0; i < 2; ++i) writer.AddPoint(writer.InternClass("p/C"), kNone, 24, 1000);
      writer.Add(Interval{0, 0, bytes_of_first, 1, 1, 1});
      writer.Add(Interval{1, 0, bytes_of_second, 1, 1, 1});
      ByteBuffer bytes = *writer.Finish({}, {}, 9, nullptr);
      AppendTo(&bytes, ChunkHeader{1, header.recording_id});
      MemoryByteSource source(bytes);
      const auto chunk = FindChunk(&source, header, 0, UINT64_MAX);
      REQUIRE(chunk);
      CHECK((chunk->roll_up > 0) == ((bytes_of_first > 0) == (bytes_of_second > 0)));
    }
  }
}

TEST_CASE("A reader of blocks skips roll-ups, and detects damage in them") {
  Chunks chunks(7);
  const EndMarker ending{1'000'000'000, "jvm exit"};
  const uint64_t first = chunks.Add(0, true, false, nullptr).begin;
  (void)chunks.Add(1, true, false, &ending);
  MemoryByteSource whole(chunks.bytes());
  const auto chunk = FindChunk(&whole, chunks.header(), first, UINT64_MAX);
  REQUIRE(chunk);
  REQUIRE(chunk->roll_up > 0);
  CHECK(chunk->roll_up == chunk->end);
  const auto blocks_of = [](ByteSource* source, size_t* skipped) {
    const auto reader = Reader::Open(source);
    REQUIRE(reader.ok());
    std::vector<uint64_t> offsets;
    while (const auto block = (*reader)->Next()) offsets.push_back(block->offset);
    *skipped = (*reader)->skipped().size();
    return offsets;
  };
  size_t skipped = 0;
  const std::vector<uint64_t> offsets = blocks_of(&whole, &skipped);
  CHECK(skipped == 0);
  CHECK(std::count(offsets.begin(), offsets.end(), chunk->roll_up) == 0);
  // A flipped bit: repaired, or at least noticed.
  MemoryByteSource damaged(Flipped(chunks.bytes(), chunk->roll_up + kBlockHeaderBytes + 5));
  CHECK(blocks_of(&damaged, &skipped) == offsets);
  CHECK(skipped == 1);
  ChunkDecoder decoder;
  CHECK_FALSE(ReadRollUp(&damaged, chunks.header(), *chunk, &decoder));
}

}  // namespace heaprec::format::testing

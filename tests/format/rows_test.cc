// Rows, random and real-shaped: what comes back, and how small they are.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "format/bytes/block_stream.h"
#include "format/bytes/columns.h"
#include "format/bytes/layout.h"
#include "format/codec/block_rows.h"
#include "format/codec/row_codec.h"
#include "format/reader/row_interval.h"
#include "format/writer/chunk_writer.h"
#include "tests/format/read_back.h"

namespace heaprec::format::testing {
namespace {

constexpr double kHalfStep = 0x1p-10, kHalfSpreadStep = 0.024;

Dictionaries SomeDictionaries() {
  Dictionaries dictionaries;
  dictionaries.classes.resize(5000);
  dictionaries.stacks.resize(20'000);
  return dictionaries;
}

bool Decode(Bytes raw, std::vector<Row>* rows) {
  ByteCursor cursor(raw);
  const Framed section = TakeFramed(&cursor);
  bool refused = false;
  return section.number == static_cast<uint64_t>(Section::kRows) &&
         DecodeRows(section.body, SomeDictionaries(), rows, &refused) && !refused && cursor.at_end();
}

std::vector<Row> Decoded(const std::vector<Row>& rows) {
  ByteBuffer raw;
  EncodeRows(Section::kRows, rows, &raw);
  std::vector<Row> decoded;
  REQUIRE(Decode(raw, &decoded));
  REQUIRE(decoded.size() == rows.size());
  return decoded;
}

double WeightOf(uint64_t size, double lambda) {
  return static_cast<double>(size) / -std::expm1(-lambda * static_cast<double>(size));
}

class Random {
 public:
  explicit Random(uint32_t seed) : random_(seed) {}
  uint64_t Uniform(uint64_t below) { return std::uniform_int_distribution<uint64_t>(0, below - 1)(random_); }
  // Mostly of HotSpot's sizes; a tenth is anything.
  uint64_t Size() {
    return Uniform(10) == 0 ? 1 + Uniform(uint64_t{1} << Uniform(40)) : 8 * (2 + Uniform(uint64_t{1} << Uniform(8)));
  }
  Index AnyIndex(uint64_t below) { return Uniform(30) == 0 ? kNone : static_cast<Index>(Uniform(below)); }

 private:
  std::mt19937_64 random_;
};

bool IsNear(double a, double b, double relative) { return std::abs(a - b) <= relative * std::abs(b); }

}  // namespace

TEST_CASE(
    "Of a row of one point the size comes back, the weight within 2^-12, and all else is what follows from them") {
  const uint32_t seed = GENERATE(range(1U, 20U));
  CAPTURE(seed);
  Random random(seed);
  RowTable table;
  for (uint64_t i = random.Uniform(3000); i > 0; --i) {
    const uint64_t size = random.Size();
    const bool is_certain = random.Uniform(8) == 0;
    const double lambda = 1e-5 * static_cast<double>(1 + random.Uniform(100));
    table.Add(random.AnyIndex(5000), static_cast<Index>(i), size,
              is_certain ? static_cast<double>(size) : WeightOf(size, lambda));
  }
  const std::vector<Row> rows = table.Take(), decoded = Decoded(rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    REQUIRE(rows[i].points == 1);
    REQUIRE(decoded[i].seen == rows[i].seen);
    REQUIRE(decoded[i].bytes >= static_cast<double>(rows[i].seen));
    REQUIRE(IsNear(decoded[i].bytes, rows[i].bytes, kHalfStep));
    Row expected{.class_id = rows[i].class_id, .stack = rows[i].stack};
    expected.Add(decoded[i].seen, decoded[i].bytes);
    if (rows[i].bytes == static_cast<double>(rows[i].seen)) {
      REQUIRE(decoded[i] == rows[i]);
      REQUIRE(decoded[i].bytes_variance == 0);
    }
    REQUIRE(IsNear(decoded[i].objects, expected.objects, 1e-9));
    const double floats = 1e-9 * expected.bytes / std::max(expected.bytes - static_cast<double>(expected.seen), 1e-9);
    REQUIRE(IsNear(decoded[i].bytes_variance, expected.bytes_variance, floats));
    REQUIRE(IsNear(decoded[i].objects_variance, expected.objects_variance, floats));
    REQUIRE(IsNear(decoded[i].covariance, expected.covariance, floats));
    REQUIRE(IsNear(decoded[i].bytes_fourth, expected.bytes_fourth, 2 * floats));
    REQUIRE(IsNear(decoded[i].objects_fourth, expected.objects_fourth, 2 * floats));
  }
  // What is written again is the same.
  ByteBuffer once, twice;
  EncodeRows(Section::kRows, rows, &once);
  EncodeRows(Section::kRows, decoded, &twice);
  CHECK(once == twice);
}

TEST_CASE("Rows of many points round-trip, up to rounding") {
  const uint32_t seed = GENERATE(range(1U, 20U));
  CAPTURE(seed);
  Random random(seed);
  RowTable table;
  uint64_t points = 0;
  for (uint64_t i = 1 + random.Uniform(5000); i > 0; --i, ++points) {
    const auto class_id = static_cast<Index>(random.Uniform(1 + random.Uniform(40)));
    // Some classes have one size.
    const uint64_t size = class_id % 3 == 0 ? 8 * (2 + class_id) : random.Size();
    table.Add(class_id, random.AnyIndex(1 + random.Uniform(40)), size,
              class_id % 5 == 0 ? static_cast<double>(size) : WeightOf(size, 1e-6 * (1 + random.Uniform(1000))));
  }
  const std::vector<Row> rows = table.Take(), decoded = Decoded(rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row &got = decoded[i], &given = rows[i];
    CAPTURE(i, given.points);
    points -= got.points;
    REQUIRE(got.class_id == given.class_id);
    REQUIRE(got.stack == given.stack);
    REQUIRE(got.points == given.points);
    REQUIRE(got.seen == given.seen);
    REQUIRE(got.bytes >= static_cast<double>(got.seen));
    REQUIRE(got.objects >= static_cast<double>(got.points));
    REQUIRE(IsNear(got.bytes, given.bytes, kHalfStep));
    REQUIRE(IsNear(got.objects, given.objects, 2 * kHalfStep));
    REQUIRE(IsNear(got.bytes_variance, given.bytes_variance, kHalfSpreadStep));
    REQUIRE(IsNear(got.objects_variance, given.objects_variance, kHalfSpreadStep));
    REQUIRE(IsNear(got.covariance, given.covariance, kHalfSpreadStep));
    REQUIRE(IsNear(got.bytes_fourth, given.bytes_fourth, 3 * kHalfSpreadStep));
    REQUIRE(IsNear(got.objects_fourth, given.objects_fourth, 3 * kHalfSpreadStep));
  }
  CHECK(points == 0);
}

TEST_CASE("A row of one point needs about four bytes") {
  Random random(7);
  RowTable table;
  std::vector<std::pair<Index, uint64_t>> sites;  // class, size
  for (int i = 0; i < 4000; ++i)
    sites.emplace_back(random.Uniform(1 + static_cast<uint64_t>(i) / 8), 8 * (2 + random.Uniform(8)));
  for (Index i = 0; i < 4000; ++i) {
    if (random.Uniform(2) == 0) continue;
    const double lambda = 1e-5 * (1 + 1e-4 * static_cast<double>(random.Uniform(1000)));
    table.Add(sites[i].first, i, sites[i].first % 4 == 0 ? sites[i].second : 24, WeightOf(24, lambda));
  }
  const std::vector<Row> rows = table.Take();
  ByteBuffer raw;
  EncodeRows(Section::kRows, rows, &raw);
  const double bytes = static_cast<double>(raw.size()) / static_cast<double>(rows.size());
  CAPTURE(bytes);
  CHECK(bytes < 4.7);
}

TEST_CASE("Impossible rows are refused") {
  const auto is_refused = [](uint64_t head, uint64_t class_id, uint64_t points, uint64_t seen, uint64_t beyond) {
    ColumnWriter<5> columns;
    columns.Varint(0, head);
    columns.Varint(1, class_id);
    if ((head & 1) != 0) columns.Varint(2, points);
    if ((head & 2) != 0) columns.Varint(3, seen);
    columns.Varint(4, beyond);
    ByteBuffer raw;
    columns.Finish(static_cast<uint64_t>(Section::kRows), false, 1, &raw);
    std::vector<Row> rows;
    return !Decode(raw, &rows);
  };
  CHECK_FALSE(is_refused(2, 0, 0, 6, 0));
  CHECK(is_refused(0, 0, 0, 0, 0));                       // of no size
  CHECK(is_refused(3, 0, UINT64_MAX - 1, 6, 0));          // of no points
  CHECK(is_refused(3, 0, 100, 6, 0));                     // more points than bytes
  CHECK(is_refused(20'001 << 2 | 2, 0, 0, 6, 0));         // no such stack
  CHECK(is_refused(2, 5001, 0, 6, 0));                    // no such class
  CHECK(is_refused(2, 0, 0, 6, 1 + Zigzag(512 * 1024)));  // of infinite weight
  const Row row{.class_id = 1, .stack = 1, .points = 1, .seen = 8, .bytes = 8, .objects = 1};
  ByteBuffer raw;
  EncodeRows(Section::kRows, std::vector{row, row}, &raw);  // twice the same
  std::vector<Row> rows;
  CHECK_FALSE(Decode(raw, &rows));
}

namespace {

// Rows of several blocks: with the last of these, and for readers that join them, in one block with all points.

using RowsAre = ChunkWriter::RowsAre;

// Blocks of one interval each: a second with `points` points, of which one is kept.
class Recorded {
 public:
  Recorded() : bytes_(EncodeFileHeader(header_)) { StartChunk(); }

  void StartChunk() { chunk_.emplace(header_, next_chunk_++); }
  void Block(uint64_t points, RowsAre rows) {
    Put(points);
    Append(chunk_->Flush({}, {}, ++second_ * kSecond, rows));
  }
  void Last(uint64_t points, const EndMarker* ending = nullptr) {
    Put(points);
    Append(chunk_->Finish({}, {}, ++second_ * kSecond, ending));
  }
  // Where the block that is written next begins.
  size_t size() const { return bytes_.size(); }
  const ByteBuffer& bytes() const { return bytes_; }

 private:
  static constexpr uint64_t kSecond = 1'000'000'000;

  void Put(uint64_t points) {
    const std::vector<Index> classes{chunk_->InternClass("p/C0"), chunk_->InternClass("p/C1")};  // in the first block
    const Index class_id = classes[second_ % 2];
    for (uint64_t i = 0; i < points; ++i) chunk_->AddPoint(class_id, kNone, 16, 1000);
    chunk_->AddOutside(class_id, 1, 4096);
    chunk_->Add(Interval{second_, points, 16 * points, points, points > 0 ? 1U : 0, 1000});
    if (points == 0) return;
    Sample sample;
    sample.id = second_ + 1;
    sample.time_ns = second_ * kSecond + 500;
    sample.class_id = class_id;
    sample.size = 16;
    sample.weight = 1000;
    chunk_->Add(sample);
  }
  // Without parity, so that nothing is repaired, and without a roll-up.
  void Append(const Result<ByteBuffer>& block) {
    REQUIRE(block.ok());
    const size_t begin = DecodeChunkHeader(Bytes(*block).first(kChunkHeaderBytes)) ? kChunkHeaderBytes : 0;
    const auto header = DecodeBlockHeader(Bytes(*block).subspan(begin), HeaderSeed(header_.recording_id));
    REQUIRE(header);
    ByteSink(&bytes_).Append(Bytes(*block).first(begin + kBlockHeaderBytes + header->payload_bytes));
  }

  const FileHeader header_ = SomeFileHeader();
  ByteBuffer bytes_;
  std::optional<ChunkWriter> chunk_;
  uint32_t next_chunk_ = 0;
  uint64_t second_ = 0;
};

// Of a block: its intervals, the points of its rows, and those that were counted outside; -1: its rows are lost.
struct Given {
  size_t intervals;
  int64_t points, outside;
  bool operator==(const Given&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Given& given) {
  return out << given.intervals << " intervals, " << given.points << " points, " << given.outside << " outside";
}

Given Of(const Block& block) {
  Given given{block.intervals.size(), 0, 0};
  for (const Row& row : block.rows) given.points += static_cast<int64_t>(row.points);
  for (const Row& row : block.outside) given.outside += static_cast<int64_t>(row.points);
  if (block.row_interval) given.points -= 1;
  CHECK(block.samples.size() == block.intervals.size());
  for (const Sample& sample : block.samples)
    CHECK(block.dictionaries->classes.at(sample.class_id) == "p/C" + std::to_string((sample.id - 1) % 2));
  return given;
}

std::vector<Given> Joined(Reader* reader) {
  std::vector<Given> all;
  while (const auto block = reader->Next()) all.push_back(Of(*block));
  return all;
}

std::vector<Given> Joined(const ByteBuffer& bytes, size_t* skipped = nullptr) {
  const Opened file(bytes);
  file.reader->JoinRowIntervals();
  std::vector<Given> all = Joined(file.reader.get());
  if (skipped != nullptr) *skipped = file.reader->skipped().size();
  return all;
}

}  // namespace

TEST_CASE("The blocks of a row interval are returned as one, with all its rows") {
  Recorded recorded;
  recorded.Block(3, RowsAre::kDue);
  recorded.Block(4, RowsAre::kOpen);
  recorded.Block(5, RowsAre::kOpen);
  recorded.Block(6, RowsAre::kDue);
  recorded.Block(7, RowsAre::kOpen);
  recorded.Last(8);
  recorded.StartChunk();
  recorded.Block(9, RowsAre::kOpen);
  const EndMarker ending{100, "test"};
  recorded.Last(10, &ending);
  CHECK(Joined(recorded.bytes()) == std::vector<Given>{{1, 3, 1}, {3, 15, 3}, {2, 15, 2}, {2, 19, 2}});

  const Opened file(recorded.bytes());
  std::vector<std::optional<RowInterval>> intervals;
  std::vector<size_t> rows;
  while (const auto block = file.reader->Next()) {
    intervals.push_back(block->row_interval);
    rows.push_back(block->rows.size());
  }
  using One = std::optional<RowInterval>;
  CHECK(intervals == std::vector<One>{One(), RowInterval{1, false}, RowInterval{1, false}, RowInterval{1, true},
                                      RowInterval{4, false}, RowInterval{4, true}, RowInterval{0, false},
                                      RowInterval{0, true}});
  CHECK(rows == std::vector<size_t>{1, 0, 0, 2, 0, 2, 0, 2});
}

TEST_CASE("An interval with a missing block has no rows, and the damage is reported between its blocks") {
  Recorded recorded;
  std::vector<size_t> begins;
  for (uint64_t i = 0; i < 5; ++i) {
    begins.push_back(recorded.size());
    recorded.Block(4, i == 4 ? RowsAre::kDue : RowsAre::kOpen);
  }
  begins.push_back(recorded.size());
  recorded.Last(2);
  // One that is damaged, and one that is cut out.
  for (const size_t lost : {1, 2, 3}) {
    CAPTURE(lost);
    for (const bool is_cut_out : {false, true}) {
      const ByteBuffer left = is_cut_out ? Dropped(recorded.bytes(), begins[lost], begins[lost + 1])
                                         : Flipped(recorded.bytes(), begins[lost] + kBlockHeaderBytes + 9, 0xff);
      MemoryByteSource source(left);
      auto reader = Reader::Open(&source);
      (*reader)->JoinRowIntervals();
      const auto before = (*reader)->Next();
      REQUIRE(before);
      CHECK(Of(*before) == Given{lost, -1, 0});
      CHECK((*reader)->skipped().empty());
      const auto behind = (*reader)->Next();
      REQUIRE(behind);
      CHECK((*reader)->skipped().size() == 1);
      CHECK(Of(*behind) == Given{1, -1, 0});
      for (size_t i = lost + 2; i < 5; ++i) CHECK(Of(*(*reader)->Next()) == Given{1, -1, 0});
      CHECK(Of(*(*reader)->Next()) == Given{1, 2, 1});
      CHECK_FALSE((*reader)->Next());
    }
  }
  // Without its last block, and without the last two.
  size_t skipped = 0;
  CHECK(Joined(Dropped(recorded.bytes(), begins[4], begins[5]), &skipped) == std::vector<Given>{{4, -1, 0}, {1, 2, 1}});
  CHECK(skipped == 1);
}

TEST_CASE("An abandoned chunk leaves its last interval without rows") {
  Recorded recorded;
  recorded.Block(4, RowsAre::kOpen);
  recorded.Block(4, RowsAre::kOpen);
  recorded.StartChunk();
  recorded.Block(5, RowsAre::kOpen);
  recorded.Last(6);
  CHECK(Joined(recorded.bytes()) == std::vector<Given>{{2, -1, 0}, {2, 11, 2}});
}

TEST_CASE("An interval that is open at the end waits for more blocks, or can be read as it is") {
  Recorded recorded;
  recorded.Block(4, RowsAre::kOpen);
  recorded.Block(4, RowsAre::kOpen);
  const size_t two = recorded.size();
  recorded.Block(5, RowsAre::kDue);
  recorded.Block(6, RowsAre::kOpen);
  MemoryByteSource source(Bytes(recorded.bytes()).first(two));
  auto reader = Reader::Open(&source);
  (*reader)->JoinRowIntervals();
  CHECK_FALSE((*reader)->Next());
  REQUIRE((*reader)->open() != nullptr);
  CHECK((*reader)->open()->sequence == 1);
  source.Append(Bytes(recorded.bytes()).subspan(two));
  CHECK(Joined(reader->get()) == std::vector<Given>{{3, 13, 3}});
  CHECK_FALSE((*reader)->Next());
  const auto open = (*reader)->TakeOpen();
  REQUIRE(open);
  CHECK(Of(*open) == Given{1, -1, 0});
  CHECK(open->sequence == 3);
  CHECK((*reader)->open() == nullptr);
  CHECK_FALSE((*reader)->TakeOpen());
}

TEST_CASE("A block with rows of an unfinished interval is damage") {
  ByteBuffer raw;
  const std::vector<Row> rows{{.points = 1, .seen = 16, .bytes = 16, .objects = 1}};
  EncodeRows(Section::kRows, rows, &raw);
  for (const RowInterval& claimed : {RowInterval{0, false}, RowInterval{1, true}}) {
    ByteBuffer block = raw;
    EncodeRowInterval(claimed, &block);
    const FileHeader header = SomeFileHeader();
    ByteBuffer bytes = EncodeFileHeader(header);
    AppendTo(&bytes, ChunkHeader{0, header.recording_id});
    BlockPacker packer(0, HeaderSeed(header.recording_id));
    REQUIRE(packer.Pack(block, {}, &bytes).ok());
    size_t skipped = 0;
    CHECK(Joined(bytes, &skipped).empty());
    CHECK(skipped == 1);
  }
}

TEST_CASE("Rows that a copy marks as lost are also lost in its copy") {
  const FileHeader header = SomeFileHeader();
  ChunkWriter chunk(header, 0);
  ByteBuffer bytes = EncodeFileHeader(header);
  for (const bool are_lost : {true, false}) {
    chunk.Add(Interval{are_lost ? 0U : 1U, 3, 48, 3, 0, 1000});
    if (are_lost) chunk.LoseRows();
    ByteSink(&bytes).Append(*chunk.Flush({}, {}, 1000));
  }
  MemoryByteSource source(bytes);
  auto reader = Reader::Open(&source);
  (*reader)->JoinRowIntervals();
  CHECK((*reader)->Next()->row_interval);
  CHECK_FALSE((*reader)->Next()->row_interval);
}

}  // namespace heaprec::format::testing

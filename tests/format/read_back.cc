#include "tests/format/read_back.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>

#include "format/bytes/layout.h"
#include "format/model/sample.h"

namespace heaprec::format::testing {

Opened::Opened(Bytes bytes) : source(bytes) {
  auto opened = Reader::Open(&source);
  REQUIRE(opened.ok());
  reader = std::move(*opened);
}

std::vector<std::string> ReadResult::why() const {
  std::vector<std::string> reasons;
  for (const SkippedRange& range : skipped) reasons.emplace_back(range.why);
  return reasons;
}

ReadResult Read(Bytes bytes) {
  const Opened file(bytes);
  ReadResult result;
  result.blocks = ReadAll(file.reader.get());
  result.skipped = file.reader->skipped();
  return result;
}

namespace {

// NaN and infinity come back bit by bit.
bool SameWeight(double got, double given) {
  return std::bit_cast<uint64_t>(got) == std::bit_cast<uint64_t>(given) || WeightsAgree(given, got);
}

bool SameNumbers(const Sample& got, const Sample& given) {
  return got.id == given.id && got.time_ns == given.time_ns / kTickNs * kTickNs && got.kind == given.kind &&
         got.size == given.size && got.tlab_size == given.tlab_size && got.window == given.window &&
         SameWeight(got.weight, given.weight);
}

void RequireSame(const std::vector<PlainSample>& read, const std::vector<PlainSample>& given) {
  REQUIRE(read.size() == given.size());
  for (size_t i = 0; i < read.size(); ++i) {
    const PlainSample& got = read[i];
    const PlainSample& want = given[i];
    CAPTURE(i);
    REQUIRE(SameNumbers(got.sample, want.sample));
    REQUIRE(got.thread == want.thread);
    REQUIRE(got.class_name == want.class_name);
    REQUIRE(got.stack == want.stack);
    REQUIRE(got.truncated == want.truncated);
  }
}

bool IsNear(double got, double given, double relative) { return std::abs(got - given) <= relative * std::abs(given); }

// Up to the rounding of the document.
bool SameRow(const Row& got, const Row& given) {
  return got.points == given.points && got.seen == given.seen && IsNear(got.bytes, given.bytes, 0x1p-10) &&
         IsNear(got.objects, given.objects, 0x1p-9) && IsNear(got.bytes_variance, given.bytes_variance, 0.024) &&
         IsNear(got.objects_variance, given.objects_variance, 0.024) &&
         IsNear(got.covariance, given.covariance, 0.024) && IsNear(got.bytes_fourth, given.bytes_fourth, 0.08) &&
         IsNear(got.objects_fourth, given.objects_fourth, 0.08);
}

bool SameRows(const std::vector<Row>& read, const std::vector<Row>& given) {
  return std::ranges::equal(read, given, SameRow);
}

void RequireSameRows(const PlainBlock& read, const PlainBlock& given) {
  REQUIRE(SameRows(read.block.rows, given.block.rows));
  REQUIRE(read.block.row_interval == given.block.row_interval);
  for (size_t i = 0; i < given.rows.size(); ++i) {
    REQUIRE(read.rows[i].class_name == given.rows[i].class_name);
    REQUIRE(read.rows[i].stack == given.rows[i].stack);
    REQUIRE(read.rows[i].truncated == given.rows[i].truncated);
  }
}

}  // namespace

void RequireSame(const PlainBlock& read, const PlainBlock& given) {
  REQUIRE(read.block.chunk == given.block.chunk);
  REQUIRE(read.block.end_ns == given.block.end_ns);
  REQUIRE(read.block.counters == given.block.counters);
  REQUIRE(read.block.lane_positions == given.block.lane_positions);
  REQUIRE(read.block.windows == given.block.windows);
  REQUIRE(read.block.intervals == given.block.intervals);
  REQUIRE(read.block.states == given.block.states);
  REQUIRE(read.block.ending.has_value() == given.block.ending.has_value());
  if (read.block.ending) {
    REQUIRE(read.block.ending->reason == given.block.ending->reason);
    REQUIRE(read.block.ending->time_ns == given.block.ending->time_ns);
  }
  REQUIRE(read.block.lifecycle_events == given.block.lifecycle_events);
  REQUIRE(read.block.census == given.block.census);
  REQUIRE(read.block.census_totals == given.block.census_totals);
  REQUIRE(read.block.census_counters == given.block.census_counters);
  REQUIRE(read.block.census_page == given.block.census_page);
  RequireSameRows(read, given);
  RequireSame(read.samples, given.samples);
  RequireSame(read.live_checkpoint, given.live_checkpoint);
  REQUIRE(read.block.live_checkpoint.size() == given.block.live_checkpoint.size());
  for (size_t i = 0; i < read.block.live_checkpoint.size(); ++i) {
    REQUIRE(read.block.live_checkpoint[i].threshold == given.block.live_checkpoint[i].threshold);
    REQUIRE(read.block.live_checkpoint[i].collections == given.block.live_checkpoint[i].collections);
  }
}

namespace {

// A name that stood in a lost block, or a frame that did.
bool IsLost(const std::string& text) { return text.find(kLost) != std::string::npos || text == ". @-1 :-2"; }

bool SameOrLost(const std::string& got, const std::string& given) { return got == given || IsLost(got); }

// Root first. From the leaf on, frame by frame; what is missing is missing at the root, and said to be.
bool SameStack(const PlainSample& got, const PlainSample& given) {
  if (got.stack.size() > given.stack.size()) return false;
  if (got.stack.size() < given.stack.size() && !got.truncated) return false;
  for (size_t i = 1; i <= got.stack.size(); ++i) {
    if (!SameOrLost(got.stack[got.stack.size() - i], given.stack[given.stack.size() - i])) return false;
  }
  return true;
}

}  // namespace

bool SameButLostNames(const PlainBlock& read, const PlainBlock& given) {
  const bool same =
      read.block.chunk == given.block.chunk && read.block.end_ns == given.block.end_ns &&
      read.block.counters == given.block.counters && read.block.lane_positions == given.block.lane_positions &&
      read.block.windows == given.block.windows && read.block.intervals == given.block.intervals &&
      read.block.ending.has_value() == given.block.ending.has_value() && SameRows(read.block.rows, given.block.rows) &&
      read.block.lifecycle_events == given.block.lifecycle_events && read.samples.size() == given.samples.size();
  for (size_t i = 0; same && i < read.samples.size(); ++i) {
    const PlainSample& got = read.samples[i];
    const PlainSample& want = given.samples[i];
    if (!SameNumbers(got.sample, want.sample) || !SameStack(got, want)) return false;
    if (!SameOrLost(got.thread, want.thread) || !SameOrLost(got.class_name, want.class_name)) return false;
  }
  return same;
}

}  // namespace heaprec::format::testing

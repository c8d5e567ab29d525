#include "tools/analysis/health/roll_up_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "format/reader/chunk_span.h"
#include "tools/input/dictionary_names.h"

namespace heaprec::tools {
namespace {

// Tolerance for sums of rows that were each rounded (docs/format/recording.md#rows), several times the expected error.
constexpr double kRounding = 3e-3, kSpreadRounding = 0.15;

bool Near(double a, double b, double rounding) { return std::abs(a - b) <= rounding * std::abs(b); }

// Whether two variances of a sum, of which `squared` is the square, differ by a standard deviation of less than a
// millionth of it. If weights hardly exceed sizes, variances are rounding errors of floating-point numbers.
bool IsNegligible(double a, double b, double squared) { return std::abs(a - b) <= 1e-12 * squared; }

std::string KeyOf(const format::Row& row, const Names& names) {
  const format::Dictionaries& all = names.dictionaries();
  std::string key = row.class_id < all.classes.size() ? all.classes[row.class_id] : std::string(kUnknown);
  const bool truncated = ForEachFrame(names, row.stack, 0, [&](const format::Frame& frame) {
    const format::Method* const method = names.MethodOf(frame.method);
    if (method != nullptr) key += fmt::format("\n{}.{}{}", method->class_name, method->name, method->descriptor);
    key += fmt::format(":{}:{}", frame.bci, frame.line);
  });
  return truncated ? key + "\n" : key;
}

struct Sums {
  std::map<std::string, format::Row> rows, outside;
  uint64_t intervals = 0, candidates = 0, bytes = 0, buffered = 0, kept = 0;
  format::PerStream<format::StreamCounters> counters;

  void Add(const format::Block& block) {
    Names names;
    names.Enter(block);
    for (const format::Row& row : block.rows) rows[KeyOf(row, names)] += row;
    for (const format::Row& row : block.outside) outside[KeyOf(row, names)] += row;
    for (const format::Interval& interval : block.intervals) {
      ++intervals;
      candidates += interval.candidates;
      bytes += interval.bytes;
      buffered += interval.buffered;
      kept += interval.kept;
    }
    counters = block.counters;
  }

  // Returns nullptr if the sums are equal.
  const char* DifferenceTo(const Sums& other) const {
    if (rows.size() != other.rows.size()) return "other rows";
    for (const auto& [key, row] : rows) {
      const auto found = other.rows.find(key);
      if (found == other.rows.end()) return "other rows";
      const format::Row& same = found->second;
      if (row.points != same.points || row.seen != same.seen) return "a different number of points or bytes";
      if (!Near(row.bytes, same.bytes, kRounding) || !Near(row.objects, same.objects, kRounding))
        return "other weights";
      const double bytes = row.bytes * row.bytes, objects = row.objects * row.objects;
      for (const auto& [sum, squared] : {std::pair(&format::Row::bytes_variance, bytes),
                                         {&format::Row::objects_variance, objects},
                                         {&format::Row::covariance, row.bytes * row.objects},
                                         {&format::Row::bytes_fourth, 1e-12 * bytes * bytes},
                                         {&format::Row::objects_fourth, 1e-12 * objects * objects}}) {
        if (!Near(row.*sum, same.*sum, kSpreadRounding) && !IsNegligible(row.*sum, same.*sum, squared))
          return "other variances";
      }
    }
    const auto is_same = [](const auto& a, const auto& b) {
      return a.first == b.first && a.second.points == b.second.points && a.second.seen == b.second.seen;
    };
    if (!std::ranges::equal(outside, other.outside, is_same)) return "different counts outside of TLABs";
    if (std::tie(intervals, candidates, bytes, buffered, kept) !=
        std::tie(other.intervals, other.candidates, other.bytes, other.buffered, other.kept))
      return "other intervals";
    for (const format::Stream stream : format::kAllStreams) {
      if (!(counters[stream] == other.counters[stream])) return "other counters";
    }
    return nullptr;
  }
};

}  // namespace

void CheckRollUps(const Recording& recording, const std::function<void(uint64_t offset, std::string what)>& find) {
  const auto again = recording.Again();
  if (!again.ok()) return;
  format::ByteSource& bytes = (*again)->bytes();
  const format::FileHeader& header = recording.header();
  for (uint64_t begin = (*again)->bytes_read();;) {
    const auto chunk = format::FindChunk(&bytes, header, begin, UINT64_MAX);
    if (!chunk) return;
    begin = chunk->next;
    if (chunk->roll_up == 0) continue;
    Sums blocks, roll_up;
    const auto reader = format::ReadFrom(&bytes, header, chunk->begin);
    while (reader->position() < chunk->end) {
      const auto block = reader->Next();
      if (!block || !reader->skipped().empty()) return;
      blocks.Add(*block);
    }
    format::ChunkDecoder decoder;
    const auto block = format::ReadRollUp(&bytes, header, *chunk, &decoder);
    if (block) roll_up.Add(*block);
    const char* const difference = block ? roll_up.DifferenceTo(blocks) : "it cannot be decoded";
    if (difference != nullptr) {
      find(chunk->roll_up, fmt::format("roll-up of chunk {} against its blocks: {}", chunk->sequence, difference));
    }
  }
}

}  // namespace heaprec::tools

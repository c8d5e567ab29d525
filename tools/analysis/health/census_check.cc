#include "tools/analysis/health/census_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace heaprec::tools {
namespace {

using format::CensusRow;
using format::kNone;

// Sums of the same numbers in another order.
bool Near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max({std::abs(a), std::abs(b), 1.0}); }

struct Sums {
  format::CensusSum objects, bytes;
};

Sums SumOf(std::span<const CensusRow> rows) {
  Sums sums;
  for (const CensusRow& row : rows) {
    sums.objects += row.objects;
    sums.bytes += row.bytes;
  }
  return sums;
}

}  // namespace

void CensusCheck::Look(const format::Block& block, const Find& find) {
  const Sums rows = SumOf(block.census), totals = SumOf(block.census_totals);
  if (rows.objects.counted != totals.objects.counted || rows.bytes.counted != totals.bytes.counted) {
    find(fmt::format("census: {} objects with {} bytes by class, but {} with {} in total", rows.objects.counted,
                     rows.bytes.counted, totals.objects.counted, totals.bytes.counted));
  }
  if (!Near(rows.objects.estimate(), totals.objects.estimate()) ||
      !Near(rows.bytes.estimate(), totals.bytes.estimate())) {
    find("census: the classes do not add up to the total");
  }
  const auto is_exact = [](const CensusRow& row) {
    return row.objects.weight_excess == 0 && row.bytes.weight_excess == 0;
  };
  if (header_.census == format::CensusMode::kAll && !std::ranges::all_of(block.census_totals, is_exact)) {
    find("census: weights, although every TLAB was walked");
  }
  for (const CensusRow& row : block.census_totals) {
    walks_ += row.walks;
    bytes_ += row.bytes.counted;
  }
  if (block.census_counters == format::CensusCounters{}) return;
  for (const auto counter : format::kCensusCounterFields) {
    if (block.census_counters.*counter >= counters_.*counter) continue;
    find("census: a recorder counter decreased");
    break;
  }
  counters_ = block.census_counters;
}

void CensusCheck::Close(const format::CensusCounters& counters, bool is_whole, const Find& find) const {
  if (!is_whole || header_.census == format::CensusMode::kOff) return;
  if (bytes_ + counters.lost_bytes != counters.walked_bytes) {
    find(fmt::format("census: {} bytes walked, but {} recorded and {} lost", counters.walked_bytes, bytes_,
                     counters.lost_bytes));
  }
  if (header_.census != format::CensusMode::kAll) return;
  const uint64_t candidates = counters.tlab_bytes + counters.outside_bytes;
  if (candidates != counters.walked_bytes + counters.broken_bytes) {
    find(fmt::format("census: {} bytes due, but {} walked and {} not walked", candidates, counters.walked_bytes,
                     counters.broken_bytes));
  }
}

}  // namespace heaprec::tools

#include "format/ring/census_pages.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

namespace heaprec::format {
namespace {

constexpr uint64_t kMaxSecond = UINT64_MAX / kCensusSlotNs;

std::optional<CensusSum> SumOf(const RingCensusSum& sum) {
  const CensusSum read{sum.counted.load(std::memory_order_relaxed), sum.weight_excess.load(std::memory_order_relaxed),
                       sum.variance.load(std::memory_order_relaxed), sum.covariance.load(std::memory_order_relaxed)};
  for (const double value : {read.weight_excess, read.variance, read.covariance}) {
    if (!std::isfinite(value) || value < 0) return std::nullopt;
  }
  return read;
}

}  // namespace

std::vector<KeyedCensusRow> CensusRowsOf(const RingCensusPage& page) {
  std::vector<KeyedCensusRow> rows;
  for (const RingCensusRow& from : page.rows) {
    if (from.tag.load(std::memory_order_relaxed) == 0 || from.second > kMaxSecond) continue;
    const std::optional<CensusSum> objects = SumOf(from.objects), bytes = SumOf(from.bytes);
    if (!objects || !bytes) continue;
    KeyedCensusRow& keyed = rows.emplace_back();
    keyed.thread_key = from.thread_key;
    keyed.is_total = from.class_key == kAllClasses;
    keyed.class_key = keyed.is_total ? 0 : from.class_key;
    keyed.row.time_ns = from.second * kCensusSlotNs;
    keyed.row.walks = from.walks.load(std::memory_order_relaxed);
    keyed.row.objects = *objects;
    keyed.row.bytes = *bytes;
  }
  std::ranges::sort(rows, {}, [](const KeyedCensusRow& keyed) {
    return std::tuple(keyed.row.time_ns, keyed.thread_key, keyed.class_key);
  });
  return rows;
}

}  // namespace heaprec::format

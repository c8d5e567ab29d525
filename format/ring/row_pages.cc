#include "format/ring/row_pages.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace heaprec::format {
namespace {

bool IsPossible(const Row& row, size_t classes, size_t stacks) {
  const auto is_known = [](Index index, size_t count) { return index == kNone || index < count; };
  const auto is_sum = [](double sum, double least = 0) { return std::isfinite(sum) && sum >= least; };
  return is_known(row.class_id, classes) && is_known(row.stack, stacks) && row.points > 0 && row.seen >= row.points &&
         is_sum(row.bytes, static_cast<double>(row.seen)) && is_sum(row.objects, static_cast<double>(row.points)) &&
         is_sum(row.bytes_variance) && is_sum(row.objects_variance) && is_sum(row.covariance) &&
         is_sum(row.bytes_fourth) && is_sum(row.objects_fourth);
}

std::pair<Index, Index> PlaceOf(const Row& row) { return {row.stack + 1, row.class_id + 1}; }

// Returns the rows in the order of a block.
std::vector<Row> RowsOf(std::span<const Row> entries, size_t classes, size_t stacks) {
  std::vector<Row> rows;
  std::ranges::copy_if(entries, std::back_inserter(rows),
                       [&](const Row& row) { return IsPossible(row, classes, stacks); });
  std::ranges::sort(rows, {}, PlaceOf);
  const auto [same, end] = std::ranges::unique(rows, {}, PlaceOf);
  rows.erase(same, end);
  return rows;
}

}  // namespace

void FillRowPage(uint64_t block, std::span<const Row> rows, std::span<const Row> outside, RingRowPage* page) {
  page->block.store(0, std::memory_order_relaxed);
  // A salvager that sees any later write also sees that the page is invalid.
  std::atomic_thread_fence(std::memory_order_release);
  page->rows = static_cast<uint32_t>(rows.size());
  page->outside = static_cast<uint32_t>(outside.size());
  std::ranges::copy(outside, std::ranges::copy(rows, page->entries.begin()).out);
  page->block.store(block, std::memory_order_release);
}

std::optional<RingRows> RowsBehind(const RingRowPages& pages, uint64_t block, size_t classes, size_t stacks) {
  for (const RingRowPage& page : pages) {
    if (page.block.load(std::memory_order_acquire) != block) continue;
    const size_t rows = page.rows, outside = page.outside;
    if (rows + outside > kRingRows) continue;
    const std::span<const Row> entries(page.entries);
    return RingRows{RowsOf(entries.first(rows), classes, stacks),
                    RowsOf(entries.subspan(rows, outside), classes, stacks)};
  }
  return std::nullopt;
}

}  // namespace heaprec::format

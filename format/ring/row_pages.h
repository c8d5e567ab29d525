// The rows of an open row interval, in the shared ring. Their points have left the lanes because their block is
// written; the rows themselves are not in the file yet.
//
// Two pages take turns. Before the drain writes a block that leaves its rows to a later one, it copies all rows of the
// interval so far, including those of the block, to the page that the last block in the file does not need. So whenever
// the process dies, the page with the number of the file's last block has exactly the rows that the file lacks.
//
// field                   drain                                  salvager
//   RingRowPage.block     0, other fields, then the number       acquire; 0 or another number: not this page
//
// Context:  FillRowPage: drain. RowsBehind: a salvager (it allocates).
// Format:   docs/format/ring.md#rows
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "format/model/row.h"

namespace heaprec::format {

// A program with 2,000 allocation sites has this many rows in ten seconds.
inline constexpr size_t kRingRows = 8192;

// Indices refer to the dictionaries of the chunk, as in the file.
struct RingRowPage {
  std::atomic<uint64_t> block;  // (chunk's sequence number << 32) | (block's + 1); 0: invalid
  uint32_t rows, outside;       // numbers of entries; those of objects outside of TLABs follow the rows
  std::array<Row, kRingRows> entries;
};
static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row) == 80 && offsetof(Row, points) == 8);
static_assert(offsetof(Row, bytes) == 24 && offsetof(Row, bytes_fourth) == 64 && offsetof(Row, objects_fourth) == 72);
static_assert(offsetof(RingRowPage, entries) == 16 && sizeof(RingRowPage) == 16 + 80 * kRingRows);

using RingRowPages = std::array<RingRowPage, 2>;

constexpr uint64_t RowPageOf(uint32_t chunk, uint32_t block) { return uint64_t{chunk} << 32 | (uint64_t{block} + 1); }

// Precondition: all entries fit into a page.
void FillRowPage(uint64_t block, std::span<const Row> rows, std::span<const Row> outside, RingRowPage* page);

struct RingRows {
  std::vector<Row> rows, outside;  // as in a block
};
// Returns nullopt if no page belongs to this block. Skips invalid rows: the ring of a dead process may contain
// anything. `classes`, `stacks`: sizes of the chunk's dictionaries.
std::optional<RingRows> RowsBehind(const RingRowPages& pages, uint64_t block, size_t classes, size_t stacks);

}  // namespace heaprec::format

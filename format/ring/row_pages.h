// The rows of an open row interval, in the shared ring: those of points that have left the lanes because their block is
// written, and that are not in the file yet.
//
// Two pages take turns. Before the drain writes a block that leaves its rows to a later one, it copies all rows of the
// interval so far, the block's included, to the page that the last block in the file does not need. So whenever the
// process dies, the page with the number of the file's last block has exactly the rows that the file lacks.
//
// who writes what         drain                                  salvager
//   RingRowPage.block     0, then the rest, then the number      acquire: 0 or another number: not this page
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

// A program of 2,000 sites has as many in ten seconds.
inline constexpr size_t kRingRows = 8192;

// Indices are those of the chunk's dictionaries, as in the file.
struct RingRowPage {
  std::atomic<uint64_t> block;  // sequence numbers of the chunk and, in the low half, of the block + 1; 0: invalid
  uint32_t rows, outside;       // behind the rows: what was counted outside of TLABs
  std::array<Row, kRingRows> entries;
};
static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row) == 80 && offsetof(Row, points) == 8);
static_assert(offsetof(Row, bytes) == 24 && offsetof(Row, bytes_fourth) == 64 && offsetof(Row, objects_fourth) == 72);
static_assert(offsetof(RingRowPage, entries) == 16 && sizeof(RingRowPage) == 16 + 80 * kRingRows);

using RingRowPages = std::array<RingRowPage, 2>;

constexpr uint64_t RowPageOf(uint32_t chunk, uint32_t block) { return uint64_t{chunk} << 32 | (uint64_t{block} + 1); }

// Precondition: both fit into a page.
void FillRowPage(uint64_t block, std::span<const Row> rows, std::span<const Row> outside, RingRowPage* page);

struct RingRows {
  std::vector<Row> rows, outside;  // as in a block
};
// nullopt: no page is of this block. Rows that cannot be true are left out: the ring of a process that died may hold
// anything. `classes`, `stacks`: how many the chunk has.
std::optional<RingRows> RowsBehind(const RingRowPages& pages, uint64_t block, size_t classes, size_t stacks);

}  // namespace heaprec::format

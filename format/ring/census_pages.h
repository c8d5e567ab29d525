// Results of census walks in the shared ring: sums by second, thread and class.
//
// Two pages take turns. Threads add to the active one. The drain makes the other one active, waits until no thread uses
// the first, writes its rows to the file, and then clears it. Pages are numbered, and a block says up to which page the
// file has the rows, so after a kill a reader takes the rest from the ring.
//
// A page is never full. When few rows are free, new rows combine all threads; when none is free, the last row combines
// all classes, too.
//
// field                        thread                          drain
//   RingCensusPages.active     acquire                         store
//   RingCensusPage.users       + 1, then active again, - 1     waits for 0
//   rows, names                  between these                   when users is 0
//
// Context:  CensusRowsOf: drain, and a salvager (it allocates).
// Format:   docs/format/ring.md#census
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/model/census.h"

namespace heaprec::format {

// The fields of CensusSum as atomics.
struct RingCensusSum {
  std::atomic<uint64_t> counted;
  std::atomic<double> weight_excess, variance, covariance;
};

struct RingCensusRow {
  std::atomic<uint64_t> tag;  // a hash of the next three; 0: the row is free
  uint64_t second, thread_key, class_key;
  std::atomic<uint64_t> walks;
  RingCensusSum objects, bytes;
};
static_assert(sizeof(RingCensusRow) == 104);

// The class key of a row of all classes together, a total.
inline constexpr uint64_t kAllClasses = UINT64_MAX;
inline constexpr uint32_t kCensusRows = 1 << 14;  // open addressing
inline constexpr uint32_t kCensusNameBytes = 1 << 19;

struct RingCensusPage {
  std::atomic<uint64_t> number;  // from 1
  std::atomic<uint32_t> users, rows_used, names_used;
  uint32_t reserved;
  // After the rows found by tag: one row for everything without a row, and its total.
  std::array<RingCensusRow, kCensusRows + 2> rows;
  std::array<std::byte, kCensusNameBytes> names;  // records of classes and threads, as in lanes (ring_records.h)
};

struct RingCensusPages {
  std::atomic<uint64_t> active;  // number of the active page
  std::array<RingCensusPage, 2> pages;

  RingCensusPage& Page(uint64_t number) { return pages[number % 2]; }
  const RingCensusPage& Page(uint64_t number) const { return pages[number % 2]; }
};

// A key of 0 is unknown.
struct KeyedCensusRow {
  uint64_t thread_key = 0, class_key = 0;
  bool is_total = false;
  CensusRow row;  // without names
};

// Returns rows in order of time. Skips invalid rows: the ring of a dead process may contain anything.
std::vector<KeyedCensusRow> CensusRowsOf(const RingCensusPage& page);

}  // namespace heaprec::format

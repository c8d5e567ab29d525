// The rows of a slice, as blocks for INSERTs.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tools/fleet/rows/slices.h"
#include "tools/fleet/server/native_block.h"

namespace heaprec::tools::fleet {

// Rows have the time of their slice; `seen` is the time of the last use of the names.
NativeBlock NamesBlock(const std::vector<NamedId>& names, uint32_t seen);
NativeBlock StacksBlock(const std::vector<FleetStack>& stacks, uint32_t seen);
NativeBlock TotalsBlock(uint64_t recording, const Slice& slice);
NativeBlock SumsBlock(uint64_t recording, const Slice& slice);
NativeBlock HoursBlock(uint64_t recording, uint32_t hour, const std::map<RowKey, Sums>& rows);
NativeBlock SamplesBlock(uint64_t recording, const Slice& slice);
NativeBlock LiveBlock(const RecordingInfo& info, const Slice& slice);
NativeBlock RecordingBlock(const RecordingInfo& info);

enum class BatchKind : uint8_t { kSlice = 1, kHour = 2 };
struct LedgerRow {
  uint64_t recording = 0;
  uint32_t time = 0;
  BatchKind kind = BatchKind::kSlice;
  uint64_t totals = 0, sums = 0, samples = 0;  // numbers of rows
  uint32_t at = 0;
};
NativeBlock LedgerBlock(const LedgerRow& row);

}  // namespace heaprec::tools::fleet

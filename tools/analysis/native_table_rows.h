// Rows of a table of native memory: its places, put together by what they are called, and how far they differ from
// those of an older table.
//
// Threads:  one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/input/native_table_file.h"

namespace heaprec::tools {

enum class TableBy : uint8_t { kSite, kFunction, kLibrary };
// Of "site", "function" or "library".
TableBy TableByOf(std::string_view word);

struct TableRow {
  std::string identity;  // the same in tables of other processes
  std::string name;
  std::vector<std::string> callers;  // of a site
  NativeSums sums;
  NativeSums before;  // in the older table

  int64_t Growth() const { return static_cast<int64_t>(sums.LiveBytes() - before.LiveBytes()); }
  int64_t BlockGrowth() const { return static_cast<int64_t>(sums.LiveBlocks() - before.LiveBlocks()); }
};

// The largest first, by what lives or by what was allocated.
std::vector<TableRow> TableRowsOf(const NativeTableFile& table, TableBy by, bool by_live);
// By how much more is alive than in `before`; what is gone comes last.
void CompareRows(const std::vector<TableRow>& before, std::vector<TableRow>* rows);

// The site of the first block that was found written past its end.
std::string OverrunOf(const NativeTableFile& table);

}  // namespace heaprec::tools

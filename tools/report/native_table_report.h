// What `native` shows of a table of exact sums, as text and JSON.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analysis/native_table_rows.h"

namespace heaprec::tools {

struct TableReport {
  const NativeTableFile& table;
  const std::vector<TableRow>& rows;
  const char* by;         // what a row is called
  bool compared = false;  // with an older table
  size_t limit = 0;       // rows; 0: all
  size_t callers = 0;     // below a site, in the text
};

std::string TableText(const TableReport& report);
std::string TableJson(const TableReport& report);

}  // namespace heaprec::tools

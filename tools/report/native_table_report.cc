#include "tools/report/native_table_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/text/table.h"
#include "tools/text/terminal.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

std::string Size(uint64_t bytes) { return Bytes(static_cast<double>(bytes)); }
std::string Signed(int64_t bytes) { return (bytes < 0 ? "-" : "+") + Bytes(std::abs(static_cast<double>(bytes))); }
std::string SignedCount(int64_t count) {
  return (count < 0 ? "-" : "+") + Grouped(static_cast<uint64_t>(std::abs(count)));
}

NativeSums TotalOf(const NativeTableFile& table) {
  NativeSums total;
  for (const NativePlace& place : table.places) total += place.sums;
  return total;
}

json AsJson(const NativeSums& sums) {
  return {{"live_bytes", sums.LiveBytes()},          {"live_blocks", sums.LiveBlocks()},
          {"allocated_bytes", sums.allocated_bytes}, {"allocated_blocks", sums.allocated_blocks},
          {"freed_bytes", sums.freed_bytes},         {"freed_blocks", sums.freed_blocks}};
}

json AsJson(const TableRow& row, bool compared) {
  json object = AsJson(row.sums);
  object["name"] = row.name;
  if (compared) object["growth_bytes"] = row.Growth();
  if (compared) object["growth_blocks"] = row.BlockGrowth();
  if (!row.callers.empty()) object["callers"] = row.callers;
  return object;
}

void AppendHeadline(const NativeTableFile& table, Text* into) {
  const NativeSums total = TotalOf(table);
  Append(*into, fmt::format("{} live in {} blocks, of {} allocated in {}; process {}, ", Size(total.LiveBytes()),
                            Grouped(total.LiveBlocks()), Size(total.allocated_bytes), Grouped(total.allocated_blocks),
                            table.pid));
  AppendPrintable(*into, ToUtf8(table.program));
  Append(*into, table.has_ended ? ", when it ended\n\n" : ", which runs or was killed\n\n");
}

std::vector<Column> ColumnsOf(bool compared) {
  if (compared) return {{"growth"}, {"blocks", 5}, {"live", 8}, {"blocks", 4}};
  return {{"live"}, {"blocks", 5}, {"allocated", 8}, {"blocks", 4}};
}

std::vector<Cell> CellsOf(const TableRow& row, bool compared) {
  const Cell live{Size(row.sums.LiveBytes()), ""}, blocks{Grouped(row.sums.LiveBlocks()), ""};
  if (compared) return {{Signed(row.Growth()), ""}, {SignedCount(row.BlockGrowth()), ""}, live, blocks};
  return {live, blocks, {Size(row.sums.allocated_bytes), ""}, {Grouped(row.sums.allocated_blocks), ""}};
}

size_t CountOf(const TableReport& report) {
  return report.limit > 0 ? std::min(report.limit, report.rows.size()) : report.rows.size();
}

void AppendRows(const TableReport& report, const Terminal& terminal, Text* into) {
  Table shown(ColumnsOf(report.compared), report.by);
  const size_t count = CountOf(report);
  for (size_t i = 0; i < count; ++i) {
    const TableRow& row = report.rows[i];
    std::vector<std::string> below = row.callers;
    if (below.size() > report.callers) below.resize(report.callers);
    for (std::string& line : below) line = "  " + line;
    shown.Add(CellsOf(row, report.compared), row.name, "", std::move(below));
  }
  shown.AppendTo(terminal, into);
  if (count == report.rows.size()) return;
  const std::string rest = fmt::format("... {} more; --limit 0 shows all", Grouped(report.rows.size() - count));
  Append(*into, terminal.Dim(rest) + "\n");
}

void AppendOverruns(const NativeTableFile& table, Text* into) {
  if (table.overruns == 0) {
    if (table.checks) Append(*into, "\nno block was found that was written past its end\n");
    return;
  }
  Append(*into, fmt::format("\n{} blocks were written past their end, the first one of ", Grouped(table.overruns)));
  AppendPrintable(*into, OverrunOf(table));
  into->push_back('\n');
}

}  // namespace

std::string TableText(const TableReport& report) {
  const NativeTableFile& table = report.table;
  Text text;
  AppendHeadline(table, &text);
  AppendRows(report, Terminal::Of(STDOUT_FILENO), &text);
  AppendOverruns(table, &text);
  Append(text, fmt::format("\n# exact; not counted: {} blocks ({}) from before the start, {} calls for want of "
                           "memory; {} frees of others' blocks\n",
                           Grouped(table.early_blocks), Size(table.early_bytes), Grouped(table.without_chunk),
                           Grouped(table.foreign_frees)));
  return fmt::to_string(text);
}

std::string TableJson(const TableReport& report) {
  const NativeTableFile& table = report.table;
  json document = {{"schema", "heaprec.native/1"},
                   {"program", ToUtf8(table.program)},
                   {"pid", table.pid},
                   {"ended", table.has_ended},
                   {"start_ns", table.start_epoch_ns},
                   {"depth", table.depth},
                   {"exact", true},
                   {"sites", table.sites},
                   {"total", AsJson(TotalOf(table))},
                   {"before_start", {{"blocks", table.early_blocks}, {"bytes", table.early_bytes}}},
                   {"foreign_frees", table.foreign_frees},
                   {"calls_not_counted", table.without_chunk},
                   {"by", report.by},
                   {"rows", json::array()}};
  if (table.checks) document["overruns"] = table.overruns;
  if (table.overruns > 0) document["first_overrun"] = OverrunOf(table);
  for (size_t i = 0; i < CountOf(report); ++i) {
    document["rows"].push_back(AsJson(report.rows[i], report.compared));
  }
  return document.dump(2) + "\n";
}

}  // namespace heaprec::tools

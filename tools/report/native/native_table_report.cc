#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "tools/report/native/reports.h"
#include "tools/text/text.h"

namespace heaprec::tools {

using namespace render;

namespace {

NativeSums TotalOf(const NativeTableFile& table) {
  NativeSums total;
  for (const NativePlace& place : table.places) total += place.sums;
  return total;
}

// Returns unknown for live bytes and growth if calls were not counted: only a block's malloc or only its free
// may have been counted.
template <typename Get>
std::function<Value(const TableRow&)> IfCounted(uint64_t uncounted, Get get) {
  return [uncounted, get](const TableRow& row) { return uncounted == 0 ? Value(std::invoke(get, row)) : Value(); };
}

std::vector<Column<TableRow>> TableColumns(const TableAnswer& answer) {
  std::vector<Column<TableRow>> columns;
  if (answer.compared) {
    columns.push_back(
        {"growth_bytes", "growth", Unit::kByteChange, Detail::kAlways, IfCounted(answer.uncounted, &TableRow::Growth)});
    columns.push_back({"growth_blocks", "blocks", Unit::kCountChange, Detail::kWide,
                       IfCounted(answer.uncounted, &TableRow::BlockGrowth)});
  }
  const uint64_t uncounted = answer.table.without_shard;
  const std::string allocated = answer.compared ? "" : "allocated", blocks = answer.compared ? "" : "blocks allocated";
  columns.push_back({"live_bytes", "live", Unit::kBytes, Detail::kAlways,
                     IfCounted(uncounted, [](const TableRow& row) { return row.sums.LiveBytes(); })});
  columns.push_back({"live_blocks", "live blocks", Unit::kInteger, Detail::kWide,
                     IfCounted(uncounted, [](const TableRow& row) { return row.sums.LiveBlocks(); })});
  const auto sum = [](auto NativeSums::*of) { return PartOf(&TableRow::sums, of); };
  columns.push_back({"allocated_bytes", allocated, Unit::kBytes, Detail::kAlways, sum(&NativeSums::allocated_bytes)});
  columns.push_back({"allocated_blocks", blocks, Unit::kInteger, Detail::kWide, sum(&NativeSums::allocated_blocks)});
  columns.push_back({"freed_bytes", "", Unit::kBytes, Detail::kJsonOnly, sum(&NativeSums::freed_bytes)});
  columns.push_back({"freed_blocks", "", Unit::kInteger, Detail::kJsonOnly, sum(&NativeSums::freed_blocks)});
  columns.push_back({"callers", "", Unit::kText, Detail::kJsonOnly, &TableRow::callers});
  columns.push_back({"name", answer.by, Unit::kText, Detail::kAlways, &TableRow::name});
  return columns;
}

int64_t SizeOf(const TableRow& row, const TableAnswer& answer) {
  if (answer.compared) return row.Growth();
  return static_cast<int64_t>(answer.by_live ? row.sums.LiveBytes() : row.sums.allocated_bytes);
}

std::vector<std::string> ShownFrames(const TableRow& row, const TableAnswer& answer) {
  std::vector<std::string> frames{row.name};
  const size_t shown = std::min(answer.callers, row.callers.size());
  frames.insert(frames.end(), row.callers.begin(), row.callers.begin() + static_cast<ptrdiff_t>(shown));
  return frames;
}

// A table may distinguish sites by more frames than are shown: sites that look equal are one row, with their common
// callers.
std::vector<TableRow> ShownRows(const TableAnswer& answer) {
  std::vector<TableRow> rows;
  std::map<std::vector<std::string>, size_t> known;
  for (const TableRow& row : answer.rows) {
    const auto [found, is_new] = known.emplace(ShownFrames(row, answer), rows.size());
    if (is_new) {
      rows.push_back(row);
      continue;
    }
    TableRow& all = rows[found->second];
    all.sums += row.sums;
    all.before += row.before;
    all.callers.erase(std::ranges::mismatch(all.callers, row.callers).in1, all.callers.end());
  }
  std::ranges::stable_sort(rows, std::greater<>(), [&](const TableRow& row) { return SizeOf(row, answer); });
  return rows;
}

Line Headline(const NativeTableFile& table) {
  const NativeSums total = TotalOf(table);
  std::vector<Field> fields{{"total.allocated_bytes", total.allocated_bytes, Unit::kBytes},
                            {"total.allocated_blocks", total.allocated_blocks, Unit::kInteger},
                            {"pid", table.pid},
                            {"program", ToUtf8(table.program)},
                            {"total.freed_bytes", total.freed_bytes, Unit::kBytes},
                            {"total.freed_blocks", total.freed_blocks, Unit::kInteger}};
  std::string text = "at least {} allocated in {} block(s); process {}, {}, ";
  if (table.without_shard == 0) {
    text = "{} live in {} block(s), of {} allocated in {}; process {}, {}, ";
    fields.insert(fields.begin(), {{"total.live_bytes", total.LiveBytes(), Unit::kBytes},
                                   {"total.live_blocks", total.LiveBlocks(), Unit::kInteger}});
  } else {
    fields.insert(fields.end(), {{"total.live_bytes", Value(), Unit::kBytes}, {"total.live_blocks", Value()}});
  }
  return Sentence(text + (table.has_ended ? "when it ended" : "which runs or was killed"), std::move(fields));
}

void AddOverruns(const NativeTableFile& table, Report* report) {
  const Field overruns{"overruns", table.overruns, Unit::kInteger};
  if (table.overruns > 0) {
    report->Add(Sentence("{} block(s) were written past their end, the first one allocated by {}",
                         {overruns, {"first_overrun", OverrunOf(table)}}));
  } else if (table.checks) {
    report->Add(Sentence("no block was written past its end", {overruns}));
  }
}

}  // namespace

Report NativeTableReport(const TableAnswer& answer) {
  const NativeTableFile& table = answer.table;
  std::vector<TableRow> rows = ShownRows(answer);
  const uint64_t count = rows.size();
  if (answer.limit > 0 && count > answer.limit) rows.resize(answer.limit);
  Report report("heaprec.native/1");
  report.Add(Headline(table));
  report.Add(Hidden({{"ended", table.has_ended},
                     {"start_ns", table.start_epoch_ns, Unit::kEpochNs},
                     {"depth", table.depth},
                     {"exact", answer.uncounted == 0},
                     {"sites", table.sites},
                     {"by", answer.by},
                     {"count", count, Unit::kInteger}}));
  Table shown_table = MakeTable("rows", TableColumns(answer), rows, count);
  for (size_t i = 0; i < rows.size(); ++i) {
    shown_table.rows[i].below = rows[i].callers;
    if (shown_table.rows[i].below.size() > answer.callers) shown_table.rows[i].below.resize(answer.callers);
  }
  report.Add(std::move(shown_table));
  AddOverruns(table, &report);
  report.Add(Sentence(kRequested));
  if (answer.uncounted > 0) {
    report.Add(
        Sentence("# trustworthy: no, because there was no memory to count {} call(s): live bytes are unknown, and "
                 "other sums are lower limits",
                 {{"", answer.uncounted, Unit::kInteger}}));
  }
  report.Add(Sentence(std::string(answer.uncounted == 0 ? "# exact; " : "# ") +
                          "not counted: {} block(s) ({}) allocated before the start, {} call(s) (out of memory), {} "
                          "frees of blocks that other allocators made",
                      {{"before_start.blocks", table.early_blocks, Unit::kInteger},
                       {"before_start.bytes", table.early_bytes, Unit::kBytes},
                       {"calls_not_counted", table.without_shard, Unit::kInteger},
                       {"foreign_frees", table.foreign_frees, Unit::kInteger}}));
  return report;
}

}  // namespace heaprec::tools

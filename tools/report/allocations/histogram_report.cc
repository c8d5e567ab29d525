#include "tools/report/allocations/histogram_report.h"

#include <algorithm>
#include <optional>

#include "tools/report/columns/group_columns.h"
#include "tools/report/columns/selection.h"

namespace heaprec::tools {

using namespace render;

namespace {

struct SizeRow {
  std::string name;
  std::optional<uint64_t> from, below;  // bytes
  GroupRow group;
  double bytes_bar = 0, objects_bar = 0;  // against the largest
};

// Smallest size of a class, in bytes.
uint64_t MinSizeOf(GroupTable::Key bits) { return uint64_t{1} << (bits - 1); }

// No object of a class is smaller than its smallest size. Without samples that bounds their number better than the mean
// size of all objects does.
GroupEstimates EstimatesOf(const GroupTable& sizes, GroupTable::Key bits) {
  GroupEstimates estimates = sizes.Of(bits);
  if (estimates.samples == 0 && estimates.bytes.value == 0)
    estimates.objects = Scaled(estimates.bytes, 1 / static_cast<double>(MinSizeOf(bits)));
  return estimates;
}

// Those of unknown size, then from the smallest size to the largest, those between that have no samples too.
std::vector<GroupTable::Row> InOrder(const GroupTable& sizes) {
  uint32_t first = UINT32_MAX, last = 0;
  std::vector<GroupTable::Row> rows;
  for (const GroupTable::Row& row : sizes.Rows()) {
    if (row.key == 0) {
      rows.push_back(row);
      continue;
    }
    first = std::min(first, row.key);
    last = std::max(last, row.key);
  }
  for (uint32_t bits = first; bits <= last && first != UINT32_MAX; ++bits)
    rows.push_back({bits, EstimatesOf(sizes, bits)});
  return rows;
}

std::vector<SizeRow> RowsOf(const GroupTable& sizes, double seconds) {
  std::vector<SizeRow> rows;
  double most_bytes = 0, most_objects = 0;
  for (const GroupTable::Row& of : InOrder(sizes)) {
    SizeRow row{.name = SizeClassName(of.key), .from = {}, .below = {}, .group = {}};
    row.group.own = of.estimates;
    row.group.seconds = seconds;
    if (of.key > 0) row.from = MinSizeOf(of.key);
    if (of.key > 0 && of.key < 64) row.below = uint64_t{1} << of.key;
    row.bytes_bar = of.estimates.bytes.value;
    row.objects_bar = OrUnbounded(of.estimates.objects).value;
    most_bytes = std::max(most_bytes, row.bytes_bar);
    most_objects = std::max(most_objects, row.objects_bar);
    rows.push_back(std::move(row));
  }
  for (SizeRow& row : rows) {
    row.bytes_bar /= most_bytes > 0 ? most_bytes : 1;
    row.objects_bar /= most_objects > 0 ? most_objects : 1;
  }
  return rows;
}

std::vector<Column<SizeRow>> Columns(const GroupWords& words) {
  std::vector<Column<SizeRow>> columns;
  for (const Column<GroupRow>& of : GroupColumns(words)) {
    if (of.name == "name") continue;
    const bool is_of_row = of.name == "mean_size";  // a row's size says it
    columns.push_back({of.name, is_of_row ? "" : of.heading, of.unit, of.detail,
                       [get = of.get](const SizeRow& row) { return get(row.group); }, of.interval});
  }
  columns.push_back({"from", "", Unit::kBytes, Detail::kJsonOnly, &SizeRow::from});
  columns.push_back({"below", "", Unit::kBytes, Detail::kJsonOnly, &SizeRow::below});
  columns.push_back({"", "size", Unit::kText, Detail::kTextOnly, &SizeRow::name});
  columns.push_back({"", "bytes", Unit::kBar, Detail::kTextOnly, &SizeRow::bytes_bar});
  columns.push_back({"", words.things, Unit::kBar, Detail::kTextOnly, &SizeRow::objects_bar});
  return columns;
}

}  // namespace

Report HistogramReport(const RecordingScan& scan, const Groups& sizes) {
  Report report("heaprec.histogram/1");
  report.Add(HeadlineOf(scan));
  report.Add(MakeTable("classes", Columns(WordsOf(scan)), RowsOf(sizes.own(), scan.scanned().seconds)));
  report.Add(FooterOf(scan, "size"));
  return report;
}

}  // namespace heaprec::tools

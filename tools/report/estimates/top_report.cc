#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tools/report/columns/group_columns.h"
#include "tools/report/columns/source_lines.h"
#include "tools/report/estimates/reports.h"
#include "tools/text/text.h"

namespace heaprec::tools {

using namespace render;

namespace {

// Maximum callers that text shows below a stack's leaf.
constexpr size_t kCallers = 6;

GroupRow RowOf(GroupTable::Key key, const Groups& of, const CallTree& tree, double seconds) {
  GroupRow row{
      .name = of.grouping().NameOf(key, tree), .own = of.own().Of(key), .seconds = seconds, .other = {}, .frames = {}};
  if (of.cumulative() != nullptr) row.other = of.cumulative()->Of(key);
  if (of.grouping().by() == By::kStack) row.frames = FramesOf(key, tree);
  if (const auto outside = of.outside().find(key); outside != of.outside().end()) row.outside = outside->second;
  return row;
}

Table TableOf(const RecordingScan& scan, const Groups& of, const Ranking& ranking, const CallTree& tree,
              SourceLines* sources) {
  std::vector<GroupRow> rows;
  for (const GroupTable::Row* row : Ranked(of, ranking, tree)) {
    rows.push_back(RowOf(row->key, of, tree, scan.summary().scanned().seconds));
    if (!ranking.sources.empty() && of.grouping().by() == By::kSite)
      rows.back().source = sources->LineOf(rows.back().name);
  }
  GroupWords words = WordsOf(scan);
  words.name = of.grouping().Text();
  if (of.cumulative() != nullptr) words.other = "cumulative";
  words.shows_other = of.cumulative() != nullptr;
  words.has_source = !ranking.sources.empty() && of.grouping().by() == By::kSite;
  words.has_frames = of.grouping().by() == By::kStack;
  if (!of.outside().empty()) {
    const bool has_any = std::ranges::any_of(rows, [](const GroupRow& row) { return row.outside.bytes > 0; });
    words.outside = has_any ? Detail::kWide : Detail::kJsonOnly;
  }
  const GroupTable& all = of.cumulative() != nullptr ? *of.cumulative() : of.own();
  Table table = MakeTable("tables[]", GroupColumns(words), rows, all.Rows().size());
  if (ranking.min_share > 0) table.more = "--min-share 0 --limit 0 shows all";
  table.fields = {{"by", of.grouping().Text()}};
  for (size_t i = 0; i < rows.size(); ++i) {
    table.rows[i].below = CallersOf(rows[i].frames, kCallers);
    if (!rows[i].source.empty()) table.rows[i].below.push_back(rows[i].source);
  }
  return table;
}

Line SourcesLine(const SourceLines& sources) {
  Line line = Sentence("source lines of {} of {} site(s) found", {{"sources.found", sources.found(), Unit::kInteger},
                                                                  {"sources.asked", sources.asked(), Unit::kInteger}});
  if (sources.without_line() > 0) line.Continue("; without a line number: " + Grouped(sources.without_line()));
  if (sources.missing_files() > 0) line.Continue("; not found: {}", {{"", sources.missing()}});
  if (sources.missing_files() > 1) line.Continue(" and " + CountOf(sources.missing_files() - 1, "more file"));
  return line.Continue(
      "", {{"sources.without_line", sources.without_line()}, {"sources.missing_files", sources.missing_files()}});
}

}  // namespace

Report TopReport(const RecordingScan& scan, const std::vector<Groups>& tables, const Ranking& ranking,
                 const CallTree& tree, const std::string& what) {
  Report report("heaprec.top/1");
  report.Add(HeadlineOf(scan));
  SourceLines sources(ranking.sources);
  for (const Groups& one : tables) report.Add(TableOf(scan, one, ranking, tree, &sources));
  if (!ranking.sources.empty()) report.Add(SourcesLine(sources));
  report.Add(FooterOf(scan, what));
  return report;
}

namespace {

struct SizeRow {
  std::string name;
  std::optional<uint64_t> from, below;  // bytes
  GroupRow group;
  double bytes_bar = 0, objects_bar = 0;  // relative to the largest
};

// Smallest size of a class, in bytes.
uint64_t MinSizeOf(GroupTable::Key bits) { return uint64_t{1} << (bits - 1); }

// No object of a class is smaller than its smallest size. Without samples, this limits their number better than the
// mean size of all objects.
GroupEstimates EstimatesOf(const GroupTable& sizes, GroupTable::Key bits) {
  GroupEstimates estimates = sizes.Of(bits);
  if (estimates.samples == 0 && estimates.bytes.value == 0)
    estimates.objects = Scaled(estimates.bytes, 1 / static_cast<double>(MinSizeOf(bits)));
  return estimates;
}

// Unknown sizes first, then from the smallest to the largest size, including those in between without samples.
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
    const bool is_of_row = of.name == "mean_size";  // a row's size shows it
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
  report.Add(MakeTable("classes", Columns(WordsOf(scan)), RowsOf(sizes.own(), scan.summary().scanned().seconds)));
  report.Add(FooterOf(scan, "size"));
  return report;
}

namespace {

using BoxId = FlameBoxTree::BoxId;

class Nodes {
 public:
  Nodes(const FlameScan& tree, const TreeLimits& limits, const GroupWords& words)
      : tree_(tree), limits_(limits), columns_(GroupColumns(words)), children_(tree.boxes().boxes().size()) {
    for (BoxId box = 1; box < children_.size(); ++box) children_[Of(box).parent].push_back(box);
    for (std::vector<BoxId>& children : children_) {
      std::ranges::sort(children, [this](BoxId a, BoxId b) {
        const double bytes_a = Bytes(a), bytes_b = Bytes(b);
        return bytes_a != bytes_b ? bytes_a > bytes_b : NameOf(a) < NameOf(b);
      });
    }
  }

  std::vector<Row> ChildrenOf(BoxId parent, uint64_t* left_out) const {
    std::vector<Row> rows;
    for (const BoxId box : children_[parent]) {
      *left_out += std::max<uint64_t>(Of(box).folded, 1);
      const bool is_full = limits_.children > 0 && rows.size() == limits_.children;
      if (is_full || Of(box).folded > 0 || tree_.estimates()[box].share.value < limits_.min_share) continue;
      --*left_out;
      rows.push_back(MakeRow(columns_, GroupRow{.name = std::string(NameOf(box)),
                                                .own = tree_.estimates()[box],
                                                .seconds = tree_.scan().summary().scanned().seconds,
                                                .other = tree_.own()[box],
                                                .frames = {}}));
      rows.back().children = ChildrenOf(box, &rows.back().left_out);
    }
    return rows;
  }
  const std::vector<Column<GroupRow>>& columns() const { return columns_; }

 private:
  const FlameBoxTree::Box& Of(BoxId box) const { return tree_.boxes().boxes()[box]; }
  std::string_view NameOf(BoxId box) const { return tree_.calls().names().At(Of(box).name); }
  double Bytes(BoxId box) const { return tree_.estimates()[box].bytes.value; }

  const FlameScan& tree_;
  const TreeLimits limits_;
  const std::vector<Column<GroupRow>> columns_;
  std::vector<std::vector<BoxId>> children_;  // by box, largest first, then by name
};

}  // namespace

Report TreeReport(const FlameScan& tree, const TreeLimits& limits) {
  const RecordingScan& scan = tree.scan();
  const bool of_callers = tree.of_callers();
  GroupWords words = WordsOf(scan);
  words.name = of_callers ? "allocated by, called from" : "allocated below";
  words.other = "own";
  const Nodes nodes(tree, limits, words);
  uint64_t left_out = 0;
  Table table = MakeTable<GroupRow>("children", nodes.columns(), {});
  table.rows = nodes.ChildrenOf(0, &left_out);
  table.count = table.rows.size() + left_out;
  table.more = "--min-share 0 --limit 0 shows all";
  table.is_tree = true;
  Report report("heaprec.tree/1");
  report.Add(HeadlineOf(scan));
  report.Add(Hidden({{"direction", of_callers ? "callers" : "callees"}, {"left_out", left_out}}));
  report.Add(std::move(table));
  report.Add(FooterOf(scan, "path"));
  return report;
}

}  // namespace heaprec::tools

#include "tools/export/flame/diff_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "tools/analysis/flame_box_tree.h"
#include "tools/export/flame/flame_builder.h"
#include "tools/export/flame/flame_html.h"
#include "tools/export/inputs.h"
#include "tools/export/output_file.h"
#include "tools/query/flame_query.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

constexpr size_t kMaxBoxes = 10'000;

// A side is read quietly: diff has said what is damaged.
ExitCode Read(const ScanOptions& options, CallTree* tree, ScanVisitor* visitor, double* seconds) {
  auto scan = RecordingScan::Parse(options);
  if (!scan.ok()) return ExitCode::kUsage;
  scan->BeQuiet();
  const ExitCode code = scan->Run(tree, visitor);
  *seconds = scan->scanned().seconds;
  return code == ExitCode::kDamaged ? ExitCode::kOk : code;
}

// Boxes are chosen by the sum of both sides, each per second or operation.
std::vector<double> SumOf(const LeafVisitor& before, double scale_before, const LeafVisitor& after,
                          double scale_after) {
  std::vector<double> sum(std::max(before.weights().size(), after.weights().size()));
  for (size_t i = 0; i < before.weights().size(); ++i) sum[i] += before.weights()[i] * scale_before;
  for (size_t i = 0; i < after.weights().size(); ++i) sum[i] += after.weights()[i] * scale_after;
  return sum;
}

double Normalization(const Scale& scale, const LeafVisitor& leaves) {
  double normalization = scale.seconds;
  if (scale.per == Per::kOp) normalization = scale.operations * scale.runs;
  if (scale.per == Per::kCpuSecond) normalization = scale.cpu_seconds;
  if (scale.per == Per::kTotal) normalization = scale.runs;
  if (scale.per == Per::kShare) {
    normalization = 0;
    for (const double weight : leaves.weights()) normalization += weight;
  }
  return normalization > 0 ? normalization : 1;
}

std::vector<FlameFigure> EstimateGroup(const Scale& scale, bool of_exceptions) {
  using Unit = FlameFigure::Unit;
  const Unit amount = scale.objects || of_exceptions ? Unit::kCount : Unit::kBytes;
  const Unit unit = scale.per == Per::kShare ? Unit::kShare : amount;
  return {{"before", "before", unit, scale.Suffix(), true, false},
          {"after", "after", unit, scale.Suffix(), true, false},
          {"change", "change", unit, scale.Suffix(), true, true},
          {"ratio", "ratio", Unit::kRatio, "", true, false},
          {"p", "p-value", Unit::kProbability, "", false, false},
          {"samples_before", "samples before", Unit::kCount, "", false, false},
          {"samples_after", "samples after", Unit::kCount, "", false, false}};
}

Estimate Point(double value) { return {value, value, value}; }

// Ratios without an end, of what is new, are as large as colours tell apart.
Estimate Bounded(Estimate ratio) {
  ratio.value = std::min(ratio.value, 1e3);
  return ratio;
}

// The boxes of one side: those of each run.
struct SideOfPage {
  std::deque<BoxVisitor> runs;
  std::vector<Scale> scales;

  std::vector<Estimate> Of(size_t table, FlameBoxTree::BoxId box) const {
    std::vector<Estimate> values;
    for (size_t run = 0; run < runs.size(); ++run) values.push_back(scales[run].Of(runs[run].Of(table, box)));
    return values;
  }
  uint64_t SamplesOf(size_t table, FlameBoxTree::BoxId box) const {
    uint64_t samples = 0;
    for (const BoxVisitor& run : runs) samples += run.Of(table, box).samples;
    return samples;
  }
};

ExitCode ReadRuns(const ScanOptions& options, CallTree* tree, const LeafVisitor& leaves,
                  const std::vector<const FlameBoxTree*>& trees, SideOfPage* side) {
  for (const std::string& file : options.files) {
    ScanOptions run = options;
    run.files = {file};
    double seconds = 0;
    const ExitCode code = Read(run, tree, &side->runs.emplace_back(&leaves, trees), &seconds);
    if (code != ExitCode::kOk) return code;
  }
  return ExitCode::kOk;
}

FlameTree TreeOf(const std::string& order, const FlameBoxTree& boxes, size_t table, const SideOfPage& before,
                 const SideOfPage& after, const DiffPage& page, FlameAssembly* assembly) {
  std::vector<RunsOfRow> rows;
  for (FlameBoxTree::BoxId box = 0; box < boxes.boxes().size(); ++box) {
    RunsOfRow& row = rows.emplace_back();
    row.before = before.Of(table, box), row.after = after.Of(table, box);
    const FlameBoxTree::BoxId parent = boxes.boxes()[box].parent;
    if (parent != FlameBoxTree::kNone) row.inside = parent;
  }
  const std::vector<Difference> differences =
      CompareRuns(rows, {.rate = page.question.fdr, .margin = page.question.margin}).rows;
  std::vector<double> sums;
  for (const Difference& of : differences) sums.push_back(OrUnbounded(of.before).value + OrUnbounded(of.after).value);
  FlameTree tree{.order = order, .boxes = {}, .estimates = std::vector<std::vector<Estimate>>(7), .verdicts = {}};
  const std::vector<FlameBoxTree::BoxId> shown = boxes.Preorder(sums);
  tree.boxes = assembly->Boxes(boxes, shown);
  for (const FlameBoxTree::BoxId box : shown) {
    const Difference& of = differences[box];
    const auto samples = [&](const SideOfPage& side) { return Point(static_cast<double>(side.SamplesOf(table, box))); };
    const Estimate estimates[] = {of.before,   of.after,        of.change,     Bounded(of.ratio),
                                  Point(of.p), samples(before), samples(after)};
    for (size_t i = 0; i < tree.estimates.size(); ++i) tree.estimates[i].push_back(estimates[i]);
    tree.verdicts.push_back(static_cast<uint8_t>(of.verdict));
  }
  return tree;
}

ExitCode Fail(ExitCode code, std::string_view sentence) {
  PrintError(sentence);
  return code;
}

ExitCode Write(const FlameGraph& graph, const DiffPage& page) {
  if (IsOneOf(page.output, page.before.files) || IsOneOf(page.output, page.after.files)) {
    return Fail(ExitCode::kCannotWrite, page.output + ": is the recording itself");
  }
  auto file = OutputFile::Open(page.output, page.force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);
  Output output((*file)->descriptor());
  AppendFlamePage(graph, output.text());
  output.Flush();
  const ExitCode written = output.Report(page.output);
  if (written != ExitCode::kOk || output.failed()) return written;
  if (const auto error = (*file)->Commit()) return Fail(ExitCode::kCannotWrite, error->message);
  return ExitCode::kOk;
}

}  // namespace

ExitCode WriteDiffPage(const DiffPage& given) {
  DiffPage page = given;
  // Folding is for tables by method: a page shows stacks as they are.
  page.before.fold = page.after.fold = false;
  const auto scan = RecordingScan::Parse(page.before);
  if (!scan.ok()) return Fail(ExitCode::kUsage, scan.error().message);
  NamePool names(NamePool::Runs::kSeveral);
  CallTree tree(&names, scan->TreeOptions());
  LeafVisitor old_leaves(true), new_leaves(true);
  for (const auto& [options, leaves, scale] : {std::tuple{&page.before, &old_leaves, &page.scale_before},
                                               std::tuple{&page.after, &new_leaves, &page.scale_after}}) {
    const ExitCode code = Read(*options, &tree, leaves, &scale->seconds);
    if (code != ExitCode::kOk) return code;
  }
  const std::vector<double> weights = SumOf(old_leaves, 1 / Normalization(page.scale_before, old_leaves), new_leaves,
                                            1 / Normalization(page.scale_after, new_leaves));
  const FlameBoxTree callees = FlameBoxTree::Callees(tree, weights, {kMaxBoxes, 0});
  const FlameBoxTree callers = FlameBoxTree::Callers(tree, weights, {kMaxBoxes, 0});
  SideOfPage before{{}, page.scales_before}, after{{}, page.scales_after};
  for (const auto& [options, leaves, side] :
       {std::tuple{&page.before, &old_leaves, &before}, std::tuple{&page.after, &new_leaves, &after}}) {
    const ExitCode code = ReadRuns(*options, &tree, *leaves, {&callees, &callers}, side);
    if (code != ExitCode::kOk) return code;
  }
  FlameGraph graph;
  graph.title = ToUtf8(page.before.files.front()) + " → " + ToUtf8(page.after.files.back());
  graph.headline = page.headline;
  graph.facts = {{"before", Duration(static_cast<uint64_t>(page.scale_before.seconds * 1e9))},
                 {"after", Duration(static_cast<uint64_t>(page.scale_after.seconds * 1e9))},
                 {"false discovery rate", fmt::format("{:g} %", 100 * page.question.fdr)},
                 {"intervals", "95 %"}};
  for (const auto& [side, doubt] :
       {std::pair("before trustworthy", page.doubt_of_before), std::pair("after trustworthy", page.doubt_of_after)}) {
    if (!doubt.empty()) graph.facts.emplace_back(side, doubt);
  }
  graph.measures = {{"both", "Both", "What was allocated before and after", {"before", "after"}},
                    {"after", "After", "What is allocated after", {}},
                    {"before", "Before", "What was allocated before", {}}};
  graph.estimates = EstimateGroup(page.scale_before, scan->of_exceptions());
  FlameAssembly assembly(&names, {&old_leaves, &new_leaves});
  graph.trees = {TreeOf("callees", callees, 0, before, after, page, &assembly),
                 TreeOf("callers", callers, 1, before, after, page, &assembly)};
  graph.names = assembly.TakeNames();
  return Write(graph, page);
}

}  // namespace heaprec::tools

#include "tools/export/flame/diff_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

constexpr size_t kMostBoxes = 10'000;

// A side is read quietly: diff has said what is damaged.
ExitCode Read(const SurveyOptions& options, CallTree* tree, Surveyor* surveyor, double* seconds) {
  auto survey = Survey::Parse(options);
  if (!survey.ok()) return ExitCode::kUsage;
  survey->BeQuiet();
  const ExitCode code = survey->Run(tree, surveyor);
  *seconds = survey->covered().seconds;
  return code == ExitCode::kDamaged ? ExitCode::kOk : code;
}

// Boxes are chosen by the sum of both sides, each per second or operation.
std::vector<double> SumOf(const LeafSurvey& before, double scale_before, const LeafSurvey& after, double scale_after) {
  std::vector<double> sum(std::max(before.weights().size(), after.weights().size()));
  for (size_t i = 0; i < before.weights().size(); ++i) sum[i] += before.weights()[i] * scale_before;
  for (size_t i = 0; i < after.weights().size(); ++i) sum[i] += after.weights()[i] * scale_after;
  return sum;
}

double Exposure(const Scale& scale, const LeafSurvey& leaves) {
  double exposure = scale.per == Per::kOp ? scale.operations : scale.seconds;
  if (scale.per == Per::kTotal) {
    exposure = 0;
    for (const double weight : leaves.weights()) exposure += weight;
  }
  return exposure > 0 ? exposure : 1;
}

std::vector<FlameFigure> FiguresOf(const Scale& scale, bool of_exceptions) {
  using Unit = FlameFigure::Unit;
  const Unit amount = scale.objects || of_exceptions ? Unit::kCount : Unit::kBytes;
  const Unit unit = scale.per == Per::kTotal ? Unit::kShare : amount;
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

FlameTree TreeOf(const std::string& order, const BoxTree& boxes, size_t table, const BoxSurvey& before,
                 const BoxSurvey& after, const DiffPage& page, FlameAssembly* assembly) {
  std::vector<Difference> differences;
  std::vector<double> sums;
  for (BoxTree::BoxId box = 0; box < boxes.boxes().size(); ++box) {
    differences.push_back(Compare(page.scale_before.Of(before.Of(table, box)),
                                  page.scale_after.Of(after.Of(table, box)), page.question.margin));
    sums.push_back(OrUnbounded(differences.back().before).value + OrUnbounded(differences.back().after).value);
  }
  Judge(&differences, page.question.fdr);
  FlameTree tree{.order = order, .boxes = {}, .figures = std::vector<std::vector<Estimate>>(7), .verdicts = {}};
  const std::vector<BoxTree::BoxId> shown = boxes.Preorder(sums);
  tree.boxes = assembly->Boxes(boxes, shown);
  for (const BoxTree::BoxId box : shown) {
    const Difference& of = differences[box];
    const auto samples = [&](const BoxSurvey& side) { return Point(static_cast<double>(side.Of(table, box).samples)); };
    const Estimate figures[] = {of.before,   of.after,        of.change,     Bounded(of.ratio),
                                Point(of.p), samples(before), samples(after)};
    for (size_t i = 0; i < tree.figures.size(); ++i) tree.figures[i].push_back(figures[i]);
    tree.verdicts.push_back(static_cast<uint8_t>(of.verdict));
  }
  return tree;
}

ExitCode Fail(ExitCode code, std::string_view sentence) {
  Complain(sentence);
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
  const auto survey = Survey::Parse(page.before);
  if (!survey.ok()) return Fail(ExitCode::kUsage, survey.error().message);
  NamePool names(NamePool::Runs::kSeveral);
  CallTree tree(&names, survey->TreeOptions());
  LeafSurvey old_leaves(true), new_leaves(true);
  for (const auto& [options, leaves, scale] : {std::tuple{&page.before, &old_leaves, &page.scale_before},
                                               std::tuple{&page.after, &new_leaves, &page.scale_after}}) {
    const ExitCode code = Read(*options, &tree, leaves, &scale->seconds);
    if (code != ExitCode::kOk) return code;
  }
  const std::vector<double> weights = SumOf(old_leaves, 1 / Exposure(page.scale_before, old_leaves), new_leaves,
                                            1 / Exposure(page.scale_after, new_leaves));
  const BoxTree callees = BoxTree::Callees(tree, weights, {kMostBoxes, 0});
  const BoxTree callers = BoxTree::Callers(tree, weights, {kMostBoxes, 0});
  BoxSurvey before(&old_leaves, {&callees, &callers}), after(&new_leaves, {&callees, &callers});
  for (const auto& [options, boxes] : {std::pair{&page.before, &before}, std::pair{&page.after, &after}}) {
    double seconds = 0;
    const ExitCode code = Read(*options, &tree, boxes, &seconds);
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
  graph.figures = FiguresOf(page.scale_before, survey->of_exceptions());
  FlameAssembly assembly(&names, {&old_leaves, &new_leaves});
  graph.trees = {TreeOf("callees", callees, 0, before, after, page, &assembly),
                 TreeOf("callers", callers, 1, before, after, page, &assembly)};
  graph.names = assembly.TakeNames();
  return Write(graph, page);
}

}  // namespace heaprec::tools

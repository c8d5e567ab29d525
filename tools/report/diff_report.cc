#include "tools/report/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/text/percent.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

constexpr size_t kRowsOfOne = 20, kRowsOfTwo = 10;
// A single pair in which rows differ by more than half, on the whole, is hardly of the same program.
constexpr double kUnlike = 0.5;

std::string Printable(std::string_view text) {
  Text printable;
  AppendPrintable(printable, text);
  return fmt::to_string(printable);
}

std::string RunText(std::string_view which, const DiffSide& side, size_t run) {
  const RecordingScan& scan = side.runs.scan(run);
  const GroupEstimates all = AllOf(scan);
  const std::string file = side.runs.file(run) == "-" ? "standard input" : ToUtf8(side.runs.file(run));
  const std::string cpu =
      scan.cpu() ? fmt::format(", {} of CPU time", Duration(static_cast<uint64_t>(scan.cpu()->process * 1e9))) : "";
  return fmt::format(
      "{:<9}{}: {} in {}{}, {} samples\n", which, Printable(file + side.window),
      scan.of_exceptions() ? Grouped(static_cast<uint64_t>(all.bytes.value)) + " events" : Bytes(all.bytes.value),
      Duration(static_cast<uint64_t>(scan.scanned().seconds * 1e9)), cpu, Grouped(all.samples));
}

std::string SideText(std::string_view which, const DiffSide& side) {
  std::string text;
  for (size_t run = 0; run < side.runs.size(); ++run) text += RunText(run == 0 ? which : "", side, run);
  return text;
}

// "12 %"; what no change would show is said to be so.
std::string DetectableText(double change) {
  return std::isfinite(change) && change < 10 ? ShortPercent(change) : "more than tenfold";
}

std::string_view UnitText(const Scale& scale) {
  static constexpr std::array<std::string_view, 5> kTexts{"per second", "in total", "as shares of all bytes",
                                                          "per second of CPU time", "per operation"};
  return kTexts[static_cast<size_t>(scale.per)];
}

std::string RunsText(const RunComparison& runs) {
  const std::string deviation = ShortPercent(runs.variation.deviation);
  if (runs.is_replicated()) {
    return fmt::format("{} and {}; between runs of the same program a row varies by {}", runs.runs_before,
                       runs.runs_after, deviation);
  }
  if (runs.variation.deviation > kUnlike) {
    return fmt::format("not replicated; most rows differ, by {}: several runs of each side tell which are real changes",
                       deviation);
  }
  return fmt::format("not replicated; rows are taken to vary by {} between runs, as the others do", deviation);
}

// How the rows were compared, and what could have been seen.
std::string MethodText(const DiffResult& result) {
  std::string text = fmt::format("rows     compared {}: {}\n", UnitText(result.scale), result.unit_reason);
  if (result.tables.empty()) return text;
  const RunComparison& runs = result.tables.back().runs;
  text += fmt::format("runs     {}\n", RunsText(runs));
  text += fmt::format("detects  a change of {} where a row has 5 % of all, of {} at 1 % (4 of 5 times)\n",
                      DetectableText(runs.DetectableAt(0.05)), DetectableText(runs.DetectableAt(0.01)));
  if (runs.is_replicated()) return text;
  RunComparison three = runs;
  three.runs_before = three.runs_after = 3;
  return text + fmt::format("         three runs a side (heaprec bench) would detect {} and {}\n",
                            DetectableText(three.DetectableAt(0.05)), DetectableText(three.DetectableAt(0.01)));
}

std::string SpeedText(const MachineSpeed& speed) {
  if (!speed.is_cause) return "";
  return fmt::format(
      "speed    B allocated x{:.2f} per second, but x{:.2f} per second of CPU time: the machine was {}, "
      "the program is not\n",
      speed.ratio_per_second, speed.ratio_per_cpu_second, speed.ratio_per_second < 1 ? "slower" : "faster");
}

void AppendTable(const ComparedTable& of, const DiffResult& result, const DiffRows& rows_shown, size_t usual,
                 const CallTree& tree, std::string* into) {
  const size_t limit = rows_shown.limit.value_or(usual);
  const size_t shown = rows_shown.all ? of.rows.size() : of.changed;
  const size_t rows = limit > 0 ? std::min(limit, shown) : shown;
  *into += fmt::format("\nby {}: {} of {} changed, at a false discovery rate of {:.3g} %{}\n", of.by.Text(),
                       Grouped(of.changed), Grouped(of.rows.size()), 100 * result.question.fdr,
                       of.changed < of.rows.size() ? "; the others may be noise" : "");
  for (size_t i = 0; i < rows; ++i) {
    const Difference& one = of.rows[i].difference;
    *into += fmt::format("  {:<4} {:>14} {:<22} {:>8} {:>12} -> {:<12} {}\n", VerdictText(one.verdict),
                         ChangeText(one.change, result.style), ChangeIntervalText(one.change, result.style),
                         RatioText(one.ratio.value), ValueText(one.before.value, result.style),
                         ValueText(one.after.value, result.style), Printable(RowName(of.by, of.rows[i].key, tree)));
  }
  if (rows < shown) *into += fmt::format("  ... {} more; --limit 0 shows all\n", Grouped(shown - rows));
}

// JSON has no infinity.
json Finite(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json SpeedAsJson(const MachineSpeed& speed) {
  return {{"explains_rates", speed.is_cause},
          {"ratio_per_second", speed.ratio_per_second},
          {"ratio_per_cpu_second", speed.ratio_per_cpu_second}};
}

json SideAsJson(const DiffSide& side) {
  json runs = json::array();
  for (size_t run = 0; run < side.runs.size(); ++run) {
    const RecordingScan& scan = side.runs.scan(run);
    json one = scan.AsJson();
    one["cpu_seconds"] = scan.cpu() ? json(scan.cpu()->process) : json(nullptr);
    one["gc_cpu_seconds"] = scan.cpu() ? json(scan.cpu()->collector) : json(nullptr);
    runs.push_back(std::move(one));
  }
  return {{"runs", runs}};
}

json RowAsJson(const ComparedRow& row, const ComparedTable& table, const CallTree& tree) {
  json one = AsJson(row.difference);
  one["name"] = RowName(table.by, row.key, tree);
  one["samples_before"] = row.samples_before;
  one["samples_after"] = row.samples_after;
  return one;
}

json RowsAsJson(const ComparedTable& table, const DiffRows& shown, const CallTree& tree) {
  json rows = json::array();
  for (const ComparedRow& row : table.rows) {
    if (shown.limit.value_or(0) > 0 && rows.size() == *shown.limit) break;
    if (shown.all || row.difference.verdict != Verdict::kSame) rows.push_back(RowAsJson(row, table, tree));
  }
  return rows;
}

}  // namespace

ValueStyle StyleOf(const Scale& scale, const RecordingScan& scan) {
  using Unit = ValueStyle::Unit;
  const Unit amount = scale.objects || scan.of_exceptions() ? Unit::kCount : Unit::kBytes;
  return {scale.per == Per::kShare ? Unit::kShare : amount, scale.Suffix()};
}

std::string DiffText(const DiffResult& result, const DiffSide& before, const DiffSide& after, const DiffRows& shown,
                     const CallTree& tree) {
  const bool is_replicated = before.runs.size() + after.runs.size() > 2;  // else one run does not tell
  const std::string verdict = is_replicated && result.total.verdict == Verdict::kSame ? ", not shown to differ" : "";
  std::string text = fmt::format("{:<9}{}{}\n", "total", TotalText(result.total, result.total_style), verdict);
  text += SpeedText(result.speed) + SideText("before", before) + SideText("after", after) + MethodText(result);
  const size_t usual = result.tables.size() > 1 ? kRowsOfTwo : kRowsOfOne;
  for (const ComparedTable& table : result.tables) AppendTable(table, result, shown, usual, tree, &text);
  text += "\n";
  for (const DiffSide* side : {&before, &after}) {
    for (size_t run = 0; run < side->runs.size(); ++run) text += side->runs.scan(run).LossLine();
  }
  return text;
}

std::string DiffJson(const DiffResult& result, const DiffSide& before, const DiffSide& after, const DiffRows& shown,
                     const CallTree& tree) {
  const char* const amount = before.runs.scan(0).of_exceptions() ? "events" : "bytes";
  json document = {{"schema", "heaprec.diff/2"},
                   {"per", PerWords()[static_cast<size_t>(result.scale.per)]},
                   {"per_reason", result.unit_reason},
                   {"replicated", before.runs.size() + after.runs.size() > 2},
                   {"speed", SpeedAsJson(result.speed)},
                   {"unit", result.scale.objects ? "objects" : amount},
                   {"fdr", result.question.fdr},
                   {"min_change", result.question.margin},
                   {"reversed", result.reversed},
                   {"before", SideAsJson(before)},
                   {"after", SideAsJson(after)},
                   {"total", AsJson(result.total)},
                   {"tables", json::array()}};
  for (const ComparedTable& table : result.tables) {
    document["tables"].push_back({{"by", table.by.Text()},
                                  {"count", table.rows.size()},
                                  {"changed", table.changed},
                                  {"tested", table.runs.tested},
                                  {"run_deviation", table.runs.variation.deviation},
                                  {"run_degrees_of_freedom", Finite(table.runs.variation.degrees_of_freedom)},
                                  {"detectable_at_5_percent", Finite(table.runs.DetectableAt(0.05))},
                                  {"detectable_at_1_percent", Finite(table.runs.DetectableAt(0.01))},
                                  {"rows", RowsAsJson(table, shown, tree)}});
  }
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace heaprec::tools

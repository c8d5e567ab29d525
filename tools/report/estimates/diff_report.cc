#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "tools/render/value_format.h"
#include "tools/report/columns/group_columns.h"
#include "tools/report/estimates/reports.h"

namespace heaprec::tools {

using namespace render;

namespace {

constexpr size_t kRowsOfOne = 20, kRowsOfTwo = 10;
// Larger changes are not shown as numbers.
constexpr double kTenfold = 10;

// Units of amounts in a scale, and of their changes.
struct Units {
  Unit amount, change;
};

Units UnitsOf(const Scale& scale, const RecordingScan& scan) {
  if (scale.per == Per::kShare) return {Unit::kShare, Unit::kPoints};
  if (scale.objects || scan.of_exceptions()) return {Unit::kCount, Unit::kCountChange};
  return {Unit::kBytes, Unit::kByteChange};
}

struct DiffRow {
  Difference difference;
  std::string name;
  uint64_t points_before = 0, points_after = 0;
};

std::vector<Column<DiffRow>> DiffColumns(const Units& units, const std::string& suffix, const std::string& name) {
  const auto of = [](auto Difference::*part) { return PartOf(&DiffRow::difference, part); };
  return {{"verdict", "verdict", Unit::kText, Detail::kAlways,
           [](const DiffRow& row) { return VerdictName(row.difference.verdict); }},
          {"change", "change" + suffix, units.change, Detail::kAlways, of(&Difference::change), Detail::kAlways},
          {"ratio", "ratio", Unit::kNumber, Detail::kAlways, of(&Difference::ratio)},
          {"before", "before" + suffix, units.amount, Detail::kAlways, of(&Difference::before)},
          {"after", "after" + suffix, units.amount, Detail::kAlways, of(&Difference::after)},
          {"p", "", Unit::kProbability, Detail::kJsonOnly, of(&Difference::p)},
          {"q", "q", Unit::kProbability, Detail::kWide, of(&Difference::q)},
          {"detectable", "", Unit::kShare, Detail::kJsonOnly,
           [](const DiffRow& row) {
             const double change = row.difference.detectable;
             return change > 0 ? Value(change) : Value();
           }},
          {"points_before", "", Unit::kInteger, Detail::kJsonOnly, &DiffRow::points_before},
          {"points_after", "", Unit::kInteger, Detail::kJsonOnly, &DiffRow::points_after},
          {"name", name, Unit::kText, Detail::kAlways, &DiffRow::name}};
}

// The columns that rows and the total share.
std::vector<Field> TotalFields(const Difference& total) {
  std::vector<Column<DiffRow>> columns = DiffColumns({Unit::kNumber, Unit::kNumber}, "", "");
  columns.resize(columns.size() - 3);  // without the points and the name
  std::vector<Field> fields = FieldsOf("total", columns, DiffRow{total, "", 0, 0});
  if (IsUnknown(total.before) || IsUnknown(total.after)) {
    for (Field& field : fields) {
      if (field.name != "total.before" && field.name != "total.after") field.value = Value();
    }
  }
  return fields;
}

// Returns the first run without data, whose amounts would count as 0; empty: all runs have data.
std::string RunWithoutData(const DiffSide& before, const DiffSide& after) {
  for (const DiffSide* side : {&before, &after}) {
    for (size_t run = 0; run < side->runs.size(); ++run) {
      if (side->runs.scan(run).lacks_data()) return side->runs.file(run) + side->window;
    }
  }
  return "";
}

std::vector<Line> SpeedLines(const MachineSpeed& speed) {
  std::vector<Line> lines{Hidden({{"speed.explains_rates", speed.is_cause},
                                  {"speed.ratio_per_second", speed.ratio_per_second},
                                  {"speed.ratio_per_cpu_second", speed.ratio_per_cpu_second}})};
  if (speed.is_cause) {
    const char* const was = speed.ratio_per_second < 1 ? "slower" : "faster";
    lines.push_back(
        Fact("speed",
             std::string("B allocated {} times as much per second, but {} times as much per second of CPU "
                         "time: the machine was ") +
                 was + ", the program is not",
             {{"", speed.ratio_per_second, Unit::kNumber}, {"", speed.ratio_per_cpu_second, Unit::kNumber}}));
  }
  return lines;
}

std::vector<Line> SideLines(const std::string& name, const DiffSide& side) {
  std::vector<Line> lines;
  List runs;
  for (size_t run = 0; run < side.runs.size(); ++run) {
    const RecordingScan& scan = side.runs.scan(run);
    const GroupEstimates all = scan.matched();
    const std::string file = side.runs.file(run) == "-" ? "standard input" : side.runs.file(run);
    const bool has_cpu = scan.cpu().has_value();
    Line line = Fact(name, std::string("{}: {value}") + (scan.of_exceptions() ? " events" : "") + " in {}",
                     {{"", file + side.window},
                      {"", all.bytes, scan.of_exceptions() ? Unit::kCount : Unit::kBytes},
                      {"", scan.summary().scanned().seconds, Unit::kSeconds}});
    if (has_cpu) line.Continue(", {} of CPU time", {{"", scan.cpu()->process, Unit::kSeconds}});
    line.Continue(std::string(", {} ") + scan.observed() + "(s)", {{"", all.samples, Unit::kInteger}});
    lines.push_back(std::move(line));
    Object one = scan.summary().AsObject();
    one.push_back({"cpu_seconds", has_cpu ? Value(scan.cpu()->process) : Value()});
    one.push_back({"gc_cpu_seconds", has_cpu ? Value(scan.cpu()->collector) : Value()});
    one.push_back({"gc_pause_seconds", side.runs.PausesOf(run).seconds});
    one.push_back({"gc_longest_pause_seconds", side.runs.PausesOf(run).longest});
    runs.emplace_back(std::move(one));
  }
  lines.push_back(Hidden({{name + ".runs", std::move(runs)}}));
  return lines;
}

const char* UnitText(const Scale& scale) {
  static constexpr std::array<const char*, 5> kTexts{"per second", "in total", "as shares of all bytes",
                                                     "per second of CPU time", "per operation"};
  return kTexts[static_cast<size_t>(scale.per)];
}

// Returns how much a row must change to be noticed, in words.
std::string ChangeWords(double change) {
  if (!(change < kTenfold)) return "more than tenfold";
  if (change > 1.8) return fmt::format("more than {:.0f}-fold", 1 + change);
  if (change > 0.9) return "more than double";
  return fmt::format("by {}", FormatInline(change, Unit::kShare, true));
}

// "a site with 5 % of the bytes must more than double to be noticed, one with 1 % change more than 5-fold"
std::string NoticedWords(const RunComparison& runs, const std::string& row, const char* amount) {
  const auto words = [&](double share) {
    const std::string change = ChangeWords(runs.DetectableAt(share));
    return (change == "more than double" ? "" : "change ") + change;
  };
  return fmt::format("a {} with 5 % of the {} must {} to be noticed, one with 1 % {}", row, amount, words(0.05),
                     words(0.01));
}

// Describes what this number of runs can show.
std::vector<Line> RunsLines(const RunComparison& runs, const std::string& row, const char* amount) {
  const std::string noticed = NoticedWords(runs, row, amount);
  if (runs.is_replicated()) {
    return {Fact("runs", "{} before, {} after: " + noticed + "; between runs of the same program it varies by {}",
                 {{"", runs.runs_before, Unit::kInteger},
                  {"", runs.runs_after, Unit::kInteger},
                  {"", runs.variation.deviation, Unit::kShare}})};
  }
  RunComparison three = runs;
  three.runs_before = three.runs_after = 3;
  return {Fact("runs", "one run of each side shows only large changes: " + noticed, std::vector<Field>()),
          Fact("runs", "of three runs of each side (heaprec bench) " + NoticedWords(three, row, amount),
               std::vector<Field>())};
}

// Describes how the rows were compared, and which changes could have been found.
std::vector<Line> MethodLines(const DiffResult& result) {
  std::vector<Line> lines{
      Fact("rows", std::string("compared ") + UnitText(result.scale) + ": {}", {{"per_reason", result.unit_reason}})};
  if (result.tables.empty()) return lines;
  if (!result.question.is_judged) {
    lines.push_back(Fact("runs",
                         "no verdict: rates of one run per side also depend on the machine's speed; compare shares "
                         "(--per share) or operations (--ops), or record three runs of each side",
                         std::vector<Field>()));
    return lines;
  }
  const ComparedTable& last = result.tables.back();
  std::ranges::move(RunsLines(last.runs, last.by.Text(), result.scale.objects ? "objects" : "bytes"),
                    std::back_inserter(lines));
  return lines;
}

// JSON has no infinity.
Value Finite(double value) { return std::isfinite(value) ? Value(value) : Value(); }

void AddTable(const ComparedTable& of, const DiffResult& result, const RecordingScan& scan, const DiffRows& shown,
              const CallTree& tree, Report* into) {
  Line heading = Sentence("by " + of.by.Text() + ": {} of {} changed",
                          {{"", of.changed, Unit::kInteger}, {"", of.rows.size(), Unit::kInteger}});
  if (of.changed > 0) {
    heading.Continue("; about {} of these rows may be false alarms", {{"", result.question.fdr, Unit::kShare}});
  }
  heading.detail = Detail::kTextOnly;
  into->Add(std::move(heading));
  const size_t all = shown.all ? of.rows.size() : of.changed;
  const size_t limit = shown.limit > 0 ? std::min(shown.limit, all) : all;
  std::vector<DiffRow> rows;
  for (const ComparedRow& row : of.rows) {
    if (rows.size() == limit) break;
    if (!shown.all && row.difference.verdict == Verdict::kSame) continue;
    rows.push_back({row.difference, RowName(of.by, row.key, tree), row.points_before, row.points_after});
  }
  Table table = MakeTable("tables[]", DiffColumns(UnitsOf(result.scale, scan), result.scale.Suffix(), of.by.Text()),
                          rows, of.rows.size());
  table.empty = result.question.is_judged ? "no significant change" : "not judged";
  table.more = rows.size() == all ? "--all shows them"
               : shown.all        ? "--limit 0 shows all"
                                  : "--limit 0 shows all that changed";
  table.fields = {{"by", of.by.Text()},
                  {"changed", of.changed, Unit::kInteger},
                  {"tested", of.runs.tested, Unit::kInteger},
                  {"run_deviation", of.runs.variation.deviation, Unit::kShare},
                  {"run_degrees_of_freedom", Finite(of.runs.variation.degrees_of_freedom), Unit::kNumber},
                  {"detectable_at_5_percent", Finite(of.runs.DetectableAt(0.05)), Unit::kShare},
                  {"detectable_at_1_percent", Finite(of.runs.DetectableAt(0.01)), Unit::kShare}};
  into->Add(std::move(table));
}

void AddTables(const DiffResult& result, const RecordingScan& scan, DiffRows shown, const CallTree& tree,
               Report* into) {
  if (!shown.given) shown.limit = result.tables.size() > 1 ? kRowsOfTwo : kRowsOfOne;
  Line gap = Sentence("");
  gap.detail = Detail::kTextOnly;
  into->Add(std::move(gap));
  for (const ComparedTable& table : result.tables) AddTable(table, result, scan, shown, tree, into);
}

}  // namespace

const char* VerdictName(Verdict verdict) {
  static constexpr std::array<const char*, 5> kNames{"same", "more", "less", "new", "gone"};
  return kNames[static_cast<size_t>(verdict)];
}

std::vector<Line> GcLines(const DiffSide& before, const DiffSide& after) {
  if (!before.runs.HasCpuTime() || !after.runs.HasCpuTime()) return {};
  Line line = Fact("gc", "", std::vector<Field>());
  for (const auto& [side, when] : {std::pair(&before, " before; "), std::pair(&after, " after")}) {
    CpuSeconds sum;
    ComparedRuns::GcPauses pauses;
    double seconds = 0;
    for (size_t run = 0; run < side->runs.size(); ++run) {
      const CpuSeconds& one = *side->runs.scan(run).cpu();
      const ComparedRuns::GcPauses paused = side->runs.PausesOf(run);
      sum.process += one.process, sum.collector += one.collector;
      pauses.seconds += paused.seconds, pauses.longest = std::max(pauses.longest, paused.longest);
      seconds += side->runs.scan(run).summary().scanned().seconds;
    }
    if (!(seconds > 0)) return {};
    line.Continue("{} of the time in pauses, longest {}",
                  {{"", std::min(pauses.seconds / seconds, 1.0), Unit::kShare}, {"", pauses.longest, Unit::kSeconds}});
    if (sum.collector > 0) line.Continue(", {} of the CPU time", {{"", sum.collector / sum.process, Unit::kShare}});
    line.Continue(when);
  }
  return {line};
}

Line TotalLine(const DiffResult& result, const RecordingScan& scan) {
  const Difference& total = result.total;
  const Unit unit = UnitsOf(result.total_scale, scan).amount;
  Line line = Fact("total", "", std::vector<Field>());
  for (const auto& [of, when] : {std::pair{&total.before, " before, "}, {&total.after, " after"}}) {
    line.text += (IsUnknown(*of) ? "unknown" : "{value}" + result.total_scale.Suffix()) + when;
    if (!IsUnknown(*of)) line.fields.push_back({"", *of, unit});
  }
  if (std::isfinite(total.ratio.value)) {
    const bool is_counted = total.before.low == total.before.high && total.after.low == total.after.high;
    line.text.insert(0, is_counted ? "{value}, counted: " : "{}: ");
    line.fields.insert(line.fields.begin(), {"", total.ratio, Unit::kRatio});
  }
  return line;
}

Report DiffReport(const DiffResult& result, const DiffSide& before, const DiffSide& after, DiffRows shown,
                  const CallTree& tree) {
  const RecordingScan& scan = before.runs.scan(0);
  const bool is_replicated = before.runs.size() + after.runs.size() > 2;  // otherwise a single run is not sufficient
  const char* const amount = scan.of_exceptions() ? "events" : "bytes";
  Report report("heaprec.diff/1");
  report.Add(TotalLine(result, scan));
  if (is_replicated && result.total.verdict == Verdict::kSame) {
    std::get<Line>(report.sections.back()).text += ", no significant difference";
  }
  report.Add(Hidden({{"per", PerWords()[static_cast<size_t>(result.scale.per)]},
                     {"replicated", is_replicated},
                     {"unit", result.scale.objects ? "objects" : amount},
                     {"fdr", result.question.fdr},
                     {"min_change", result.question.margin},
                     {"judged", result.question.is_judged},
                     {"reversed", result.reversed}}));
  report.Add(Hidden(TotalFields(result.total)));
  report.Add(SpeedLines(result.speed));
  report.Add(SideLines("before", before));
  report.Add(SideLines("after", after));
  report.Add(GcLines(before, after));
  const std::string without_data = RunWithoutData(before, after);
  report.Add(Hidden({{"without_data", without_data.empty() ? Value() : Value(without_data)}}));
  if (without_data.empty()) {
    report.Add(MethodLines(result));
    AddTables(result, scan, shown, tree, &report);
  } else {
    report.Add(Fact("rows", "not compared: {} has no data", {{"", without_data}}));
    report.Add(Hidden({{"tables", List()}}));
  }
  for (const DiffSide* side : {&before, &after}) {
    for (size_t run = 0; run < side->runs.size(); ++run) report.Add(LossLines(side->runs.scan(run)));
  }
  return report;
}

}  // namespace heaprec::tools

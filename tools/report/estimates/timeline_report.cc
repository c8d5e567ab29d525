#include <fmt/format.h>

#include <algorithm>

#include "tools/report/columns/group_columns.h"
#include "tools/report/estimates/reports.h"
#include "tools/text/text.h"

namespace heaprec::tools {

using namespace render;

namespace {

constexpr size_t kUsualWidth = 120, kMinSteps = 20;
// Width of the largest rate and the gaps; names take a third of the total.
constexpr size_t kPeakColumns = 16;
constexpr size_t kChartLines = 6;

struct Step {
  Estimate rate;
  StepState state;
  double rate_used = 0, samples_per_mib = 0;
};

// A line of the chart.
struct Curve {
  std::string name;
  double peak = 0;
  Unit unit = Unit::kBytesPerSecond;
  std::vector<double> values;
  size_t height = 1;
};

Value OrUnknown(uint64_t number) { return number > 0 ? Value(number) : Value(); }

Unit UnitOfRate(const Timeline& timeline) { return timeline.counts_events ? Unit::kPerSecond : Unit::kBytesPerSecond; }

Curve CurveOf(const Timeline::Series& series, Unit unit, size_t height = 1) {
  Curve curve{series.name, series.Most(), unit, {}, height};
  for (const Estimate& rate : series.rates) curve.values.push_back(IsUnknown(rate) ? 0 : rate.value);
  return curve;
}

void AddCurve(const char* name, Unit unit, std::vector<double> values, std::vector<Curve>* curves) {
  const double peak = values.empty() ? 0 : *std::ranges::max_element(values);
  if (peak > 0) curves->push_back({name, peak, unit, std::move(values)});
}

std::vector<Curve> CurvesOf(const Timeline& timeline) {
  std::vector<Curve> curves{CurveOf(timeline.all, UnitOfRate(timeline), kChartLines)};
  for (const Timeline::Series& group : timeline.groups) curves.push_back(CurveOf(group, UnitOfRate(timeline)));
  std::vector<double> pauses;
  for (const StepState& state : timeline.states) pauses.push_back(static_cast<double>(state.pauses));
  AddCurve("heap used", Unit::kBytes, timeline.HeapUsed(), &curves);
  AddCurve("GC pauses", Unit::kInteger, std::move(pauses), &curves);
  AddCurve("sampler: limit used", Unit::kShare, timeline.RateUsed(), &curves);
  AddCurve("sampler: samples per MiB", Unit::kNumber, timeline.SamplesPerMib(), &curves);
  return curves;
}

// "16:40:00"
std::string LocalTimeOfDay(uint64_t epoch_ns) {
  Text text;
  ClockText(epoch_ns).AppendLocal(text, 0);
  return fmt::to_string(text).substr(0, 8);
}

Table Chart(const Timeline& timeline) {
  const std::vector<Curve> curves = CurvesOf(timeline);
  const std::vector<Column<Curve>> columns{{"", "curve", Unit::kText, Detail::kTextOnly, &Curve::name},
                                           {"", "peak", Unit::kByRow, Detail::kTextOnly, &Curve::peak},
                                           {"", "time", Unit::kSparkline, Detail::kTextOnly, &Curve::values}};
  Table table = MakeTable("", columns, curves);
  for (size_t i = 0; i < curves.size(); ++i) {
    table.rows[i].unit = curves[i].unit;
    table.rows[i].height = curves[i].height;
  }
  for (size_t step = 0; step < timeline.axis.steps; ++step)
    table.rows.front().below.push_back(LocalTimeOfDay(timeline.axis.BeginOf(step)));
  table.detail = Detail::kTextOnly;
  return table;
}

// The sampler's counts cover whole intervals, without filters: with filters they differ from those of the rows.
Table Steps(const RecordingScan& scan, const Timeline& timeline) {
  const bool has_counts = scan.filter().chooses_all() && !timeline.counts_events;
  const std::vector<double> used = timeline.RateUsed(), per_mib = timeline.SamplesPerMib();
  std::vector<Step> steps;
  for (size_t i = 0; i < timeline.axis.steps; ++i) {
    steps.push_back({timeline.all.rates[i], timeline.states[i], used[i], per_mib[i]});
  }
  const std::vector<Column<Step>> columns{
      {timeline.counts_events ? "events_per_second" : "bytes_per_second", "rate", UnitOfRate(timeline), Detail::kAlways,
       &Step::rate},
      {"rate_used", "limit used", Unit::kShare, Detail::kAlways, &Step::rate_used},
      {"samples_per_mib", "samples/MiB", Unit::kNumber, Detail::kAlways,
       [](const Step& of) { return of.state.bytes > 0 ? Value(of.samples_per_mib) : Value(); }},
      {"counted_bytes", "counted", Unit::kBytes, Detail::kAlways,
       [has_counts](const Step& of) { return has_counts ? Value(of.state.bytes) : Value(); }},
      {"is_estimated", "estimated", Unit::kText, Detail::kAlways, PartOf(&Step::state, &StepState::is_estimated)},
      {"pauses", "GC pauses", Unit::kInteger, Detail::kAlways, PartOf(&Step::state, &StepState::pauses)},
      {"paused_ns", "paused", Unit::kNanoseconds, Detail::kAlways, PartOf(&Step::state, &StepState::paused_ns)},
      {"heap_used", "heap used", Unit::kBytes, Detail::kAlways,
       [](const Step& of) { return OrUnknown(of.state.heap_used); }}};
  return HiddenTable("steps", columns, steps);
}

Table GroupRates(const Timeline& timeline) {
  const std::string rate = timeline.counts_events ? "events_per_second" : "bytes_per_second";
  const std::vector<Column<Timeline::Series>> columns{
      {"name", "name", Unit::kText, Detail::kAlways, &Timeline::Series::name},
      {rate, "rates", UnitOfRate(timeline), Detail::kAlways, &Timeline::Series::rates}};
  return HiddenTable("groups", columns, timeline.groups);
}

}  // namespace

size_t StepsWithin(size_t columns) {
  const size_t width = columns > 0 ? columns : kUsualWidth, labels = width / 3 + kPeakColumns;
  return std::max(width - std::min(width, labels), kMinSteps);
}

Report TimelineReport(const RecordingScan& scan, const Timeline& timeline) {
  Report report("heaprec.timeline/1");
  report.Add(HeadlineOf(scan));
  if (timeline.axis.steps == 0) {
    report.Add(Sentence("no samples"));
  } else {
    report.Add(Sentence("{} step(s) of {}", {{"", timeline.axis.steps, Unit::kInteger},
                                             {"step_ns", timeline.axis.step_ns, Unit::kNanoseconds}}));
  }
  report.Add(Hidden({{"begin_ns", timeline.axis.begin_ns}}));
  report.Add(Steps(scan, timeline));
  report.Add(GroupRates(timeline));
  if (timeline.axis.steps > 0) report.Add(Chart(timeline));
  if (std::ranges::any_of(timeline.states, &StepState::is_estimated))
    report.Add(Sentence("the last steps are estimated from samples: the process died before they were counted"));
  report.Add(FooterOf(scan, "step"));
  return report;
}

}  // namespace heaprec::tools

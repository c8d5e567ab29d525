#include "tools/report/timeline_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/report/estimate_format.h"
#include "tools/text/bars.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

constexpr size_t kName = 26, kMost = 12, kUsualWidth = 120, kRows = 6;
constexpr double kMb = 1 << 20;

std::string RateText(double rate, Unit unit) {
  const Estimate known{rate, rate, rate};
  return (unit == Unit::kBytes ? BytesCell(known) : CountCell(known)).value + "/s";
}

double SamplesPerMb(const StepState& state) {
  return state.bytes > 0 ? static_cast<double>(state.kept) * kMb / static_cast<double>(state.bytes) : 0;
}

double FillOf(const StepState& state) {
  return state.allowed > 0 ? static_cast<double>(state.kept) / static_cast<double>(state.allowed) : 0;
}

template <typename Of>
std::vector<double> Values(const Timeline& timeline, Of of) {
  std::vector<double> values;
  for (const StepState& state : timeline.states) values.push_back(static_cast<double>(of(state)));
  return values;
}

std::vector<double> Values(const Timeline::Series& series) {
  std::vector<double> values;
  for (const Estimate& rate : series.rates) values.push_back(rate.value);
  return values;
}

double MostOf(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

// Lines of one width: a name, the most that the line shows, the line.
class Lines {
 public:
  Lines(const Timeline& timeline, const Terminal& terminal) : timeline_(timeline), terminal_(terminal) {
    const size_t room = (terminal.width > 0 ? terminal.width : kUsualWidth) - std::min<size_t>(kName + kMost + 3, 60);
    wide_ = std::max<size_t>(1, room / std::max<size_t>(timeline.axis.steps, 1));
    wide_ = std::min<size_t>(wide_, 4);
  }

  void Add(std::string_view name, std::string_view most, std::string_view line) {
    const std::string shown = Shortened(Printable(name), kName, terminal_.unicode);
    text_ += shown + std::string(kName - std::min(kName, WidthOf(shown)), ' ') + fmt::format(" {:>{}}  ", most, kMost);
    text_ += std::string(line) + "\n";
  }
  void AddLine(std::string_view name, const std::string& most, const std::vector<double>& values, double of) {
    Add(name, most, Sparkline(Widened(values), of, terminal_.unicode));
  }
  void AddChart(const Timeline::Series& series) {
    const std::vector<double> values = Widened(Values(series));
    for (size_t row = 0; row < kRows; ++row) {
      const std::string most = row == 0 ? RateText(series.Most(), timeline_.unit) : row + 1 == kRows ? "0" : "";
      Add(row == 0 ? series.name : "", most, ChartLine(values, series.Most(), row, kRows, terminal_.unicode));
    }
  }
  void AddScale() {
    const size_t columns = wide_ * timeline_.axis.steps;
    const std::string end = Duration(timeline_.axis.step_ns * timeline_.axis.steps);
    const std::string step = "step " + Duration(timeline_.axis.step_ns);
    std::string scale = "0";
    if (columns > end.size() + 1) scale += std::string(columns - end.size() - 1, ' ') + end;
    Add("", step, terminal_.Dim(scale));
  }
  const std::string& text() const { return text_; }

 private:
  static std::string Printable(std::string_view name) {
    Text printable;
    AppendPrintable(printable, name);
    return fmt::to_string(printable);
  }
  std::vector<double> Widened(const std::vector<double>& values) const {
    std::vector<double> wide;
    for (const double value : values) wide.insert(wide.end(), wide_, value);
    return wide;
  }

  const Timeline& timeline_;
  const Terminal& terminal_;
  size_t wide_ = 1;  // columns of a step
  std::string text_;
};

void AddStates(const Timeline& timeline, Lines* lines) {
  const std::vector<double> used = timeline.HeapUsed();
  const std::vector<double> pauses = Values(timeline, [](const StepState& s) { return s.pauses; });
  const std::vector<double> fill = Values(timeline, FillOf), chance = Values(timeline, SamplesPerMb);
  if (MostOf(used) > 0) lines->AddLine("heap used", Bytes(MostOf(used)), used, MostOf(used));
  if (MostOf(pauses) > 0) {
    double all = 0;
    for (const double of_step : pauses) all += of_step;
    lines->AddLine("collections", fmt::format("{:.0f} in all", all), pauses, MostOf(pauses));
  }
  lines->AddLine("sampler: fill", fmt::format("{:.2f}", MostOf(fill)), fill, std::max(1.0, MostOf(fill)));
  lines->AddLine("sampler: samples per MiB", fmt::format("{:.3g}", MostOf(chance)), chance, MostOf(chance));
}

json RatesAsJson(const Timeline::Series& series) {
  json rates = json::array();
  for (const Estimate& rate : series.rates) rates.push_back(AsJson(rate));
  return rates;
}

}  // namespace

double Timeline::Series::Most() const { return MostOf(Values(*this)); }

std::vector<double> Timeline::HeapUsed() const {
  std::vector<double> used;
  for (const StepState& state : states) {
    const double before = used.empty() ? 0 : used.back();
    used.push_back(state.heap_used > 0 ? static_cast<double>(state.heap_used) : before);
  }
  return used;
}

Timeline TimelineOf(const TimelineSurvey& survey, const std::vector<std::string>& groups, Unit unit) {
  Timeline timeline{.axis = survey.axis(), .unit = unit, .all = {}, .groups = {}, .states = survey.states()};
  const double per_second = 1 / survey.axis().Seconds();
  timeline.all.name = unit == Unit::kBytes ? "all, bytes/s" : "all, events/s";
  for (size_t step = 0; step < survey.axis().steps; ++step) {
    timeline.all.rates.push_back(Scaled(survey.InStep(step).bytes, per_second));
  }
  for (size_t group = 0; group < groups.size(); ++group) {
    timeline.groups.push_back({groups[group], {}});
    for (size_t step = 0; step < survey.axis().steps; ++step) {
      timeline.groups.back().rates.push_back(Scaled(survey.InStep(step, group).bytes, per_second));
    }
  }
  return timeline;
}

size_t StepsWithin(const Terminal& terminal) {
  const size_t width = terminal.width > 0 ? terminal.width : kUsualWidth, labels = kName + kMost + 3;
  return width > labels + 20 ? width - labels : 20;
}

std::string TextOf(const Timeline& timeline, const Terminal& terminal) {
  if (timeline.axis.steps == 0) return "no events\n";
  Lines lines(timeline, terminal);
  lines.AddChart(timeline.all);
  lines.AddScale();
  for (const Timeline::Series& group : timeline.groups) {
    lines.AddLine(group.name, RateText(group.Most(), timeline.unit), Values(group), group.Most());
  }
  AddStates(timeline, &lines);
  return lines.text();
}

json JsonOf(const Timeline& timeline) {
  json steps = json::array();
  const char* const rate = timeline.unit == Unit::kBytes ? "bytes_per_second" : "events_per_second";
  for (size_t step = 0; step < timeline.axis.steps; ++step) {
    const StepState& state = timeline.states[step];
    steps.push_back({{rate, AsJson(timeline.all.rates[step])},
                     {"fill", FillOf(state)},
                     {"samples_per_mb", SamplesPerMb(state)},
                     {"counted_bytes", state.bytes},
                     {"pauses", state.pauses},
                     {"paused_ns", state.paused_ns},
                     {"heap_used", state.heap_used}});
  }
  json groups = json::array();
  for (const Timeline::Series& group : timeline.groups) {
    groups.push_back({{"name", group.name}, {rate, RatesAsJson(group)}});
  }
  return {
      {"begin_ns", timeline.axis.begin_ns}, {"step_ns", timeline.axis.step_ns}, {"steps", steps}, {"groups", groups}};
}

}  // namespace heaprec::tools

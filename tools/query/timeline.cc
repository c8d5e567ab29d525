#include "tools/query/timeline.h"

#include <algorithm>

namespace heaprec::tools {
namespace {

constexpr double kMib = 1 << 20;

double PerUnit(uint64_t count, double of) { return of > 0 ? static_cast<double>(count) / of : 0; }

}  // namespace

double Timeline::Series::Most() const {
  double most = 0;
  for (const Estimate& rate : rates) most = std::max(most, rate.value);
  return most;
}

std::vector<double> Timeline::HeapUsed() const {
  std::vector<double> used;
  for (const StepState& state : states) {
    const double before = used.empty() ? 0 : used.back();
    used.push_back(state.heap_used > 0 ? static_cast<double>(state.heap_used) : before);
  }
  return used;
}

std::vector<double> Timeline::SamplesPerMib() const {
  std::vector<double> values;
  for (const StepState& state : states) values.push_back(PerUnit(state.kept, static_cast<double>(state.bytes) / kMib));
  return values;
}

std::vector<double> Timeline::RateUsed() const {
  std::vector<double> values;
  for (const StepState& state : states) values.push_back(PerUnit(state.kept, static_cast<double>(state.allowed)));
  return values;
}

Timeline TimelineOf(const TimelineVisitor& scan, const std::vector<std::string>& groups, bool counts_events) {
  Timeline timeline{
      .axis = scan.axis(), .counts_events = counts_events, .all = {}, .groups = {}, .states = scan.states()};
  const double per_second = 1 / scan.axis().Seconds();
  timeline.all.name = counts_events ? "all, events/s" : "all, bytes/s";
  for (size_t step = 0; step < scan.axis().steps; ++step) {
    timeline.all.rates.push_back(Scaled(scan.InStep(step).bytes, per_second));
  }
  for (size_t group = 0; group < groups.size(); ++group) {
    timeline.groups.push_back({groups[group], {}});
    for (size_t step = 0; step < scan.axis().steps; ++step) {
      timeline.groups.back().rates.push_back(Scaled(scan.InStep(step, group).bytes, per_second));
    }
  }
  return timeline;
}

}  // namespace heaprec::tools

#include "tools/fleet/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace heaprec::tools::fleet {
namespace {

constexpr uint32_t kRowsOfTimeline = 60, kHour = 3600;

std::string HostOf(const RecordingInfo& info) { return info.service + '\0' + info.host; }

template <typename Row>
format::Result<RowNames> NamesFor(Source* source, const std::vector<Row>& rows) {
  std::vector<RowKey> keys;
  for (const Row& row : rows) keys.push_back(row.key);
  return RowNames::Of(source, keys);
}

// What passes the filter as one sum: rows of sites, each of which is added apart.
format::Result<PooledSums> PoolAll(Source* source, const Selection& selection) {
  const FleetEstimator estimator(selection.totals);
  auto pooled = source->Pool({.range = selection.range,
                              .recordings = estimator.scales(),
                              .by = RowGrain::kSite,
                              .filter = selection.filter,
                              .step = 0});
  if (!pooled.ok()) return pooled.error();
  PooledSums all;
  for (const PooledRow& row : *pooled) all += row.pooled;
  return all;
}

// For classes and sites uses whole hours, which are read rolled up: a sixth of the rows, or less.
uint32_t StepFor(const Scope& scope, uint32_t slice, bool is_filtered) {
  constexpr uint32_t kSteps[] = {10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400};
  uint32_t wanted = (scope.to - scope.from) / kRowsOfTimeline;
  if (is_filtered && wanted > kHour / 6) wanted = std::max(wanted, kHour);
  for (const uint32_t step : kSteps) {
    if (step % slice == 0 && step >= wanted) return step;
  }
  return 86400;
}

}  // namespace

Scope ScopeOf(const Selection& selection) {
  Scope scope;
  std::set<std::string> hosts;
  scope.from = UINT32_MAX;
  for (const RecordingInfo& info : selection.recordings) {
    hosts.insert(HostOf(info));
    scope.from = std::min(scope.from, std::max(info.started, selection.range.from));
    scope.to = std::max(scope.to, std::min(info.seen, selection.range.to));
    if (!info.trustworthy) ++scope.untrustworthy;
  }
  scope.to = std::max(scope.to, scope.from);
  scope.hosts = hosts.size();
  scope.recordings = selection.recordings.size();
  for (const auto& [id, totals] : selection.totals) scope.seconds += totals.seconds, scope.lost += totals.lost;
  scope.bytes = FleetEstimator(selection.totals).Total();
  return scope;
}

format::Result<std::vector<ServiceRow>> Services(const Selection& selection) {
  struct Group {
    std::set<std::string> hosts;
    std::map<uint64_t, Totals> totals;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Group> groups;
  for (const RecordingInfo& info : selection.recordings) {
    Group& group = groups[{info.service, info.version, info.environment}];
    group.hosts.insert(HostOf(info));
    group.totals.emplace(info.id, selection.totals.at(info.id));
  }
  const double all = FleetEstimator(selection.totals).Total().value;
  std::vector<ServiceRow> rows;
  for (const auto& [name, group] : groups) {
    ServiceRow row;
    std::tie(row.service, row.version, row.environment) = name;
    row.hosts = group.hosts.size();
    for (const auto& [id, totals] : group.totals) row.host_seconds += totals.seconds;
    const FleetEstimator estimator(group.totals);
    row.bytes = estimator.Total();
    const double per_second = row.host_seconds > 0 ? 1 / row.host_seconds : 0;
    row.per_second = Scaled(row.bytes, per_second);
    row.objects_per_second = Scaled(estimator.TotalObjects(), per_second);
    row.share = all > 0 ? row.bytes.value / all : 0;
    rows.push_back(std::move(row));
  }
  std::ranges::sort(rows, [](const ServiceRow& a, const ServiceRow& b) { return a.bytes.value > b.bytes.value; });
  return rows;
}

format::Result<TopAnswer> Top(Source* source, const Selection& selection, RowGrain by, size_t limit) {
  const FleetEstimator estimator(selection.totals);
  auto pooled = source->Pool(
      {.range = selection.range, .recordings = estimator.scales(), .by = by, .filter = selection.filter, .step = 0});
  if (!pooled.ok()) return pooled.error();
  std::ranges::sort(*pooled, [](const PooledRow& a, const PooledRow& b) {
    return std::tuple(-a.pooled.sums.bytes, a.key) < std::tuple(-b.pooled.sums.bytes, b.key);
  });
  TopAnswer answer;
  answer.count = pooled->size();
  if (limit > 0 && pooled->size() > limit) pooled->resize(limit);
  auto names = NamesFor(source, *pooled);
  if (!names.ok()) return names.error();
  for (const PooledRow& row : *pooled) {
    answer.rows.push_back({row.key, names->Of(row.key), estimator.Bytes(row.pooled), estimator.Objects(row.pooled),
                           estimator.Share(row.pooled), row.pooled.sums.samples});
  }
  return answer;
}

format::Result<std::vector<TimelineRow>> Timeline(Source* source, const Selection& selection, uint32_t step) {
  const uint32_t slice = source->slice_seconds();
  const bool is_filtered = selection.filter.classes || selection.filter.sites;
  if (step == 0) step = StepFor(ScopeOf(selection), slice, is_filtered);
  if (step % slice != 0) {
    return format::Error{fmt::format("--step must be a multiple of the slices of {} s", slice)};
  }
  const FleetEstimator estimator(selection.totals);
  std::vector<TimelineRow> rows;
  if (is_filtered) {
    auto pooled = source->Pool({.range = selection.range,
                                .recordings = estimator.FactorsOnly(),
                                .by = selection.filter.sites ? RowGrain::kSite : RowGrain::kClass,
                                .filter = selection.filter,
                                .step = step});
    if (!pooled.ok()) return pooled.error();
    for (const PooledRow& row : *pooled) {
      rows.push_back({row.time, Scaled(estimator.BytesOfPart(row.pooled), 1.0 / step)});
    }
  } else {
    auto steps = source->TotalsByTime(selection.range, selection.ids(), step);
    if (!steps.ok()) return steps.error();
    for (const StepTotals& one : *steps) {
      PooledSums uncounted;
      uncounted.Add(one.uncounted.all, {});
      const Estimate rest = estimator.BytesOfPart(uncounted);
      const bool is_known = !(uncounted.sums.bytes > 0);
      const double counted = one.totals.counted;
      const Estimate all = is_known ? Estimate{counted, counted, counted}
                                    : Estimate{counted + rest.value, counted + rest.low, counted + rest.high};
      rows.push_back({one.time, Scaled(all, 1.0 / step)});
    }
  }
  std::ranges::sort(rows, {}, &TimelineRow::time);
  return rows;
}

format::Result<ShowAnswer> Show(Source* source, const Selection& selection, const std::string& name) {
  ShowAnswer answer;
  answer.name = name;
  auto services = Services(selection);
  if (!services.ok()) return services.error();
  PooledSums all;
  for (ServiceRow& row : *services) {
    Selection part = selection;
    std::erase_if(part.recordings, [&](const RecordingInfo& info) {
      return std::tie(info.service, info.version, info.environment) !=
             std::tie(row.service, row.version, row.environment);
    });
    std::erase_if(part.totals, [&](const auto& one) { return part.Find(one.first) == nullptr; });
    auto of_part = PoolAll(source, part);
    if (!of_part.ok()) return of_part.error();
    all += *of_part;
    const FleetEstimator estimator(part.totals);
    row.bytes = estimator.Bytes(*of_part);
    row.share = estimator.Share(*of_part).value;
    row.per_second = Scaled(row.bytes, row.host_seconds > 0 ? 1 / row.host_seconds : 0);
    row.objects_per_second = Scaled(estimator.Objects(*of_part), row.host_seconds > 0 ? 1 / row.host_seconds : 0);
    answer.services.push_back(row);
  }
  const FleetEstimator estimator(selection.totals);
  answer.bytes = estimator.Bytes(all);
  answer.share = estimator.Share(all);
  auto classes = Top(source, selection, RowGrain::kClass, 0);
  if (!classes.ok()) return classes.error();
  answer.classes = std::move(classes->rows);
  auto timeline = Timeline(source, selection, 0);
  if (!timeline.ok()) return timeline.error();
  answer.timeline = std::move(*timeline);
  return answer;
}

}  // namespace heaprec::tools::fleet

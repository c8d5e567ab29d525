#include "tools/fleet/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/result.h"
#include "tools/analysis/live/live_sum.h"

namespace heaprec::tools::fleet {
namespace {

constexpr uint32_t kRowsOfTimeline = 60, kHour = 3600;

std::string HostOf(const RecordingInfo& info) { return info.service + '\0' + info.host; }

// Sums everything that passes the filter: rows of sites, each of which is added separately.
Result<PooledSums> PoolAll(Source* source, const Selection& selection) {
  const FleetEstimator estimator(selection.totals);
  ASSIGN_OR_RETURN(auto pooled, source->Pool({.range = selection.range,
                                              .recordings = estimator.scales(),
                                              .by = RowGrain::kSite,
                                              .filter = selection.filter}));
  PooledSums all;
  for (const PooledRow& row : pooled) all += row.pooled;
  return all;
}

// Uses whole hours for classes and sites, which have been rolled up: a sixth of the rows, or fewer.
uint32_t StepFor(const Scope& scope, uint32_t slice, bool is_filtered) {
  constexpr uint32_t kSteps[] = {10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400};
  uint32_t wanted = (scope.to - scope.from) / kRowsOfTimeline;
  if (is_filtered && wanted > kHour / 6) wanted = std::max(wanted, kHour);
  for (const uint32_t step : kSteps) {
    if (step % slice == 0 && step >= wanted) return step;
  }
  return 86400;
}

struct Whole {
  LiveTotal total;
  double unit = 0;  // bytes that a sample represents
};

LiveTotal TotalOf(const PooledLive& row) {
  LiveTotal total = row.live.total();
  total.old_bytes = total.bytes;  // bytes that are certainly not garbage
  return total += row.may_be_garbage.total();
}

// As in LiveSnapshot (tools/analysis/live), but from sums: the square in V(w) (a - mean)^2 is expanded.
Estimate MeanAge(const LiveSums& of) {
  if (!(of.bytes > 0)) return RatioInterval(0, 0, 0);
  const double mean = of.aged / of.bytes;
  const double variance = std::max(of.aged_twice - 2 * mean * of.aged_once + mean * mean * of.variance, 0.0);
  return RatioInterval(mean, variance / (of.bytes * of.bytes), of.bytes * of.bytes / of.squares);
}

LiveRowAnswer AnswerOf(const PooledLive& row, const Whole& whole) {
  const LiveEstimates least = EstimateTotal(row.live.total(), whole.total, whole.unit);
  LiveRowAnswer answer{.key = row.key,
                       .name = {},
                       .bytes = least.bytes,
                       .objects = least.objects,
                       .share = least.share,
                       .age_s = MeanAge(row.live),
                       .samples = row.live.samples};
  if (row.may_be_garbage.samples > 0) {
    const LiveEstimates most = EstimateTotal(TotalOf(row), whole.total, whole.unit);
    const LiveEstimates range = RangeBetween(least, most, whole.total).estimates;
    answer.bytes = range.bytes, answer.objects = range.objects, answer.share = range.share;
    answer.samples += row.may_be_garbage.samples;
  }
  return answer;
}

double SizeOf(const LiveRowAnswer& row) { return IsRange(row.bytes) ? row.bytes.high : row.bytes.value; }

// Returns the bytes that an allocation sample represents: the unit of the detection limit if nothing is live.
double UnitOfAllocations(const Selection& selection) {
  Totals all;
  for (const auto& [id, one] : selection.totals) all += one;
  return all.all.bytes > 0 ? all.all.variance / all.all.bytes : 0;
}

// Returns the latest snapshot of each process, if it is not too old. A recording may have several parts.
std::vector<LiveMoment> OfRunning(const std::vector<LiveMoment>& snapshots, uint32_t slice, FleetLiveAnswer* answer) {
  std::map<uint64_t, LiveMoment> latest;
  for (const LiveMoment& one : snapshots) {
    LiveMoment& of_process = latest[one.process];
    if (std::tie(one.at, one.time) > std::tie(of_process.at, of_process.time)) of_process = one;
    answer->at = std::max(answer->at, one.at);
  }
  std::vector<LiveMoment> running;
  for (const auto& [process, one] : latest) {
    if (answer->at - one.at <= kLiveSlices * slice) running.push_back(one);
  }
  answer->processes = running.size();
  answer->gone = latest.size() - running.size();
  return running;
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

std::vector<ServiceRow> Services(const Selection& selection) {
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

Result<TopAnswer> Top(Source* source, const Selection& selection, RowGrain by, size_t limit) {
  const FleetEstimator estimator(selection.totals);
  ASSIGN_OR_RETURN(
      auto pooled,
      source->Pool({.range = selection.range, .recordings = estimator.scales(), .by = by, .filter = selection.filter}));
  std::ranges::sort(pooled, [](const PooledRow& a, const PooledRow& b) {
    return std::tuple(-a.pooled.sums.bytes, a.key) < std::tuple(-b.pooled.sums.bytes, b.key);
  });
  TopAnswer answer;
  answer.count = pooled.size();
  if (limit > 0 && pooled.size() > limit) pooled.resize(limit);
  for (const PooledRow& row : pooled) {
    answer.rows.push_back({row.key,
                           {},
                           estimator.Bytes(row.pooled),
                           estimator.Objects(row.pooled),
                           estimator.Share(row.pooled),
                           row.pooled.sums.samples});
  }
  RETURN_IF_ERROR(NameRows(source, &answer.rows));
  return answer;
}

Result<std::vector<TimelineRow>> Timeline(Source* source, const Selection& selection, uint32_t step) {
  const uint32_t slice = source->slice_seconds();
  const bool is_filtered = selection.filter.classes || selection.filter.sites;
  if (step == 0) step = StepFor(ScopeOf(selection), slice, is_filtered);
  if (step % slice != 0) {
    return Error{fmt::format("--step must be a multiple of the slices of {} s", slice)};
  }
  const FleetEstimator estimator(selection.totals);
  std::vector<TimelineRow> rows;
  if (is_filtered) {
    ASSIGN_OR_RETURN(auto pooled, source->Pool({.range = selection.range,
                                                .recordings = estimator.FactorsOnly(),
                                                .by = selection.filter.sites ? RowGrain::kSite : RowGrain::kClass,
                                                .filter = selection.filter,
                                                .rows_of = RowsOf::kStep,
                                                .step = step}));
    for (const PooledRow& row : pooled) {
      rows.push_back({row.step, Scaled(estimator.BytesOfPart(row.pooled), 1.0 / step)});
    }
  } else {
    ASSIGN_OR_RETURN(auto steps, source->TotalsOf(selection.range, selection.ids(), step));
    for (const TotalsRow& one : steps) {
      const double counted = one.counted.counted;
      PooledSums uncounted;
      uncounted.Add(one.uncounted.all, {});
      const Estimate rest = uncounted.sums.bytes > 0 ? estimator.BytesOfPart(uncounted) : Estimate{};
      const Estimate all{counted + rest.value, counted + rest.low, counted + rest.high};
      rows.push_back({one.step, Scaled(all, 1.0 / step)});
    }
  }
  std::ranges::sort(rows, {}, &TimelineRow::time);
  return rows;
}

Result<ShowAnswer> Show(Source* source, const Selection& selection, const std::string& name) {
  ShowAnswer answer;
  answer.name = name;
  PooledSums all;
  for (ServiceRow& row : Services(selection)) {
    Selection part = selection;
    std::erase_if(part.recordings, [&](const RecordingInfo& info) {
      return std::tie(info.service, info.version, info.environment) !=
             std::tie(row.service, row.version, row.environment);
    });
    std::erase_if(part.totals, [&](const auto& one) { return part.Find(one.first) == nullptr; });
    ASSIGN_OR_RETURN(auto of_part, PoolAll(source, part));
    all += of_part;
    const FleetEstimator estimator(part.totals);
    row.bytes = estimator.Bytes(of_part);
    row.share = estimator.Share(of_part).value;
    row.per_second = Scaled(row.bytes, row.host_seconds > 0 ? 1 / row.host_seconds : 0);
    row.objects_per_second = Scaled(estimator.Objects(of_part), row.host_seconds > 0 ? 1 / row.host_seconds : 0);
    answer.services.push_back(row);
  }
  const FleetEstimator estimator(selection.totals);
  answer.bytes = estimator.Bytes(all);
  answer.share = estimator.Share(all);
  ASSIGN_OR_RETURN(auto classes, Top(source, selection, RowGrain::kClass, 0));
  answer.classes = std::move(classes.rows);
  ASSIGN_OR_RETURN(answer.timeline, Timeline(source, selection, 0));
  return answer;
}

// heaprec fleet live: what is live in the processes of a fleet.
Result<FleetLiveAnswer> FleetLive(Source* source, const Selection& selection, RowGrain by, size_t limit) {
  FleetLiveAnswer answer;
  ASSIGN_OR_RETURN(auto snapshots, source->LiveMoments(selection.range, selection.ids()));
  if (snapshots.empty()) {
    return Error{"none of the recordings tracked objects; record with the agent's option live"};
  }
  answer.untracked = selection.recordings.size() - snapshots.size();
  const std::vector<LiveMoment> running = OfRunning(snapshots, source->slice_seconds(), &answer);
  std::set<std::pair<std::string, std::string>> hosts;
  for (const LiveMoment& one : running) {
    if (const RecordingInfo* info = selection.Find(one.recording)) hosts.emplace(info->service, info->host);
  }
  answer.hosts = hosts.size();
  ASSIGN_OR_RETURN(auto all, source->Live(running, RowGrain::kWhole, {}));
  Whole whole;
  for (const PooledLive& row : all) whole.total += TotalOf(row);
  whole.unit = whole.total.bytes > 0 ? whole.total.Unit() : UnitOfAllocations(selection);
  for (const PooledLive& row : all) answer.all = AnswerOf(row, whole);
  answer.none = TotalInterval(0, 0, whole.unit);
  ASSIGN_OR_RETURN(auto rows, source->Live(running, by, selection.filter));
  for (const PooledLive& row : rows) answer.rows.push_back(AnswerOf(row, whole));
  std::ranges::sort(answer.rows, [](const LiveRowAnswer& a, const LiveRowAnswer& b) {
    return std::tuple(-SizeOf(a), a.key) < std::tuple(-SizeOf(b), b.key);
  });
  answer.count = answer.rows.size();
  if (limit > 0 && answer.rows.size() > limit) answer.rows.resize(limit);
  RETURN_IF_ERROR(NameRows(source, &answer.rows));
  return answer;
}

}  // namespace heaprec::tools::fleet

// heaprec fleet live: what is live in the processes of a fleet.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tools/analysis/live/live_sum.h"
#include "tools/fleet/answers/answers.h"

namespace heaprec::tools::fleet {
namespace {

struct Whole {
  LiveTotal total;
  double unit = 0;  // bytes that a sample stands for
};

LiveTotal TotalOf(const PooledLive& row) {
  LiveTotal total = row.live.total();
  total.old_bytes = total.bytes;  // what is no garbage for certain
  return total += row.may_be_garbage.total();
}

// As LiveSnapshot (tools/analysis/live) has it, from sums: of V(w) (a - mean)^2 the square is multiplied out.
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

// The unit if nothing is live: the bytes that an allocation sample represents.
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

format::Result<FleetLiveAnswer> FleetLive(Source* source, const Selection& selection, RowGrain by, size_t limit) {
  FleetLiveAnswer answer;
  auto snapshots = source->LiveMoments(selection.range, selection.ids());
  if (!snapshots.ok()) return snapshots.error();
  if (snapshots->empty()) {
    return format::Error{"none of the recordings tracked objects; record with the agent's option live"};
  }
  answer.untracked = selection.recordings.size() - snapshots->size();
  const std::vector<LiveMoment> running = OfRunning(*snapshots, source->slice_seconds(), &answer);
  std::set<std::pair<std::string, std::string>> hosts;
  for (const LiveMoment& one : running) {
    if (const RecordingInfo* info = selection.Find(one.recording)) hosts.emplace(info->service, info->host);
  }
  answer.hosts = hosts.size();
  auto all = source->Live(running, RowGrain::kWhole, {});
  if (!all.ok()) return all.error();
  Whole whole;
  for (const PooledLive& row : *all) whole.total += TotalOf(row);
  whole.unit = whole.total.bytes > 0 ? whole.total.Unit() : UnitOfAllocations(selection);
  for (const PooledLive& row : *all) answer.all = AnswerOf(row, whole);
  answer.none = TotalInterval(0, 0, whole.unit);
  auto rows = source->Live(running, by, selection.filter);
  if (!rows.ok()) return rows.error();
  for (const PooledLive& row : *rows) answer.rows.push_back(AnswerOf(row, whole));
  std::ranges::sort(answer.rows, [](const LiveRowAnswer& a, const LiveRowAnswer& b) {
    return std::tuple(-SizeOf(a), a.key) < std::tuple(-SizeOf(b), b.key);
  });
  answer.count = answer.rows.size();
  if (limit > 0 && answer.rows.size() > limit) answer.rows.resize(limit);
  std::vector<RowKey> keys;
  for (const LiveRowAnswer& row : answer.rows) keys.push_back(row.key);
  auto names = RowNames::Of(source, keys);
  if (!names.ok()) return names.error();
  for (LiveRowAnswer& row : answer.rows) row.name = names->Of(row.key);
  return answer;
}

}  // namespace heaprec::tools::fleet

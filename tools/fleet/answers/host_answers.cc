// The answers whose unit is the host: diff and outliers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "tools/fleet/answers/answers.h"

namespace heaprec::tools::fleet {
namespace {

// Hosts by number, and what their recordings add to their rates.
class Units {
 public:
  uint32_t Of(const RecordingInfo& info) {
    const auto [at, is_new] = numbers_.try_emplace({info.service, info.host}, static_cast<uint32_t>(hosts_.size()));
    if (is_new) hosts_.push_back(info.host);
    return at->second;
  }
  const std::string& host(uint32_t unit) const { return hosts_[unit]; }
  size_t size() const { return hosts_.size(); }

 private:
  std::map<std::pair<std::string, std::string>, uint32_t> numbers_;
  std::vector<std::string> hosts_;
};

// A side with the rates of its hosts over all sites.
struct Built {
  Side side;
  std::map<uint32_t, double> rates;  // by unit
};

Built Build(const Selection& selection, const TimeRange& range, const std::map<uint64_t, Totals>& totals,
            Units* units) {
  Built built{.side = {.range = range, .shares = {}}, .rates = {}};
  std::map<uint32_t, double> seconds;
  for (const auto& [id, one] : totals) {
    if (const RecordingInfo* info = selection.Find(id)) seconds[units->Of(*info)] += one.seconds;
  }
  for (const auto& [id, one] : totals) {
    const RecordingInfo* info = selection.Find(id);
    if (info == nullptr) continue;
    const uint32_t unit = units->Of(*info);
    if (!(seconds[unit] > 0)) continue;
    built.side.shares.push_back({id, unit, one.Factor() / seconds[unit]});
    built.rates[unit] += (one.IsCalibrated() || !(one.all.bytes > 0) ? one.counted : one.all.bytes) / seconds[unit];
  }
  return built;
}

HostSums SumsOf(const std::map<uint32_t, double>& rates) {
  HostSums sums;
  sums.hosts = rates.size();
  for (const auto& [unit, rate] : rates) sums.sum += rate, sums.squares += rate * rate;
  return sums;
}

std::map<uint64_t, Totals> TotalsOf(const Selection& selection, const std::string& version) {
  std::map<uint64_t, Totals> totals;
  for (const RecordingInfo& info : selection.recordings) {
    if (MatchesGlob(version, info.version)) totals.emplace(info.id, selection.totals.at(info.id));
  }
  return totals;
}

HostComparison CompareRow(const Moments& row, const DiffAnswer& answer) {
  if (answer.is_paired) return ComparePaired(row.before, row.after, row.difference_squares, answer.hosts_before);
  return CompareHosts({row.before, row.before_squares, answer.hosts_before},
                      {row.after, row.after_squares, answer.hosts_after});
}

// The sites of both sides together that make up enough.
std::optional<format::Error> AddRows(Source* source, const CompareQuery& query, const DiffOptions& options,
                                     DiffAnswer* answer) {
  auto moments = source->Compare(query);
  if (!moments.ok()) return moments.error();
  const double least = options.min_share * (answer->all.before + answer->all.after);
  for (const Moments& row : *moments) {
    DiffRow one{.key = row.key, .name = {}, .rates = CompareRow(row, *answer)};
    if (one.rates.before + one.rates.after >= least) answer->rows.push_back(std::move(one));
  }
  std::vector<HostComparison*> judged;
  for (DiffRow& row : answer->rows) judged.push_back(&row.rates);
  JudgeHosts(judged, options.rate);
  std::ranges::sort(answer->rows, [](const DiffRow& a, const DiffRow& b) {
    return std::tuple(!a.rates.is_real, -std::abs(a.rates.change.value), a.key) <
           std::tuple(!b.rates.is_real, -std::abs(b.rates.change.value), b.key);
  });
  answer->real =
      static_cast<size_t>(std::ranges::count_if(answer->rows, [](const DiffRow& row) { return row.rates.is_real; }));
  std::vector<RowKey> keys;
  for (const DiffRow& row : answer->rows) keys.push_back(row.key);
  auto names = RowNames::Of(source, keys);
  if (!names.ok()) return names.error();
  for (DiffRow& row : answer->rows) row.name = names->Of(row.key);
  return {};
}

}  // namespace

format::Result<DiffAnswer> DiffVersions(Source* source, const Selection& selection, const std::string& before,
                                        const std::string& after, const DiffOptions& options) {
  Units units;
  const Built one = Build(selection, selection.range, TotalsOf(selection, before), &units);
  const Built other = Build(selection, selection.range, TotalsOf(selection, after), &units);
  for (const auto& [built, version] : {std::pair(&one, &before), std::pair(&other, &after)}) {
    if (built->rates.size() < 2) {
      return format::Error{fmt::format("version '{}' has {} host{}; a comparison needs two or more on each side",
                                       *version, built->rates.size(), built->rates.size() == 1 ? "" : "s")};
    }
  }
  DiffAnswer answer;
  answer.hosts_before = one.rates.size();
  answer.hosts_after = other.rates.size();
  answer.all = CompareHosts(SumsOf(one.rates), SumsOf(other.rates));
  const CompareQuery query{.by = options.by, .filter = selection.filter, .before = one.side, .after = other.side};
  if (auto error = AddRows(source, query, options, &answer)) return *error;
  return answer;
}

format::Result<DiffAnswer> DiffDeploy(Source* source, const Selection& selection, uint32_t deploy,
                                      const DiffOptions& options) {
  const uint32_t slice = source->slice_seconds();
  // The slice in which it happened is of neither side.
  const TimeRange first{selection.range.from, deploy / slice * slice};
  const TimeRange second{static_cast<uint32_t>((uint64_t{deploy} + slice - 1) / slice * slice), selection.range.to};
  auto before = source->TotalsOf(first, selection.ids());
  if (!before.ok()) return before.error();
  auto after = source->TotalsOf(second, selection.ids());
  if (!after.ok()) return after.error();
  Units units;
  Built one = Build(selection, first, *before, &units), other = Build(selection, second, *after, &units);
  for (auto [of, in] : {std::pair(&one, &other), std::pair(&other, &one)}) {
    std::erase_if(of->side.shares, [&](const UnitShare& share) { return !in->rates.contains(share.unit); });
    std::erase_if(of->rates, [&](const auto& rate) { return !in->rates.contains(rate.first); });
  }
  if (one.rates.size() < 2) {
    return format::Error{
        fmt::format("{} hosts were recorded both before and after; a comparison needs two or more", one.rates.size())};
  }
  DiffAnswer answer;
  answer.is_paired = true;
  answer.hosts_before = answer.hosts_after = one.rates.size();
  double sum_before = 0, sum_after = 0, squares = 0;
  for (const auto& [unit, rate] : one.rates) {
    const double later = other.rates[unit];
    sum_before += rate, sum_after += later, squares += (later - rate) * (later - rate);
  }
  answer.all = ComparePaired(sum_before, sum_after, squares, one.rates.size());
  const CompareQuery query{.by = options.by, .filter = selection.filter, .before = one.side, .after = other.side};
  if (auto error = AddRows(source, query, options, &answer)) return *error;
  return answer;
}

format::Result<std::vector<OutlierRow>> Outliers(Source* source, const Selection& selection, RowGrain by,
                                                 double min_share, double least_z) {
  const FleetEstimator estimator(selection.totals);
  auto pooled = source->Pool(
      {.range = selection.range, .recordings = estimator.scales(), .by = by, .filter = selection.filter, .step = 0});
  if (!pooled.ok()) return pooled.error();
  const double least = min_share * estimator.Total().value;
  RowFilter filter = selection.filter;
  std::set<uint64_t> classes, sites;
  for (const PooledRow& row : *pooled) {
    if (row.pooled.sums.bytes < least) continue;
    if (by != RowGrain::kSite) classes.insert(row.key.class_id);
    if (by != RowGrain::kClass) sites.insert(row.key.site);
  }
  if (by != RowGrain::kSite) filter.classes.emplace(classes.begin(), classes.end());
  if (by != RowGrain::kClass) filter.sites.emplace(sites.begin(), sites.end());
  Units units;
  const Built built = Build(selection, selection.range, selection.totals, &units);
  if (units.size() < 3) return format::Error{"outliers need three or more hosts"};
  auto rates = source->Rates(by, filter, built.side);
  if (!rates.ok()) return rates.error();
  std::map<RowKey, std::vector<HostRate>> by_key;
  for (const UnitRate& rate : *rates) by_key[rate.key].push_back({rate.unit, rate.rate, rate.variance});
  std::vector<OutlierRow> rows;
  for (const auto& [key, hosts] : by_key) {
    for (const Outlier& one : ScoreHosts(hosts, units.size())) {
      if (std::abs(one.z) >= least_z) rows.push_back({units.host(one.host), key, {}, one.rate, one.median, one.z});
    }
  }
  std::ranges::sort(rows, [](const OutlierRow& a, const OutlierRow& b) {
    return std::tuple(-std::abs(a.z), a.host, a.key) < std::tuple(-std::abs(b.z), b.host, b.key);
  });
  std::vector<RowKey> keys;
  for (const OutlierRow& row : rows) keys.push_back(row.key);
  auto names = RowNames::Of(source, keys);
  if (!names.ok()) return names.error();
  for (OutlierRow& row : rows) row.name = names->Of(row.key);
  return rows;
}

}  // namespace heaprec::tools::fleet

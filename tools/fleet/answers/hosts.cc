#include "tools/fleet/answers/hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/result.h"
#include "tools/fleet/answers/answers.h"

namespace heaprec::tools::fleet {
namespace {

constexpr double kPower = 0.8;
constexpr double kMadToSigma = 1.4826;  // of a normal distribution

double VarianceOf(const HostSums& of) {
  const auto n = static_cast<double>(of.hosts);
  return n > 1 ? std::max((of.squares - of.sum * of.sum / n) / (n - 1), 0.0) : 0;
}

void Conclude(double error, double freedom, HostComparison* comparison) {
  const double change = comparison->after - comparison->before;
  comparison->change = {change, change, change};
  if (!(error > 0)) {
    // All hosts are equal.
    comparison->p = change == 0 ? 1 : 0;
    return;
  }
  const double t = StudentTwoSided(0.05, freedom);
  comparison->change = {change, change - t * error, change + t * error};
  comparison->p = std::min(2 * StudentAbove(std::abs(change) / error, freedom), 1.0);
  comparison->detectable = (t + StudentTwoSided(2 * (1 - kPower), freedom)) * error;
}

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (*std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle)) + upper) / 2;
}

// Hosts by number.
class Hosts {
 public:
  uint32_t NumberOf(const RecordingInfo& info) {
    const auto [at, is_new] = numbers_.try_emplace({info.service, info.host}, static_cast<uint32_t>(names_.size()));
    if (is_new) names_.push_back(info.host);
    return at->second;
  }
  const std::string& name(uint32_t host) const { return names_[host]; }
  size_t size() const { return names_.size(); }

 private:
  std::map<std::pair<std::string, std::string>, uint32_t> numbers_;
  std::vector<std::string> names_;
};

// A side, with the rates of its hosts over all sites.
struct SideOfHosts {
  Side side;
  std::map<uint32_t, double> rates;  // by host
};

SideOfHosts SideOf(const Selection& selection, const TimeRange& range, const std::map<uint64_t, Totals>& totals,
                   Hosts* hosts) {
  SideOfHosts of{.side = {.range = range, .recordings = {}}, .rates = {}};
  std::map<uint32_t, double> seconds;
  for (const auto& [id, one] : totals) {
    if (const RecordingInfo* info = selection.Find(id)) seconds[hosts->NumberOf(*info)] += one.seconds;
  }
  for (const auto& [id, one] : totals) {
    const RecordingInfo* info = selection.Find(id);
    if (info == nullptr) continue;
    const uint32_t host = hosts->NumberOf(*info);
    if (!(seconds[host] > 0)) continue;
    of.side.recordings.push_back({.recording = id, .host = host, .factor = one.Factor() / seconds[host]});
    of.rates[host] += one.Bytes() / seconds[host];
  }
  return of;
}

HostSums SumsOf(const std::map<uint32_t, double>& rates) {
  HostSums sums;
  sums.hosts = rates.size();
  for (const auto& [host, rate] : rates) sums.sum += rate, sums.squares += rate * rate;
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

// Adds the sites that together have a sufficient share of the bytes of both sides.
Status AddRows(Source* source, const CompareQuery& query, const DiffOptions& options, DiffAnswer* answer) {
  ASSIGN_OR_RETURN(auto moments, source->Compare(query));
  const double least = options.min_share * (answer->all.before + answer->all.after);
  for (const Moments& row : moments) {
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
  return NameRows(source, &answer->rows);
}

}  // namespace

HostComparison CompareHosts(const HostSums& before, const HostSums& after) {
  HostComparison comparison;
  const auto n = static_cast<double>(before.hosts), m = static_cast<double>(after.hosts);
  comparison.before = n > 0 ? before.sum / n : 0;
  comparison.after = m > 0 ? after.sum / m : 0;
  const double change = comparison.after - comparison.before;
  comparison.change = {change, -INFINITY, INFINITY};
  if (before.hosts < 2 || after.hosts < 2) return comparison;
  const double one = VarianceOf(before) / n, other = VarianceOf(after) / m, both = one + other;
  const double freedom = both > 0 ? both * both / (one * one / (n - 1) + other * other / (m - 1)) : n + m - 2;
  Conclude(std::sqrt(both), freedom, &comparison);
  return comparison;
}

HostComparison ComparePaired(double before, double after, double difference_squares, size_t hosts) {
  HostComparison comparison;
  const auto n = static_cast<double>(hosts);
  if (hosts > 0) comparison.before = before / n, comparison.after = after / n;
  const double change = comparison.after - comparison.before;
  comparison.change = {change, -INFINITY, INFINITY};
  if (hosts < 2) return comparison;
  const double variance = VarianceOf({.sum = after - before, .squares = difference_squares, .hosts = hosts});
  Conclude(std::sqrt(variance / n), n - 1, &comparison);
  return comparison;
}

void JudgeHosts(std::vector<HostComparison*> rows, double rate) {
  std::sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->p > b->p; });
  double q = 1;
  for (size_t i = 0; i < rows.size(); ++i) {
    q = std::min(q, rows[i]->p * static_cast<double>(rows.size()) / static_cast<double>(rows.size() - i));
    rows[i]->q = q;
    rows[i]->is_real = q <= rate;
  }
}

std::vector<Outlier> ScoreHosts(const std::vector<HostRate>& rates, size_t hosts) {
  std::vector<double> values(std::max(hosts, rates.size()), 0.0);
  for (size_t i = 0; i < rates.size(); ++i) values[i] = rates[i].rate;
  const double median = MedianOf(values);
  for (double& value : values) value = std::abs(value - median);
  const double sigma = kMadToSigma * MedianOf(values);
  std::vector<Outlier> scored;
  for (const HostRate& one : rates) {
    const double error = std::sqrt(sigma * sigma + one.variance);
    const double distance = one.rate - median;
    scored.push_back({one.host, one.rate, median, error > 0 ? distance / error : (distance == 0 ? 0 : INFINITY)});
  }
  return scored;
}

// The answers whose unit is the host: diff and outliers.
Result<DiffAnswer> DiffVersions(Source* source, const Selection& selection, const std::string& before,
                                const std::string& after, const DiffOptions& options) {
  Hosts hosts;
  const SideOfHosts one = SideOf(selection, selection.range, TotalsOf(selection, before), &hosts);
  const SideOfHosts other = SideOf(selection, selection.range, TotalsOf(selection, after), &hosts);
  for (const auto& [of, version] : {std::pair(&one, &before), std::pair(&other, &after)}) {
    if (of->rates.size() < 2) {
      return Error{fmt::format("version '{}' has {} host{}; a comparison needs two or more on each side", *version,
                               of->rates.size(), of->rates.size() == 1 ? "" : "s")};
    }
  }
  DiffAnswer answer;
  answer.hosts_before = one.rates.size();
  answer.hosts_after = other.rates.size();
  answer.all = CompareHosts(SumsOf(one.rates), SumsOf(other.rates));
  const CompareQuery query{.by = options.by, .filter = selection.filter, .before = one.side, .after = other.side};
  RETURN_IF_ERROR(AddRows(source, query, options, &answer));
  return answer;
}

Result<DiffAnswer> DiffDeploy(Source* source, const Selection& selection, uint32_t deploy, const DiffOptions& options) {
  const uint32_t slice = source->slice_seconds();
  // The slice that contains the time belongs to neither side.
  const TimeRange first{selection.range.from, deploy / slice * slice};
  const TimeRange second{static_cast<uint32_t>((uint64_t{deploy} + slice - 1) / slice * slice), selection.range.to};
  ASSIGN_OR_RETURN(auto before, TotalsIn(source, selection, first));
  ASSIGN_OR_RETURN(auto after, TotalsIn(source, selection, second));
  Hosts hosts;
  SideOfHosts one = SideOf(selection, first, before, &hosts), other = SideOf(selection, second, after, &hosts);
  for (auto [of, in] : {std::pair(&one, &other), std::pair(&other, &one)}) {
    std::erase_if(of->side.recordings, [&](const RecordingScale& scale) { return !in->rates.contains(scale.host); });
    std::erase_if(of->rates, [&](const auto& rate) { return !in->rates.contains(rate.first); });
  }
  if (one.rates.size() < 2) {
    return Error{
        fmt::format("{} hosts were recorded both before and after; a comparison needs two or more", one.rates.size())};
  }
  DiffAnswer answer;
  answer.is_paired = true;
  answer.hosts_before = answer.hosts_after = one.rates.size();
  double sum_before = 0, sum_after = 0, squares = 0;
  for (const auto& [host, rate] : one.rates) {
    const double later = other.rates[host];
    sum_before += rate, sum_after += later, squares += (later - rate) * (later - rate);
  }
  answer.all = ComparePaired(sum_before, sum_after, squares, one.rates.size());
  const CompareQuery query{.by = options.by, .filter = selection.filter, .before = one.side, .after = other.side};
  RETURN_IF_ERROR(AddRows(source, query, options, &answer));
  return answer;
}

Result<std::vector<OutlierRow>> Outliers(Source* source, const Selection& selection, RowGrain by, double min_share,
                                         double least_z) {
  const FleetEstimator estimator(selection.totals);
  PoolQuery query{.range = selection.range, .recordings = estimator.scales(), .by = by, .filter = selection.filter};
  ASSIGN_OR_RETURN(auto pooled, source->Pool(query));
  const double least = min_share * estimator.Total().value;
  std::set<uint64_t> classes, sites;
  for (const PooledRow& row : pooled) {
    if (row.pooled.sums.bytes < least) continue;
    if (by != RowGrain::kSite) classes.insert(row.key.class_id);
    if (by != RowGrain::kClass) sites.insert(row.key.site);
  }
  if (by != RowGrain::kSite) query.filter.classes.emplace(classes.begin(), classes.end());
  if (by != RowGrain::kClass) query.filter.sites.emplace(sites.begin(), sites.end());
  Hosts hosts;
  query.recordings = SideOf(selection, selection.range, selection.totals, &hosts).side.recordings;
  query.rows_of = RowsOf::kHost;
  if (hosts.size() < 3) return Error{"outliers need three or more hosts"};
  ASSIGN_OR_RETURN(auto rates, source->Pool(query));
  std::map<RowKey, std::vector<HostRate>> by_key;
  for (const PooledRow& row : rates) {
    by_key[row.key].push_back({row.host, row.pooled.sums.bytes, row.pooled.sums.variance});
  }
  std::vector<OutlierRow> rows;
  for (const auto& [key, of_hosts] : by_key) {
    for (const Outlier& one : ScoreHosts(of_hosts, hosts.size())) {
      if (std::abs(one.z) >= least_z) rows.push_back({hosts.name(one.host), key, {}, one.rate, one.median, one.z});
    }
  }
  std::ranges::sort(rows, [](const OutlierRow& a, const OutlierRow& b) {
    return std::tuple(-std::abs(a.z), a.host, a.key) < std::tuple(-std::abs(b.z), b.host, b.key);
  });
  RETURN_IF_ERROR(NameRows(source, &rows));
  return rows;
}

}  // namespace heaprec::tools::fleet

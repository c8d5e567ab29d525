#include "tools/fleet/answers/hosts.h"

#include <algorithm>
#include <cmath>

#include "tools/analysis/estimate/distributions.h"

namespace heaprec::tools::fleet {
namespace {

constexpr double kPower = 0.8;
constexpr double kMadToSigma = 1.4826;  // of a normal distribution

// P(|T| > t) of Student's distribution.
double TwoSided(double t, double freedom) {
  return std::clamp(BetaBelow(freedom / (freedom + t * t), freedom / 2, 0.5), 0.0, 1.0);
}

// The t of which P(|T| > t) = p.
double Quantile(double p, double freedom) {
  const double x = BetaQuantile(p, freedom / 2, 0.5);
  return x > 0 ? std::sqrt(freedom * (1 - x) / x) : 0;
}

double VarianceOf(const HostSums& of) {
  const auto n = static_cast<double>(of.hosts);
  return n > 1 ? std::max((of.squares - of.sum * of.sum / n) / (n - 1), 0.0) : 0;
}

void Conclude(double error, double freedom, HostComparison* comparison) {
  const double change = comparison->after - comparison->before;
  comparison->change = {change, change, change};
  if (!(error > 0)) {
    // No host differs from another.
    comparison->p = change == 0 ? 1 : 0;
    return;
  }
  const double t = Quantile(0.05, freedom);
  comparison->change = {change, change - t * error, change + t * error};
  comparison->p = TwoSided(std::abs(change) / error, freedom);
  comparison->detectable = (t + Quantile(2 * (1 - kPower), freedom)) * error;
}

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (*std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle)) + upper) / 2;
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

}  // namespace heaprec::tools::fleet

// Throttles side by side on the same arrivals: bench/throttle/README.md#throttles-compared, its tables and its plots.
// usage: compare [seconds per load] [directory for the plots] [trace]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "bench/throttle/arrivals.h"
#include "bench/throttle/policies.h"
#include "bench/throttle/svg.h"

namespace heaprec::bench {
namespace {

constexpr double kRate = 150, kBatch = 12;  // xCap is judged over so many seconds
constexpr size_t kBins = 20;
const std::vector<std::string> kPolicies = {"falling", "window", "jfr", "bucket", "pid"};

struct Sums {
  std::array<double, kSites> weight{}, truth{};
  double squares = 0;  // of the seconds' bytes
};

// The distance of the estimated shares from the true ones, over that of as many independent points as the cap allows.
double XCap(const Sums& sums) {
  double weight = 0, truth = 0, distance = 0, ideal = 0;
  for (const double w : sums.weight) weight += w;
  for (const double b : sums.truth) truth += b;
  if (weight == 0) return NAN;
  for (uint32_t s = 0; s < kSites; ++s) {
    const double p = sums.truth[s] / truth;
    distance += std::abs(sums.weight[s] / weight - p) / 2;
    ideal += std::sqrt(2 / M_PI * p * (1 - p) * sums.squares / kRate) / truth / 2;
  }
  return distance / ideal;
}

struct Result {
  double windows = 0, fill = 0, seconds_that_could = 0, x_cap = 0, batches = 0, recovery = NAN;
  size_t most_in_interval = 0, most_in_a_second = 0;
  std::array<double, kBins> weight{}, truth{};
  std::vector<double> per_second;  // kept in each
  double Bias(size_t from, size_t to) const {
    double w = 0, b = 0, all_w = 0, all_b = 0;
    for (size_t i = 0; i < kBins; ++i) all_w += weight[i], all_b += truth[i];
    for (size_t i = from; i < to; ++i) w += weight[i], b += truth[i];
    return w / b / (all_w / all_b);
  }
};

class Judge {
 public:
  Judge(double seconds, Result* result)
      : result_(result),
        kept_(Size(seconds)),
        candidates_(Size(seconds)),
        bytes_(Size(seconds)),
        batches_(Size(seconds / kBatch)) {}

  void Offered(const Arrival& arrival) {
    ++candidates_[Second(arrival)];
    bytes_[Second(arrival)] += arrival.bytes;
    Batch(arrival).truth[arrival.site] += arrival.bytes;
    result_->truth[Bin(arrival)] += arrival.bytes;
  }
  void Took(const Kept& kept) {
    const Arrival& arrival = kept.arrival;
    ++kept_[Second(arrival)];
    Batch(arrival).weight[arrival.site] += kept.weight;
    result_->weight[Bin(arrival)] += kept.weight;
    times_.push_back(arrival.time_ns);
  }
  void Finish(double seconds, double step) {
    for (size_t s = 0; s < static_cast<size_t>(seconds); ++s) {
      batches_[s / static_cast<size_t>(kBatch)].squares += bytes_[s] * bytes_[s];
      result_->most_in_interval = std::max(result_->most_in_interval, static_cast<size_t>(kept_[s]));
      if (candidates_[s] < 1.5 * kRate) continue;
      result_->fill += std::min(1.0, kept_[s] / kRate);
      ++result_->seconds_that_could;
    }
    for (size_t i = 0; i + 1 < batches_.size(); ++i) {
      const double x = XCap(batches_[i]);
      if (!std::isnan(x)) result_->x_cap += x, ++result_->batches;
    }
    std::sort(times_.begin(), times_.end());
    for (size_t first = 0, last = 0; last < times_.size(); ++last) {
      while (times_[last] - times_[first] >= 1'000'000'000) ++first;
      result_->most_in_a_second = std::max(result_->most_in_a_second, last - first + 1);
    }
    result_->per_second = kept_;
    if (step > 0) result_->recovery = Recovery(step, seconds - 2);
  }

 private:
  static size_t Size(double n) { return static_cast<size_t>(n) + 2; }
  static size_t Second(const Arrival& a) { return a.time_ns / 1'000'000'000; }
  static size_t Bin(const Arrival& a) { return std::min(kBins - 1, static_cast<size_t>(a.position * kBins)); }
  Sums& Batch(const Arrival& a) { return batches_[Second(a) / static_cast<size_t>(kBatch)]; }
  // The time from which three seconds in a row hold 80 to 135 % of the rate.
  double Recovery(double step, double end) const {
    const auto in_second = [&](double t) {
      const auto at = [&](double x) {
        return std::lower_bound(times_.begin(), times_.end(), static_cast<uint64_t>(x * 1e9)) - times_.begin();
      };
      return static_cast<double>(at(t + 1) - at(t));
    };
    for (double t = step; t + 3 < end; t += 0.1) {
      bool good = true;
      for (const double n : {in_second(t), in_second(t + 1), in_second(t + 2)})
        good = good && n >= 0.8 * kRate && n <= 1.35 * kRate;
      if (good) return t - step;
    }
    return NAN;
  }

  Result* result_;
  std::vector<double> kept_, candidates_, bytes_;
  std::deque<Sums> batches_;
  std::vector<uint64_t> times_;
};

Result RunOne(const std::string& name, Stream stream, double seconds) {
  Result result;
  Judge judge(seconds, &result);
  const auto policy = MakePolicy(name, kRate, 1);
  std::vector<Kept> kept;
  for (Arrival a = stream.next(); static_cast<double>(a.time_ns) < seconds * 1e9; a = stream.next()) {
    const uint64_t begin = policy->WindowBegin(a.time_ns);
    a.position = std::min(
        1.0, static_cast<double>(a.time_ns - std::min(begin, a.time_ns)) / static_cast<double>(policy->window_ns()));
    judge.Offered(a);
    policy->Offer(a, &kept);
    for (const Kept& k : kept) judge.Took(k);
    kept.clear();
  }
  policy->Finish(&kept);
  for (const Kept& k : kept) judge.Took(k);
  judge.Finish(seconds, stream.step);
  result.windows = seconds * 1e9 / static_cast<double>(policy->window_ns());
  return result;
}

// Returns how many windows there were.
double Compare(double seconds, const std::string& trace, const std::string& directory) {
  double windows = 0;
  std::printf(
      "| load | throttle | first 5 %% | middle | last 5 %% | fill | most in an interval | in any second | xCap |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|\n");
  for (size_t load = 0; load < SteadyStreams(1, trace).size(); ++load) {
    Plot plot{
        .title = "", .x_label = "position in the throttle's own window", .y_label = "estimated / true", .y_most = 3};
    for (const std::string& name : kPolicies) {
      Stream stream = SteadyStreams(1, trace)[load];
      plot.title = "Bias by position in the window: " + stream.name;
      const double length = seconds * stream.length;
      const Result r = RunOne(name, std::move(stream), length);
      windows += r.windows;
      std::printf("| %s | %s | %.2f | %.2f | %.2f | %.3f | %zu | %zu | %.2f |\n", plot.title.substr(32).c_str(),
                  name.c_str(), r.Bias(0, 1), r.Bias(1, kBins - 1), r.Bias(kBins - 1, kBins),
                  r.fill / r.seconds_that_could, r.most_in_interval, r.most_in_a_second, r.x_cap / r.batches);
      std::fflush(stdout);
      plot.lines.push_back({name, {}});
      for (size_t bin = 0; bin < kBins; ++bin)
        plot.lines.back().points.emplace_back((static_cast<double>(bin) + 0.5) / kBins, r.Bias(bin, bin + 1));
    }
    if (load == 2 && !directory.empty()) WriteSvg(plot, directory + "/throttle-bias.svg");
  }
  return windows;
}

void CompareSteps(const std::string& directory) {
  std::printf(
      "\n| step | throttle | recovered after s | most in an interval | in any second |\n|---|---|---|---|---|\n");
  const size_t loads = StepStreams(1).size();
  for (size_t load = 0; load < loads; ++load) {
    Plot plot{.title = "", .x_label = "seconds after the step", .y_label = "samples in the second", .y_most = 300};
    for (const std::string& name : kPolicies) {
      Stream stream = StepStreams(1)[load];
      const double seconds = stream.length, step = stream.step;
      plot.title = "Samples per second: " + stream.name;
      plot.x_least = -4, plot.x_most = 36;
      const Result r = RunOne(name, stream, seconds);
      std::printf("| %s | %s | %.1f | %zu | %zu |\n", stream.name.c_str(), name.c_str(), r.recovery, r.most_in_interval,
                  r.most_in_a_second);
      std::fflush(stdout);
      plot.lines.push_back({name, {}});
      for (size_t s = static_cast<size_t>(step) - 4; s < static_cast<size_t>(seconds) - 1; ++s)
        plot.lines.back().points.emplace_back(static_cast<double>(s) - std::floor(step), r.per_second[s]);
    }
    if (load == 1 && !directory.empty()) WriteSvg(plot, directory + "/throttle-recovery.svg");
  }
}

}  // namespace
}  // namespace heaprec::bench

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 13'000;
  const std::string directory = argc > 2 ? argv[2] : "";
  const std::string trace = argc > 3 ? argv[3] : "bench/throttle/traces/javac.txt";
  const double windows = heaprec::bench::Compare(seconds, trace, directory);
  heaprec::bench::CompareSteps(directory);
  std::printf("\n%.2f million windows\n", windows * 1e-6);
}

// The whole sampling chain on simulated loads, as a table: what bench/throttle/README.md#simulated-samplers shows.
// usage: simulate [samples per second] [runs]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "tests/support/simulated_load.h"

namespace {

using heaprec::testing::Estimate;
using heaprec::testing::Load;
using heaprec::testing::SimulatedRecorder;

constexpr double kSeconds = 12;

struct Row {
  double kept = 0, total = 0, z_squared = 0, distance = 0, ideal = 0;  // distance: total variation of the sites' shares
  size_t most_kept = 0, most_buffered = 0;
};

// Total variation between the estimated shares of the sites and the true ones.
double Distance(const SimulatedRecorder& r) {
  double bytes = 0, truth = 0, distance = 0;
  for (const Estimate& s : r.sites()) bytes += s.bytes, truth += s.truth;
  for (const Estimate& s : r.sites()) distance += std::abs(s.bytes / bytes - s.truth / truth) / 2;
  return distance;
}

// The mean distance of as many independent points as a cap per interval allows: n = B^2 / sum(b^2 / cap).
double IdealDistance(const SimulatedRecorder& r, double cap) {
  double truth = 0, squares = 0, distance = 0;
  for (double b : r.bytes()) truth += b, squares += b * b / cap;
  for (const Estimate& s : r.sites()) {
    const double p = s.truth / truth;
    distance += std::sqrt(2 / M_PI * p * (1 - p) * squares) / truth / 2;
  }
  return distance;
}

void Add(const SimulatedRecorder& r, double cap, double runs, Row* row) {
  for (size_t n : r.kept()) row->kept += static_cast<double>(n) / runs / static_cast<double>(r.kept().size());
  row->total += r.total().bytes / r.total().truth / runs;
  row->z_squared += r.total().Z() * r.total().Z() / runs;
  row->distance += Distance(r) / runs;
  row->ideal += IdealDistance(r, cap) / runs;
  row->most_kept = std::max(row->most_kept, *std::max_element(r.kept().begin(), r.kept().end()));
  row->most_buffered = std::max(row->most_buffered, *std::max_element(r.buffered().begin(), r.buffered().end()));
}

}  // namespace

int main(int argc, char** argv) {
  const double rate = argc > 1 ? std::atof(argv[1]) : 150;
  const int runs = argc > 2 ? std::atoi(argv[2]) : 20;
  std::printf("%-32s %8s %8s %8s %8s %8s %10s %6s\n", "load", "kept/s", "most", "held", "total", "z2", "distance",
              "xCap");
  for (const Load& load : heaprec::testing::Loads()) {
    Row row;
    for (int run = 0; run < runs; ++run) {
      SimulatedRecorder recorder(heaprec::throttle::ConfigFor(rate, 1e6), heaprec::testing::kSites,
                                 static_cast<uint64_t>(run));
      Run(load, kSeconds, static_cast<uint64_t>(run), &recorder);
      Add(recorder, rate, runs, &row);
    }
    std::printf("%-32s %8.1f %8zu %8zu %8.4f %8.2f %10.4f %6.2f\n", load.name.c_str(), row.kept, row.most_kept,
                row.most_buffered, row.total, row.z_squared, row.distance, row.distance / row.ideal);
  }
}

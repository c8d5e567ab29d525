// Coverage of the intervals on simulated applications, as a table: what docs/sampler.md#intervals shows.
// usage: coverage_table [samples per second] [runs] [seconds]
#include <cstdio>
#include <cstdlib>

#include "tests/analysis/coverage.h"

namespace {

using heaprec::testing::App;
using heaprec::testing::Coverage;
using heaprec::testing::Coverages;

void Print(const std::string& name, const Coverages& coverages) {
  std::printf("%-12s %-20s %6s %8s %7s %6s %6s %7s %7s %7s\n", name.c_str(), "", "pairs", "coverage", "+-", "below",
              "above", "error", "bias", "width");
  for (size_t i = 0; i < coverages.size(); ++i) {
    const Coverage& c = coverages[i];
    std::printf("%-12s %-20s %6.0f %8.4f %7.4f %6.3f %6.3f %7.4f %+7.4f %7.3f\n", "", heaprec::testing::kNames[i],
                c.pairs(), c.held(), c.sigma(), c.below(), c.above(), c.error(), c.bias(), c.width());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double rate = argc > 1 ? std::atof(argv[1]) : 150;
  const int runs = argc > 2 ? std::atoi(argv[2]) : 60;
  const double seconds = argc > 3 ? std::atof(argv[3]) : 12;
  Coverages all;
  for (const App& app : heaprec::testing::Apps()) {
    const Coverages coverages = heaprec::testing::MeasureApp(app, rate, seconds, runs);
    Print(app.name, coverages);
    for (size_t i = 0; i < all.size(); ++i) all[i].Merge(coverages[i]);
  }
  Print("all", all);
}

// What the differences of simulated recordings come to, as a table: docs/estimates.md#differences shows it.
// usage: difference_table [pairs of each application] [seconds] [seconds of the other]
#include <cstdio>
#include <cstdlib>

#include "tests/tools/analysis/simulated_change.h"

int main(int argc, char** argv) {
  using namespace heaprec::testing;
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 100;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 12;
  const double other = argc > 3 ? std::atof(argv[3]) : seconds;
  std::printf("%-22s %-8s %6s %7s %7s %7s %8s %8s %7s %7s %7s\n", "change", "by", "rows", "p<.05", "p<.01", "p<.001",
              "any", "FDR", "held", "ratio", "power");
  const std::map<uint32_t, double> doubled{{4, 2}}, several{{2, 2}, {9, 0.3}, {14, 4}};
  const std::pair<const char*, std::map<uint32_t, double>> kinds[] = {
      {"none", {}}, {"site 4 x2", doubled}, {"2 x2, 9 x0.3, 14 x4", several}};
  for (const auto& [name, changes] : kinds) {
    for (const size_t cut : {0, 1, 2}) {
      Outcomes all;
      for (const App& app : Apps()) {
        if (!changes.empty() && app.name != "steady" && app.name != "bursts" && app.name != "phases x50") continue;
        if (seconds != other && app.name != "steady") continue;
        for (int pair = 0; pair < pairs; ++pair) {
          ComparePair(app, changes, cut, seconds, other, static_cast<uint64_t>(pair) + 1, &all);
        }
      }
      std::printf("%-22s %-8s %6.0f %7.4f %7.4f %7.4f %8.4f %8.4f %7.4f %7.4f %7.3f\n", name, Cuts()[cut].name,
                  all.rows, all.below[0] / all.unchanged, all.below[1] / all.unchanged, all.below[2] / all.unchanged,
                  all.wrong / all.pairs, all.rate_sum / all.pairs, all.held / all.rows, all.ratio_held / all.rows,
                  all.changed > 0 ? all.found / all.changed : 0);
    }
  }
}

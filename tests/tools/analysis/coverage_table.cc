// Coverage of the intervals on simulated applications, as a table: what docs/estimates.md#intervals shows.
// usage: coverage_table [samples per second] [runs] [seconds] [surplus, 0: the rate's] [WALKED] [samples] [each]
// WALKED: the part of the TLABs that a census walks. samples: from samples, not from rows.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/tools/analysis/coverage.h"

namespace {

using heaprec::testing::ScanSummaries;
using heaprec::testing::ScanSummary;

void PrintRow(const std::string& part, const char* what, const ScanSummary& c) {
  std::printf("%-20s %-20s %7.0f %8.4f %7.4f %6.3f %6.3f %7.4f %+7.4f %7.3f\n", part.c_str(), what, c.pairs(), c.held(),
              c.sigma(), c.below(), c.above(), c.error(), c.bias(), c.width());
}

void Print(const std::string& app, const ScanSummaries& coverages) {
  std::printf("\n%-41s %7s %8s %7s %6s %6s %7s %7s %7s\n", app.c_str(), "pairs", "coverage", "+-", "below", "above",
              "error", "bias", "width");
  const auto print = [](const std::string& part, const auto& measured) {
    for (size_t i = 0; i < measured.size(); ++i) {
      if (measured[i].pairs() > 0) PrintRow(part, heaprec::testing::kNames[i], measured[i]);
    }
  };
  for (size_t i = 0; i < coverages.cuts.size(); ++i) print(heaprec::testing::Cuts()[i].name, coverages.cuts[i]);
  print("site below 1 %", coverages.rare);
  PrintRow("all", "bytes", coverages.total);
}

}  // namespace

int main(int argc, char** argv) {
  const double rate = argc > 1 ? std::atof(argv[1]) : 150;
  const int runs = argc > 2 ? std::atoi(argv[2]) : 60;
  const double seconds = argc > 3 ? std::atof(argv[3]) : 12;
  const double surplus = argc > 4 ? std::atof(argv[4]) : 0;
  const double walked = argc > 5 ? std::atof(argv[5]) : 0;
  const bool by_rows = argc <= 6 || std::string(argv[6]) != "samples";
  ScanSummaries all;
  for (const heaprec::testing::App& app : heaprec::testing::Apps()) {
    const ScanSummaries coverages = heaprec::testing::MeasureApp(app, rate, surplus, seconds, runs, by_rows, walked);
    if (std::string(argv[argc - 1]) == "each") Print(app.name, coverages);
    all.Merge(coverages);
  }
  Print("all applications", all);
}

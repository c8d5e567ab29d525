// 95 % intervals hold the truth 93 to 97 % of the time: the whole chain, many runs, known truth.
//
// 360 runs of six applications at 150/s, 12 s: about 8,300 pairs (site, run) of sites with at least 0.2 % of the bytes,
// 3.6 to 450 samples each. Pairs of one run depend on each other (by the controller and by the total), so the standard
// deviation of a coverage comes from the scatter between runs: 0.0025 of all, 0.006 of one application. The tests fail
// at 0.93 and 0.97 for all, which is 6 or more of those from the true 0.942-0.950 for bytes and shares and 4.8 for
// objects; and at 0.91 and 0.985 for an application. By other seeds all of it would fail with less than 1e-6 for bytes
// and shares, 1e-6 for objects.
#include "tests/analysis/coverage.h"

#include <catch2/catch.hpp>

namespace heaprec::testing {
namespace {

TEST_CASE("intervals hold the truth in 93 to 97 % of the pairs, raw and calibrated") {
  Coverages all;
  for (const App& app : Apps()) {
    const Coverages of_app = MeasureApp(app, 150, 12, 60);
    for (size_t i = 0; i < all.size(); ++i) all[i].Merge(of_app[i]);
    for (const Measured what : {kBytes, kBytesCalibrated, kObjects, kObjectsCalibrated, kShare}) {
      INFO(app.name << ", " << kNames[what] << ": " << of_app[what].held() << " +- " << of_app[what].sigma());
      CHECK(of_app[what].held() > 0.91);
      CHECK(of_app[what].held() < 0.985);
    }
  }
  for (const Measured what : {kBytes, kBytesCalibrated, kObjects, kObjectsCalibrated, kShare}) {
    INFO(kNames[what] << ": " << all[what].held() << " +- " << all[what].sigma());
    CHECK(all[what].pairs() >= 2000);
    CHECK(all[what].held() > 0.93);
    CHECK(all[what].held() < 0.97);
  }
}

}  // namespace
}  // namespace heaprec::testing

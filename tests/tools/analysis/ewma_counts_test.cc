#include <catch2/catch.hpp>
#include <cmath>

#include "tools/analysis/estimate/systematic_order.h"

namespace heaprec::tools {
namespace {

TEST_CASE("what was never seen is not usual") {
  EwmaCounts counts;
  CHECK(counts.Note(7, 3) == 0);
  counts.EndInterval();
  CHECK(counts.Note(8, 3) == 0);
}

TEST_CASE("what is there in every interval is as usual as it is often") {
  EwmaCounts counts;
  for (int i = 0; i < 300; ++i) {
    const double usual = counts.Note(0, 5);
    if (i > 0) CHECK(usual == Approx(5));
    counts.EndInterval();
  }
}

TEST_CASE("the latest intervals count most, and what was long ago is forgotten") {
  EwmaCounts counts;
  for (int i = 0; i < 40; ++i) {
    counts.Note(1, 8);
    counts.EndInterval();
  }
  for (int i = 0; i < 8; ++i) counts.EndInterval();
  // Eight intervals without it leave 1/e of 8, but for the little that 48 intervals lack to infinitely many.
  CHECK(counts.Note(1, 0) == Approx(8 / std::exp(1)).epsilon(0.01));
  for (int i = 0; i < 200; ++i) counts.EndInterval();
  CHECK(counts.Note(1, 1) == 0);
}

TEST_CASE("a node is found among a million others, and memory holds the latest of them") {
  EwmaCounts counts;
  uint64_t node = 1;
  for (int interval = 0; interval < 20; ++interval) {
    for (int i = 0; i < 50'000; ++i) counts.Note(node += 0x9e3779b97f4a7c15u, 1);
    const double usual = counts.Note(42, 2);
    if (interval > 0) CHECK(usual == Approx(2));
    counts.EndInterval();
  }
}

}  // namespace
}  // namespace heaprec::tools

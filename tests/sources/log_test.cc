// What the agent prints and replies.
#include "recorder/sources/log.h"

#include <catch2/catch.hpp>

namespace heaprec {

TEST_CASE("The agent prints numbers of samples like the command") {
  CHECK(SampleCount(0) == "0 samples");
  CHECK(SampleCount(1) == "1 sample");
  CHECK(SampleCount(999) == "999 samples");
  CHECK(SampleCount(1125) == "1,125 samples");
  CHECK(SampleCount(1'234'567) == "1,234,567 samples");
}

}  // namespace heaprec

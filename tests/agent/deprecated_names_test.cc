// A client of include/heaprec_sampling.h of version 0.1: its names still compile, and mean the same.
#include <catch2/catch.hpp>
#include <type_traits>

#include "include/heaprec_sampling.h"

namespace {

int64_t OnSample(heaprec_trace* trace, const heaprec_place* place, void* user) {
  trace->context = user;
  return place->jni != nullptr ? 1 : 0;
}

}  // namespace

TEST_CASE("The names of version 0.1 still compile") {
  heaprec_sampling how{};
  how.function = OnSample;
  how.depth = HEAPREC_MOST_FRAMES;
  how.followed = HEAPREC_MOST_FOLLOWED;
  const enum heaprec_which garbage = HEAPREC_RECENT_GARBAGE, drawn = HEAPREC_SAMPLED_GARBAGE, live = HEAPREC_LIVE;
  heaprec_trace trace{};
  int jni = 0, user = 0;
  const struct heaprec_place place { &jni, nullptr, nullptr };
  CHECK(how.function(&trace, &place, &user) == 1);
  CHECK(trace.context == &user);
  CHECK((live == 0 && garbage == 1 && drawn == 2));
  CHECK(how.depth == HEAPREC_MAX_FRAMES);
  CHECK(how.followed == HEAPREC_MAX_FOLLOWED);
  CHECK(heaprec_sample(nullptr, nullptr, &how) == HEAPREC_NO_LIBRARY);
  STATIC_REQUIRE(std::is_same_v<heaprec_place, heaprec_callback_env>);
  STATIC_REQUIRE(HEAPREC_REFUSED == HEAPREC_UNSUPPORTED);
}

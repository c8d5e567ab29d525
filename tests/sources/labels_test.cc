#include <malloc.h>

#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "recorder/sources/sample/thread_fields.h"

namespace heaprec::sources {
namespace {

// As one reads it: "|a=1|b=2".
std::string Shown() {
  std::string text(CurrentLabels());
  for (char& c : text) c = c == '\0' ? '|' : c;
  return text;
}

// Leaves nothing to the next test.
struct Fresh {
  Fresh() { ForgetLabels(); }
  ~Fresh() { ForgetLabels(); }
};

}  // namespace

TEST_CASE("A label is set, replaced and removed, whatever other labels there are") {
  const Fresh fresh;
  CHECK(Shown().empty());
  ClearLabel("a");
  CHECK(SetLabel("request", "42"));
  CHECK(SetLabel("user", "x=y"));
  CHECK(SetLabel("req", ""));
  CHECK(Shown() == "|request=42|user=x=y|req=");
  CHECK(SetLabel("user", "longer than before"));
  CHECK(Shown() == "|request=42|req=|user=longer than before");
  ClearLabel("request");
  ClearLabel("re");
  CHECK(Shown() == "|req=|user=longer than before");
  ClearLabel("req");
  ClearLabel("user");
  CHECK(Shown().empty());
}

TEST_CASE("The end of a thread frees its labels") {
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 1000; ++i) std::thread([] { CHECK(SetLabel("request", "42")); }).join();
  CHECK(mallinfo2().uordblks < before + 100 * kMaxLabelBytes);
}

TEST_CASE("Invalid keys and values, and those that do not fit, change nothing") {
  const Fresh fresh;
  REQUIRE(SetLabel("a", "1"));
  using namespace std::string_view_literals;
  CHECK_FALSE(SetLabel("", "x"));
  CHECK_FALSE(SetLabel("a=b", "x"));
  CHECK_FALSE(SetLabel("a\0b"sv, "x"));
  CHECK_FALSE(SetLabel("b", "x\0y"sv));
  CHECK_FALSE(SetLabel("b", std::string(kMaxLabelBytes - 6, 'x')));
  CHECK(Shown() == "|a=1");
  CHECK(SetLabel("b", std::string(kMaxLabelBytes - 7, 'x')));
  CHECK(CurrentLabels().size() == kMaxLabelBytes);
  CHECK_FALSE(SetLabel("a", "12"));
  CHECK(SetLabel("a", "2"));  // in its own place
  CHECK(SetLabel("b", "y"));
  CHECK(Shown() == "|a=2|b=y");
}

TEST_CASE("Labels belong to their thread") {
  const Fresh fresh;
  REQUIRE(SetLabel("a", "1"));
  std::string other = "?";
  std::thread([&other] {
    other = Shown();
    SetLabel("a", "2");
    other += Shown();
    ForgetLabels();
  }).join();
  CHECK(other == "|a=2");
  CHECK(Shown() == "|a=1");
}

}  // namespace heaprec::sources

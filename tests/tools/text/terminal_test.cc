// What fits a terminal: shortened names, bars; and what was meant by a typo.
#include "tools/text/terminal.h"

#include <catch2/catch.hpp>

#include "tools/options/suggest.h"

namespace heaprec::tools {
namespace {

TEST_CASE("Names lose their packages first, then their middle") {
  const std::string name = "com.acme.shop.Basket.add";
  CHECK(Shortened(name, 0, false) == name);
  CHECK(Shortened(name, 24, false) == name);
  CHECK(Shortened(name, 22, false) == "c.acme.shop.Basket.add");
  CHECK(Shortened(name, 20, false) == "c.a.shop.Basket.add");
  CHECK(Shortened(name, 16, false) == "c.a.s.Basket.add");
  CHECK(Shortened(name, 10, false) == "c.a.~t.add");
  CHECK(Shortened(name, 11, true) == "c.a.s…t.add");
  CHECK(Shortened("überlänge", 5, true) == "üb…ge");
  for (size_t width = 1; width < 30; ++width) CHECK(WidthOf(Shortened(name, width, true)) <= width);
}

TEST_CASE("More than zero is visible, and the maximum is full") {
  CHECK(Bar(0, 3, true) == "   ");
  CHECK(Bar(1e-9, 3, true) == "▏  ");
  CHECK(Bar(0.5, 3, true) == "█▌ ");
  CHECK(Bar(1, 3, false) == "###");
  CHECK(Bar(1e-9, 3, false) == "#  ");
  CHECK(Sparkline(std::vector<double>{0, 1, 4, 8}, 8, true) == " ▁▄█");
  CHECK(ChartLine(std::vector<double>{4, 8}, 8, 0, 2, true) == " █");
  CHECK(ChartLine(std::vector<double>{4, 8}, 8, 1, 2, true) == "██");
  CHECK(Sparkline(std::vector<double>{0, 0}, 0, true) == "  ");
}

TEST_CASE("A typo differs by a few letters") {
  const std::vector<std::string> commands{"record", "summary", "top", "trim", "tree"};
  CHECK(Nearest("summry", commands) == "summary");
  CHECK(Nearest("recrod", commands) == "record");
  CHECK(Nearest("tpo", commands) == "top");
  CHECK(Nearest("foo", commands).empty());
  CHECK(Nearest("frobnicate", commands).empty());
  CHECK(Nearest(std::string(100'000, 'x'), commands).empty());
  CHECK(Nearest("", commands).empty());
}

}  // namespace
}  // namespace heaprec::tools

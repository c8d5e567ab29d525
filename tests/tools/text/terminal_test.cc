// What fits a terminal: shortened names, tables, bars, estimates in few characters; and what was meant by a typo.
#include "tools/text/terminal.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tools/options/suggest.h"
#include "tools/report/group_estimates_format.h"
#include "tools/text/bars.h"
#include "tools/text/table.h"

namespace heaprec::tools {
namespace {

TEST_CASE("names lose their packages first, then their middle") {
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

TEST_CASE("cells have the unit of the value, and as many digits as they are worth") {
  const auto text = [](const Cell& cell) { return cell.value + "|" + cell.interval; };
  CHECK(text(BytesCell({0, 0, 0})) == "0 B|");
  CHECK(text(BytesCell({24, 24, 24})) == "24 B|");
  CHECK(text(BytesCell({24.5, 20.25, 30})) == "24.5 B|20.2-30");
  CHECK(text(BytesCell({2048, 1024, 20480})) == "2.00 KiB|1.00-20.0");
  CHECK(text(BytesCell({3.0 * (1 << 20), 2.999 * (1 << 20), 3.001 * (1 << 20)})) == "3.00 MiB|");
  CHECK(text(BytesCell({0, 0, 3.5 * (1 << 20)})) == "0 MiB|0-3.50");
  CHECK(text(BytesCell({77, 0, std::numeric_limits<double>::infinity()})) == "77 B|?");
  CHECK(text(CountCell({999, 900, 1100})) == "999|900-1.10k");
  CHECK(text(CountCell({1234, 1000, 2000})) == "1.23 k|1.00k-2.00k");
  CHECK(text(CountCell({56e6, 55e6, 57e6})) == "56.0 M|55.0M-57.0M");
  // Ends that are far from the value.
  CHECK(text(BytesCell({26.5 * 1024, 26.5 * 1024, 17.5 * (1 << 20)})) == "26.5 KiB|26.5 KiB-17.5 MiB");
  CHECK(text(BytesCell({5.0 * (1 << 20), 1024, 6.0 * (1 << 20)})) == "5.00 MiB|1.00 KiB-6.00 MiB");
  CHECK(text(CountCell({36'200, 640, 205'000})) == "36.2 k|640-205k");
  CHECK(text(CountCell({0, 0, 2500})) == "0 k|0-2.50k");
  CHECK(text(BytesCell({0, 0, 1e-9})) == "0 B|");
  CHECK(text(CountCell({1, 1, 1.004})) == "1|");
  CHECK(text(ShareCell({0.5, 0.25, 1})) == "50.0 %|25.0-100.0");
  CHECK(text(ShareCell({1, 1, 1})) == "100.0 %|");
}

TEST_CASE("a table leaves out what has the least patience, and keeps names readable") {
  Table table({{"bytes"}, {"share", Column::kStays, 1}, {"rate", 3, 2}}, "class");
  table.Add({{"12 MiB", "10-14"}, {"50.0 %", "40-60"}, {"6 MiB/s", "5-7"}}, "com.acme.shop.Basket");
  table.Add({{"1 MiB", "0.9-1.1"}, {"5.0 %", "4-6"}, {"0.5 MiB/s", "0.4-0.6"}}, "x\x1b.Y");
  const auto text = [&](size_t width) {
    Text text;
    table.AppendTo({.width = width}, &text);
    return fmt::to_string(text);
  };
  CHECK(text(0) ==
        " bytes           share             rate          class\n"
        "12 MiB 10-14    50.0 % 40-60    6 MiB/s 5-7      com.acme.shop.Basket\n"
        " 1 MiB 0.9-1.1   5.0 % 4-6    0.5 MiB/s 0.4-0.6  x\\x1b.Y\n");
  CHECK(text(66).find("40-60") == std::string::npos);
  CHECK(text(66).find("5-7") != std::string::npos);
  CHECK(text(47).find("MiB/s") == std::string::npos);
  CHECK(text(47).find("10-14") != std::string::npos);
  CHECK(text(41).find("c.a.shop.Basket") != std::string::npos);
}

TEST_CASE("a table that keeps names gives up all intervals, then columns, before it shortens a name") {
  Table table({{"bytes"}, {"share", Column::kStays, 1}, {"rate", 3, 2}}, "tree", Table::Keep::kNames);
  table.Add({{"12 MiB", "10-14"}, {"50.0 %", "40-60"}, {"6 MiB/s", "5-7"}}, "com.acme.shop.Basket.add");
  const auto text = [&](size_t width) {
    Text text;
    table.AppendTo({.width = width}, &text);
    return fmt::to_string(text);
  };
  const std::string whole = "com.acme.shop.Basket.add\n";
  CHECK(text(0).find("10-14") != std::string::npos);
  CHECK(text(54) == " bytes   share     rate  tree\n12 MiB  50.0 %  6 MiB/s  " + whole);
  CHECK(text(42) == " bytes   share  tree\n12 MiB  50.0 %  " + whole);
  CHECK(text(36).find("c.a.shop.Basket.add") != std::string::npos);
}

TEST_CASE("what is more than nothing shows, and the most is full") {
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

TEST_CASE("a typo is a few letters, not another word") {
  const std::vector<std::string> commands{"record", "summary", "top", "trim", "tree"};
  CHECK(Nearest("summry", commands) == "summary");
  CHECK(Nearest("recrod", commands) == "record");
  CHECK(Nearest("tpo", commands) == "top");
  CHECK(Nearest("frobnicate", commands).empty());
  CHECK(Nearest(std::string(100'000, 'x'), commands).empty());
  CHECK(Nearest("", commands).empty());
}

}  // namespace
}  // namespace heaprec::tools

// One declared report in each of its forms.
#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "tools/render/renderers.h"
#include "tools/render/value_format.h"

namespace heaprec::tools::render {
namespace {

using nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr Terminal kWideEnough{0, false, true};

struct Estimate {
  double value, low, high;
};

struct ClassRow {
  std::string name;
  Estimate bytes, share, objects;
  uint64_t samples;
};

const std::vector<Column<ClassRow>>& Columns() {
  static const auto* columns = new std::vector<Column<ClassRow>>{
      {"bytes", "bytes", Unit::kBytes, Detail::kAlways, &ClassRow::bytes, Detail::kAlways},
      {"share", "share", Unit::kShare, Detail::kAlways, &ClassRow::share},
      {"objects", "objects", Unit::kCount, Detail::kWide, &ClassRow::objects},
      {"samples", "", Unit::kInteger, Detail::kJsonOnly, &ClassRow::samples},
      {"name", "class", Unit::kText, Detail::kAlways, &ClassRow::name}};
  return *columns;
}

Report Example() {
  const std::vector<ClassRow> rows{
      {"com.example.List", {10'118'758, 8'514'437, 11'219'763}, {0.088, 0.07, 0.1}, {421e3, 355e3, 502e3}, 40},
      {"byte[], \"raw\"", {24, 24, 24}, {0, 0, 0.012}, {1, 1, 1}, 1}};
  Report report("heaprec.example/1");
  report.Add(Sentence("{} allocated in {}, {value}", {{"total", Estimate{115e6, 110e6, 120e6}, Unit::kBytes},
                                                      {"duration_ns", uint64_t{2'000'000'000}, Unit::kNanoseconds},
                                                      {"", Estimate{57e6, 55e6, 60e6}, Unit::kBytesPerSecond}}));
  report.Add(Hidden({{"scan.lost", 3}, {"limit", kInfinity}}));
  report.Add(Fact("lost samples", {"", 1234567, Unit::kInteger}));
  report.Add(Fact("ring", "{} of it used", {{"ring.used", 0.25, Unit::kShare}}, Detail::kWide));
  Table table = MakeTable("tables[]", Columns(), rows, 93);
  table.fields = {{"by", "class"}};
  report.Add(std::move(table));
  report.Add(Note("{} recordings were left out", {{"left_out", 2, Unit::kInteger}}));
  return report;
}

TEST_CASE("Text has the headline, the facts, the table with its rest, and the notes") {
  CHECK(RenderText(Example(), kWideEnough, false) ==
        "110 MiB (105-114) allocated in 2.000 s, 54.4 MiB/s\n"
        "lost samples: 1,234,567\n"
        "\n"
        "   bytes 95 %       share 95 %      objects 95 %       class\n"
        "9.65 MiB 8.12-10.7  8.8 % 7.0-10.0    421 k 355k-502k  com.example.List\n"
        "    24 B            0.0 % 0.0-1.2         1            byte[], \"raw\"\n"
        "... 91 more; --limit 0 shows all\n"
        "\n"
        "2 recordings were left out\n");
}

TEST_CASE("On a narrow terminal intervals are omitted first, then columns, and the name has the rest") {
  const std::string text = RenderText(Example(), {46, false, true}, false);
  INFO(text);
  CHECK(text.find("   bytes 95 %       share  class\n") != std::string::npos);
  CHECK(text.find("9.65 MiB 8.12-10.7  8.8 %  com.example.List\n") != std::string::npos);
  const std::string narrower = RenderText(Example(), {42, false, true}, false);
  INFO(narrower);
  CHECK(narrower.find("9.65 MiB 8.12-10.7  8.8 %  c.example.List\n") != std::string::npos);
  const std::string wide = RenderText(Example(), {46, false, true}, true);
  CHECK(wide.find("421 k 355k-502k  com.example.List") != std::string::npos);
  CHECK(wide.find("ring:         25.0 % of it used\n") != std::string::npos);
}

TEST_CASE("On a narrow terminal bars are shortened by one factor, and the last are omitted") {
  struct SizeRow {
    Estimate bytes;
    std::string name;
    double first, second;
  };
  const std::vector<Column<SizeRow>> columns{
      {"bytes", "bytes", Unit::kBytes, Detail::kAlways, &SizeRow::bytes, Detail::kAlways},
      {"", "size", Unit::kText, Detail::kTextOnly, &SizeRow::name},
      {"", "bytes", Unit::kBar, Detail::kTextOnly, &SizeRow::first},
      {"", "objects", Unit::kBar, Detail::kTextOnly, &SizeRow::second}};
  Report report("heaprec.example/1");
  report.Add(MakeTable(
      "rows", columns,
      std::vector<SizeRow>{{{1024, 1024, 1024}, "16 B to 32 B", 1, 0.25}, {{512, 512, 512}, "32 B to 64 B", 0.5, 1}}));
  const auto text_at = [&report](size_t width) { return RenderText(report, {width, false, true}, false); };
  const std::string full =
      "   bytes  size          bytes                 objects\n"
      "1.00 KiB  16 B to 32 B  ████████████████████  █████\n"
      "   512 B  32 B to 64 B  ██████████            ████████████████████\n";
  CHECK(text_at(0) == full);
  CHECK(text_at(66) == full);
  const std::string short_bars =
      "   bytes  size          bytes     objects\n"
      "1.00 KiB  16 B to 32 B  ████████  ██\n"
      "   512 B  32 B to 64 B  ████      ████████\n";
  CHECK(text_at(43) == short_bars);
  CHECK(text_at(42) == short_bars);
  CHECK(text_at(41) ==
        "   bytes  size          bytes\n"
        "1.00 KiB  16 B to 32 B  █████████████████\n"
        "   512 B  32 B to 64 B  ████████▌\n");
}

TEST_CASE("JSON has unrounded numbers, and null for unknown or infinite ones") {
  const json document = json::parse(RenderJson(Example()));
  CHECK(document["schema"] == "heaprec.example/1");
  CHECK(document["total"] == json{{"value", 115e6}, {"low", 110e6}, {"high", 120e6}});
  CHECK(document["duration_ns"] == 2'000'000'000);
  CHECK(document["scan"]["lost"] == 3);
  CHECK(document["limit"].is_null());
  CHECK(document["ring"]["used"] == 0.25);
  CHECK(document["notes"] == json{"2 recordings were left out"});
  REQUIRE(document["tables"].size() == 1);
  const json& table = document["tables"][0];
  CHECK(table["by"] == "class");
  CHECK(table["count"] == 93);
  CHECK(table["rows"][0]["samples"] == 40);
  CHECK(table["rows"][1]["name"] == "byte[], \"raw\"");
  CHECK(table["rows"][1]["share"]["high"] == 0.012);
}

TEST_CASE("CSV has an interval in three columns and quotes where needed") {
  CHECK(RenderCsv(Example()) ==
        "by,bytes,bytes_low,bytes_high,share,share_low,share_high,objects,objects_low,objects_high,samples,name\n"
        "class,10118758,8514437,11219763,0.088,0.07,0.1,421000,355000,502000,40,com.example.List\n"
        "class,24,24,24,0,0,0.012,1,1,1,1,\"byte[], \"\"raw\"\"\"\n");
}

TEST_CASE("CSV of a report without tables has its facts") {
  Report report("heaprec.example/1");
  report.Add(Fact("total", {"total", Estimate{3, 2, kInfinity}, Unit::kBytes}));
  report.Add(Fact("state", {"state", "ended"}));
  CHECK(RenderCsv(report) == "name,value,low,high\ntotal,3,2,\nstate,ended,,\n");
}

TEST_CASE("Markdown and HTML escape markup") {
  const std::string markdown = RenderMarkdown(Example(), false);
  CHECK(markdown.find("| bytes | share | class |\n| ---: | ---: | --- |\n") != std::string::npos);
  CHECK(markdown.find("| 9.65 MiB (8.12-10.7) | 8.8 % (7.0-10.0) | com.example.List |") != std::string::npos);
  CHECK(markdown.find("byte\\[], ") != std::string::npos);
  const std::string html = RenderHtml(Example(), true);
  CHECK(html.find("<td class=\"number\" data-value=\"10118758\">9.65 MiB <small>8.12-10.7</small></td>") !=
        std::string::npos);
  CHECK(html.find("byte[], &quot;raw&quot;") != std::string::npos);
}

TEST_CASE("Curves are drawn only in HTML") {
  struct Series {
    std::string name;
    List shares;
  };
  const auto point = [](double age, double reached) {
    return Value(Object{{"seconds", age}, {"reached", Interval{reached, reached - 0.1, reached + 0.1}}});
  };
  const std::vector<Column<Series>> columns{
      {"", "survival", Unit::kCurve, Detail::kHtmlOnly, [](const Series& of) { return Value(of.shares); }},
      {"name", "class", Unit::kText, Detail::kAlways, &Series::name}};
  Report report("heaprec.example/1");
  report.Add(MakeTable("rows", columns,
                       std::vector<Series>{{"long", {point(1, 1), point(2, 0.5), point(4, 0)}},
                                           {"short", {point(1, 0.5), point(2, 0.25)}},
                                           {"none", {}}}));
  const std::string html = RenderHtml(report, false);
  CHECK(html.find("<polyline points=\"0.0,1.0 70.0,14.0 140.0,27.0 \"/>") != std::string::npos);
  CHECK(html.find("<polyline points=\"0.0,14.0 70.0,20.5 \"/>") != std::string::npos);  // on the same axes
  CHECK(html.find("<title>1.00 s: 100.0 % (90.0-110.0), 2.00 s: 50.0 % (40.0-60.0)") != std::string::npos);
  CHECK(html.find("<td><bdi>none</bdi></td><td></td>") != std::string::npos);
  CHECK(RenderText(report, {}, true).find("survival") == std::string::npos);
  CHECK(RenderJson(report).find("survival") == std::string::npos);
  CHECK(RenderCsv(report) == "name\nlong\nshort\nnone\n");
}

TEST_CASE("A tree has branches in text, children in JSON, depths in CSV, and opens and closes in HTML") {
  Report report("heaprec.tree/1");
  Table table{.name = "children", .fields = {}, .columns = {}, .rows = {}, .empty = {}};
  table.is_tree = true;
  table.columns = {{"bytes", "bytes", Unit::kBytes}, {"name", "below", Unit::kText}};
  Row leaf, other, main;
  leaf.cells = {8, "leaf"};
  other.cells = {16, "other"};
  other.left_out = 2;
  main.cells = {24, "main"};
  main.children = {leaf, other};
  table.rows = {main};
  report.Add(std::move(table));
  CHECK(RenderText(report, kWideEnough, false) == "bytes  below\n 24 B  main\n  8 B  ├─ leaf\n 16 B  └─ other (+2)\n");
  const json document = json::parse(RenderJson(report));
  CHECK(document["children"][0]["children"][1]["left_out"] == 2);
  CHECK(RenderCsv(report) == "depth,bytes,name\n0,24,main\n1,8,leaf\n1,16,other\n");
  const std::string html = RenderHtml(report, false);
  const size_t opened = html.find("<details open><summary class=\"row\"><span class=\"name\"><bdi>main</bdi></span>");
  const size_t leaf_at = html.find("<div class=\"row leaf\"><span class=\"name\"><bdi>leaf</bdi></span>");
  const size_t closed = html.find("<details><summary class=\"row\"><span class=\"name\"><bdi>other</bdi></span>");
  CHECK((opened < leaf_at && leaf_at < closed && closed < html.find("... 2 more</div>\n</details>\n</details>")));
}

TEST_CASE("Each of several roots has its children indented, and a blank line before it") {
  Report report("heaprec.tree/1");
  Table table{.name = "children", .fields = {}, .columns = {}, .rows = {}, .empty = {}};
  table.is_tree = true;
  table.columns = {{"name", "called from", Unit::kText}};
  const auto row = [](const char* name, std::vector<Row> children) {
    Row made;
    made.cells = {name};
    made.children = std::move(children);
    return made;
  };
  table.rows = {row("a", {row("b", {row("c", {})})}), row("d", {row("e", {}), row("f", {})}), row("g", {})};
  report.Add(std::move(table));
  CHECK(RenderText(report, kWideEnough, false) == "called from\na\n└─ b\n   c\n\nd\n├─ e\n└─ f\n\ng\n");
}

TEST_CASE("A narrow tree omits columns, then intervals, before packages are abbreviated") {
  std::vector<Column<ClassRow>> columns = Columns();
  columns.back().heading = "below";
  const auto row = [&columns](const char* name) {
    return MakeRow(columns,
                   ClassRow{name, {10'118'758, 8'514'437, 11'219'763}, {0.088, 0.07, 0.1}, {421e3, 355e3, 502e3}, 40});
  };
  Table table = MakeTable<ClassRow>("children", columns, {});
  table.is_tree = true;
  table.rows = {row("com.example.Main.main")};
  table.rows.front().children = {row("com.example.List.add"), row("com.example.Map.put")};
  Report report("heaprec.tree/1");
  report.Add(std::move(table));
  const auto text_at = [&report](size_t width) { return RenderText(report, {width, false, true}, false); };
  CHECK(text_at(100).find("9.65 MiB 8.12-10.7  8.8 % 7.0-10.0    421 k 355k-502k  ├─ com") != std::string::npos);
  CHECK(text_at(50) ==
        "   bytes 95 %       share  below\n"
        "9.65 MiB 8.12-10.7  8.8 %  com.example.Main.main\n"
        "9.65 MiB 8.12-10.7  8.8 %  ├─ com.example.List.add\n"
        "9.65 MiB 8.12-10.7  8.8 %  └─ com.example.Map.put\n");
  CHECK(text_at(49) ==
        "   bytes  share  below\n"
        "9.65 MiB  8.8 %  com.example.Main.main\n"
        "9.65 MiB  8.8 %  ├─ com.example.List.add\n"
        "9.65 MiB  8.8 %  └─ com.example.Map.put\n");
  CHECK(text_at(40) == text_at(49));
  CHECK(text_at(36).find("9.65 MiB  8.8 %  ├─ c.e.List.add\n") != std::string::npos);
}

TEST_CASE("Groups become objects and arrays") {
  Report report("heaprec.doctor/1");
  for (const char* file : {"a.hrec", "b.hrec"}) {
    Group group{"recordings[]", {}};
    group.Add(Fact("file", {"file", file}));
    report.Add(std::move(group));
  }
  const json document = json::parse(RenderJson(report));
  CHECK(document["recordings"][1]["file"] == "b.hrec");
  CHECK(RenderText(report, kWideEnough, false) == "file:      a.hrec\nfile:      b.hrec\n");
}

std::string Inline(const Value& value, Unit unit) { return FormatInline(value, unit, true); }

TEST_CASE("Cells have the unit of the value and its significant digits") {
  const auto text = [](const Interval& of, Unit unit) {
    const CellText cell = FormatCell(of, unit, false);
    return cell.value + "|" + cell.interval;
  };
  CHECK(text({0, 0, 0}, Unit::kBytes) == "0 B|");
  CHECK(text({24, 24, 24}, Unit::kBytes) == "24 B|");
  CHECK(text({24.5, 20.25, 30}, Unit::kBytes) == "24.5 B|20.2-30");
  CHECK(text({2048, 1024, 20480}, Unit::kBytes) == "2.00 KiB|1.00-20.0");
  CHECK(text({3.0 * (1 << 20), 2.999 * (1 << 20), 3.001 * (1 << 20)}, Unit::kBytes) == "3.00 MiB|");
  CHECK(text({0, 0, 3.5 * (1 << 20)}, Unit::kBytes) == "0 B|0-3.50 MiB");
  CHECK(text({77, 0, std::numeric_limits<double>::infinity()}, Unit::kBytes) == "77 B|?");
  CHECK(text({999, 900, 1100}, Unit::kCount) == "999|900-1.10k");
  CHECK(text({1234, 1000, 2000}, Unit::kCount) == "1.23 k|1.00k-2.00k");
  CHECK(text({56e6, 55e6, 57e6}, Unit::kCount) == "56.0 M|55.0M-57.0M");
  // Ends that are far from the value.
  CHECK(text({26.5 * 1024, 26.5 * 1024, 17.5 * (1 << 20)}, Unit::kBytes) == "26.5 KiB|26.5 KiB-17.5 MiB");
  CHECK(text({5.0 * (1 << 20), 1024, 6.0 * (1 << 20)}, Unit::kBytes) == "5.00 MiB|1.00 KiB-6.00 MiB");
  CHECK(text({36'200, 640, 205'000}, Unit::kCount) == "36.2 k|640-205k");
  CHECK(text({0, 0, 2500}, Unit::kCount) == "0|0-2.50k");
  CHECK(text({0, 0, 500}, Unit::kCount) == "0|0-500");
  CHECK(text({0, 0, 744 * 1024}, Unit::kBytesPerSecond) == "0 B/s|0-744 KiB");
  CHECK(text({0, 0, 0.005}, Unit::kSeconds) == "0 s|0-5.00 ms");
  CHECK(text({0, 0, 1e-9}, Unit::kBytes) == "0 B|");
  CHECK(text({1, 1, 1.004}, Unit::kCount) == "1|");
  CHECK(text({0.5, 0.25, 1}, Unit::kShare) == "50.0 %|25.0-100.0");
  CHECK(text({1, 1, 1}, Unit::kShare) == "100.0 %|");
}

TEST_CASE("Numbers have three digits, and intervals as many as are significant") {
  CHECK(Inline(Estimate{175426560, 163577856, 187695104}, Unit::kBytes) == "167 MiB (156-179)");
  CHECK(Inline(Estimate{0, 0, 26500}, Unit::kBytes) == "0 B (0-25.9 KiB)");
  CHECK(Inline(Estimate{2.16e6, 1.86e6, 2.51e6}, Unit::kCount) == "2.16 M (1.86M-2.51M)");
  CHECK(Inline(Estimate{36.2e3, 6.38, 205}, Unit::kCount) == "36.2 k (6.38-205)");
  CHECK(Inline(Estimate{kNone, 27136, 18350080}, Unit::kBytes) == "26.5 KiB-17.5 MiB");
  CHECK(Inline(Estimate{5, 0, kInfinity}, Unit::kBytes) == "5 B (?)");
  CHECK(Inline(Estimate{kNone, kNone, kNone}, Unit::kBytes) == "unknown");
  CHECK(Inline(nullptr, Unit::kShare) == "unknown");
  CHECK(Inline(0.0876, Unit::kShare) == "8.8 %");
  CHECK(Inline(Estimate{0.12, -0.03, 0.3}, Unit::kChange) == "+12.0 % (-3.0..+30.0)");
  CHECK(Inline(Estimate{1.2 * 1048576, -0.5 * 1048576, 3 * 1048576}, Unit::kGrowth) == "+1.20 MiB/s (-0.50..+3.00)");
  CHECK(Inline(Estimate{1.5, 1.25, 2}, Unit::kRatio) == "+50.0 % (+25.0..+100.0)");
  CHECK(Inline(Estimate{kInfinity, 1.25, kInfinity}, Unit::kRatio) == "new");
  CHECK(Inline(0.0034, Unit::kSeconds) == "3.40 ms");
  CHECK(Inline(0, Unit::kSeconds) == "0 s");
  CHECK(Inline(240, Unit::kSeconds) == "4.00 min");
  CHECK(Inline(uint64_t{18446744073709551615u}, Unit::kInteger) == "18,446,744,073,709,551,615");
  CHECK(Inline(-1234567, Unit::kInteger) == "-1,234,567");
  CHECK(Inline("a\x1b[31m", Unit::kText) == "a\\x1b[31m");
  CHECK(Inline(true, Unit::kText) == "yes");
  CHECK(Inline(List{1, 2}, Unit::kText) == "1, 2");
}

TEST_CASE("A row may name what its number counts, and tables of one name are one array") {
  Report report("heaprec.check/1");
  for (const char* name : {"one", "two"}) {
    Table table;
    table.name = "checks";
    table.columns.resize(2);
    table.columns[0].name = table.columns[0].heading = "value";
    table.columns[0].unit = Unit::kByRow;
    table.columns[1].name = table.columns[1].heading = "name";
    table.rows.emplace_back().cells = {2048, name};
    table.rows.back().unit = Unit::kBytes, table.rows.back().suffix = "/op";
    report.Add(std::move(table));
  }
  CHECK(RenderText(report, Terminal{}, true).find("2.00 KiB/op  two") != std::string::npos);
  CHECK(RenderMarkdown(report, false).find("| 2.00 KiB/op | one |") != std::string::npos);
  CHECK(json::parse(RenderJson(report))["checks"].size() == 2);
}

}  // namespace
}  // namespace heaprec::tools::render

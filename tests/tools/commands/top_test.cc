// top and tree from outside: groups, orders, filters by frames, several recordings, and what they refuse.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

std::vector<std::string> NamesIn(const json& rows) {
  std::vector<std::string> names;
  for (const json& row : rows) names.push_back(row["name"]);
  return names;
}
using Names = std::vector<std::string>;

// 100 samples in two seconds: 70 strings of Leaf, called by Main and by itself; 30 of a pool, on another thread.
void WriteCalls(const std::string& path) {
  RecordingFile file(path, SomeHeader());
  file.Add(format::Window{1, 0, 7e-9});
  for (uint64_t i = 0; i < 100; ++i) {
    Event event = At((1 + i * 19) * kMs);
    if (i % 10 < 7) {
      event.stack = {"p/q/Leaf.make:7", "p/q/Leaf.make:9", "p/Main.work:" + std::to_string(20 + i % 2),
                     "p/Main.main:3"};
    } else {
      event.class_name = "[B";
      event.size = 1000;
      event.weight = 5000;
      event.thread = "pool";
      event.stack = {"r/Pool.grow:5", "p/Main.work:30", "p/Main.main:3"};
    }
    file.Add(event);
  }
  file.Add(format::Interval{0, 100, 159'000, 53, 53, 0});
  file.Add(format::Interval{1, 100, 159'000, 47, 47, 0});
  file.End("jvm exit", 2 * kSecond);
}

TEST_CASE_METHOD(Scratch, "top shows classes and sites first, those of most bytes above") {
  WriteCalls(path);
  const json document = Parsed("top --json " + path);
  CHECK(document["schema"] == "heaprec.top/1");
  CHECK(document["unit"] == "bytes");
  REQUIRE(document["tables"].size() == 2);
  CHECK(document["tables"][0]["by"] == "class");
  CHECK(NamesIn(document["tables"][0]["rows"]) == Names{"java.lang.String", "byte[]"});
  CHECK(NamesIn(document["tables"][1]["rows"]) == Names{"p.q.Leaf.make", "r.Pool.grow"});
  const json& strings = document["tables"][0]["rows"][0];
  CHECK(strings["points"] == 70);
  CHECK(strings["bytes"]["value"] == Approx(168'000));
  CHECK(strings["bytes_per_second"]["value"] == Approx(84'000));
  CHECK(strings["objects"]["value"] == Approx(7'000));
  CHECK(strings["share"]["value"] == Approx(168.0 / 318));
  CHECK(strings["mean_size"]["value"] == Approx(24));
  for (const char* figure : {"bytes", "bytes_per_second", "objects", "share"}) {
    INFO(figure << ": " << strings[figure]);
    CHECK(strings[figure]["low"] < strings[figure]["value"]);
    CHECK(strings[figure]["high"] > strings[figure]["value"]);
  }
  CHECK(document["total"]["value"] == Approx(318'000));
  CHECK(document["scan"]["seconds"] == Approx(2));
  CHECK(document["scan"]["recordings"][0]["losses"]["written"] == 100);
}

// 62 points in two seconds, in one block, of which 4 are kept as samples; then 31 in one, 2 kept. Two points of each
// are of a site that no sample has.
void WriteRows(const std::string& path) {
  RecordingFile file(path, SomeHeader());
  file.Add(format::Window{1, 0, 1.0 / 2388});  // 24 bytes represent 2400
  Event often = At(100 * kMs), rare = often;
  often.stack = {"p/Often.make:7", "p/Main.main:3"};
  rare.class_name = "p/Rare";
  rare.stack = {"java/util/Arrays.copyOf:1", "p/Rare.make:9"};
  const auto add = [&](uint64_t second, uint64_t points, uint64_t kept) {
    Event path_of_often = often;
    path_of_often.stack.pop_back();
    file.AddRow(path_of_often, points - 2, kept);
    file.AddRow(rare, 2);
    for (uint64_t i = 0; i < kept; ++i) {
      Event sample = often;
      sample.time_ns = second * kSecond + (1 + i) * 400 * kMs;
      sample.weight = 2400 * static_cast<double>(points) / static_cast<double>(kept);
      file.Add(sample);
    }
  };
  add(0, 62, 4);
  file.Add(format::Interval{0, 100, 74'400, 31, 2, 37'200});
  file.Add(format::Interval{1, 100, 74'400, 31, 2, 37'200});
  file.Flush({}, 2 * kSecond);
  add(2, 31, 2);
  file.Add(format::Interval{2, 100, 74'400, 31, 2, 37'200});
  file.End("jvm exit", 3 * kSecond);
}

TEST_CASE_METHOD(
    Scratch, "classes and sites are estimated from the rows of all points, whatever cuts through them from samples") {
  WriteRows(path);
  const json document = Parsed("top --json " + path);
  const json sites = document["tables"][1]["rows"];
  REQUIRE(NamesIn(sites) == Names{"p.Often.make", "p.Rare.make"});
  CHECK(sites[0]["points"] == 89);
  CHECK(sites[0]["bytes"]["value"] == Approx(2400 * 89));
  CHECK(sites[1]["points"] == 4);
  CHECK(sites[1]["bytes"]["value"] == Approx(2400 * 4));
  CHECK(sites[1]["objects"]["value"] == Approx(100 * 4));
  CHECK(sites[1]["bytes"]["low"].get<double>() > 2400);
  CHECK(NamesIn(document["tables"][0]["rows"]) == Names{"java.lang.String", "p.Rare"});
  CHECK(document["total"]["value"] == Approx(2400 * 93));
  CHECK(document["scan"]["samples"] == 6);
  CHECK(document["scan"]["points"] == 93);
  const std::string text = Heaprec("top --by package " + path).out;
  INFO(text);
  CHECK(text.find("a package without points allocated at most") != std::string::npos);
  CHECK(text.find("# 93 points (6 kept as samples)\n") != std::string::npos);
  for (const auto& [options, points] : {std::pair{"--site Rare.make", 4},
                                        {"--class Rare", 4},
                                        {"--lines", 93},
                                        {"--exact-sites", 93},
                                        {"--to 2s", 62},
                                        {"--from 2s", 31},
                                        {"--from 1s", 33},  // the samples from then on, and the second block's points
                                        {"--no-rows", 6},
                                        {"--thread main", 6},
                                        {"--frame Main.main", 6},
                                        {"--ignore Rare", 6},
                                        {"--kind tlab", 6},
                                        {"--by thread", 10},  // with the points of the site without samples
                                        {"--by method", 10},
                                        {"--by stack", 10},
                                        {"--by size", 6}}) {
    INFO(options);
    CHECK(Parsed(std::string("top --json ") + options + " " + path)["matched"]["points"] == points);
  }
  const json summary = Parsed("summary --json " + path);
  CHECK(summary["sites"][1]["points"] == 4);
  CHECK(summary["points"] == 93);
  CHECK(Parsed("summary --json --thread main " + path)["sites"].size() == 1);
  const json by_step = Parsed("timeline --json --by site --steps 3 " + path);
  REQUIRE(by_step["groups"].size() == 1);  // each second by its samples, for two of them are of one block
  CHECK(Parsed("timeline --json --by site --steps 2 " + path)["groups"][0]["name"] == "p.Often.make");
  const json same = Parsed("diff --json --all --by site " + path + " " + path);
  uint64_t before = 0;
  for (const json& row : same["tables"][0]["rows"]) before += row["points_before"].get<uint64_t>();
  CHECK(before == 93);
}

TEST_CASE_METHOD(Scratch, "by class, what was counted outside of TLABs is exact, and has a column where there is any") {
  const std::string hooks = directory / "vtables.bin";
  {
    RecordingFile file(path, SomeHeader());
    file.Add(At(500 * kMs));
    Event array = At(1500 * kMs);
    array.class_name = "[J";
    file.Add(array);
    file.AddOutside("[J", 3, 3'000'000);
    file.Flush();
    file.AddOutside("[J", 1, 500'000);
    file.AddOutside("p/NoPoint", 2, 32);
    file.End("jvm exit", 2 * kSecond);
  }
  for (const std::string filter : {"", "--class 'long[]'"}) {
    const json rows = Parsed("top --by class --json " + filter + " " + path)["tables"][0]["rows"];
    REQUIRE(rows.size() == (filter.empty() ? 2 : 1));
    for (const json& row : rows) {
      const bool is_array = row["name"] == "long[]";
      CHECK(row["outside_tlabs"] == json{{"bytes", is_array ? 3'500'000 : 0}, {"objects", is_array ? 4 : 0}});
    }
  }
  CHECK(Heaprec("top --by class --wide " + path).out.find("  outside TLABs  class\n") != std::string::npos);
  for (const std::string others : {"--by class --from 1s", "--by class --thread main", "--by site"}) {
    const json row = Parsed("top --json " + others + " " + path)["tables"][0]["rows"][0];
    CHECK_FALSE(row.contains("outside_tlabs"));
  }
  CHECK(Parsed("summary --json " + path)["outside_tlabs"]["bytes"] == 3'500'032);
  for (const bool is_hooks : {true, false}) {  // which say that nothing is counted
    format::FileHeader header = SomeHeader();
    header.source = is_hooks ? "hooks" : "jvmti";
    if (is_hooks) header.Note(format::SourceFact::kOutsideUncounted);
    std::filesystem::remove(hooks);
    WriteSmall(hooks, header);
    CHECK(Heaprec("summary " + hooks).out.find("outside TLABs: not counted with this source\n") != std::string::npos);
  }
  WriteSmall(directory / "none.bin");
  CHECK(Heaprec("summary " + directory / "none.bin").out.find("outside TLABs") == std::string::npos);
}

TEST_CASE_METHOD(Scratch,
                 "trees and exported stacks have the bytes that rows have of each site, with or without samples") {
  WriteRows(path);
  const auto tree = Heaprec("tree " + path);
  CHECK(tree.out.find("[callers not kept]") != std::string::npos);
  CHECK(tree.out.find("\n# 6 samples, calibrated to 93 points\n") != std::string::npos);
  CHECK(Parsed("tree --json " + path)["scan"]["calibrated_to_points"] == 93);
  CHECK(Parsed("top --by site --json " + path)["scan"]["calibrated_to_points"] == 0);
  CHECK(Heaprec("top --by thread --thread main " + path)
            .out.find("; 4.3 % of the bytes are of sites without samples and left out\n") != std::string::npos);
  CHECK(Heaprec("export --format collapsed " + path).out ==
        "[callers not kept];p.Rare.make;java.util.Arrays.copyOf 9600\np.Main.main;p.Often.make 213600\n");
  CHECK(Heaprec("export --format collapsed --no-rows " + path).out == "p.Main.main;p.Often.make 223200\n");
  const auto csv = Heaprec("export --format csv --no-rows " + path);
  CHECK(csv.code == 2);
  CHECK(csv.err.find("--no-rows is for --format collapsed, pprof, otlp, speedscope") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "the amount per second is that of the total, which has what could not be written, too") {
  RecordingFile file(path, SomeHeader());
  file.Add(format::Window{1, 0, 7e-9});
  for (uint64_t i = 0; i < 100; ++i) file.Add(At((1 + i * 19) * kMs));
  const auto full_disk = static_cast<size_t>(format::LossReason::kWriteFailed);
  file.counters().points += 100;
  file.counters().lost[full_disk] = 100;
  file.counters().lost_weight[full_disk] = 240'000;
  file.counters().candidate_bytes += 240'000;
  file.End("jvm exit", 2 * kSecond);
  const std::string text = Heaprec("top " + path).out;
  INFO(text);
  CHECK(text.find("469 KiB allocated in 2.000 s, 234 KiB/s") != std::string::npos);
  const json document = Parsed("top --json " + path);
  CHECK(document["total"]["value"] == Approx(480'000));
  CHECK(document["matched"]["bytes"] == document["total"]);
  CHECK(document["matched"]["bytes_per_second"]["value"] == Approx(240'000));
}

TEST_CASE_METHOD(Scratch, "top shows the source lines of sites, and which files it did not find") {
  WriteCalls(path);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((directory / name).substr(0, (directory / name).rfind('/')));
    std::ofstream(directory / name) << text;
  };
  write("src/p/q/Leaf.java", "1\n2\n3\n4\n5\n6\n\treturn new String(\"\x1b\"); // made\r\n8\n");
  const std::string asked = "top --by site --sources " + (directory / "src") + " ";
  const Outcome text = Heaprec(asked + path);
  CHECK(text.out.find("p.q.Leaf.make:7\n") != std::string::npos);
  CHECK(text.out.find(" // made\n") != std::string::npos);
  CHECK(text.out.find('\x1b') == std::string::npos);
  CHECK(text.out.find("source lines of 1 of 2 sites found; not found: r/Pool.java\n") != std::string::npos);
  write("more/r/Pool.kt", "short\n");
  const json document = Parsed(asked + "--json --sources " + (directory / "more") + " " + path);
  CHECK(document["sources"]["found"] == 1);
  CHECK(document["tables"][0]["rows"][0]["source"].get<std::string>().ends_with("// made"));
  CHECK(document["tables"][0]["rows"][1]["source"] == "(r/Pool.kt has 1 line: another version)");
  std::filesystem::create_directory(directory / "none");
  CHECK(Heaprec("top --by site --sources " + (directory / "none") + " " + path)
            .out.find("source lines of 0 of 2 sites found; not found: p/q/Leaf.java and 1 more file\n") !=
        std::string::npos);
  {
    RecordingFile file(directory / "unknown.bin", SomeHeader());
    file.Add(format::Window{1, 0, 7e-9});
    Event event = At(kMs);
    event.stack = {};
    file.Add(event);
    event.stack = {"p/Odd{}.make:7"};
    file.Add(event);
    file.End("jvm exit", 2 * kSecond);
  }
  CHECK(Heaprec(asked + directory / "unknown.bin")
            .out.find("source lines of 0 of 2 sites found; without a line number: 1; not found: p/Odd{}.java\n") !=
        std::string::npos);
  write("more/r/Pool.kt", std::string(100, '\n'));
  CHECK(Heaprec(asked + "--sources " + (directory / "more") + " " + path).out.find(" is blank: another version)\n") !=
        std::string::npos);
  CHECK(Heaprec("top --by class --sources " + (directory / "src") + " " + path).err ==
        "heaprec: --sources needs --by site: other rows have no line\n");
  const std::string none = directory / "nowhere";
  CHECK(Heaprec("top --sources " + none + " " + path).err == "heaprec: --sources " + none + ": is not a folder\n");
}

TEST_CASE_METHOD(Scratch, "samples without a stack are recorded, and not among the lost ones") {
  RecordingFile file(path, SomeHeader());
  file.Add(format::Window{1, 0, 7e-9});
  for (uint64_t i = 0; i < 100; ++i) file.Add(At((1 + i * 19) * kMs));
  file.counters().lost[static_cast<size_t>(format::LossReason::kNoStack)] = 50;
  file.End("jvm exit", 2 * kSecond);
  const std::string text = Heaprec("top " + path).out;
  INFO(text);
  CHECK(text.find(" lost") == std::string::npos);
  const json losses = Parsed("top --json " + path)["scan"]["recordings"][0]["losses"];
  INFO(losses);
  CHECK(losses["stacks"]["none"] == 50);
  CHECK(!losses["lost"].contains("no_stack"));
}

TEST_CASE_METHOD(Scratch, "lost points are in the total and in upper ends") {
  RecordingFile file(path, SomeHeader());
  file.Add(format::Window{1, 0, 7e-9});
  for (uint64_t i = 0; i < 100; ++i) file.Add(At((1 + i * 19) * kMs));
  for (const auto reason : {format::LossReason::kRingFull, format::LossReason::kLanesBusy,
                            format::LossReason::kOversized, format::LossReason::kDroppedByJvm}) {
    const auto loss = static_cast<size_t>(reason);
    file.counters().points += 10;
    file.counters().lost[loss] = 10;
    file.counters().lost_weight[loss] = 24'000;
    file.counters().candidate_bytes += 24'000;
  }
  file.Add(format::Interval{.index = 0, .candidates = 140, .bytes = 336'000, .buffered = 100, .kept = 100});
  file.End("jvm exit", 2 * kSecond);
  const json summary = Parsed("summary --json " + path), document = Parsed("top --by class --json " + path);
  CHECK(summary["allocated_bytes"] == 336'000);
  CHECK(summary["estimates"]["bytes"]["value"] == Approx(336'000));
  CHECK(document["total"]["value"] == Approx(336'000));
  CHECK(document["total"]["low"] == document["total"]["high"]);
  CHECK(document["matched"]["share"]["low"] == 1);
  const json& row = document["tables"][0]["rows"][0]["bytes"];
  CHECK(row["value"] == Approx(240'000));
  CHECK(row["high"] == Approx(336'000));
}

TEST_CASE_METHOD(Scratch, "top groups by whatever is asked for") {
  WriteCalls(path);
  const auto names = [&](const std::string& options) {
    return NamesIn(Parsed("top --json " + options + " " + path)["tables"][0]["rows"]);
  };
  CHECK(names("--by package") == Names{"p.q", "r"});
  CHECK(names("--by thread") == Names{"main", "pool"});
  CHECK(names("--by kind") == Names{"tlab"});
  CHECK(names("--by size --sort name") == Names{"16 B to 32 B", "512 B to 1 KiB"});
  CHECK(names("--by label:request") == Names{"[none]"});
  CHECK(names("--by site --lines") == Names{"p.q.Leaf.make:7", "r.Pool.grow:5"});
  CHECK(names("--by class --sort mean-size") == Names{"byte[]", "java.lang.String"});
  CHECK(names("--by class --sort name") == Names{"byte[]", "java.lang.String"});
  CHECK(names("--by class --limit 1") == Names{"java.lang.String"});
  CHECK(names("--by class --min-share 50%") == Names{"java.lang.String"});
}

TEST_CASE_METHOD(Scratch,
                 "top by method has what a method allocated itself and with its callees, recursion counted once") {
  WriteCalls(path);
  const json table = Parsed("top --by method --sort cumulative --json " + path)["tables"][0];
  CHECK(NamesIn(table["rows"]) == Names{"p.Main.main", "p.Main.work", "p.q.Leaf.make", "r.Pool.grow"});
  CHECK(table["rows"][0]["bytes"]["value"] == 0);
  CHECK(table["rows"][0]["cumulative"]["bytes"]["value"] == Approx(318'000));
  CHECK(table["rows"][2]["cumulative"]["bytes"]["value"] == Approx(168'000));
  CHECK(table["rows"][2]["cumulative"]["points"] == 70);
  CHECK(Heaprec("top --by class --sort cumulative " + path).code == 2);
  const std::string by_bytes = "top --by method " + path;
  CHECK(NamesIn(Parsed(by_bytes + " --json")["tables"][0]["rows"]).size() == 4);
  CHECK(Heaprec(by_bytes + " --limit 0").out.find("more;") == std::string::npos);
  CHECK(Heaprec(by_bytes + " --limit 2").out.find("... 2 more; --limit 0 shows all\n") != std::string::npos);
  CHECK(Heaprec(by_bytes + " --min-share 40%").out.find("more; --min-share 0 --limit 0 shows all\n") !=
        std::string::npos);
}

TEST_CASE_METHOD(Scratch, "focus keeps stacks with such a frame, ignore those without, hide leaves frames out") {
  WriteCalls(path);
  const auto top = [&](const std::string& options) { return Parsed("top --by site --json " + options + " " + path); };
  const json focused = top("--focus 'Pool\\.gr.w'");
  CHECK(NamesIn(focused["tables"][0]["rows"]) == Names{"r.Pool.grow"});
  CHECK(focused["scan"]["matched"] == 30);
  CHECK(focused["matched"]["share"]["value"] == Approx(150.0 / 318));
  CHECK(NamesIn(top("--ignore Pool")["tables"][0]["rows"]) == Names{"p.q.Leaf.make"});
  const json hidden = top("--hide '^(p\\.q|r)\\.'");
  CHECK(NamesIn(hidden["tables"][0]["rows"]) == Names{"p.Main.work"});
  CHECK(hidden["tables"][0]["rows"][0]["points"] == 100);
  CHECK(NamesIn(top("--hide .")["tables"][0]["rows"]) == Names{"[hidden]"});
  const Outcome bad = Heaprec("top --focus 'a(b' " + path);
  CHECK(bad.code == 2);
  CHECK(bad.err.find("--focus 'a(b': missing )") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "several files add up, and standard input is one of them") {
  WriteCalls(path);
  const json one = Parsed("top --by class --json " + path);
  const Outcome outcome = Shell("cat " + path + " | $HEAPREC top --by class --json " + path + " -");
  REQUIRE(outcome.code == 0);
  const json two = json::parse(outcome.out);
  CHECK(two["scan"]["recordings"].size() == 2);
  CHECK(outcome.err.find(path + " and standard input hold the same ") != std::string::npos);
  CHECK(outcome.err.find(" of one recording, which are counted twice; join them with heaprec merge\n") !=
        std::string::npos);
  const std::string thrice = Heaprec("top " + path + " " + path + " " + path).err;
  CHECK(Count(thrice, " of one recording are counted twice\n") == 2);  // a line for each that is too many
  CHECK(two["total"]["value"] == Approx(2 * 318'000));
  const json &a = one["tables"][0]["rows"][0], &b = two["tables"][0]["rows"][0];
  CHECK(b["bytes"]["value"] == Approx(2 * a["bytes"]["value"].get<double>()));
  CHECK(b["bytes_per_second"]["value"] == Approx(a["bytes_per_second"]["value"].get<double>()));
  CHECK(b["share"]["value"] == Approx(a["share"]["value"].get<double>()));
  CHECK(b["share"]["high"] < a["share"]["high"]);
  CHECK(Heaprec("top - - <" + path).code == 2);
  CHECK(Heaprec("top " + path + " " + directory / "missing").code == 3);
}

TEST_CASE_METHOD(Scratch, "tree shows callees from the root, each with what is below it") {
  WriteCalls(path);
  const json document = Parsed("tree --json " + path);
  CHECK(document["schema"] == "heaprec.tree/1");
  CHECK(NamesIn(document["children"]) == Names{"p.Main.main"});
  const json& work = document["children"][0]["children"][0];
  CHECK(work["name"] == "p.Main.work");
  CHECK(work["bytes"]["value"] == Approx(318'000));
  CHECK(work["own"]["bytes"]["value"] == 0);
  CHECK(NamesIn(work["children"]) == Names{"p.q.Leaf.make", "r.Pool.grow"});
  CHECK(work["children"][0]["children"].empty());  // recursion folds
  CHECK(work["children"][0]["own"]["points"] == 70);
  const json unfolded = Parsed("tree --no-fold --json " + path);
  CHECK(NamesIn(unfolded["children"][0]["children"][0]["children"][0]["children"]) == Names{"p.q.Leaf.make"});
  const json lines = Parsed("tree --lines --json " + path);
  CHECK(NamesIn(lines["children"][0]["children"]) == Names{"p.Main.work:30", "p.Main.work:20", "p.Main.work:21"});
}

TEST_CASE_METHOD(Scratch, "tree shows callers from the allocation, pruned by share, limit and depth") {
  WriteCalls(path);
  const json document = Parsed("tree --callers --json " + path);
  CHECK(document["direction"] == "callers");
  CHECK(NamesIn(document["children"]) == Names{"p.q.Leaf.make", "r.Pool.grow"});
  CHECK(NamesIn(document["children"][1]["children"]) == Names{"p.Main.work"});
  const json few = Parsed("tree --callers --limit 1 --depth 1 --json " + path);
  CHECK(NamesIn(few["children"]) == Names{"p.q.Leaf.make"});
  CHECK(few["left_out"] == 1);
  CHECK(few["children"][0]["children"].empty());
  CHECK(NamesIn(Parsed("tree --callers --min-share 50% --json " + path)["children"]) == Names{"p.q.Leaf.make"});
}

}  // namespace
}  // namespace heaprec::tools::testing

// diff from outside: what changed, what is noise, and in which units.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

struct Amounts {
  uint32_t strings = 200, bytes = 50, nodes = 40, rare = 2;  // samples of 10,000 B in 10 s
};

void WriteAmounts(const std::string& path, const Amounts& amounts, uint64_t later_s = 0) {
  format::FileHeader header = SomeHeader();
  header.start_epoch_ns += later_s * kSecond;
  RecordingFile file(path, header);
  file.Add(format::Window{1, 0, 7e-9});
  uint64_t n = 0;
  const auto add = [&](uint32_t samples, const char* class_name, const char* site) {
    for (uint32_t i = 0; i < samples; ++i) {
      file.Add(Event{.time_ns = (10'000 * i / samples) * kMs + ++n,
                     .class_name = class_name,
                     .weight = 10'000,
                     .stack = {site, "com/acme/App.main:3"}});
    }
  };
  add(amounts.strings, "java/lang/String", "com/acme/Text.of:7");
  add(amounts.bytes, "[B", "com/acme/Cache.fill:12");
  add(amounts.nodes, "java/util/HashMap$Node", "java/util/HashMap.newNode:1");
  add(amounts.rare, "com/acme/Rare", "com/acme/Rare.<init>:1");
  file.Add(format::Interval{0, 1000, n * 10'000, n, n, 0});
  file.End("jvm exit", 10 * kSecond);
}

// The rows by name: "byte[] more".
std::string Verdicts(const std::string& arguments) {
  const auto outcome = Heaprec("diff --json " + arguments);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  std::string text;
  const json document = json::parse(outcome.out);
  for (const json& row : document["tables"][0]["rows"]) {
    text += row["name"].get<std::string>() + " " + row["verdict"].get<std::string>() + "; ";
  }
  return text;
}

json RowNamed(const json& document, const std::string& name) {
  for (const json& row : document["tables"][0]["rows"]) {
    if (row["name"] == name) return row;
  }
  return {};
}

TEST_CASE_METHOD(Scratch, "diff and check refuse what they could only answer wrongly") {
  const std::string a = directory / "a.bin";
  WriteAmounts(a, {});
  CHECK(Heaprec("diff --html - " + a + " " + a).code == 2);
  CHECK(Heaprec("timeline --svg - --html - " + a).code == 2);
  CHECK(Heaprec("check --ops nan --budget 'total<1B/op' " + a).code == 2);
  CHECK(Heaprec("check --ops 0 --budget 'total<1B/op' " + a).code == 2);
}

TEST_CASE_METHOD(Scratch, "diff reports a window outside of the recording, and compares nothing") {
  const std::string a = directory / "a.bin";
  WriteAmounts(a, {});
  const auto outcome = Heaprec("diff --window 0s..5s 1h..2h " + a);
  CHECK(outcome.code == 0);
  CHECK(outcome.err == "heaprec: no data in this range: " + a + " has data from 0.000 s to 10.000 s\n");
  CHECK(outcome.out.find("rows:      not compared: " + a + ", 1h..2h has no data\n") != std::string::npos);
  CHECK(outcome.out.find("no significant change") == std::string::npos);
  CHECK(Heaprec("diff --window 0s..5s 5s..5s " + a).code == 2);
}

TEST_CASE_METHOD(Scratch, "diff compares nothing with a recording of which nothing could be read") {
  const std::string a = directory / "a.bin", b = directory / "b.bin";
  WriteAmounts(a, {});
  WriteAmounts(b, {});
  std::filesystem::resize_file(b, 500);  // the header, and less than the first block
  const auto outcome = Heaprec("diff " + a + " " + b);
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find(" before, unknown after\n") != std::string::npos);
  CHECK(outcome.out.find("rows:      not compared: " + b + " has no data\n") != std::string::npos);
  const json document = json::parse(Heaprec("diff --json --all " + a + " " + b).out);
  CHECK(document["without_data"] == b);
  CHECK(document["total"]["verdict"].is_null());
  CHECK(document["total"]["before"].is_object());
  CHECK(document["tables"] == json::array());
  CHECK(json::parse(Heaprec("diff --json " + a + " " + a).out)["without_data"].is_null());
}

TEST_CASE_METHOD(Scratch, "diff names what changed, the largest first, and leaves out what may be noise") {
  const std::string a = directory / "a.bin", b = directory / "b.bin", both = "--per total " + a + " " + b;
  WriteAmounts(a, {});
  WriteAmounts(b, {.strings = 205, .bytes = 150, .nodes = 0, .rare = 1}, 100);
  CHECK(Verdicts("--by class " + both) == "byte[] more; java.util.HashMap$Node gone; ");
  CHECK(Verdicts("--per total --by class " + b + " " + a) == "byte[] less; java.util.HashMap$Node new; ");
  CHECK(Verdicts("--by site " + both) == "com.acme.Cache.fill more; java.util.HashMap.newNode gone; ");
  // Two rows that differ by much, and one of them by 40 %: that may be how runs vary.
  CHECK(Verdicts("--by package " + both) == "java.util gone; ");
  CHECK(Verdicts("--by stack " + both).find("com.acme.App.main;com.acme.Cache.fill more") == 0);
  CHECK(Verdicts("--by method --min-change 5% " + both).find("com.acme.Cache.fill more") != std::string::npos);
  // 22 % more in one run than in another.
  CHECK(Verdicts("--by thread " + both).empty());
  CHECK(Verdicts("--by kind " + both).empty());
  CHECK(Verdicts("--by class --all " + both) ==
        "byte[] more; java.util.HashMap$Node gone; java.lang.String same; com.acme.Rare same; ");
  const auto says = [&both](const std::string& options, const std::string& text) {
    return Heaprec("diff --by class " + options + " " + both).out.find(text) != std::string::npos;
  };
  CHECK(says("--all --limit 1", "... 3 more; --limit 0 shows all\n"));
  CHECK(says("--limit 1", "; --limit 0 shows all that changed\n"));
  CHECK(says("", "; --all shows them\n"));
  const std::string c = directory / "c.bin";
  WriteAmounts(c, {.bytes = 95, .nodes = 0});
  CHECK(Verdicts("--per total --by class " + a + " " + c) == "byte[] more; java.util.HashMap$Node gone; ");
  CHECK(Verdicts("--per total --by class --min-change 50% " + a + " " + c) == "java.util.HashMap$Node gone; ");
  CHECK(Verdicts("--by class " + a + " " + a).empty());
  CHECK(Verdicts("--by class --min-change 350% " + both) == "");
  CHECK(Verdicts("--by class --class 'byte[]' " + both) == "byte[] more; ");
}

TEST_CASE_METHOD(Scratch, "diff names the rows of a pair in which all differ by far more than runs vary") {
  const std::string a = directory / "a.bin", b = directory / "b.bin";
  WriteAmounts(a, {.strings = 400, .bytes = 20, .nodes = 300, .rare = 20});
  WriteAmounts(b, {.strings = 20, .bytes = 400, .nodes = 20, .rare = 300}, 100);
  CHECK(Verdicts("--per total --by class " + a + " " + b) ==
        "java.lang.String less; byte[] more; java.util.HashMap$Node less; com.acme.Rare more; ");
}

TEST_CASE_METHOD(Scratch, "diff compares per second, per operation or shares, and chooses what suits") {
  const std::string a = directory / "a.bin", b = directory / "b.bin", both = a + " " + b;
  WriteAmounts(a, {});
  WriteAmounts(b, {.strings = 400, .bytes = 100, .nodes = 80, .rare = 4}, 100);
  const json twice = json::parse(Heaprec("diff --json --all --per total --by class " + both).out);
  CHECK(twice["per"] == "total");
  CHECK(twice["total"]["ratio"]["value"] == Approx(2));
  CHECK(twice["total"]["before"]["value"] == Approx(2'920'000));
  const json& strings = twice["tables"][0]["rows"][0];
  CHECK(strings["name"] == "java.lang.String");
  CHECK(strings["change"]["value"] == Approx(2'000'000));
  CHECK(strings["change"]["low"] < 1'000'000);
  CHECK(strings["ratio"]["low"] < 1);
  CHECK(strings["points_after"] == 400);
  // All rows are twice as large: so is the run, and one run does not say why.
  CHECK(strings["verdict"] == "same");
  CHECK(twice["replicated"] == false);
  // Twice the work: the same for each operation, and the same shares.
  CHECK(Verdicts("--by class --ops A=100,B=200 " + both).empty());
  CHECK(Verdicts("--by class --per share " + both).empty());
  CHECK(json::parse(Heaprec("diff --json " + both).out)["per"] == "share");
  CHECK(json::parse(Heaprec("diff --json " + a + " " + a).out)["per"] == "total");
  CHECK(json::parse(Heaprec("diff --json --objects " + both).out)["per"] == "second");
  CHECK(json::parse(Heaprec("diff --json --ops A=100,B=200 " + both).out)["total"]["ratio"]["value"] == Approx(1));
}

TEST_CASE_METHOD(Scratch, "diff compares two windows of one recording") {
  WriteSamples(path, 300, [](uint64_t i) {
    return Event{.time_ns = (i < 100 ? 20 * i : 4000 + 10 * (i - 100)) * kMs + 1,
                 .class_name = i % 2 == 0 || i < 100 ? "[B" : "[I",
                 .weight = 10'000};
  });
  CHECK(Verdicts("--by class --window 0s..2s 4s..6s " + path) == "int[] new; ");
  CHECK(Verdicts("--by class --window 0s..1s 1s..2s " + path).empty());
  // Shares of what each window has: a byte[] takes all of the first, half of the second.
  CHECK(Verdicts("--by class --per share --window 0s..2s 4s..6s " + path) == "byte[] less; int[] new; ");
  const json shares =
      json::parse(Heaprec("diff --json --all --per share --window 0s..2s 4s..6s --by class " + path).out);
  const json bytes = RowNamed(shares, "byte[]");
  CHECK(bytes["before"]["value"] == Approx(1));
  CHECK(bytes["after"]["value"] == Approx(0.5));
  CHECK(bytes["after"]["low"] < 0.46);
  CHECK(bytes["after"]["low"] > 0.4);
  // Of all classes, though one was chosen.
  const json of_one = json::parse(
      Heaprec("diff --json --all --per share --class 'int[]' --window 0s..2s 4s..6s --by class " + path).out);
  CHECK(of_one["tables"][0]["rows"][0]["after"]["value"] == Approx(0.5));
  for (const char* wrong : {"--window 0s 4s..6s", "--window ..2s 4s..6s", "--window 0s..2s 4s..6s --from 1s", ""}) {
    INFO(wrong);
    CHECK(Heaprec(std::string("diff ") + wrong + " " + path).code == 2);
  }
}

TEST_CASE_METHOD(Scratch, "The first line is the answer, and times that look reversed are said") {
  const std::string a = directory / "a.bin", b = directory / "b.bin";
  WriteAmounts(a, {});
  WriteAmounts(b, {.strings = 205, .bytes = 150, .nodes = 0, .rare = 1}, 100);
  const auto outcome = Heaprec("diff --per total " + a + " " + b);
  INFO(outcome.out);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.find("\nrows:      compared in total: as set by --per\n") != std::string::npos);
  CHECK(outcome.out.find("\nruns:      one run of each side shows only large changes: a site with 5 % of the bytes "
                         "must more than double "
                         "to be noticed, one with 1 % change more than 3-fold\n") != std::string::npos);
  CHECK(
      outcome.out.find("\nruns:      of three runs of each side (heaprec bench) a site with 5 % of the bytes must ") !=
      std::string::npos);
  CHECK(outcome.out.find("total:     +21.9 %") == 0);
  CHECK(outcome.out.find("\nby class: 2 of 4 changed; about 5.0 % of these rows may be false alarms\n") !=
        std::string::npos);
  CHECK(outcome.out.find("\nmore  ") != std::string::npos);
  CHECK(outcome.out.find("\ngone  ") != std::string::npos);
  CHECK(outcome.out.find("java.lang.String") == std::string::npos);
  CHECK(Heaprec("diff --per total --limit 1 --by class " + a + " " + b)
            .out.find("... 3 more; --limit 0 shows all that changed") != std::string::npos);
  CHECK(Heaprec("diff " + b + " " + a).err == "heaprec: B was recorded before A; swap them if this is not intended\n");
  CHECK(json::parse(Heaprec("diff --json " + b + " " + a + " 2>/dev/null").out)["reversed"] == true);
}

// Of the boxes of a page: "byte[] more; ".
std::string VerdictsOf(const std::string& page) {
  return Shell("python3 tests/tools/commands/diff_browser.py --verdicts " + page + " 2>&1").out;
}

TEST_CASE_METHOD(Scratch, "A differential flame graph colours what changed") {
  const std::string a = directory / "a.bin", b = directory / "b.bin", page = directory / "diff.html";
  WriteAmounts(a, {});
  WriteAmounts(b, {.strings = 205, .bytes = 150, .nodes = 0, .rare = 1}, 100);
  REQUIRE(Heaprec("diff --per total --html " + page + " " + a + " " + b).code == 0);
  const std::string verdicts = VerdictsOf(page);
  INFO(verdicts);
  CHECK(verdicts.find("com.acme.Cache.fill more; byte[] more; ") != std::string::npos);
  CHECK(verdicts.find("java.util.HashMap.newNode less; java.util.HashMap$Node less; ") != std::string::npos);
  CHECK(verdicts.find("com.acme.Text.of same; java.lang.String same; ") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "The report of two recordings has the verdicts of diff, and none where diff has none") {
  const std::string a = directory / "a.bin", b = directory / "b.bin", page = directory / "report.html";
  WriteAmounts(a, {.strings = 1000, .bytes = 500, .nodes = 400, .rare = 20});
  WriteAmounts(b, {.strings = 1000, .bytes = 560, .nodes = 400, .rare = 20}, 100);
  CHECK(Verdicts("--by site " + a + " " + b).empty());
  REQUIRE(Heaprec("report -q -o " + page + " " + a + " " + b).code == 0);
  std::string verdicts = VerdictsOf(page);
  INFO(verdicts);
  CHECK(verdicts.find("com.acme.Cache.fill same; byte[] same; ") != std::string::npos);
  CHECK(verdicts.find("more") == std::string::npos);
  CHECK(verdicts.find("less") == std::string::npos);
  WriteAmounts(directory / "c.bin", {.strings = 1000, .bytes = 1500, .nodes = 400, .rare = 20}, 100);
  CHECK(Verdicts("--by site " + a + " " + (directory / "c.bin")) == "com.acme.Cache.fill more; ");
  REQUIRE(Heaprec("report -q -f -o " + page + " " + a + " " + (directory / "c.bin")).code == 0);
  verdicts = VerdictsOf(page);
  CHECK(verdicts.find("com.acme.Cache.fill more; byte[] more; ") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "A page of several runs colours by how runs vary") {
  std::string before, after;
  const std::string page = directory / "diff.html";
  for (const uint32_t n : {1U, 2U, 3U}) {
    const std::string a = directory / ("a" + std::to_string(n)), b = directory / ("b" + std::to_string(n));
    // Nodes vary widely between runs of each side.
    WriteAmounts(a, {.strings = 1000 + n, .bytes = 500, .nodes = 100 * n * n, .rare = 30});
    WriteAmounts(b, {.strings = 1000 - n, .bytes = 700 + n, .nodes = 120 * n * n, .rare = 30});
    before += " " + a, after += " " + b;
  }
  REQUIRE(Heaprec("diff --per second --html " + page + before + " --" + after).code == 0);
  const std::string verdicts = VerdictsOf(page), rows = Verdicts("--per second --by site" + before + " --" + after);
  INFO(verdicts << "\n" << rows);
  CHECK(rows == "com.acme.Cache.fill more; ");
  CHECK(verdicts.find("com.acme.Cache.fill more; byte[] more; ") != std::string::npos);
  CHECK(verdicts.find("java.util.HashMap.newNode same; java.util.HashMap$Node same; ") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "A browser shows what differs: colours, tooltips of both sides, search, zoom") {
  const std::string a = directory / "a.bin", b = directory / "b.bin", page = directory / "diff.html";
  WriteAmounts(a, {});
  WriteAmounts(b, {.strings = 205, .bytes = 150, .nodes = 0, .rare = 1}, 100);
  REQUIRE(Heaprec("diff --per total --html " + page + " " + a + " " + b).code == 0);
  const auto outcome = Shell("python3 tests/tools/commands/diff_browser.py " + page + " 2>&1");
  INFO(outcome.out);
  CHECK(outcome.code == 0);
}

TEST_CASE_METHOD(Scratch, "Several runs of each side find smaller changes than one, and say how much runs vary") {
  std::string before, after;
  uint32_t n = 0;
  for (const uint32_t strings : {1000U, 1010U, 990U}) {
    const std::string a = directory / ("a" + std::to_string(++n)), b = directory / ("b" + std::to_string(n));
    WriteAmounts(a, {.strings = strings, .bytes = 500, .nodes = 400 + n, .rare = 30});
    WriteAmounts(b, {.strings = strings + n, .bytes = 700 + n, .nodes = 395 + n, .rare = 30});
    before += " " + a, after += " " + b;
  }
  const json document = json::parse(Heaprec("diff --json --by class" + before + " --" + after).out);
  INFO(document.dump(1));
  CHECK(document["replicated"] == true);
  // The total is 10.2 % more, because byte[] is 40 % more: that is the same work.
  CHECK(document["per"] == "total");
  CHECK(document["before"]["runs"].size() == 3);
  CHECK(document["tables"][0]["rows"].size() == 1);
  CHECK(document["tables"][0]["rows"][0]["name"] == "byte[]");
  CHECK(document["tables"][0]["run_deviation"] < 0.1);
  CHECK(document["tables"][0]["detectable_at_5_percent"] < 0.6);
  // The shares of all others fall by a tenth.
  CHECK(Verdicts("--per share --by class" + before + " --" + after) ==
        "byte[] more; java.lang.String less; java.util.HashMap$Node less; ");
  CHECK(Heaprec("diff" + before + " --" + after)
            .out.find("\nruns:      3 before, 3 after: a site with 5 % of the bytes must ") != std::string::npos);
  CHECK(Heaprec("diff" + before + " --" + after).out.find("with three runs") == std::string::npos);
  CHECK(Heaprec("diff" + before + after).code == 2);
}

// `speed`: of the machine; the program takes 10 s at 1, and 8 s of CPU time at any.
void WriteWithCpuTime(const std::string& path, double speed) {
  RecordingFile file(path, SomeHeader());
  file.Add(format::Window{1, 0, 7e-9});
  const auto end_ns = static_cast<uint64_t>(10e9 / speed);
  const auto samples = static_cast<uint32_t>(800 * (speed < 1 ? 0.8 : 1));
  for (uint32_t i = 0; i < samples; ++i) {
    file.Add(Event{.time_ns = 1 + end_ns / samples * i, .class_name = i % 4 == 0 ? "[B" : "[I", .weight = 10'000});
  }
  for (uint64_t i = 0; i <= 10; ++i) {
    format::ProcessState state;
    state.id = i + 1;
    state.kind = format::ProcessStateKind::kCpu;
    state.time_ns = end_ns / 10 * i;
    state.used = (1 + i) * 800'000'000 * samples / 800;
    file.Add(state);
  }
  file.Add(format::Interval{0, 1000, samples * uint64_t{10'000}, samples, samples, 0});
  file.End("jvm exit", end_ns);
}

TEST_CASE_METHOD(Scratch, "If only the machine's speed differs the headline says so, and no row is flagged") {
  const std::string a = directory / "a.bin", b = directory / "b.bin";
  WriteWithCpuTime(a, 1);
  WriteWithCpuTime(b, 0.4);
  const auto outcome = Heaprec("diff --per second " + a + " " + b);
  INFO(outcome.out);
  CHECK(
      outcome.out.find(
          "\nspeed:     B allocated 0.32 times as much per second, but 1.00 times as much per second of CPU time: ") !=
      std::string::npos);
  CHECK(outcome.out.find("compared per second of CPU time: the sides ran at different speeds") != std::string::npos);
  CHECK(outcome.out.find("by class: 0 of 2 changed") != std::string::npos);
  CHECK(outcome.out.find("\nruns:      no verdict: rates of one run per side also depend on the machine's speed") !=
        std::string::npos);
  CHECK(json::parse(Heaprec("diff --json --per second " + a + " " + b).out)["judged"] == false);
  const json document = json::parse(Heaprec("diff --json --per cpu-second " + a + " " + b).out);
  CHECK(document["per"] == "cpu-second");
  CHECK(document["speed"]["explains_rates"] == true);
  CHECK(document["before"]["runs"][0]["cpu_seconds"] == Approx(8));
  CHECK(document["total"]["ratio"]["value"] == Approx(1));
}

// 10 s with 8 s of CPU time, and pauses: their ends in s, and how long they took in ms.
void WriteWithPauses(const std::string& path, const std::vector<std::pair<uint64_t, uint64_t>>& pauses,
                     uint64_t collector_ms) {
  RecordingFile file(path, SomeHeader());
  file.Add(format::Window{1, 0, 7e-9});
  for (uint32_t i = 0; i < 100; ++i) file.Add(At(100 * i * kMs + 1));
  format::ProcessState state;
  const auto add_cpu = [&](uint64_t time_ns, uint64_t process_ns, uint64_t collector_ns) {
    ++state.id;
    state.kind = format::ProcessStateKind::kCpu;
    state.time_ns = time_ns, state.used = process_ns, state.committed = collector_ns;
    state.pauses = state.paused_ns = 0;
    file.Add(state);
  };
  add_cpu(0, kSecond, 0);
  for (const auto& [end_s, paused_ms] : pauses) {
    ++state.id;
    state.kind = format::ProcessStateKind::kGcEnd;
    state.time_ns = end_s * kSecond, state.used = state.committed = 1 << 20;
    state.pauses = 1, state.paused_ns = paused_ms * kMs;
    file.Add(state);
  }
  add_cpu(10 * kSecond, 9 * kSecond, collector_ms * kMs);
  file.Add(format::Interval{0, 1000, 240'000, 100, 100, 0});
  file.End("jvm exit", 10 * kSecond);
}

TEST_CASE_METHOD(Scratch, "diff compares the share of time that collections take") {
  const std::string a = directory / "a.bin", b = directory / "b.bin", old = directory / "old.bin";
  WriteWithPauses(a, {{2, 300}, {6, 500}}, 800);
  WriteWithPauses(b, {{4, 100}}, 0);
  WriteAmounts(old, {});
  const std::string both = a + " " + b, text = Heaprec("diff " + both).out;
  INFO(text);
  CHECK(text.find("\ngc:        8.0 % of the time in pauses, longest 500 ms, 10.0 % of the CPU time before; "
                  "1.0 % of the time in pauses, longest 100 ms after\n") != std::string::npos);
  // Only what lies in the time that was asked for.
  CHECK(Heaprec("diff --from 5s " + both).out.find("\ngc:        10.0 % of the time in pauses, longest 500 ms, ") !=
        std::string::npos);
  const json run = json::parse(Heaprec("diff --json " + both).out)["before"]["runs"][0];
  CHECK(run["gc_pause_seconds"] == Approx(0.8));
  CHECK(run["gc_longest_pause_seconds"] == Approx(0.5));
  CHECK(run["gc_cpu_seconds"] == Approx(0.8));
  CHECK(Heaprec("diff " + a + " " + old).out.find("\ngc:") == std::string::npos);
}

TEST_CASE_METHOD(Scratch, "diff says what does not fit together") {
  const std::string a = directory / "a.bin";
  WriteAmounts(a, {});
  for (const char* options :
       {"--per op", "--per share --ops 3", "--ops A=1", "--ops A=1,B=x", "--ops 0", "--by colour",
        "--per share --objects", "--fdr x", "--fdr 150%", "--min-change -1%", "--min-change inf"}) {
    const auto outcome = Heaprec(std::string("diff ") + options + " " + a + " " + a);
    INFO(options << ": " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(Count(outcome.err, "\n") == 1);
  }
  CHECK(Heaprec("diff " + a).code == 2);
  CHECK(Heaprec("diff " + a + " " + directory / "absent.bin").code == 3);
}

}  // namespace
}  // namespace heaprec::tools::testing

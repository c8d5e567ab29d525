// The live command: live objects at any time, lifetimes, garbage, and refusals.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "tests/tools/live_recording.h"

namespace heaprec::tools::testing {
namespace {

using format::LifecycleEvent;
using format::LifecycleKind;
using nlohmann::json;

TEST_CASE_METHOD(Scratch,
                 "If only major collections find dead objects, live shows ranges, and leaks shows confirmed growth") {
  WriteLeak(path, true, DeathDetection::kMajors);
  const json document = Parsed("live --json " + path);
  CHECK(document["of_majors"] == true);
  CHECK(document["collections"] == 5);
  const json leak = RowOf(document, 1, "p.Leak.add");
  CHECK(leak["bytes"]["value"].is_null());
  CHECK(leak["objects"]["value"].is_null());
  CHECK(leak["known_bytes"]["value"] == Approx(2'500'000).epsilon(0.01));
  CHECK(leak["bytes"]["low"] == leak["known_bytes"]["low"]);
  CHECK(leak["bytes"]["high"] > 3'200'000);
  const json garbage = RowOf(document, 1, "p.Churn.make");
  CHECK(garbage["known_bytes"]["value"] == 0);
  CHECK(garbage["samples"] == 100);
  CHECK(garbage["mean_age_seconds"].is_null());
  CHECK(document["live"]["bytes"]["value"].is_null());
  CHECK(document["live"]["share"]["high"] == 1);

  const Outcome text = Heaprec("live " + path);
  CHECK(text.out.find("only major collections of generational ZGC") != std::string::npos);
  CHECK(text.out.find("may be garbage") != std::string::npos);
  // Right after one nothing is uncertain; --survived counts only known survivors.
  const json after = Parsed("live --json --at 50.1s " + path);
  CHECK(RowOf(after, 1, "p.Leak.add")["known_bytes"]["value"] == Approx(2'500'000).epsilon(0.01));
  CHECK(RowOf(after, 1, "p.Leak.add")["bytes"]["high"] < 2'900'000);
  const json known = Parsed("live --json --survived 1 " + path);
  CHECK(RowOf(known, 1, "p.Leak.add")["bytes"]["value"] == Approx(2'500'000).epsilon(0.01));

  const json leaks = Parsed("leaks --json " + path);
  CHECK(leaks["leaks"] == 1);
  CHECK(leaks["instants_ns"].size() == 5);
  CHECK(leaks["rows"][0]["growth"]["value"] == Approx(50'000).epsilon(0.02));

  const json summary = Parsed("summary --json " + path);
  CHECK(summary["live"]["bytes"]["value"].is_null());
  const std::string headlines = Heaprec("summary " + path).out;
  INFO(headlines);
  CHECK(std::regex_search(
      headlines,
      std::regex("\n[0-9.]+ MiB to [0-9.]+ MiB are live at the end, including garbage not yet collected\\.\n")));
  CHECK(summary["live"]["bytes"]["high"] > 3'000'000);
  const Outcome rows = Heaprec("export --live --format collapsed -o - " + path);
  CHECK(rows.out.find("[generational ZGC].[live or garbage];p.Main.main;p.Leak.add") != std::string::npos);
  CHECK(rows.out.find("\np.Main.main;p.Leak.add") != std::string::npos);
  const json sums = Parsed("sql --json " + path + " \"select class, known_bytes from live_by_class\"");
  INFO(sums.dump());
  CHECK(sums.dump().find("known_bytes") != std::string::npos);
}

// Generational ZGC every 5 s: three pauses of the young collection, then two of the old one, all with one count. What
// the last one found dead may not be known yet at the end.
TEST_CASE_METHOD(Scratch, "A major collection that ends as the recording does is counted nowhere") {
  format::FileHeader header = LiveHeader();
  header.gc_name = "Z", header.Note(format::SourceFact::kKeepsYoungReferents);
  {
    RecordingFile file(path, header);
    file.Add(format::Window{1, 0, 1e-4});
    for (uint64_t at = 50 * kMs; at < kEnd; at += 100 * kMs) file.Add(LeakAt(at));
    uint64_t id = 0;
    for (uint64_t count = 1; count * 5 * kSecond <= kEnd; ++count) {
      for (uint64_t pause = 1; pause <= 5; ++pause) {
        format::ProcessState state = Collection(count);
        state.id = ++id;
        state.time_ns = count * 5 * kSecond - (6 - pause) * kMs;
        file.Add(state);
      }
    }
    file.End("jvm exit", kEnd);
  }
  const std::string text = Heaprec("leaks " + path).out;
  INFO(text);
  CHECK(text.find(", over 11 major collections\n") != std::string::npos);
  CHECK(text.find("; 11 of them did by the end") != std::string::npos);
  CHECK(Parsed("leaks --json " + path)["collections"] == 11);
}

TEST_CASE_METHOD(Scratch, "live shows what is alive at the end by class and site, with ages and growth") {
  WriteLeak(path);
  const json document = Parsed("live --json " + path);
  CHECK(document["schema"] == "heaprec.live/1");
  CHECK(document["at_ns"] == kEnd);
  CHECK(document["collections"] == 29);
  const json leak = RowOf(document, 1, "p.Leak.add");
  CHECK(RowOf(document, 0, "byte[]")["bytes"] == leak["bytes"]);
  CHECK(leak["bytes"]["value"] == Approx(3'000'000));
  CHECK(leak["objects"]["value"] == Approx(3'000));
  CHECK(leak["samples"] == 300);
  CHECK(leak["bytes"]["low"] < 2'800'000);
  CHECK(leak["bytes"]["high"] > 3'200'000);
  CHECK(leak["mean_age_seconds"]["value"] == Approx(30).epsilon(0.02));
  CHECK(leak["median_age_seconds"] == Approx(30).epsilon(0.02));
  CHECK(leak["mean_survived"]["value"] == Approx(14.5).epsilon(0.05));
  CHECK(leak["growth"]["value"] == Approx(50'000).epsilon(0.02));
  CHECK(leak["growth"]["low"] > 40'000);
  const json cache = RowOf(document, 0, "java.util.HashMap$Node");
  CHECK(cache["samples"] >= 50);
  CHECK(cache["samples"] <= 70);
  CHECK(cache["growth"]["low"] < 0);
  CHECK(cache["mean_age_seconds"]["value"] < 7.1);
  // Objects that no collection has checked are still live.
  CHECK(RowOf(document, 1, "p.Churn.make")["samples"] == 20);
  CHECK(document["live"]["bytes"]["value"].get<double>() > 3'000'000);
}

TEST_CASE_METHOD(Scratch, "live --at shows any time, and --survived only survivors of collections") {
  WriteLeak(path);
  const json early = Parsed("live --at 20s --json " + path);
  CHECK(early["at_ns"] == 20 * kSecond);
  CHECK(RowOf(early, 1, "p.Leak.add")["samples"] == 100);
  const json old = Parsed("live --survived 4 --by site --json " + path);
  REQUIRE(old["tables"].size() == 1);
  REQUIRE(old["tables"][0]["count"] == 1);
  CHECK(old["tables"][0]["rows"][0]["name"] == "p.Leak.add");
  CHECK(old["tables"][0]["rows"][0]["samples"] == 260);
  CHECK(old["survived"] == 4);
  CHECK(Parsed("live --by method --json " + path)["tables"][0]["rows"][0]["name"] == "p.Main.main");
  CHECK(Parsed("live --class 'byte[]' --by thread --json " + path)["tables"][0]["count"] == 1);
  CHECK(Parsed("live --sort name --by class --limit 1 --json " + path)["tables"][0]["rows"][0]["name"] == "byte[]");
}

TEST_CASE_METHOD(Scratch, "A trimmed recording shows the same at its end as the whole one at that time") {
  const std::string cut = directory / "cut.bin";
  WriteLeak(path, false);
  // After a collection at 40 s, whose deaths were found at 40.06 s. Before that, its survivors are unknown.
  for (const std::string at : {"40.03s", "40.08s", "40.5s", "41.9s"}) {
    INFO(at);
    REQUIRE(Heaprec("trim -f --to " + at + " -o " + cut + " " + path).code == 0);
    const json whole = Parsed("live --survived 1 --json --at " + at + " " + path)["live"]["bytes"];
    const json part = Parsed("live --survived 1 --json " + cut)["live"]["bytes"];
    CHECK(part["value"] <= whole["value"]);
    if (at > "40.1s") CHECK(part["value"] == whole["value"]);
    CHECK(Parsed("leaks --survived 1 --json " + cut)["leaks"] == 0);
    const json young = RowOf(Parsed("live --lifetimes --json " + cut), 1, "p.Churn.make");
    CHECK(young["dies_young"]["value"] == Approx(1));
  }
  // Before any reference was checked after a collection.
  REQUIRE(Heaprec("trim -f --to 2.03s -o " + cut + " " + path).code == 0);
  const std::string live = Heaprec("live " + cut).out;
  INFO(live);
  CHECK(live.find("how much of it survived a collection is unknown\n") != std::string::npos);
  const std::string why = "the file ends before the agent checked tracked objects after a collection\n";
  CHECK(live.find("growth: unknown, " + why) != std::string::npos);
  CHECK(Heaprec("live --survived 1 " + cut).out.starts_with("what survived 1 collection is unknown: " + why));
  CHECK(Heaprec("leaks " + cut).out.starts_with("leaks are unknown: " + why));
  const json unknown = Parsed("live --json " + cut);
  CHECK(unknown["collections"] == 1);
  CHECK(unknown["live"]["mean_survived"].is_null());
  CHECK(Parsed("live --survived 1 --json " + cut)["live"]["bytes"].is_null());
}

TEST_CASE_METHOD(Scratch,
                 "If the JVM's count of collections could not be read, survived collections are unknown, not 0") {
  RecordingFile file(path, LiveHeader());
  file.Add(format::Window{1, 0, 1e-4});
  for (uint64_t second = 1; second < 10; ++second) {
    file.Add(LeakAt(second * kSecond));
    format::ProcessState pause = Collection(second);
    pause.collections = 0;
    file.Add(pause);
  }
  file.End("jvm exit", 20 * kSecond);
  const json document = Parsed("live --json " + path);
  CHECK(document["collections"].is_null());
  CHECK(document["live"]["mean_survived"].is_null());
  CHECK(document["live"]["bytes"]["value"] == Approx(90'000));
  CHECK(Parsed("live --survived 1 --json " + path)["live"]["bytes"].is_null());
  const std::string why = "the recording does not say when the JVM collected\n";
  CHECK(Heaprec("live " + path).out.find("how much of it survived a collection is unknown\n") != std::string::npos);
  CHECK(Heaprec("leaks " + path).out.starts_with("leaks are unknown: " + why));
}

TEST_CASE_METHOD(
    Scratch, "Objects live at the start of a trimmed recording have survived as many collections as in the whole one") {
  const std::string cut = directory / "cut.bin";
  WriteLeak(path);
  REQUIRE(Heaprec("trim --from 21960ms --to 41s -o " + cut + " " + path).code == 0);
  for (const char* survived : {"0", "1", "5", "12"}) {
    INFO(survived);
    const std::string live = std::string("live --json --survived ") + survived + " --at ";
    const json whole = Parsed(live + "31s " + path), part = Parsed(live + "10s " + cut);
    const json of_whole = RowOf(whole, 1, "p.Leak.add"), of_part = RowOf(part, 1, "p.Leak.add");
    CHECK(of_part["bytes"] == of_whole["bytes"]);
    CHECK(of_part["mean_survived"]["value"] == of_whole["mean_survived"]["value"]);
    CHECK(part["tables"][1]["count"] == whole["tables"][1]["count"]);
  }
  REQUIRE(Heaprec("trim -f --from 6960ms -o " + (directory / "again.bin") + " " + cut).code == 0);
  CHECK(Parsed("live --survived 12 --json " + directory / "again.bin")["live"]["bytes"] ==
        Parsed("live --survived 12 --json " + cut)["live"]["bytes"]);
}

TEST_CASE_METHOD(
    Scratch, "An object born before the first snapshot has the same survived collections in a part of the recording") {
  const std::string cut = directory / "cut.bin";
  RecordingFile file(path, LiveHeader());
  file.Add(LeakAt(5 * kSecond));
  for (uint64_t number = 5; number < 10; ++number) file.Add(Collection(number));
  file.End("jvm exit", 30 * kSecond);
  REQUIRE(Heaprec("trim --from 6s -o " + cut + " " + path).code == 0);
  for (const std::string& of : {path, cut}) {
    CHECK(RowOf(Parsed("live --json " + of), 1, "p.Leak.add")["mean_survived"]["value"] == 5);
  }
}

TEST_CASE_METHOD(Scratch, "live --min-age and flame --live show objects of the minimum age, with whole stacks") {
  const std::string page = directory / "live.html", picture = directory / "live.svg";
  WriteLeak(path);
  // The cache keeps entries for 5 s; the next collection frees them.
  const json old = Parsed("live --min-age 10s --by site --json " + path);
  CHECK(old["min_age_ns"] == 10 * kSecond);
  REQUIRE(old["tables"][0]["count"] == 1);
  CHECK(old["tables"][0]["rows"][0]["name"] == "p.Leak.add");
  CHECK(old["tables"][0]["rows"][0]["samples"] == 250);
  CHECK(Heaprec("live --min-age 10s " + path).out.find(" for 10.000 s or longer in ") != std::string::npos);
  const json all = Parsed("live --by site --json " + path);

  const auto picture_of = [&](const std::string& options) {
    const Outcome outcome = Heaprec("flame -f --svg --live " + options + " -o " + picture + " " + path);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return Contents(picture);
  };
  const std::string every = picture_of("");
  CHECK(every.find("p.Cache.put") != std::string::npos);
  CHECK(every.find("samples: " + std::to_string(all["live"]["samples"].get<int>()) + "<") != std::string::npos);
  const std::string aged = picture_of("--min-age 10s");
  CHECK(aged.find("p.Leak.add") != std::string::npos);
  CHECK(aged.find("p.Cache.put") == std::string::npos);
  CHECK(picture_of("--at 20s --class 'byte[]'").find("samples: 100<") != std::string::npos);

  CHECK(Heaprec("flame --live --min-age 10s --at 20s -o " + page + " " + path).code == 0);
  const json data = json::parse(Shell("python3 tests/tools/commands/page_data.py " + page).out);
  CHECK(data["state"]["live"] == true);
  CHECK(data["state"]["age"] == 10);
  CHECK(data["state"]["view"] == "flame");
  CHECK(Heaprec("flame --min-age 10s -o " + page + " " + path).code == 2);
  CHECK(Heaprec("flame --live --min-age soon -f -o " + page + " " + path).code == 2);
  WriteSmall(directory / "small.bin");
  CHECK(Heaprec("flame --live -f -o " + page + " " + directory / "small.bin").err.find("live=off") !=
        std::string::npos);
}

TEST_CASE_METHOD(Scratch, "other samples carry the weight of evicted ones") {
  {
    RecordingFile file(path, LiveHeader());
    for (uint64_t i = 1; i <= 10; ++i) {
      Event event = LeakAt(i * 10 * kMs);
      event.id = i;
      file.Add(event);
    }
    for (uint64_t i = 1; i <= 6; ++i) file.Add(LifecycleEvent{i, kSecond, LifecycleKind::kEvicted, 0, 25'000});
    file.Add(LifecycleEvent{7, kSecond, LifecycleKind::kUntracked, 0, 0});
    file.Add(Collection(0));
    file.End("jvm exit", 2 * kSecond);
  }
  const json document = Parsed("live --json --by class " + path);
  CHECK(document["tables"][0]["rows"][0]["bytes"]["value"] == Approx(3 * 25'000));
  CHECK(document["untracked"]["samples"] == 1);
  CHECK(document["untracked"]["bytes"] == Approx(10'000));
  CHECK(Heaprec("live " + path).out.find("1 sample could not be tracked (table full") != std::string::npos);
  // All ten: nine are tracked.
  CHECK(Parsed("live --at 500ms --json --by class " + path)["live"]["bytes"]["value"] == Approx(100'000));
}

TEST_CASE_METHOD(Scratch, "a later chunk has the samples that were live when it began") {
  {
    format::FileHeader header = LiveHeader();
    header.start.part = 1;
    header.start.begin_ns = 10 * kSecond;
    header.start.next_interval[format::Stream::kAllocations] = 10;
    RecordingFile file(path, header);
    Event old = LeakAt(3 * kSecond);
    old.id = 5;
    file.AddCheckpointSample(old, 30'000, 1);
    Event fresh = LeakAt(11 * kSecond);
    fresh.id = 6;
    file.Add(fresh);
    file.Add(Collection(5));
    file.Add(Collection(6));
    file.End("jvm exit", 13 * kSecond);
  }
  const json document = Parsed("live --json --by site " + path);
  CHECK(document["live"]["bytes"]["value"] == Approx(40'000));
  CHECK(document["live"]["mean_age_seconds"]["value"] == Approx((30'000 * 10 + 10'000 * 2) / 40'000.0));
}

TEST_CASE_METHOD(Scratch, "Parts of one recording are joined, and a time without data in a file is named") {
  const std::string one = directory / "r.hrec", two = directory / "r-1.hrec", three = directory / "r-2.hrec";
  for (const uint32_t part : {0, 1, 2}) {
    format::FileHeader header = LiveHeader();
    header.start.part = part;
    header.start.begin_ns = part * 10 * kSecond;
    header.start.next_interval[format::Stream::kAllocations] = part * 10;
    RecordingFile file(part == 0 ? one : part == 1 ? two : three, header);
    Event leak = LeakAt(3 * kSecond);
    leak.id = 5;
    if (part == 0) {
      file.Add(leak);
    } else {
      file.AddCheckpointSample(leak, 30'000, 1);
    }
    file.Add(Collection(5 * part));
    file.End(part == 2 ? "jvm exit" : "rotated", (part + 1) * 10 * kSecond);
  }
  const std::string parts = one + " " + two + " " + three, merged = directory / "all.hrec";
  REQUIRE(Heaprec("merge -o " + merged + " " + parts).code == 0);
  const auto document = [](const std::string& command) { return Parsed(command); };
  for (const std::string& given : {parts, three + " " + one + " " + two}) {
    INFO(given);
    const json live = document("live --json " + given);
    CHECK(live["live"] == document("live --json " + merged)["live"]);
    CHECK(live["scan"]["recordings"].size() == 1);
    CHECK(Heaprec("summary " + given).out.find(one + " and 2 later parts, ") != std::string::npos);
    for (const char* const command : {"live", "leaks", "top", "summary", "flame --live --svg -f -o /dev/null"})
      CHECK(Heaprec(std::string(command) + " " + given).err.find("parts of one") == std::string::npos);
    CHECK(Heaprec("summary " + given).code == 0);
    const std::string summary = Heaprec("summary " + given).out;
    INFO(summary);
    CHECK(summary.find(one + " " + two + " " + three + "  #") != std::string::npos);  // of the next command
    CHECK(Heaprec("report -f -o " + (directory / "page.html") + " " + given).code == 0);
  }
  // A gap, or sides of a comparison, are not joined.
  const std::string warning = "heaprec: " + one + " and " + three + " are parts of one recording; ";
  CHECK(Heaprec("live " + one + " " + three).err.starts_with(warning));
  CHECK(document("diff --json " + one + " " + two)["schema"] == "heaprec.diff/1");

  const std::string beside =
      "heaprec: no data at the time of --at (the nearest is shown): " + two + " has data from 10.000 s to 20.000 s\n";
  for (const char* const at : {"5s", "9.9s", "20.1s", "2020-01-01T00:00:00Z"}) {
    INFO(at);
    const Outcome outcome = Heaprec("live --at " + std::string(at) + " " + two);
    CHECK(outcome.code == 0);
    CHECK(outcome.err == beside);
  }
  CHECK(Heaprec("live --at 10s " + two).err.empty());
  CHECK(Heaprec("live --at 20s " + two).err.empty());
  CHECK(Heaprec("leaks --at 5s " + two).err == beside);
  CHECK(Heaprec("export --live --at 5s " + two).err == beside);
  CHECK(Heaprec("leaks --from 2s --to 5s " + two).err ==
        "heaprec: no data in this range: " + two + " has data from 10.000 s to 20.000 s\n");
  CHECK(Heaprec("leaks --from 12s --to 15s " + two).err.empty());
  CHECK(Heaprec("live --at 5s " + one + " " + two).err.empty());
}

TEST_CASE_METHOD(Scratch, "lifetimes are shown by class, with the shares that die young and that survive") {
  WriteLeak(path);
  const json document = Parsed("live --lifetimes --json " + path);
  CHECK(document["schema"] == "heaprec.lifetimes/1");
  const json young = RowOf(document, 1, "p.Churn.make"), leak = RowOf(document, 1, "p.Leak.add"),
             cache = RowOf(document, 0, "java.util.HashMap$Node");
  CHECK(young["dies_young"]["value"] == Approx(1));
  CHECK(young["promoted"]["value"] == Approx(0));
  CHECK(young["median_lifetime_seconds"]["value"] < 2);
  CHECK(leak["dies_young"]["value"] == Approx(0));
  CHECK(leak["promoted"]["value"] == Approx(1));
  CHECK(leak["median_lifetime_seconds"]["value"].is_null());
  CHECK(cache["dies_young"]["value"] == Approx(0));
  CHECK(cache["median_lifetime_seconds"]["value"] > 5);
  CHECK(cache["median_lifetime_seconds"]["value"] < 7);
  CHECK(cache["survival_by_collections"]["reached"].size() >= 3);
  CHECK(document["all"]["samples"] == 600 + 300 + 600);
  // Everything that collections kept is of two sites; what dies young costs them nothing.
  const json held = RowOf(document, 1, "p.Cache.put");
  CHECK(young["promoted_bytes"]["value"] == 0);
  CHECK(young["gc_share"]["value"] == 0);
  CHECK(leak["promoted_bytes"]["value"].get<double>() > 0.8 * leak["allocated_bytes"].get<double>());
  CHECK(leak["gc_share"]["value"].get<double>() + held["gc_share"]["value"].get<double>() == Approx(1));
  CHECK(leak["gc_share"]["low"].get<double>() > held["gc_share"]["high"].get<double>());
  const auto first = [&](const std::string& sort) -> std::string {
    return Parsed("live --lifetimes --by site --json --sort " + sort + " " + path)["tables"][0]["rows"][0]["name"];
  };
  CHECK((first("bytes") == "p.Leak.add" && first("gc") == "p.Leak.add" && first("promoted") == "p.Leak.add"));
  CHECK((first("samples") == "p.Cache.put" && first("name") == "p.Cache.put"));
  const Outcome text = Heaprec("live --lifetimes --by class " + path);
  CHECK(text.out.find("dies young") != std::string::npos);
  CHECK(text.out.find("all: median lifetime ") != std::string::npos);
  const Outcome csv = Heaprec("live --lifetimes --format csv " + path);
  CHECK(csv.out.find("by,median_lifetime_seconds,median_lifetime_seconds_low,") == 0);
  CHECK(csv.out.find("survival_by_seconds_reached") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "the peak is the end of the collection after which the heap was fullest") {
  {
    RecordingFile file(path, LiveHeader());
    file.Add(format::Window{1, 0, 1e-4});
    const std::array<uint64_t, 4> after{0, 10, 50, 20};
    for (uint64_t number = 0; number < after.size(); ++number) {
      file.Add(Event{.time_ns = number * kCollection + 100 * kMs,
                     .class_name = "p/Number" + std::to_string(number),
                     .id = number + 1});
      format::ProcessState state = Collection(number);
      state.used = after[number];
      file.Add(state);
    }
    // What the second collection has found dead is noticed after it.
    file.Add(format::LifecycleEvent{2, 2 * kCollection + 60 * kMs, format::LifecycleKind::kDied, 1, 0});
    file.Add(format::LifecycleEvent{1, 3 * kCollection + 60 * kMs, format::LifecycleKind::kDied, 2, 0});
    file.End("jvm exit", 4 * kCollection);
  }
  const json document = Parsed("live --at peak --by class --json " + path);
  CHECK(document["at_ns"] == 2 * kCollection);
  REQUIRE(document["tables"][0]["rows"].size() == 1);
  CHECK(document["tables"][0]["rows"][0]["name"] == "p.Number0");
  const std::string picture = directory / "peak.svg", page = directory / "peak.html";
  REQUIRE(Heaprec("flame --live --at peak -o " + picture + " " + path).code == 0);
  CHECK(Contents(picture).find(" objects that survived 1 collection<") != std::string::npos);
  CHECK(Contents(picture).find("p.Number0") != std::string::npos);
  CHECK(Contents(picture).find("p.Number1") == std::string::npos);
  REQUIRE(Heaprec("flame --live --at peak -o " + page + " " + path).code == 0);
  const json data = json::parse(Shell("python3 tests/tools/commands/page_data.py " + page).out);
  CHECK(data["headlines"][0]["text"] == "What was live at the time of --at, having survived 1 collection");
  const Outcome csv = Heaprec("export --live --at peak " + path);
  CHECK(std::ranges::count(csv.out, '\n') == 2);
  CHECK(csv.out.find("p.Number0") != std::string::npos);
  // In formats that have what is live beside what was allocated.
  CHECK(Heaprec("export --at peak --format pprof -o " + directory / "peak.pb.gz" + " " + path).code == 0);
}

TEST_CASE_METHOD(Scratch, "flame --survived draws what survived collections, and says where that is not known") {
  const std::string picture = directory / "old.svg";
  WriteLeak(path);
  const json old = Parsed("live --survived 4 --json " + path);
  const auto flame = [&](const std::string& options) {
    return Heaprec("flame -f " + options + " -o " + picture + " " + path);
  };
  REQUIRE(flame("--live --survived 4").code == 0);
  CHECK(Contents(picture).find("samples: " + std::to_string(old["live"]["samples"].get<int>()) + "<") !=
        std::string::npos);
  CHECK(Contents(picture).find("p.Cache.put") == std::string::npos);
  CHECK(flame("--survived 4").err == "heaprec: --at, --survived and --min-age need --live\n");
  CHECK(flame("--live --at peak").err == "heaprec: --at peak: no collection in the recording shows how much it left\n");
  CHECK(Heaprec("export --live --at peak " + path).err ==
        "heaprec: --at peak: no collection in the recording shows how much it left\n");
  const Outcome blocks = flame("--live --kind malloc --survived 4");
  CHECK(blocks.code == 2);
  CHECK(blocks.err.find("blocks are not subject to garbage collection") != std::string::npos);
  const std::string cut = directory / "cut.bin";
  REQUIRE(Heaprec("trim --to 2.03s -o " + cut + " " + path).code == 0);
  const Outcome unknown = Heaprec("flame --live --survived 1 -o " + directory / "none.svg" + " " + cut);
  CHECK(unknown.code == 3);
  CHECK(unknown.err == "heaprec: " + cut +
                           ": what survived a collection is unknown: the file ends before the agent checked tracked "
                           "objects after a collection\n");
  CHECK_FALSE(std::filesystem::exists(directory / "none.svg"));
}

TEST_CASE_METHOD(Scratch, "garbage is shown newest first, or as a reproducible random sample") {
  WriteLeak(path);
  const json recent = Parsed("live --garbage recent --json " + path);
  REQUIRE(recent["traces"].size() == 200);
  CHECK(recent["which"] == "recent");
  CHECK(recent["died"].get<size_t>() > 1000);
  for (size_t i = 1; i < 200; ++i) CHECK(recent["traces"][i]["died_ns"] <= recent["traces"][i - 1]["died_ns"]);
  CHECK(recent["traces"][0]["frames"][0] == "p.Main.main");
  CHECK(recent["traces"][0]["lifetime_seconds"].get<double>() > 0);
  const json sample = Parsed("live --garbage sample --json " + path);
  REQUIRE(sample["traces"].size() == 200);
  CHECK(sample["traces"] == Parsed("live --garbage sample --json " + path)["traces"]);
  size_t early = 0;
  for (const json& trace : sample["traces"]) early += trace["died_ns"] < recent["traces"][199]["died_ns"];
  CHECK(early > 100);
  CHECK(Heaprec("live --garbage recent " + path).out.find("... 180 more") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "text and CSV have the rows, names quoted") {
  WriteLeak(path);
  const Outcome text = Heaprec("live " + path);
  INFO(text.out);
  CHECK(text.out.find(" live at 1 min 00 s in ") != std::string::npos);
  CHECK(text.out.find("p.Leak.add") != std::string::npos);
  CHECK(text.out.find("detection limit: a group without live samples") != std::string::npos);
  const Outcome csv = Heaprec("live --format csv --by class " + path);
  CHECK(csv.out.find("by,bytes,bytes_low,bytes_high,") == 0);
  CHECK(csv.out.find("\nclass,3000000,") != std::string::npos);
  RecordingFile file(directory / "odd.bin", LiveHeader());
  Event event = LeakAt(kSecond);
  event.class_name = "p/a\"a,b";
  file.Add(event);
  file.End("jvm exit", 2 * kSecond);
  CHECK(Heaprec("live --format csv --by class " + directory / "odd.bin").out.find(",\"p.") != std::string::npos);
}

TEST_CASE_METHOD(Scratch,
                 "a recording without live objects says how to make one, and what cannot be asked is refused") {
  const std::string live = directory / "live.bin";
  WriteSmall(path);
  WriteLeak(live);
  for (const char* command : {"live ", "leaks "}) {
    const Outcome outcome = Heaprec(command + path);
    CHECK(outcome.code == 3);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.find("record a JVM without live=off") != std::string::npos);
  }
  CHECK(Heaprec("live " + live + " " + path).out.find("left out: 1 recording without live=on") != std::string::npos);
  CHECK(Heaprec("live --kind exception " + live).code == 2);
  CHECK(Heaprec("live --format xml " + live).code == 2);
  CHECK(Heaprec("live --lifetimes --garbage recent " + live).code == 2);
  CHECK(Heaprec("live --lifetimes --by method " + live).code == 2);
  CHECK(Heaprec("live --garbage all " + live).code == 2);
  CHECK(Heaprec("live --at yesterday " + live).code == 2);
  CHECK(Heaprec("live --at peak " + live + " " + live).err ==
        "heaprec: --at peak needs a single recording: each has its own peak\n");
  CHECK(Heaprec("live --at peak " + live).err ==
        "heaprec: --at peak: no collection in the recording shows how much it left\n");
  CHECK(Heaprec("live --sort gc " + live).code == 2);
  CHECK(Heaprec("live --lifetimes --sort age " + live).code == 2);
  CHECK(Heaprec("leaks --by colour " + live).code == 2);
  CHECK(Heaprec("live " + directory / "missing").code == 3);
}

TEST_CASE_METHOD(Scratch, "several recordings add up") {
  WriteLeak(path);
  const json one = Parsed("live --by site --json " + path), two = Parsed("live --by site --json " + path + " " + path);
  const json a = RowOf(one, 0, "p.Leak.add"), b = RowOf(two, 0, "p.Leak.add");
  CHECK(b["bytes"]["value"] == Approx(2 * a["bytes"]["value"].get<double>()));
  CHECK(b["growth"]["value"] == Approx(2 * a["growth"]["value"].get<double>()));
  CHECK(b["mean_age_seconds"]["value"] == Approx(a["mean_age_seconds"]["value"].get<double>()));
  CHECK(b["share"]["value"] == Approx(a["share"]["value"].get<double>()));
  CHECK(b["series_bytes"].empty());
  CHECK_FALSE(a["series_bytes"].empty());
}

TEST_CASE_METHOD(Scratch, "summary says what is alive, and SQLite has every life") {
  WriteLeak(path);
  CHECK(Heaprec("summary " + path).out.find("\nlive at end: 3.") != std::string::npos);
  CHECK(Heaprec("summary --verbose " + path).out.find("up to 4,096 objects at a time; ") != std::string::npos);
  const json live = Parsed("live --by site --json " + path);
  CHECK(Parsed("summary --json " + path)["live"]["bytes"] == live["live"]["bytes"]);
  const json sites = Parsed("sql --json " + path + " \"select * from live_by_site\"");
  CHECK(sites[0]["site"] == "p.Leak.add");
  CHECK(sites[0]["bytes"] == Approx(3'000'000));
  CHECK(sites[0]["age"] == Approx(30).epsilon(0.02));
  const json ends = Parsed("sql --json " + path + " \"select end, count(*) n from lifetimes group by 1 order by 1\"");
  CHECK(ends[0]["end"] == "died");
  CHECK(ends[1]["end"] == "live");
  CHECK(ends[0]["n"].get<int>() + ends[1]["n"].get<int>() == 1500);
  WriteSmall(directory / "small.bin");
  CHECK(Parsed("summary --json " + directory / "small.bin")["live"].is_null());
}

// Checks with other tools: the Go project's pprof and SQLite's own shell.
TEST_CASE_METHOD(Scratch, "go tool pprof and sqlite3 show live objects") {
  const std::string profile = directory / "rec.pb.gz", database = directory / "rec.db";
  WriteLeak(path);
  const Outcome made = Shell("$HEAPREC export --format pprof -o " + profile + " " + path +
                             " && $HEAPREC export --format sqlite -o " + database + " " + path);
  INFO(made.err);
  REQUIRE(made.code == 0);
  const auto top = [&](const std::string& index) {
    return Shell("export HOME=" + directory / "" +
                 "; go tool pprof -top -flat -unit=B -nodefraction=0 -sample_index=" + index + " " + profile);
  };
  const Outcome space = top("inuse_space"), objects = top("inuse_objects"), allocated = top("alloc_space");
  INFO(space.out << space.err << objects.out << allocated.out);
  CHECK(space.out.find("3000000B") != std::string::npos);
  CHECK(space.out.find("p.Leak.add") < space.out.find("p.Cache.put"));
  CHECK(objects.out.find("p.Leak.add") != std::string::npos);
  CHECK(allocated.out.find("p.Churn.make") != std::string::npos);
  const Outcome sites = Shell("sqlite3 " + database + " 'select site, bytes from live_by_site limit 1'");
  CHECK(sites.out == "p.Leak.add|3000000.0\n");
  CHECK(Shell("sqlite3 " + database + " 'pragma integrity_check'").out == "ok\n");
  // A recording without live has no such measures.
  WriteSmall(directory / "small.bin");
  const Outcome small =
      Shell("$HEAPREC export --format pprof -o " + directory / "small.pb.gz" + " " + directory / "small.bin" +
            " && HOME=" + directory / "" + " go tool pprof -raw " + directory / "small.pb.gz");
  CHECK(small.out.find("alloc_space") != std::string::npos);
  CHECK(small.out.find("inuse") == std::string::npos);
}

}  // namespace
}  // namespace heaprec::tools::testing

// The leaks command: which sites grow, and the effect of garbage in the old generation.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/tools/live_recording.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

TEST_CASE_METHOD(
    Scratch, "leaks reports only groups that also grow between old-generation collections, if these span the time") {
  WriteLeak(path, true, DeathDetection::kSerialOld);
  const char* const may_be_garbage = "garbage in the old generation may be among the leaks";
  // Each time ends just before such a collection, when the cache has most garbage.
  for (const auto& [to, old_collections] : {std::pair("39.9s", 3), {"59.9s", 5}}) {
    INFO(to);
    const std::string question = std::string("--from 8s --to ") + to + " " + path;
    const json document = Parsed("leaks --all --json " + question);
    CHECK(document["leaks"] == 1);
    CHECK(document["old_collections"] == old_collections);
    REQUIRE(document["rows"].size() == 2);  // objects that die young are no leak
    const json& leak = document["rows"][0];
    const json& cache = document["rows"][1];
    CHECK((leak["name"] == "p.Leak.add" && leak["leaks"] == true));
    CHECK(leak["old_growth"]["value"] == Approx(50'000).epsilon(0.02));
    CHECK((cache["name"] == "p.Cache.put" && cache["leaks"] == false));
    CHECK(std::abs(cache["old_growth"]["value"].get<double>()) < 1000);
    const std::string text = Heaprec("leaks " + question).out;
    CHECK(text.find(", " + std::to_string(old_collections) + " of the old generation\n") != std::string::npos);
    CHECK(text.find(may_be_garbage) == std::string::npos);
  }
  // Between two of them the cache's garbage grows like a leak, and a line says so.
  const json between = Parsed("leaks --from 11s --to 19.9s --json " + path);
  CHECK(between["leaks"] == 2);
  CHECK(between["old_collections"] == 0);
  CHECK(between["rows"][1]["old_growth"].is_null());
  CHECK(Heaprec("leaks --from 11s --to 19.9s " + path).out.find(may_be_garbage) != std::string::npos);

  // Three at the end say nothing about the time before, and nothing about another recording.
  const std::string late = directory / "late.bin", majors = directory / "majors.bin";
  WriteLeak(late, true, DeathDetection::kSerialLate);
  WriteLeak(majors, true, DeathDetection::kMajors);
  for (const std::string& recordings : {late, path + " " + majors, majors}) {
    INFO(recordings);
    const json all = Parsed("leaks --all --json " + recordings);
    CHECK(RowIn(all["rows"], "p.Leak.add")["leaks"] == true);
    CHECK(all["rows"][0]["old_growth"].is_null());
    CHECK((Heaprec("leaks " + recordings).out.find(may_be_garbage) != std::string::npos) == (recordings != majors));
  }
  CHECK(Parsed("leaks --json " + late)["old_collections"] == 3);
}

TEST_CASE_METHOD(Scratch, "by stack live and leaks show whole stacks, the site first") {
  RecordingFile file(path, LiveHeader());
  file.Add(format::Window{1, 0, 1e-4});
  for (uint64_t at = kSecond; at < 60 * kSecond; at += kSecond) {
    Event event = LeakAt(at);
    event.stack.insert(event.stack.begin() + 1, {"p/A.a:1", "p/B.b:1", "p/C.c:1", "p/D.d:1", "p/E.e:1", "p/F.f:1"});
    file.Add(event);
    if (at % (2 * kSecond) == 0) file.Add(Collection(at / (2 * kSecond)));
  }
  file.End("jvm exit", 60 * kSecond);
  const std::vector<std::string> frames{"p.Main.main", "p.F.f", "p.E.e", "p.D.d",
                                        "p.C.c",       "p.B.b", "p.A.a", "p.Leak.add"};
  for (const std::string command : {"live --by stack ", "leaks --all --by stack "}) {
    const Outcome outcome = Heaprec(command + path);
    INFO(command << outcome.out << outcome.err);
    size_t at = outcome.out.find("p.Leak.add\n");
    REQUIRE(at != std::string::npos);
    for (const char* caller : {"p.A.a", "p.B.b", "p.C.c", "p.D.d", "p.E.e", "p.F.f", "p.Main.main"}) {
      const size_t next = outcome.out.find(std::string("  ") + caller + "\n", at);
      INFO(caller);
      CHECK(next != std::string::npos);
      at = std::min(next, outcome.out.size());
    }
    const json document = Parsed(command + "--json " + path);
    const json& row = document.contains("rows") ? document["rows"][0] : document["tables"][0]["rows"][0];
    CHECK(row["frames"] == json(frames));
  }
}

TEST_CASE_METHOD(Scratch, "live and leaks say which collectors keep the old generation's garbage") {
  for (const auto& [gc, keeps] : {std::pair("Serial", true), {"Parallel", true}, {"G1", true}, {"Shenandoah", false}}) {
    INFO(gc);
    const std::string path = directory / std::string(gc);
    format::FileHeader header = LiveHeader();
    header.gc_name = gc;
    RecordingFile file(path, header);
    file.Add(LeakAt(kSecond));
    file.Add(Collection(1));
    file.End("jvm exit", 10 * kSecond);
    const std::string died = std::string(gc) + ": objects that died in the old generation ";
    const std::string garbage =
        std::string(gc) + ": garbage in the old generation may be among the leaks; the recording";
    CHECK((Heaprec("live " + path).out.find(died) != std::string::npos) == keeps);
    CHECK((Heaprec("leaks " + path).out.find(garbage) != std::string::npos) == keeps);
  }
}

TEST_CASE_METHOD(Scratch, "leaks names the site that grows, and says so when none does") {
  const std::string steady = directory / "steady.bin";
  WriteLeak(path);
  WriteLeak(steady, false);
  const json document = Parsed("leaks --json " + path);
  CHECK(document["schema"] == "heaprec.leaks/1");
  CHECK(document["leaks"] == 1);
  REQUIRE(document["rows"].size() == 1);
  CHECK(document["rows"][0]["name"] == "p.Leak.add");
  CHECK(document["rows"][0]["growth"]["value"] == Approx(50'000).epsilon(0.02));
  CHECK(document["rows"][0]["late_growth"]["low"] > 0);
  CHECK(document["growth_survived"] == 3);
  CHECK(Parsed("leaks --json --all --survived 1 " + path)["rows"].size() == 2);
  const Outcome text = Heaprec("leaks " + path);
  INFO(text.out);
  CHECK(text.out.find("1 leak by site, of 2 with bytes that survived 3 collections") != std::string::npos);
  CHECK(text.out.find("LEAK ") != std::string::npos);
  const Outcome none = Heaprec("leaks --survived 1 " + steady);
  INFO(none.out);
  CHECK(none.code == 0);
  CHECK(none.out.find("no leak found by site: no significant growth") == 0);
  CHECK(none.out.find("largest growth that cannot be ruled out (95 %): ") != std::string::npos);
  CHECK(text.out.find("measured from 0.000 s to 1 min 00 s, over 29 collections\n") != std::string::npos);
  const Outcome later = Heaprec("leaks --from 20s --to 41s " + path);
  INFO(later.out);
  CHECK(later.out.find("measured from 20.000 s to 41.000 s, over 10 collections\n") != std::string::npos);
  for (const auto& [to, says] : {std::pair("3s", "after 1 collection growth cannot be distinguished"),
                                 {"5s", "after 2 collections growth cannot be distinguished"}}) {
    CHECK(Heaprec(std::string("leaks --to ") + to + " " + path).out.find(says) != std::string::npos);
  }
}

// What holds live objects, where people look for it: paths, leaks and why.

const std::string kMap = "p.Leak.MAP (static) -> HashMap.table[] -> HashMap$Node.value",
                  kList = "p.Leak.LIST (static) -> Node.next x 3 -> Node.value";

// Each place, its parents before it, and the samples that it holds.
void AddPlaces(const json& parent, const std::string& above, std::vector<std::string>* places) {
  for (const json& child : parent["children"]) {
    std::string place = above;
    for (const json& step : child["steps"]) place += " <- " + step.get<std::string>();
    places->push_back(place + ": " + child["samples"].dump());
    AddPlaces(child, place, places);
  }
}

std::vector<std::string> PlacesOf(const std::string& recording) {
  std::vector<std::string> places;
  AddPlaces(Parsed("paths --min-share 0 --json " + recording), "", &places);
  return places;
}

TEST_CASE_METHOD(Scratch,
                 "leaks and why name the two heaviest paths of a site that grows, and nothing without a search") {
  WriteLeak(path, true, DeathDetection::kAll, true);
  const json leak = Parsed("leaks --json " + path)["rows"][0];
  const json site = Parsed("why --json " + path)["live_sites"][0];
  CHECK(site["leak"] == true);
  CHECK(site["site"] == "p.Leak.add");
  for (const json& one : {leak, site}) {
    CHECK(one["held_by"] == json{kMap, kList});
    CHECK(one["held_by_share"][0]["value"] == Approx(0.75).epsilon(0.01));
    CHECK(one["held_by_share"][0]["low"] < 0.75);
  }
  const std::string leaks = Heaprec("leaks " + path).out, why = Heaprec("why " + path).out;
  INFO(leaks << why);
  CHECK(leaks.find(" held by " + kMap + "\n") != std::string::npos);
  const size_t at = why.find("leak:      p.Leak.add");
  REQUIRE(at != std::string::npos);
  const size_t heaviest = why.find("\nheld by:   74.8 % (69.5-79.6)  p.Leak.MAP (static) -> HashMap.table[]", at);
  CHECK(why.find("\nheld by:   25.2 % (20.4-30.5)  p.Leak.LIST (static) -> Node.next x 3", heaviest) !=
        std::string::npos);

  WriteLeak(path);
  CHECK(Parsed("why --json " + path)["live_sites"][0]["held_by"].empty());
  CHECK(Heaprec("why " + path).out.find("held by") == std::string::npos);
}

TEST_CASE_METHOD(Scratch, "What holds live objects is the same after an export to JFR and an import") {
  format::FileHeader header = LiveHeader();
  header.settings.push_back({"paths", ""});
  const std::vector<Chain> chains{{{1, 2}, kMapChain},
                                  {{3}, {"p/Node.value@1", "p/Node.next@99998", "p/Leak.LIST@1"}},
                                  {{4, 5, 6}, {"[Ljava/lang/Object;.[]@1", "p/Main.run@2"}, "main, \"worker\""},
                                  {{7}, {"p/Native.call@3"}, "main"},
                                  {{8}, {"p/Held.field@1", "@4"}},
                                  {{9}, {"java/lang/Thread.threadLocals@1", "@5"}, "worker"},
                                  {{10}, {"p/Lock.value@1", "@6"}},
                                  {{11}, {"java/lang/Class.<hidden>@1", "@7"}},
                                  {{12}, {"p/Lambda.arg$1@1", "...", "p/Far.away@2", "...", "p/Main.<constants>@1"}},
                                  {{13}, {"p/Odd.value@1", "p/Odd.<class>@1"}},
                                  {{14}, {"p/A.b@1", "@0"}},
                                  {{15}, {"p/Leak.LIST@1"}}};
  RecordingFile file(path, header);
  file.Add(format::Window{1, 0, 1e-4});
  for (uint64_t id = 1; id <= 16; ++id) {
    Event event = LeakAt(id * kMs);
    event.id = id;
    event.weight = 1000 * static_cast<double>(id);
    file.Add(event);
  }
  AddSearch(&file, 1, kSecond, {{{1}, {"p/Old.value@1", "p/Gone.FIELD@1"}}});
  AddSearch(&file, 3, 2 * kSecond, chains, 2);
  AddSearch(&file, 30, 3 * kSecond, {}, 3);  // found nothing
  file.End("jvm exit", 4 * kSecond);
  const std::vector<std::string> before = PlacesOf(path);
  CHECK(before.size() > chains.size());
  const std::string jfr = directory / "rec.jfr", again = directory / "again.bin";
  REQUIRE(Heaprec("export --format jfr -o " + jfr + " " + path).code == 0);
  REQUIRE(Heaprec("import -q " + jfr + " -o " + again).code == 0);
  CHECK(Heaprec("verify " + again).code == 0);
  CHECK(PlacesOf(again) == before);
  const json document = Parsed("paths --json " + again);
  CHECK(document["samples"] == 15);
  CHECK(document["without_bytes"]["value"] == 16'000);
  CHECK(!document.contains("objects"));  // how many were searched is not in the file
  // The search until then.
  REQUIRE(Heaprec("export --format jfr --at 1500ms -f -o " + jfr + " " + path).code == 0);
  REQUIRE(Heaprec("import -q -f " + jfr + " -o " + again).code == 0);
  CHECK(PlacesOf(again) == std::vector<std::string>{" <- p.Gone.FIELD (static) <- p.Old.value: 1"});
}

namespace {

// Four samples of 1,000 bytes each. `id`: of the recording.
void WriteSearched(const std::string& path, uint8_t id, const std::vector<Chain>& chains, uint64_t at_ns = kSecond) {
  format::FileHeader header = LiveHeader();
  header.recording_id[0] = id;
  header.settings.push_back({"paths", ""});
  RecordingFile file(path, header);
  file.Add(format::Window{1, 0, 1e-4});
  for (uint64_t i = 1; i <= 4; ++i) {
    Event event = LeakAt(i * kMs);
    event.id = i;
    event.weight = 1000;
    file.Add(event);
  }
  if (!chains.empty()) AddSearch(&file, 1, at_ns, chains);
  file.Add(format::LifecycleEvent{4, 2 * kSecond, format::LifecycleKind::kDied, 1, 0});
  file.End("jvm exit", 4 * kSecond);
}

}  // namespace

TEST_CASE_METHOD(Scratch, "Paths of several recordings are one tree, by class and field, with generated names merged") {
  const std::string a = directory / "a.bin", b = directory / "b.bin", none = directory / "none.bin";
  const auto lambda = [](const std::string& address) {
    return std::vector<std::string>{"p/Main$$Lambda$14+0x00007f0f8411" + address + ".arg$1@1", "p/Main.LISTENER@1"};
  };
  // The same sample is held by different places in each.
  WriteSearched(a, 1, {{{1, 2}, kMapChain}, {{3}, lambda("5150")}});
  WriteSearched(b, 2, {{{1}, lambda("6160")}, {{2, 3}, kMapChain}, {{4}, kListChain}}, 3 * kSecond);
  WriteSearched(none, 3, {});
  const json both = Parsed("paths --json --min-share 0 " + a + " " + none + " " + b);
  CHECK(both["samples"] == 6);  // the fourth one of b is dead when its heap is searched
  CHECK(both["searched"] == 2);
  CHECK(both["complete"] == 2);
  REQUIRE(both["recordings"].size() == 3);
  CHECK(both["recordings"][1]["missing"] == "the heap was not searched");
  CHECK(both["recordings"][2]["at_ns"] == 3 * kSecond);
  CHECK(both["without_bytes"]["value"] == 1000);  // the fourth one of a
  REQUIRE(both["children"].size() == 2);
  CHECK(both["children"][0]["name"] == kMap);
  CHECK(both["children"][0]["samples"] == 4);
  CHECK(both["children"][1]["name"] == "p.Main.LISTENER (static) -> Main$$Lambda.arg$1");
  CHECK(both["children"][1]["samples"] == 2);
  const json exact = Parsed("paths --json --names exact --min-share 0 " + a + " " + b);
  CHECK(exact["children"][1]["children"].size() == 2);
  const std::string text = Heaprec("paths " + a + " " + none + " " + b).out;
  CHECK(text.find("What holds live objects in 2 recordings") == 0);
  CHECK(text.find("\n2 of 2 heaps were searched completely\n" + none + ": the heap was not searched\n") !=
        std::string::npos);
  // One file with several.
  const std::string merged = directory / "merged.bin";
  REQUIRE(Heaprec("merge -q -o " + merged + " " + a + " " + b).code == 0);
  CHECK(Parsed("paths --json --min-share 0 " + merged)["children"] == both["children"]);
  const Outcome nowhere = Heaprec("paths " + none + " " + none);
  CHECK(nowhere.code == 3);
  CHECK(nowhere.err.find(none + ": the heap was not searched") != std::string::npos);
}

}  // namespace

}  // namespace heaprec::tools::testing

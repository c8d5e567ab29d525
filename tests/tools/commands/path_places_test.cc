// What holds live objects, where people look for it: paths, leaks and why.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/live_recording.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

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

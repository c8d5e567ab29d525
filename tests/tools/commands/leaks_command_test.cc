// The leaks command: which sites grow, and the effect of garbage in the old generation.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

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

}  // namespace
}  // namespace heaprec::tools::testing

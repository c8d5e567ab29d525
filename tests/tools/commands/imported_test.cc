// What commands say of an imported recording: the heap, what is live, and what the file does not say.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/jfr_files.h"
#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

std::vector<JfrType> HeapTypes(const char* amount) {
  const char* const second = amount == std::string_view("weight") ? "objectSize" : "other";
  return PlainTypesWith(
      {{kWhen, "jdk.types.GCWhen", {{"when", kString}}},
       {kCause, "jdk.types.GCCause", {{"cause", kString}}},
       {kSpace, "jdk.types.VirtualSpace", {{"start", kLong}, {"committedSize", kLong}}},
       {kSummary,
        "jdk.GCHeapSummary",
        {{"startTime", kLong}, {"gcId", kInt}, {"when", kWhen, true}, {"heapSpace", kSpace}, {"heapUsed", kLong}},
        true},
       {kPause, "jdk.GCPhasePause", {{"startTime", kLong}, {"duration", kLong}, {"gcId", kInt}}, true},
       {kCollection,
        "jdk.GarbageCollection",
        {{"startTime", kLong}, {"duration", kLong}, {"gcId", kInt}, {"cause", kCause, true}, {"sumOfPauses", kLong}},
        true},
       {kObject, "jdk.types.OldObject", {{"address", kLong}, {"type", kClass, true}}},
       {kOld,
        "jdk.OldObjectSample",
        {{"startTime", kLong}, {"allocationTime", kLong}, {amount, kLong}, {second, kLong}, {"object", kObject, true}},
        true}});
}

// A sample; a collection of one pause, one of two pauses (a concurrent one) and one whose pauses are not in the file;
// old objects that were written twice.
// `first_gc`: the number that the JVM gave to the first of them.
// `amount`: the field of old objects that is 24. JDK 18 and newer have objectSize, heaprec's export has weight, too.
std::string HeapFile(const char* amount, bool with_collections = true, int first_gc = 0) {
  constexpr int64_t kMs = 1'000'000, kStart = 5000;  // ticks are ns
  const auto at = [](int64_t ms) { return kStart + ms * kMs; };
  JfrBuilder jfr(HeapTypes(amount), true);
  jfr.Constants(kSymbol, 2, jfr.Bytes().Long(1).Utf8("[B").Long(2).Utf8("p/Kept"));
  jfr.Constants(kClass, 2, jfr.Bytes().Long(1).Long(1).Long(2).Long(2));
  jfr.Constants(kWhen, 2, jfr.Bytes().Long(1).Utf8("Before GC").Long(2).Utf8("After GC"));
  jfr.Constants(kCause, 1, jfr.Bytes().Long(1).Utf8("G1 Evacuation Pause"));
  jfr.Constants(kObject, 1, jfr.Bytes().Long(7).Long(4096).Long(2));
  jfr.Event(kSample, jfr.Bytes().Long(at(1)).Long(1).Long(1000));
  const auto summary = [&](int64_t ms, int gc, int64_t when, int64_t used) {
    jfr.Event(kSummary, jfr.Bytes().Long(at(ms)).Int(first_gc + gc).Long(when).Long(0).Long(64 << 20).Long(used));
  };
  if (with_collections) {
    summary(11, 0, 1, 40 << 20), summary(13, 0, 2, 10 << 20);
    jfr.Event(kPause, jfr.Bytes().Long(at(10)).Long(4 * kMs).Int(first_gc));
    jfr.Event(kCollection, jfr.Bytes().Long(at(10)).Long(4 * kMs).Int(first_gc).Long(1).Long(4 * kMs));
    jfr.Event(kPause, jfr.Bytes().Long(at(20)).Long(1 * kMs).Int(first_gc + 1));
    summary(25, 1, 2, 20 << 20);
    jfr.Event(kPause, jfr.Bytes().Long(at(30)).Long(2 * kMs).Int(first_gc + 1));
    jfr.Event(kCollection, jfr.Bytes().Long(at(40)).Long(9 * kMs).Int(first_gc + 2).Long(1).Long(3 * kMs));
  }
  for (const int64_t seen : {at(400), at(500)}) {
    for (const int64_t born : {at(2), at(3)})
      jfr.Event(kOld, jfr.Bytes().Long(seen).Long(born).Long(24).Long(12).Long(7));
  }
  return jfr.File();
}

}  // namespace

TEST_CASE_METHOD(Scratch, "Collections and heap summaries are imported as the JVM's pauses and as states of the heap") {
  const std::string out = directory / "h.bin";
  Overwrite(directory / "h.jfr", HeapFile("objectSize"));
  const Outcome told = Heaprec("import --json " + (directory / "h.jfr") + " -o " + out);
  INFO(told.err);
  REQUIRE(told.code == 0);
  CHECK(json::parse(told.out)["collections"] == 4);
  CHECK(json::parse(told.out)["old_objects"] == 2);
  CHECK(Heaprec("verify " + out).code == 0);
  const Outcome printed = Heaprec("print --json --kind gc --kind heap " + out);
  INFO(printed.out << printed.err);
  const json events = json::parse(printed.out)["events"];
  REQUIRE(events.size() == 5);
  CHECK(events[0]["pause_ns"] == 4'000'000);
  CHECK(events[0]["cause"] == "G1 Evacuation Pause");
  CHECK(events[0]["used_before"] == 40 << 20);
  CHECK(events[0]["used_after"] == 10 << 20);
  CHECK(events[0]["committed"] == 64 << 20);
  CHECK(events[1]["pause_ns"] == 1'000'000);
  CHECK(events[1]["used_after"] == nullptr);
  CHECK(events[2]["kind"] == "heap");
  CHECK(events[2]["used"] == 20 << 20);
  CHECK(events[2]["threads"] == nullptr);
  CHECK(events[3]["pause_ns"] == 2'000'000);
  CHECK(events[4]["pause_ns"] == 3'000'000);
}

TEST_CASE("Old objects of the last dump are live, and samples are not") {
  for (const char* amount : {"weight", "objectSize", "unrelated"}) {
    CAPTURE(amount);
    const bool with_weight = amount == std::string_view("weight");
    const Directory directory;
    const std::string out = directory / "h.bin";
    Overwrite(directory / "h.jfr", HeapFile(amount));
    REQUIRE(Heaprec("import -q " + (directory / "h.jfr") + " -o " + out).code == 0);
    CHECK(Heaprec("verify " + out).code == 0);
    const Outcome live = Heaprec("live --json --by class " + out);
    INFO(live.out << live.err);
    REQUIRE(live.code == 0);
    const json document = json::parse(live.out);
    const json rows = document["tables"][0]["rows"];
    REQUIRE(rows.size() == 1);
    CHECK(rows[0]["name"] == "p.Kept");
    CHECK(rows[0]["samples"] == 2);
    // Without weights their sizes are not what is live: the JVM keeps only a few objects.
    CHECK((with_weight ? rows[0]["bytes"]["value"] : rows[0]["bytes"]) == (with_weight ? json(48) : json()));
    CHECK((with_weight ? rows[0]["objects"]["value"] : rows[0]["objects"]) == (with_weight ? json(4) : json()));
    CHECK(document["untracked"]["samples"] == 0);
    const std::string text = Heaprec("live --by class " + out).out;
    CHECK((text.find(" they represent is unknown\n") == std::string::npos) == with_weight);
    CHECK((text.find("\ngrowth: unknown, an import has the objects that were live at its end") != std::string::npos) ==
          with_weight);
    CHECK(text.find("B/s") == std::string::npos);
    CHECK(text.find("detection limit") == std::string::npos);
    CHECK(document["detection_limit"].is_null());
    for (const json& of : {document["live"], rows[0]}) {
      CHECK(of["growth"].is_null());
      CHECK(of["series_bytes"].is_null());
    }
    const Outcome leaks = Heaprec("leaks --all " + out);
    CHECK(
        leaks.out.starts_with("leaks are unknown: an import has the objects that were live at its end, not "
                              "those that died before\n"));
    CHECK(leaks.out.find("p.Kept") == std::string::npos);
    const json counts = json::parse(Heaprec("leaks --json " + out).out);
    CHECK(counts["leaks"].is_null());
    CHECK(counts["count"].is_null());
    CHECK(text.find("could not be tracked") == std::string::npos);
    const json summary = json::parse(Heaprec("summary --json " + out).out);
    CHECK(summary["live"]["samples"] == 2);
    // How many objects the JVM tracked at a time, and which it dropped, is not in the file.
    for (const char* unknown : {"/live/untracked", "/recording/max_tracked_objects"}) {
      CHECK(summary.at(json::json_pointer(unknown)).is_null());
    }
    CHECK(Heaprec("summary --verbose " + out).out.find("\n  tracked:     unknown\n") != std::string::npos);
  }
}

TEST_CASE_METHOD(Scratch, "What was not trustworthy before an export is not trustworthy after an import") {
  const std::string out = directory / "back.bin";
  for (const uint64_t lost : {0, 50}) {
    CAPTURE(lost);
    {
      RecordingFile file(path, SomeHeader());
      file.Add(format::Window{1, 0, 1e-4});
      for (uint64_t i = 0; i < 50; ++i) file.Add(At((1 + i * 19) * kMs));
      format::StreamCounters& counters = file.counters();
      constexpr auto kFull = static_cast<size_t>(format::LossReason::kRingFull);
      counters.points += lost, counters.lost[kFull] = lost, counters.lost_weight[kFull] = 2400.0 * lost;
      counters.candidate_bytes += 2400 * lost;
      file.Add(
          format::Interval{.index = 0, .candidates = 100, .bytes = 2400 * (50 + lost), .buffered = 50, .kept = 50});
      file.End("jvm exit", kSecond);
    }
    REQUIRE((json::parse(Heaprec("summary --json " + path).out)["trustworthy"] == true) == (lost == 0));
    REQUIRE(Heaprec("export -f --format jfr -o " + (directory / "out.jfr") + " " + path).code == 0);
    REQUIRE(Heaprec("import -q -f -o " + out + " " + (directory / "out.jfr")).code == 0);
    const json summary = json::parse(Heaprec("summary --json " + out).out);
    CAPTURE(summary["reasons"].dump());
    CHECK(summary["trustworthy"] == (lost == 0));
    CHECK((summary["reasons"].dump().find("50 % of the bytes were lost") != std::string::npos) == (lost > 0));
    const int code = Heaprec("check --budget 'total<1TiB' " + out).code;
    CHECK(code == (lost == 0 ? 0 : 1));
  }
}

TEST_CASE_METHOD(Scratch, "What the file does not say is unknown, not zero") {
  const std::string out = directory / "t.bin";
  Overwrite(directory / "t.jfr", TlabFile());
  REQUIRE(Heaprec("import -q " + (directory / "t.jfr") + " -o " + out).code == 0);
  CHECK(Heaprec("print " + out).out.find("size = unknown\n") != std::string::npos);
  CHECK(Heaprec("export --format csv -o - " + out).out.find(",,7777,,,") != std::string::npos);
  const json exported = json::parse(Heaprec("export --format jsonl -o - " + out).out);
  for (const char* unknown : {"size", "weight_objects", "probability"}) CHECK(exported[unknown] == nullptr);
  const json top = json::parse(Heaprec("top --json --by class " + out).out);
  const json row = top["tables"][0]["rows"][0];
  CHECK(row["bytes"]["value"] == 7777);
  for (const char* unknown : {"objects", "mean_size"}) {
    REQUIRE(row.contains(unknown));
    CHECK(row[unknown].is_null());
  }
  const std::string text = Heaprec("top " + out).out;
  CHECK(text.find("an unknown number of objects") != std::string::npos);
  const std::string summary = Heaprec("summary " + out).out;
  CHECK(summary.find("; an unknown number of objects\n") != std::string::npos);
  CHECK(summary.find(" 1; losses and limit unknown\n") != std::string::npos);
  const json document = json::parse(Heaprec("summary --json " + out).out);
  CHECK(document["estimates"].at("objects").is_null());
  for (const char* unknown : {"/allocated_bytes",
                              "/rate_used",
                              "/recording/rate_per_second",
                              "/recording/interval_cap",
                              "/losses/candidates",
                              "/losses/candidate_bytes",
                              "/losses/thinned",
                              "/losses/lost/missed/points",
                              "/losses/lost/missed/bytes",
                              "/losses/stacks/walked",
                              "/losses/points",
                              "/losses/untracked",
                              "/intervals",
                              "/windows",
                              "/kinds/outside/samples",
                              "/kinds/outside/objects",
                              "/kinds/tlab/bytes",
                              "/exceptions/thrown",
                              "/recording/agent_version",
                              "/recording/gc",
                              "/recording/malloc/rate_per_second"}) {
    INFO(unknown);
    CHECK(document.at(json::json_pointer(unknown)).is_null());
  }
  CHECK(text.find(", losses unknown\n") != std::string::npos);
  const std::string verbose = Heaprec("summary --verbose " + out).out;
  INFO(verbose);
  for (const char* heading :
       {"agent", "  tlab", "  outside", "counted", "  intervals", "  points", "  lost", "  stacks"}) {
    const size_t at = verbose.find(std::string("\n") + heading + ":");
    REQUIRE(at != std::string::npos);
    CHECK(verbose.compare(verbose.find_first_not_of(' ', verbose.find(':', at) + 1), 8, "unknown\n") == 0);
  }
  CHECK(verbose.find("; limit unknown\n") != std::string::npos);
  CHECK(verbose.find("unknown off") == std::string::npos);
  CHECK(Heaprec("doctor " + out).out.find("nothing was lost") == std::string::npos);
  const json row_of = json::parse(Heaprec("sql --json " + out + " 'select * from recordings'").out)[0];
  for (const char* unknown : {"counted_bytes", "rate_per_second", "interval_cap"}) CHECK(row_of.at(unknown).is_null());
  CHECK(json::parse(Heaprec("histogram --json " + out).out)["classes"][0]["from"] == nullptr);
  // These events tell the kind.
  REQUIRE(Heaprec("import -q -f --events tlab " + (directory / "t.jfr") + " -o " + out).code == 0);
  CHECK(json::parse(Heaprec("summary --json " + out).out)["kinds"]["outside"]["samples"] == 1);
}

TEST_CASE_METHOD(Scratch, "A budget of what the file does not say is inconclusive, and so is a comparison") {
  const std::string out = directory / "t.bin";
  Overwrite(directory / "t.jfr", TlabFile());
  REQUIRE(Heaprec("import -q " + (directory / "t.jfr") + " -o " + out).code == 0);
  const std::string check = "check --accept-untrustworthy --budget 'total<1MiB' --budget 'total<10objects' ";
  const Outcome text = Heaprec(check + out);
  CHECK(text.code == 1);
  CHECK(text.out.find(": 0 of 2 budgets exceeded, 0 inconclusive, 1 unknown\n") != std::string::npos);
  CHECK(text.out.find("\nunknown   unknown ") != std::string::npos);
  CHECK(text.out.find("  10 objects  total<10objects\n") != std::string::npos);
  CHECK(Heaprec(check + out + " --format markdown").out.find("| unknown | unknown | 10 objects |") !=
        std::string::npos);
  const Outcome junit = Heaprec(check + out + " --format junit");
  CHECK(junit.out.find("tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"0\"") != std::string::npos);
  CHECK(junit.out.find("<error type=\"unknown\" message=\"unknown (not in the recording)") != std::string::npos);
  const json document = json::parse(Heaprec(check + out + " --format json").out);
  CHECK(document["unknown"] == 1);
  CHECK(document["checks"][0]["outcome"] == "within");
  const json& unknown = document["checks"][1];
  CHECK(unknown["outcome"] == "unknown");
  CHECK(unknown["measured"] == "unknown");
  CHECK(unknown["value"].is_null());
  CHECK(Heaprec("check --accept-untrustworthy --budget 'total<1MiB' " + out).code == 0);
  // One sample is an object, however many there are.
  CHECK(Heaprec("check --accept-untrustworthy --budget 'total<0objects' " + out).out.find("EXCEEDED") !=
        std::string::npos);

  const std::string baseline = "check --accept-untrustworthy --budget 'total<10objects' --by none --baseline " + out +
                               " --max-regression 5% --format json " + out;
  const json compared = json::parse(Heaprec(baseline).out)["checks"];
  CHECK(compared[1]["outcome"] == "inconclusive");  // of the total's bytes one sample tells little
  CHECK(compared[2]["outcome"] == "unknown");
  CHECK(compared[2]["value"].is_null());

  const std::string diff = "diff --objects --all --by class ";
  const Outcome objects = Heaprec(diff + out + " " + out);
  INFO(objects.out);
  CHECK(objects.code == 0);
  CHECK(objects.out.starts_with("total:     unknown before, unknown after\n"));
  CHECK(objects.out.find("\nsame      unknown") != std::string::npos);
  const json row = json::parse(Heaprec(diff + "--json " + out + " " + out).out)["tables"][0]["rows"][0];
  CHECK(row["verdict"] == "same");
  for (const char* of : {"before", "after", "change", "ratio"}) CHECK(row[of].is_null());
  // Beside rows that are known.
  WriteSmall(directory / "known.bin");
  const json rows =
      json::parse(Heaprec(diff + "--json " + (directory / "known.bin") + " " + out).out)["tables"][0]["rows"];
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["change"]["value"].is_number());
  CHECK(rows[2]["name"] == "byte[]");
  CHECK(rows[2]["change"].is_null());
}

TEST_CASE_METHOD(Scratch, "A check of an import says why it is inconclusive, and what to do") {
  const std::string out = directory / "t.bin";
  Overwrite(directory / "t.jfr", TlabFile());
  REQUIRE(Heaprec("import -q " + (directory / "t.jfr") + " -o " + out).code == 0);
  const Outcome text = Heaprec("check --budget 'total<1MiB' " + out);
  CHECK(text.code == 1);
  CHECK(text.out.starts_with(
      out +
      ": inconclusive: the recording is untrustworthy; an import from another recorder is never trustworthy, "
      "because its weights are biased: record with heaprec, or use --accept-untrustworthy\n"));
  CHECK(text.out.find("\n# trustworthy: no, because imported from JFR, jdk.ObjectAllocationSample") !=
        std::string::npos);
  CHECK(Heaprec("check --accept-untrustworthy --budget 'total<1MiB' " + out).code == 0);
  WriteSmall(directory / "own.bin");
  const Outcome compared = Heaprec("check --baseline " + out + " --max-regression 5% " + (directory / "own.bin"));
  CHECK(compared.code == 1);
  CHECK(compared.out.find("inconclusive: the baseline is untrustworthy; an import from") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "Without collections in the file it is unknown what old objects have survived") {
  const std::string out = directory / "h.bin";
  Overwrite(directory / "h.jfr", HeapFile("weight", /*with_collections=*/false));
  REQUIRE(Heaprec("import -q " + (directory / "h.jfr") + " -o " + out).code == 0);
  const std::string text = Heaprec("live --by class " + out).out;
  INFO(text);
  CHECK(text.find("how much of it survived a collection is unknown\n") != std::string::npos);
  CHECK(
      text.find("growth: unknown, an import has the objects that were live at its end, not those that died before\n") !=
      std::string::npos);
  CHECK(text.find("  unknown ") != std::string::npos);  // of its row
  CHECK(text.find("\n# trustworthy: no, because imported") != std::string::npos);
  for (const char* sort : {"survived", "age", "growth", "objects"}) {
    CHECK(Heaprec(std::string("live --sort ") + sort + " --by class " + out).out.find("p.Kept") != std::string::npos);
  }
  const json live = json::parse(Heaprec("live --json --by class " + out).out);
  CHECK(live["collections"].is_null());
  CHECK(live["live"].at("growth").is_null());
  CHECK(live["tables"][0]["rows"][0].at("growth").is_null());
  CHECK(live["tables"][0]["rows"][0].at("mean_survived").is_null());
  CHECK(live["tables"][0]["rows"][0]["median_survived"].is_null());
  CHECK(live["tables"][0]["rows"][0]["bytes"]["value"] == 48);
  CHECK(Heaprec("live --survived 2 " + out).out.starts_with("what survived 2 collections is unknown: "));
  CHECK(json::parse(Heaprec("live --json --survived 2 " + out).out)["live"].at("bytes").is_null());
  CHECK(Heaprec("live --lifetimes " + out).out.find("tracked over an unknown number of collections;") !=
        std::string::npos);
  const std::string leaks = Heaprec("leaks " + out).out;
  CHECK(leaks.starts_with("leaks are unknown: an import has the objects that were live at its end"));
  CHECK(leaks.find("measured from") == std::string::npos);
  CHECK(json::parse(Heaprec("leaks --json " + out).out)["collections"].is_null());
  CHECK(Count(Heaprec("export --live --format csv -o - " + out).out, ",\n") == 2);
  CHECK(Count(Heaprec("export --live --format jsonl -o - " + out).out, "\"survived\":null") == 2);
  CHECK(Heaprec("sql --csv " + out + " 'select survived, age is not null from live_by_class'").out.find("\n,1\n") !=
        std::string::npos);
  // With collections they are counted: all three that began after the objects were born, whatever number the JVM's
  // count had reached by then.
  for (const int first_gc : {0, 40}) {
    Overwrite(directory / "h.jfr", HeapFile("weight", true, first_gc));
    REQUIRE(Heaprec("import -q -f " + (directory / "h.jfr") + " -o " + out).code == 0);
    const json counted = json::parse(Heaprec("live --json --by class " + out).out);
    CHECK(counted["tables"][0]["rows"][0]["mean_survived"]["value"] == 3);
    CHECK(counted["collections"] == 2);  // since the first
  }
  // Nor is the age of bytes known of which nothing is.
  Overwrite(directory / "h.jfr", HeapFile("objectSize"));
  REQUIRE(Heaprec("import -q -f " + (directory / "h.jfr") + " -o " + out).code == 0);
  const json unsized = json::parse(Heaprec("live --json --by class " + out).out)["tables"][0]["rows"][0];
  CHECK(unsized.at("mean_age_seconds").is_null());
  CHECK(unsized.at("mean_survived").is_null());
}

}  // namespace heaprec::tools::testing

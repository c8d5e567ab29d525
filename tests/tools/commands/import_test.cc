// heaprec import reads files of every layout, and damaged ones; the JDK's own are in tests/e2e/jfr/jfr_test.cc.
#include <algorithm>
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

// As no writer has it: fields in another order, more of them, of every kind, before and behind those that count.
std::vector<JfrType> OddTypes() {
  return TypesWith({{kSymbol, "jdk.types.Symbol", {{"string", kString}}},
                    {kClass, "java.lang.Class", {{"modifiers", kInt}, {"name", kSymbol, true}}},
                    {kThread,
                     "java.lang.Thread",
                     {{"javaThreadId", kLong}, {"javaName", kString}, {"osThreadId", kInt}, {"osName", kString}}},
                    {kMethod,
                     "jdk.types.Method",
                     {{"hidden", kBoolean}, {"descriptor", kString}, {"name", kSymbol, true}, {"type", kClass, true}}},
                    {kFrame,
                     "jdk.types.StackFrame",
                     {{"bytecodeIndex", kShort}, {"x", kDouble}, {"lineNumber", kInt}, {"method", kMethod, true}}},
                    {kStack, "jdk.types.StackTrace", {{"frames", kFrame, false, true}, {"truncated", kBoolean}}},
                    {kPlace,
                     "p.Place",
                     {{"x", kFloat}, {"names", kString, false, true}, {"y", kChar}, {"classes", kClass, true, true}}},
                    {kSample,
                     "jdk.ObjectAllocationSample",
                     {{"place", kPlace},
                      {"weight", kInt},
                      {"objectClass", kClass, true},
                      {"b", kByte},
                      {"startTime", kLong},
                      {"stackTrace", kStack, true},
                      {"eventThread", kThread, true},
                      {"places", kPlace, false, true}},
                     true}});
}

JfrBytes PlaceBytes(const JfrBuilder& jfr) {
  return jfr.Bytes().Fixed(0x3f800000, 4).Int(2).Utf8("n").Byte(0).Short(7).Int(3).Long(1).Long(0).Long(99);
}

std::string OddFile(bool compressed) {
  JfrBuilder jfr(OddTypes(), compressed);
  jfr.ticks_per_second = 500'000'000;
  jfr.Constants(
      kSymbol, 4,
      jfr.Bytes().Long(1).Utf8("p/Leaf").Long(2).Latin1("na\xefve").Long(3).Chars(u"[Lp/\u00c4;").Long(4).Byte(1));
  jfr.Constants(kClass, 2, jfr.Bytes().Long(1).Int(-1).Long(1).Long(int64_t{1} << 40).Int(0).Long(3));
  jfr.Constants(kMethod, 1, jfr.Bytes().Long(5).Byte(1).Utf8("()V").Long(2).Long(1));
  const JfrBytes sample = jfr.Bytes()
                              .Raw(PlaceBytes(jfr).bytes())
                              .Int(1000)
                              .Long(int64_t{1} << 40)
                              .Byte(9)
                              .Long(5000 + 64)
                              .Long(-7)
                              .Long(3)
                              .Int(1)
                              .Raw(PlaceBytes(jfr).bytes());
  jfr.Event(kSample, sample);
  // Constants may stand behind what names them.
  jfr.Constants(
      kStack, 1,
      jfr.Bytes().Long(-7).Int(2).Short(12).Fixed(0, 8).Int(34).Long(5).Short(-1).Fixed(0, 8).Int(-1).Long(6).Byte(1));
  jfr.Constants(kThread, 1, jfr.Bytes().Long(3).Long(17).Chars(u"w\U0001F600").Int(170).Byte(0));
  jfr.Event(kSample,
            jfr.Bytes().Raw(PlaceBytes(jfr).bytes()).Int(24).Long(0).Byte(0).Long(5000).Long(0).Long(0).Int(0));
  jfr.Event(kSample, jfr.Bytes().Raw(PlaceBytes(jfr).bytes()).Int(0).Long(1).Byte(0).Long(5000).Long(0).Long(0).Int(0));
  return jfr.File();
}

json Printed(const std::string& recording) { return Parsed("print --json " + recording); }

}  // namespace

TEST_CASE_METHOD(Scratch,
                 "Fields are found by their names, whatever stands around them, and integers of both kinds are read") {
  for (const bool compressed : {true, false}) {
    Overwrite(directory / "odd.jfr", OddFile(compressed));
    const Outcome imported = Heaprec("import " + (directory / "odd.jfr") + " -f -o " + (directory / "odd.bin"));
    INFO(imported.err);
    CHECK(imported.code == 0);
    CHECK(imported.err.find("skipped 1 events that cannot be read") != std::string::npos);
    const json events = Printed(directory / "odd.bin")["events"];
    REQUIRE(events.size() == 2);
    CHECK(events[0]["time_ns"] == 1'700'000'000'000'000'000);
    CHECK(events[0]["class"] == "[unknown]");
    CHECK(events[0]["thread"] == nullptr);
    CHECK(events[0]["stack"] == nullptr);
    CHECK(events[0]["weight_bytes"] == 24);
    const json& sample = events[1];
    CHECK(sample["time_ns"] == 1'700'000'000'000'000'128);  // 64 ticks of 2 ns
    CHECK(sample["class"] == "p.\u00c4[]");
    CHECK(sample["weight_bytes"] == 1000);
    CHECK(sample["size"] == nullptr);
    CHECK(sample["weight_objects"] == nullptr);
    CHECK(sample["probability"] == nullptr);
    CHECK(sample["thread"]["name"] == "w\U0001F600");
    CHECK(sample["thread"]["java_tid"] == 17);
    CHECK(sample["thread"]["os_tid"] == 170);
    CHECK(sample["stack"]["truncated"] == true);
    REQUIRE(sample["stack"]["frames"].size() == 2);
    CHECK(sample["stack"]["frames"][0]["method"] == "p.Leaf.na\u00efve");
    CHECK(sample["stack"]["frames"][0]["line"] == 34);
    CHECK(sample["stack"]["frames"][0]["bci"] == 12);
    CHECK(sample["stack"]["frames"][1]["method"] == "[unknown]");
  }
}

TEST_CASE_METHOD(Scratch, "Samples and TLAB events count the same bytes: one set of them is taken") {
  Overwrite(directory / "t.jfr", TlabFile());
  REQUIRE(Heaprec("import -q " + (directory / "t.jfr") + " -o " + (directory / "sample.bin")).code == 0);
  const json samples = Printed(directory / "sample.bin")["events"];
  REQUIRE(samples.size() == 1);
  CHECK(samples[0]["weight_bytes"] == 7777);
  REQUIRE(Heaprec("import -q --events tlab " + (directory / "t.jfr") + " -o " + (directory / "tlab.bin")).code == 0);
  const json tlabs = Printed(directory / "tlab.bin")["events"];
  REQUIRE(tlabs.size() == 2);
  CHECK(tlabs[0]["kind"] == "tlab");
  CHECK(tlabs[0]["weight_bytes"] == 65536);
  CHECK(tlabs[0]["size"] == 24);
  CHECK(tlabs[1]["kind"] == "outside");
  CHECK(tlabs[1]["weight_bytes"] == 1'000'000);
  CHECK(tlabs[1]["size"] == 1'000'000);
}

TEST_CASE_METHOD(Scratch, "An imported recording is whole, says what it is, and is not trusted") {
  Overwrite(directory / "t.jfr", TlabFile());
  const Outcome told = Heaprec("import --json " + (directory / "t.jfr") + " -o " + (directory / "t.bin"));
  REQUIRE(told.code == 0);
  CHECK(json::parse(told.out)["source"] == "imported");
  CHECK(json::parse(told.out)["samples"] == 1);
  CHECK(Heaprec("verify " + (directory / "t.bin")).code == 0);
  const json summary = json::parse(Heaprec("summary --json " + (directory / "t.bin")).out);
  CHECK(summary["recording"]["source"] == "imported");
  CHECK(summary["recording"]["interval_ns"].is_null());
  const Outcome queried = Heaprec("sql --json " + (directory / "t.bin") + " 'select interval_ns from recordings'");
  CHECK(json::parse(queried.out)[0]["interval_ns"].is_null());
  CHECK(summary["trustworthy"] == false);
  REQUIRE(summary["reasons"].size() == 1);
  const std::string reason = summary["reasons"][0];
  CHECK(reason.find("weights are biased") != std::string::npos);
  CHECK(reason.find("Intervals show sampling error only") != std::string::npos);
  // Nor is it after another round.
  REQUIRE(Heaprec("export --format jfr -o " + (directory / "again.jfr") + " " + (directory / "t.bin")).code == 0);
  const Outcome again = Heaprec("import --json " + (directory / "again.jfr") + " -o " + (directory / "again.bin"));
  REQUIRE(again.code == 0);
  CHECK(json::parse(again.out)["source"] == "imported");
  // One sample tells next to nothing of the sum.
  CHECK(summary["classes"][0]["bytes"]["low"] < 0.2 * 7777);
  CHECK(summary["classes"][0]["bytes"]["high"] > 3.0 * 7777);
}

TEST_CASE_METHOD(Scratch, "doctor mentions no ring and no recorder for an import, which has neither") {
  Overwrite(directory / "t.jfr", TlabFile());
  REQUIRE(Heaprec("import -q " + (directory / "t.jfr") + " -o " + (directory / "t.bin")).code == 0);
  const Outcome told = Heaprec("doctor " + (directory / "t.bin"));
  INFO(told.out);
  CHECK(told.out.find("all blocks are consistent with each other\n") != std::string::npos);
  CHECK(told.out.find("ring ") == std::string::npos);
  CHECK(told.out.find("recorder's counters") == std::string::npos);
}

TEST_CASE_METHOD(Scratch, "What heaprec exported comes back as it was") {
  WriteSmall(path);
  REQUIRE(Heaprec("export --format jfr -o " + (directory / "rec.jfr") + " " + path).code == 0);
  REQUIRE(Heaprec("import -q " + (directory / "rec.jfr") + " -o " + (directory / "again.bin")).code == 0);
  json before = Printed(path), after = Printed(directory / "again.bin");
  for (json* const printed : {&before, &after}) {
    for (json& event : (*printed)["events"]) event.erase("window");
  }
  CHECK(after["events"] == before["events"]);
  CHECK(after["recording"]["start_ns"] == before["recording"]["start_ns"]);
  CHECK(after["recording"]["jvm_version"] == before["recording"]["jvm_version"]);
  CHECK(after["recording"]["source"] == "imported from heaprec");
  const json summary = json::parse(Heaprec("summary --json " + (directory / "again.bin")).out);
  CHECK(summary["trustworthy"] == true);
  CHECK(summary["notes"][0].get<std::string>().find("from the samples alone") != std::string::npos);
}

namespace {

// An old object, whose `referrers` are references to constants of objects: {key of the holder, of the field, skipped}.
// The first object is 1; object i has the i-th reference. Object 9 is the class p.Kept; a field is "next" or "HEAD".
struct JfrReference {
  int64_t holder, field;
  int skipped = 0;
};
std::string ChainFile(const std::vector<JfrReference>& references, int64_t root) {
  JfrBuilder jfr(
      PlainTypesWith(
          {{kObject,
            "jdk.types.OldObject",
            {{"address", kLong}, {"type", kClass, true}, {"description", kString}, {"referrer", kReference, true}}},
           {kReference,
            "jdk.types.Reference",
            {{"array", kArray, true}, {"field", kField, true}, {"object", kObject, true}, {"skip", kInt}}},
           {kArray, "jdk.types.OldObjectArray", {{"size", kInt}, {"index", kInt}}},
           {kField, "jdk.types.OldObjectField", {{"name", kString}, {"modifiers", kShort}}},
           {kSystem, "jdk.types.OldObjectRootSystem", {{"system", kString}}},
           {kRootType, "jdk.types.OldObjectRootType", {{"type", kString}}},
           {kRoot,
            "jdk.types.OldObjectGcRoot",
            {{"description", kString}, {"system", kSystem, true}, {"type", kRootType, true}}},
           {kOld,
            "jdk.OldObjectSample",
            {{"startTime", kLong}, {"allocationTime", kLong}, {"object", kObject, true}, {"root", kRoot, true}},
            true}}),
      true);
  jfr.Constants(kSymbol, 2, jfr.Bytes().Long(1).Utf8("p/Node").Long(2).Utf8("java/lang/Class"));
  jfr.Constants(kClass, 2, jfr.Bytes().Long(1).Long(1).Long(2).Long(2));
  jfr.Constants(kField, 2, jfr.Bytes().Long(1).Utf8("next").Int(0).Long(2).Utf8("HEAD").Int(8));
  jfr.Constants(kArray, 1, jfr.Bytes().Long(1).Int(10).Int(3));
  jfr.Constants(kSystem, 1, jfr.Bytes().Long(1).Utf8("Threads"));
  jfr.Constants(kRootType, 1, jfr.Bytes().Long(1).Utf8("Stack Variable"));
  jfr.Constants(kRoot, 1, jfr.Bytes().Long(1).Utf8("Thread Name: main").Long(1).Long(1));
  auto objects = jfr.Bytes(), links = jfr.Bytes();
  for (size_t i = 1; i <= references.size(); ++i) {
    const auto& [holder, field, skipped] = references[i - 1];
    objects.Long(static_cast<int64_t>(i)).Long(0).Long(1).Utf8("").Long(static_cast<int64_t>(i));
    links.Long(static_cast<int64_t>(i)).Long(field == 0 ? 1 : 0).Long(field).Long(holder).Int(skipped);
  }
  const auto end = static_cast<int64_t>(references.size()) + 1;
  objects.Long(end).Long(0).Long(1).Utf8("").Long(0);
  objects.Long(99).Long(0).Long(2).Utf8("Class Name: p.Kept").Long(0);
  jfr.Constants(kObject, static_cast<int>(references.size()) + 2, objects);
  jfr.Constants(kReference, static_cast<int>(references.size()), links);
  jfr.Event(kSample, jfr.Bytes().Long(5000).Long(1).Long(1000));
  jfr.Event(kOld, jfr.Bytes().Long(6000).Long(5500).Long(1).Long(root));
  return jfr.File();
}

}  // namespace

TEST_CASE_METHOD(Scratch,
                 "References to old objects of any JFR file become paths: runs, gaps, arrays, loops, no root") {
  const auto imported = [&](const std::vector<JfrReference>& references, int64_t root) {
    Overwrite(directory / "c.jfr", ChainFile(references, root));
    REQUIRE(Heaprec("import -q -f " + (directory / "c.jfr") + " -o " + path).code == 0);
    CHECK(Heaprec("verify " + path).code == 0);
    return Heaprec("paths " + path);
  };
  // The path as it is in the recording: from the root to the object.
  const auto only = [&](const std::vector<JfrReference>& references) {
    const Outcome outcome = imported(references, 1);
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const json events = Parsed("print --json --kind path --stack-depth 0 " + path)["events"];
    REQUIRE(events.size() == 1);
    std::vector<std::string> steps;
    for (const json& frame : events[0]["stack"]["frames"]) {
      const auto repeats = frame["bci"].get<int>();
      steps.push_back(frame["method"].get<std::string>() + (repeats > 1 ? " x " + std::to_string(repeats) : ""));
    }
    std::ranges::reverse(steps);
    return json(steps);
  };
  // A local variable is a root of kind 2.
  CHECK(only({}) == json{"[unknown] x 2"});
  CHECK(only({{2, 1}, {3, 1}, {4, 0}}) == json{"[unknown] x 2", "p.Node.[]", "p.Node.next x 2"});
  CHECK(only({{2, 1}, {3, 1, 7}}) == json{"[unknown] x 2", "p.Node.next", "[truncated]", "p.Node.next"});
  // A static field is the root, whatever the JDK has found its class by.
  CHECK(only({{2, 1}, {99, 2}}) == json{"p.Kept.HEAD", "p.Node.next"});
  CHECK(only({{2, 1}, {1, 0}}).size() == 61);  // a loop; its middle is left out
  CHECK(only({{1, 1}}) == json{"[unknown] x 2", "p.Node.next x 4096"});
  const Outcome none = imported({{2, 1}}, 0);
  CHECK(none.code == 3);
  CHECK(none.err.find("has no paths: the JFR file does not say what holds old objects") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "A file that is cut off gives its whole chunks, and says where it ends") {
  const std::string whole = OddFile(true), jfr = directory / "cut.jfr", out = directory / "cut.bin";
  for (const size_t size : {size_t{1}, size_t{67}, size_t{68}, whole.size() - 1}) {
    Overwrite(jfr, whole + whole.substr(0, size));
    const Outcome imported = Heaprec("import -f " + jfr + " -o " + out);
    INFO(size << " " << imported.err);
    CHECK(imported.code == 4);
    CHECK(imported.err.find("offset " + std::to_string(whole.size())) != std::string::npos);
    CHECK(Printed(out)["events"].size() == 2);
    Overwrite(jfr, whole.substr(0, size));
    CHECK(Heaprec("import -f " + jfr + " -o " + out).code == 3);
  }
}

TEST_CASE_METHOD(Scratch, "A chunk that its JVM never finished is named as such") {
  std::string file = OddFile(true);
  file.replace(8, 8, std::string(8, '\0'));  // its size
  Overwrite(directory / "u.jfr", file);
  const Outcome imported = Heaprec("import " + (directory / "u.jfr") + " -o " + (directory / "u.bin"));
  CHECK(imported.code == 3);
  CHECK(imported.err.find("unfinished chunk") != std::string::npos);
  CHECK(imported.err.find("jfr assemble") != std::string::npos);
}

TEST_CASE_METHOD(Scratch,
                 "What is no JFR file, of a version that is too old, or without allocations is refused in one line") {
  const std::string jfr = directory / "no.jfr", out = directory / "no.bin";
  const auto refusal = [&](const std::string& contents) {
    Overwrite(jfr, contents);
    const Outcome imported = Heaprec("import " + jfr + " -o " + out);
    CHECK(imported.code == 3);
    CHECK(Count(imported.err, "\n") == 1);
    return imported.err;
  };
  CHECK(refusal(std::string(100, 'x')).find("not a JFR file") != std::string::npos);
  CHECK(refusal("").find("not a JFR file") != std::string::npos);
  std::string old = OddFile(true);
  old[5] = 1;
  CHECK(refusal(old).find("JFR version 1.0") != std::string::npos);
  CHECK(refusal(JfrBuilder(OddTypes(), true).File()).find("settings=profile") != std::string::npos);
  CHECK(Shell("ls " + out).code != 0);
}

TEST_CASE_METHOD(Scratch, "Types that hold themselves are refused") {
  std::vector<JfrType> types = OddTypes();
  types.push_back({90, "p.Loop", {{"next", 91}}});
  types.push_back({91, "p.Back", {{"next", 90}}});
  Overwrite(directory / "loop.jfr", JfrBuilder(types, true).File());
  const Outcome imported = Heaprec("import " + (directory / "loop.jfr") + " -o " + (directory / "loop.bin"));
  CHECK(imported.code == 3);
  CHECK(imported.err.find("recursive types") != std::string::npos);
}

// Time must follow the bytes of the file, not the numbers in it.
TEST_CASE("Values without data take no time") {
  constexpr int kNothing = 50, kMany = 51, kParts = 9'000;
  const Directory directory;
  // An array counts as many of them as there are bytes left; or each byte of an array brings thousands.
  const bool in_array = GENERATE(true, false);
  std::vector<JfrType> types = TypesWith({{kNothing, "p.Nothing"}, {kMany, "p.Many", {{"byte", kByte}}}});
  if (!in_array) types.back().fields.resize(kParts, {"nothing", kNothing});
  types.push_back({kObject, "p.Object", {{"values", in_array ? kNothing : kMany, false, true}}});
  JfrBuilder jfr(types, true);
  constexpr int kBytes = 1 << 20, kArrays = kBytes / 4;
  JfrBytes constants = jfr.Bytes();
  int count = 0;
  if (in_array) {
    for (; count < kArrays; ++count) constants.Long(count % 100).Int(2 * (kArrays - count - 1));
  } else {
    constants.Long(count++).Int(kBytes).Raw(std::string(kBytes, '\0'));
  }
  jfr.Constants(kObject, count, constants);
  Overwrite(directory / "nothing.jfr", jfr.File());
  const Outcome outcome =
      Shell("timeout 60 \"$HEAPREC\" import -q " + (directory / "nothing.jfr") + " -o " + (directory / "out.bin"));
  INFO(outcome.err);
  CHECK(outcome.code == 3);
  CHECK(outcome.err.find(in_array ? "the constants cannot be read" : "no allocation events") != std::string::npos);
}

namespace {

// What commands say of an imported recording: the heap, what is live, and what the file does not say.

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

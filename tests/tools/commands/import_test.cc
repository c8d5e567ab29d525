// heaprec import reads files of every layout, and damaged ones; the JDK's own are in tests/e2e/jfr/jfr_import_test.cc.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
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

}  // namespace heaprec::tools::testing

// heaprec export --format jfr, judged by the JDK's own readers: jdk.jfr.consumer and the jfr tool.
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "format/model/names.h"
#include "tests/e2e/jfr/jfr_rows.h"
#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"
#include "tests/tools/recording_fixture.h"

namespace heaprec::testing {
namespace {

using tools::testing::Event;
using tools::testing::RecordingFile;
using tools::testing::SomeHeader;

constexpr uint64_t kSecond = tools::testing::kSecond;
constexpr double kHalfAByte = 0.5;  // a weight is whole bytes there

std::string Export(const std::vector<std::string>& recordings, const std::vector<std::string>& options = {}) {
  std::string jfr = FreshFolder() + "/out.jfr";
  std::vector<std::string> args{"export", "--format", "jfr", "-o", jfr};
  args.insert(args.end(), options.begin(), options.end());
  args.insert(args.end(), recordings.begin(), recordings.end());
  RequireHeaprec(args);
  return jfr;
}

std::string Jfr(const std::vector<std::string>& words, const std::string& home = JavaHome()) {
  Command command{{home + "/bin/jfr"}};
  command.args.insert(command.args.end(), words.begin(), words.end());
  return OutputOf(command);
}

// Folders of other JDKs: Debian's, and that of tests/e2e/fetch_jdks.sh.
std::vector<std::string> OtherJdks() {
  const char* const folder = std::getenv("HEAPREC_JDKS");       // NOLINT(concurrency-mt-unsafe): one thread
  const passwd* const user = getpwuid(geteuid());               // NOLINT(concurrency-mt-unsafe): one thread
  const std::string own = user == nullptr ? "" : user->pw_dir;  // Bazel's tests have no HOME
  const std::string fetched = folder != nullptr ? folder : own + "/.cache/heaprec/jdks";
  std::vector<std::string> homes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/jvm", error)) homes.push_back(entry.path());
  for (const auto& entry : std::filesystem::directory_iterator(fetched, error)) homes.push_back(entry.path() / "home");
  std::ranges::sort(homes);
  return homes;
}

// The first JDK whose jfr has the command view: 21 or later. Empty if there is none.
std::string JdkWithView() {
  static const std::string found = [] {
    std::vector<std::string> homes = OtherJdks();
    homes.insert(homes.begin(), JavaHome());
    const auto home = std::ranges::find_if(homes, [](const std::string& one) {
      const std::string jfr = one + "/bin/jfr";
      return FileExists(jfr) && Run(Command{{jfr, "help"}}).out.find("jfr view") != std::string::npos;
    });
    return home != homes.end() ? *home : std::string();
  }();
  if (found.empty()) WARN("jfr view is left out: no JDK 21 or later in JAVA_HOME, /usr/lib/jvm or the fetched JDKs");
  return found;
}

// A sample whose every name is in its chunk.
format::Sample SampleAt(uint64_t time_ns, format::ChunkWriter* chunk) {
  format::Sample sample{
      .id = time_ns + 1, .time_ns = time_ns, .class_id = chunk->InternClass("p/C$$Lambda$14+0x0000000800c03000")};
  sample.thread =
      chunk->InternThread({7, 70, true, std::string("w\xc3\xb6rker \"1\"\0a=b;c\0k=\xed\xa0\xbd\xed\xb8\x80", 26)});
  const format::StackFrame frames[] = {{chunk->InternMethod({"[I", "clone", "()Ljava/lang/Object;"}), -1, -1},
                                       {chunk->InternMethod({"p/A", "lambda$x;y$0", "(Lp/A;[JI)V"}), 12, 34},
                                       {format::kNone, -1, format::kGapLine},
                                       {format::kNone, -1, -1},
                                       {chunk->InternMethod({"p/A", "nothing", ""}), 0, -1}};
  sample.stack = chunk->InternStack(frames, false);
  sample.size = 24;
  sample.tlab_size = 4096;
  sample.weight = 1234.5;
  return sample;
}

// Every odd thing that a recording may hold.
std::string OddRecording() {
  std::string path = FreshFolder() + "/odd.bin";
  const format::FileHeader header = SomeHeader();
  format::ChunkWriter chunk(header, 0);
  const format::Sample whole = SampleAt(64, &chunk);
  chunk.Add(whole);
  format::Sample nameless{.id = 1, .time_ns = 128, .size = uint64_t{1} << 40};
  nameless.weight = 0x1p60;
  chunk.Add(nameless);
  format::Sample cut = whole;
  cut.id = 2;
  cut.time_ns = 192;
  const format::StackFrame leaf{chunk.InternMethod({"p/B", "deep", "()V"}), 3, 70'000};
  cut.stack = chunk.InternStack({&leaf, 1}, true);
  chunk.Add(cut);
  format::Sample thrown = whole;
  thrown.id = 3;
  thrown.time_ns = 256;
  thrown.kind = format::Kind::kException;
  thrown.size = thrown.tlab_size = 0;
  thrown.weight = 2.75;
  chunk.Add(thrown);
  const format::EndMarker ending{kSecond, "jvm exit"};
  const auto bytes = chunk.Finish({}, {}, kSecond, &ending);
  REQUIRE(bytes.ok());
  const format::ByteBuffer file_header = EncodeFileHeader(header);
  std::string file(reinterpret_cast<const char*>(file_header.data()), file_header.size());
  file.append(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  tools::testing::Overwrite(path, file);
  return path;
}

// More than one JFR chunk can hold: stacks of which no two have a frame in common.
std::string LongRecording() {
  std::string path = FreshFolder() + "/long.bin";
  RecordingFile file(path, SomeHeader());
  for (uint64_t i = 0; i < 6000; ++i) {
    Event event{.time_ns = i * kSecond / 100,
                .class_name = "p/Class" + std::to_string(i % 50),
                .thread = "thread-" + std::to_string(i % 3)};
    event.stack.clear();
    for (uint64_t depth = 0; depth < 120; ++depth) {
      event.stack.push_back("p/Type.m" + std::to_string(depth) + ':' + std::to_string(i * 120 + depth));
    }
    file.Add(event);
    if (i % 2000 == 1999) file.StartChunk();
  }
  file.End("jvm exit", 60 * kSecond);
  return path;
}

}  // namespace

TEST_CASE("The JDK reads every allocation as it is in the recording, also unusual ones") {
  const std::string recording = OddRecording();
  std::vector<JfrRow> rows = ReadWithHeaprec(recording);
  REQUIRE(rows.size() == 4);
  RequireSame(ReadWithJdk(Export({recording}, {"--kind", "tlab,exception"})), rows, kHalfAByte);
  std::erase_if(rows, [](const JfrRow& row) { return row.is_thrown; });
  RequireSame(ReadWithJdk(Export({recording})), rows, kHalfAByte);
}

TEST_CASE("Long and multiple recordings become chunks of limited size, which the JDK reads as one file") {
  const std::string first = LongRecording(), second = OddRecording();
  const std::string jfr = Export({first, second, first});
  std::vector<JfrRow> rows;
  for (const std::string& recording : {first, second, first}) {
    const std::vector<JfrRow> one = ReadWithHeaprec(recording);
    std::copy_if(one.begin(), one.end(), std::back_inserter(rows), [](const JfrRow& row) { return !row.is_thrown; });
  }
  std::ranges::stable_sort(rows, {}, &JfrRow::time_ns);
  std::vector<JfrRow> read = ReadWithJdk(jfr);
  std::ranges::stable_sort(read, {}, &JfrRow::time_ns);
  RequireSame(read, rows, kHalfAByte);
  const std::string summary = Jfr({"summary", jfr});
  INFO(summary);
  CHECK(summary.find("Chunks: 5\n") != std::string::npos);
  CHECK(summary.find("Duration: 121 s\n") != std::string::npos);
}

TEST_CASE("A recording without events is a JFR file that describes the JVM") {
  const std::string path = FreshFolder() + "/empty.bin";
  RecordingFile(path, SomeHeader()).End("stop", kSecond);
  const std::string jfr = Export({path});
  CHECK(ReadWithJdk(jfr).empty());
  const auto printed = nlohmann::json::parse(Jfr({"print", "--json", jfr}));
  REQUIRE(printed["recording"]["events"].size() == 3);
  CHECK(printed["recording"]["events"][0]["type"] == "heaprec.Recording");
  CHECK(printed["recording"]["events"][1]["values"]["jvmName"] == SomeHeader().jvm_name);
}

TEST_CASE("jfr print shows units, lines and parameters; jfr view adds up the weights") {
  const std::string recording =
      RecordJava({.main = "e2e.Sizes", .args = {"0", "2", "1", "400000", "64", "1024"}}, "rate=400").file;
  RequireSame(ReadWithJdk(Export({recording}, {"--raw"})), ReadWithHeaprec(recording), kHalfAByte);
  const std::string jfr = Export({recording});
  double calibrated = 0, events = 0;
  for (const JfrRow& row : ReadWithJdk(jfr)) calibrated += row.weight, ++events;
  const auto table = HeaprecJson({"top", "--json", "--by", "class", "--limit", "0", recording})["tables"][0];
  double total = 0;
  for (const auto& row : table["rows"]) total += row["bytes"]["value"].get<double>();
  // Bytes of lost points are distributed over samples here, and over classes there.
  double lost = 0;
  const auto summary = ReadSummary(recording);
  for (const auto& loss : summary["losses"]["lost"]) lost += loss["bytes"].get<double>();
  CHECK(std::abs(calibrated - total) <= kHalfAByte * events + lost);
  const std::string printed = Jfr({"print", "--events", "heaprec.AllocationSample", jfr});
  CHECK(printed.find("eventThread = \"worker-0-1\" (javaThreadId = ") != std::string::npos);
  CHECK(printed.find("    e2e.Sizes$Worker.run() line: 27\n") != std::string::npos);
  CHECK(printed.find("  allocationSize = 1.0 kB\n") != std::string::npos);
  const std::string home = JdkWithView();
  if (home.empty()) return;
  const auto view = [&](const char* name) { return Jfr({"view", "--width", "120", name, jfr}, home); };
  const std::string classes = view("allocation-by-class");
  INFO(home << '\n' << classes);
  CHECK(classes.find("byte[]") < classes.find("java.lang"));
  CHECK(view("allocation-by-site").find("e2e.Sizes$Worker.run()") != std::string::npos);
  CHECK(view("allocation-by-thread").find("worker-0-1 ") != std::string::npos);
}

TEST_CASE("jfr view counts exceptions exactly, and names the application's methods of thrown and live objects") {
  const std::string recording =
      RecordJava({.main = "e2e.Throws", .args = {"2", "20000", "0"}}, "exceptions=on,live=on,rate=400").file;
  const uint64_t thrown = ReadSummary(recording)["exceptions"]["thrown"];
  REQUIRE(thrown > 0);
  const auto counted = [&](const std::vector<std::string>& options) {
    const std::string jfr = Export({recording}, options);
    const auto printed = nlohmann::json::parse(Jfr({"print", "--json", "--events", "jdk.ExceptionStatistics", jfr}));
    std::vector<uint64_t> values;
    for (const auto& event : printed["recording"]["events"]) values.push_back(event["values"]["throwables"]);
    return values;
  };
  CHECK(counted({}) == std::vector<uint64_t>{0, thrown});
  CHECK(counted({"--to", "100ms"}) == std::vector<uint64_t>{0});
  const std::string home = JdkWithView();
  if (home.empty()) return;
  const std::string jfr = Export({recording}, {"--kind", "tlab,outside,exception"});
  const auto view = [&](const char* name) {
    return Jfr({"view", "--width", "160", "--cell-height", "1", name, jfr}, home);
  };
  for (const char* name : {"exception-by-message", "exception-by-site", "exception-by-type", "exception-count"}) {
    INFO(name << view(name));
    CHECK(view(name).find("Missing") == std::string::npos);
  }
  CHECK(view("exception-by-type").find("e2e.Throws$Custom") != std::string::npos);
  CHECK(view("exception-by-site").find("e2e.Throws$Worker.") != std::string::npos);
  const std::string sites = view("memory-leaks-by-site");
  INFO(sites);
  CHECK(sites.find("e2e.Throws$Worker.") != std::string::npos);
}

// Numbers as `jfr print --json` has them; ages in ISO 8601.
TEST_CASE("jfr print shows live objects in the same way as the JDK's own old objects") {
  const std::string path = FreshFolder() + "/live.bin";
  format::FileHeader header = SomeHeader();
  header.max_tracked_objects = 4096;
  {
    RecordingFile file(path, header);
    format::ProcessState after;
    after.id = 1;
    after.time_ns = 1500 * tools::testing::kMs;
    after.kind = format::ProcessStateKind::kGcEnd;
    after.used = 123'456;
    after.collections = 1;
    file.Add(after);
    for (uint64_t i = 1; i <= 3; ++i) {
      Event event{.time_ns = i * kSecond, .class_name = i == 2 ? "[Ljava/lang/String;" : "p/Old$One", .id = i};
      event.size = 100 * i;
      event.weight = 1000.4 * static_cast<double>(i);
      event.stack = {"p/Leak.add:" + std::to_string(i), "p/Main.main:3"};
      file.Add(event);
      file.StartChunk();
    }
    file.Add(format::LifecycleEvent{1, 3 * kSecond + 1, format::LifecycleKind::kDied, 1, 0});
    format::ProcessState search;
    search.id = 2;
    search.time_ns = 4 * kSecond;
    search.kind = format::ProcessStateKind::kPathWalk;
    search.pauses = 1;
    file.Add(search);
    search.id = 3;
    search.kind = format::ProcessStateKind::kPath;
    search.used = 3;  // the sample
    file.Add(search, {"p/Node.value@1", "p/Node.next@70", "[Lp/Node;.[]@1", "p/Leak.HEAD@1"});
    file.End("jvm exit", 5 * kSecond);
  }
  const auto old_objects = [&](const std::vector<std::string>& options) {
    const std::string text =
        Jfr({"print", "--json", "--events", "jdk.OldObjectSample", "--stack-depth", "64", Export({path}, options)});
    return nlohmann::json::parse(text)["recording"]["events"];
  };
  const auto alive = old_objects({});
  REQUIRE(alive.size() == 2);
  const auto first = alive[0]["values"], second = alive[1]["values"];
  CHECK(first["object"]["type"]["name"] == "[Ljava/lang/String;");
  CHECK(second["object"]["type"]["name"] == "p/Old$One");
  CHECK(first["objectSize"] == 200);
  CHECK(first["objectAge"] == "PT3S");
  CHECK(second["objectAge"] == "PT2S");
  CHECK(first["weight"] == 2001);
  CHECK(first["lastKnownHeapUsage"] == 123'456);
  CHECK(first["eventThread"]["javaName"] == "main");
  CHECK(first["root"].is_null());
  CHECK(first["object"]["referrer"].is_null());
  CHECK(first["stackTrace"]["frames"][0]["lineNumber"] == 2);
  CHECK(first["stackTrace"]["frames"][1]["method"]["name"] == "main");
  CHECK(first["startTime"] != first["allocationTime"]);
  const auto early = old_objects({"--at", "1500ms"});
  REQUIRE(early.size() == 1);
  CHECK(early[0]["values"]["objectAge"] == "PT0.5S");
  CHECK(early[0]["values"]["weight"] == 1000);
  CHECK(early[0]["values"]["lastKnownHeapUsage"] == 0);
  const std::string text = Jfr({"print", "--events", "jdk.OldObjectSample", Export({path})});
  INFO(text);
  CHECK(text.find("objectAge = 3.00 s") != std::string::npos);
  CHECK(text.find("java.lang.String[]") != std::string::npos);
  // What holds it, as the JDK prints its own references; "..." are those of a run that are not shown.
  size_t at = 0;
  for (const char* line : {"p.Old$One", "value : p.Node", "...", "next : p.Node x 70", "[] : p.Node[]",
                           "HEAD : java.lang.Class Class Name: p.Leak", "root = {", "system = \"Class Loader Data\""}) {
    INFO(line);
    at = text.find(line, at);
    REQUIRE(at != std::string::npos);
  }
}

namespace {

// heaprec import of what the JDK itself records, judged by the JDK's own reader of the same file; and of what heaprec
// exports, judged by the recording that it was.

constexpr uint64_t kTick = 64;  // the resolution of a recording's times

// All three kinds of events of allocations; JDK 11 does not know the first.
constexpr char kSettings[] = R"(<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
  <event name="jdk.ObjectAllocationSample">
    <setting name="enabled">true</setting><setting name="throttle">500/s</setting><setting name="stackTrace">true</setting>
  </event>
  <event name="jdk.ObjectAllocationInNewTLAB">
    <setting name="enabled">true</setting><setting name="stackTrace">true</setting>
  </event>
  <event name="jdk.ObjectAllocationOutsideTLAB">
    <setting name="enabled">true</setting><setting name="stackTrace">true</setting>
  </event>
</configuration>
)";

// A JFR recording of threads that allocate small and large arrays, with heaprec beside it if `options` are given.
std::string RecordWithJfr(const std::string& folder, const std::optional<std::string>& options = {}) {
  const std::string settings = folder + "/all.jfc", jfr = folder + "/jdk.jfr";
  std::ofstream(settings) << kSettings;
  const Outcome outcome = Run(Java{.flags = {"-XX:StartFlightRecording=filename=" + jfr + ",settings=" + settings},
                                   .main = "e2e.Sizes",
                                   .args = {"0", "2", "3", "3000", "64", "1024", "200000"},
                                   .agent_options = options});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return jfr;
}

std::string Import(const std::string& jfr, const std::vector<std::string>& options = {}) {
  std::string recording = FreshFolder() + "/imported.bin";
  std::vector<std::string> args{"import", jfr, "-o", recording};
  args.insert(args.end(), options.begin(), options.end());
  RequireHeaprec(args);
  RequireVerified(recording);
  return recording;
}

// What the JDK says, with the times and weights that a recording has of it.
std::vector<JfrRow> Expected(std::vector<JfrRow> rows, bool samples, const std::string& recording) {
  const uint64_t start_ns = ReadSummary(recording)["recording"]["start_ns"];
  std::erase_if(rows, [samples](const JfrRow& row) { return (row.event == "jdk.ObjectAllocationSample") != samples; });
  for (JfrRow& row : rows) {
    row.time_ns = row.time_ns < start_ns ? start_ns : start_ns + (row.time_ns - start_ns) / kTick * kTick;
    if (!samples) row.weight = static_cast<double>(row.tlab_size > 0 ? row.tlab_size : row.size);
  }
  Sort(&rows);
  return rows;
}

double SumOf(const std::vector<JfrRow>& rows) {
  double sum = 0;
  for (const JfrRow& row : rows) sum += row.weight;
  return sum;
}

}  // namespace

TEST_CASE("Every event of a JFR recording is imported as the JDK itself reads it: time, class, thread, stack, weight") {
  const std::string jfr = RecordWithJfr(FreshFolder());
  const std::vector<JfrRow> rows = ReadWithJdk(jfr);
  const bool has_samples =
      std::ranges::any_of(rows, [](const JfrRow& row) { return row.event == "jdk.ObjectAllocationSample"; });
  if (has_samples) {  // from JDK 16 on
    const std::string recording = Import(jfr);
    const std::vector<JfrRow> expected = Expected(rows, true, recording);
    CHECK(expected.size() > 20);
    RequireSame(ReadWithHeaprec(recording), expected, 0);
  }
  const std::string recording = Import(jfr, {"--events", "tlab"});
  const std::vector<JfrRow> expected = Expected(rows, false, recording);
  CHECK(expected.size() > 100);
  RequireSame(ReadWithHeaprec(recording), expected, 0);
  CHECK(ReadSummary(recording)["trustworthy"] == false);
}

// HEAPREC_ASYNC_PROFILER: path of its library; it is no part of this project.
TEST_CASE("Every event of async-profiler is imported as the JDK reads it") {
  const char* const agent = getenv("HEAPREC_ASYNC_PROFILER");  // NOLINT(concurrency-mt-unsafe): a test
  if (agent == nullptr) {
    WARN("needs HEAPREC_ASYNC_PROFILER");
    return;
  }
  for (const std::string event : {"alloc=64k", "alloc,tlab"}) {
    const std::string jfr = FreshFolder() + "/async.jfr";
    const std::string options = "start,event=alloc," + event + ",jfr,file=" + jfr;
    const Outcome outcome = Run(Java{.flags = {std::string("-agentpath:") + agent + "=" + options},
                                     .main = "e2e.Sizes",
                                     .args = {"0", "2", "3", "3000", "64", "1024", "200000"}});
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const std::string recording = Import(jfr);
    const std::vector<JfrRow> expected = Expected(ReadWithJdk(jfr), false, recording);
    CHECK(expected.size() > 100);
    RequireSame(ReadWithHeaprec(recording), expected, 0);
    CHECK(ReadSummary(recording)["recording"]["source_reason"].get<std::string>().starts_with("async-profiler"));
  }
}

TEST_CASE("What holds old objects is imported as the JDK itself reads it") {
  const std::string jfr = FreshFolder() + "/old.jfr";
  // Its arrays are larger than a TLAB, so that JFR samples them.
  const Outcome outcome =
      Run(Java{.flags = {"-XX:StartFlightRecording=filename=" + jfr + ",path-to-gc-roots=true,settings=profile",
                         "-XX:TLABSize=16k", "-XX:-ResizeTLAB"},
               .main = "e2e.Held",
               .args = {"300", "1000"}});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  // Of each object with a root: the class and the field of what holds it, "[]" for an element; "" for the root itself.
  // Names of hidden classes are spelled differently.
  std::vector<std::string> of_jdk, of_recording;
  const auto holder_of = [](const std::string& class_name, const std::string& field) {
    return class_name.substr(0, class_name.find("$$Lambda")) + "." + field;
  };
  const std::string text = Jfr({"print", "--json", "--events", "jdk.OldObjectSample", jfr});
  const auto dumped = nlohmann::json::parse(text);
  for (const auto& event : dumped["recording"]["events"]) {
    const auto& values = event["values"];
    if (values["root"].is_null()) continue;
    std::string& holder = of_jdk.emplace_back();
    const auto& reference = values["object"]["referrer"];
    if (reference.is_null()) continue;
    const auto& by = reference["object"];
    const std::string name = "Class Name: ",
                      of = by["description"].is_null() ? "" : by["description"].get<std::string>();
    holder = holder_of(
        of.starts_with(name) ? of.substr(name.size()) : format::JavaClassName(by["type"]["name"].get<std::string>()),
        reference["array"].is_null() ? reference["field"]["name"].get<std::string>() : "[]");
  }
  const auto imported = HeaprecJson({"print", "--json", "--kind", "path", Import(jfr)});
  for (const auto& event : imported["events"]) {
    const std::string first = event["stack"]["frames"][0]["method"];
    const size_t dot = first.rfind('.');
    of_recording.push_back(first == "[unknown]" ? "" : holder_of(first.substr(0, dot), first.substr(dot + 1)));
  }
  CHECK(of_jdk.size() > 10);
  CHECK(std::ranges::count(of_jdk, "") < static_cast<int64_t>(of_jdk.size()));
  std::ranges::sort(of_jdk);
  std::ranges::sort(of_recording);
  CHECK(of_recording == of_jdk);
}

TEST_CASE("After export and import a recording has the same events, with weights to half a byte") {
  const std::string folder = FreshFolder(), recording = folder + "/rec.bin", jfr = folder + "/rec.jfr";
  // The JDK's own recording beside ours disturbs neither.
  const std::string of_jdk = RecordWithJfr(folder, "file=" + recording + ",rate=300");
  RequireHeaprec({"export", "--format", "jfr", "-o", jfr, recording});
  const std::string again = Import(jfr);
  const std::vector<JfrRow> before = ReadWithHeaprec(recording);
  CHECK(before.size() > 100);
  RequireSame(ReadWithHeaprec(again), before, 0.5);
  const auto summary = ReadSummary(again);
  CHECK(summary["recording"]["source"] == "imported from heaprec");
  CHECK(summary["recording"]["start_ns"] == ReadSummary(recording)["recording"]["start_ns"]);
  // Both tell of the bytes of the same program. Statistic: the sum of 100 samples or more has a relative standard
  // deviation of 10 % at most; refused with less than 5e-7.
  const double of_tlabs = SumOf(ReadWithHeaprec(Import(of_jdk, {"--events", "tlab"})));
  CHECK(SumOf(before) > 0.5 * of_tlabs);
  CHECK(SumOf(before) < 2 * of_tlabs);
}

}  // namespace heaprec::testing

// Native memory of real JVMs, sampled: known bytes through JNI and direct buffers.
#include "tests/native/native_run.h"

namespace heaprec::testing {
namespace {

constexpr double kMb = 1e6;

// A JVM that runs Native.java.
Command Native(const std::vector<std::string>& flags, const std::vector<std::string>& more = {}) {
  Command command{{JavaHome() + "/bin/java", "-Xmx256m"}};
  command.args.insert(command.args.end(), flags.begin(), flags.end());
  command.args.push_back(Built("Native.java"));
  command.args.push_back(Built("libnative_jni.so"));
  command.args.insert(command.args.end(), more.begin(), more.end());
  return command;
}

std::string Recorded(const std::string& options) {
  const std::string file = FreshFolder() + "/rec.bin";
  const Outcome outcome = Run(Native({"-agentpath:" + AgentPath() + "=file=" + file + ",native=on" + options}));
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.out == "kept 32\n");
  CHECK(outcome.err.find("heaprec:") == std::string::npos);  // JDK 25 has its own say on System.load
  return file;
}

json NativeIn(const std::string& recording, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"native", "--json"});
  options.push_back(recording);
  return Read(std::move(options));
}

}  // namespace

TEST_CASE("The site of an object that native code allocates on a thread without Java frames is the native function") {
  const std::vector<std::string> ways{"", ",stacks=jvmti", ",source=portable"};
  const std::string folder = FreshFolder();
  const auto file_of = [&](size_t way) { return folder + "/rec" + std::to_string(way) + ".bin"; };
  std::vector<Command> commands;
  for (size_t i = 0; i < ways.size(); ++i) {
    commands.push_back(
        Native({"-agentpath:" + AgentPath() + "=file=" + file_of(i) + ",rate=500,stackdepth=8" + ways[i]}, {"attach"}));
  }
  const std::vector<Outcome> outcomes = RunAll(commands, commands.size());
  for (size_t i = 0; i < ways.size(); ++i) {
    const std::string file = file_of(i);
    const Outcome& outcome = outcomes[i];
    INFO(ways[i] << ": " << outcome.err);
    REQUIRE(outcome.exit_code == 0);
    REQUIRE(outcome.out == "attached\n");
    const json document = Read({"top", "--by", "stack", "--json", "--limit", "0", file});
    double bytes = 0;
    for (const json& row : document["tables"][0]["rows"]) {
      INFO(row["name"]);
      const std::string name = row["name"];
      if (name.find("make_array") == std::string::npos) continue;
      bytes += row["bytes"]["value"].get<double>();
      const std::string frames = row["frames"].dump();
      INFO(frames);
      CHECK(frames.find("libjvm.so") == std::string::npos);
      CHECK(frames.find("libnative_jni.so.attached") != std::string::npos);
    }
    INFO(document.dump().substr(0, 4000));
    CHECK(bytes > 0.9 * 200'000 * 1016);
    CHECK(bytes < 1.1 * 200'000 * 1016);
    CHECK(document["scan"]["recordings"][0]["losses"]["stacks"]["none"] == 0);
  }
}

TEST_CASE("Live JNI memory and direct buffers are shown by site, with the Java methods that requested them") {
  const std::string file = Recorded(",native.rate=500");
  const json sites = NativeIn(file);
  const json kept = RowOf(sites, "libnative_jni.so.Java_Native_keep");
  CheckIsAbout(kept["live"]["bytes"], 64 * kMb);
  CheckIsAbout(kept["allocated"]["bytes"], 64 * kMb);
  const json churned = RowOf(sites, "libnative_jni.so.Java_Native_churn");
  CHECK(churned["live"]["bytes"]["value"] == 0);
  CheckIsAbout(churned["allocated"]["bytes"], 500 * kMb);
  const json libraries = NativeIn(file, {"--by", "library"});
  CHECK(RowOf(libraries, "libjvm.so")["live"]["bytes"]["high"].get<double>() > 32 << 20);

  const json stacks = NativeIn(file, {"--callers", "100"});
  const json by_jni = RowOf(stacks, "libnative_jni.so.Java_Native_keep");
  REQUIRE(by_jni["callers"].size() >= 3);
  CHECK(by_jni["callers"][0] == "Native.keep");
  CHECK(by_jni["callers"][1] == "Native.keepSome");
  CHECK(by_jni["callers"][2] == "Native.main");
  EstimatedSum direct;
  for (const json& row : stacks["rows"]) {
    if (row.dump().find("java.nio.DirectByteBuffer.<init>") != std::string::npos) {
      direct.Add(row["live"]["bytes"]);
      // Whatever of libjvm and Unsafe this JDK has on the stack.
      CHECK(row["name"] == "java.nio.DirectByteBuffer.<init>");
      CHECK(row["callers"][0] == "java.nio.ByteBuffer.allocateDirect");
    }
  }
  direct.CheckIsAbout(32 << 20);
  CheckVerified(file);
}

// Each object that is tracked is a weak reference, for which the JVM allocates.
TEST_CASE("Memory that the JVM allocates for the agent is not in the recording, or in its own row") {
  const std::string file = FreshFolder() + "/rec.bin";
  const Outcome outcome =
      Run(Command{{JavaHome() + "/bin/java", "-Xmx256m",
                   "-agentpath:" + AgentPath() + "=file=" + file + ",native=on,live=on,rate=2000,native.rate=2000",
                   "-cp", ProgramsJar(), "e2e.Leak", "20000", "200", "1.5"}});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const json stacks = NativeIn(file, {"--limit", "0", "--callers", "100"});
  REQUIRE(stacks["rows"].size() > 10);
  for (const json& row : stacks["rows"]) {
    CAPTURE(row.dump());
    for (const char* function :
         {"libheaprec.so", "jvmti_sampler", "ThreadHeapSampler", "SampledObject", "record_sampled"})
      CHECK(row.dump().find(function) == std::string::npos);
  }
  const json own = RowOf(stacks, "[heaprec]");
  CHECK(own["callers"].size() > 1);
  for (const char* by : {"site", "library"}) {
    const json rows = NativeIn(file, {"--limit", "0", "--by", by});
    CHECK(RowOf(rows, "[heaprec]")["allocated"]["samples"].get<int>() >= own["allocated"]["samples"].get<int>());
  }
  // As the JVM has it.
  const Outcome exact = RunHeaprec({"top", "--kind", "malloc", "--exact-sites", "--by", "site", "--limit", "0", file});
  CHECK(exact.out.find("[heaprec]") == std::string::npos);
  CHECK(exact.out.find("libjvm.so.JvmtiExport::") != std::string::npos);
}

TEST_CASE("The recording says why native memory was not recorded, or not completely") {
  const std::string folder = FreshFolder(), mine = folder + "/mine.bin";
  const std::string agent = "-agentpath:" + AgentPath() + "=file=" + mine + ",native=on";
  Command command{{JavaHome() + "/bin/java", "-Xmx256m", agent, Built("Native.java"), Built("libnative_jni.so")}};
  const auto say = [&](const std::string& verb) { return RunHeaprec({verb, mine}); };
  const auto note = [&] {
    const Outcome doctor = RunHeaprec({"doctor", "--json", mine});
    const json document = json::parse(doctor.out);
    for (const json& finding : document["recordings"][0]["findings"]) {
      if (finding["id"] == "native") return finding["what"].get<std::string>();
    }
    return "nothing: " + doctor.out;
  };

  SECTION("it was preloaded, and records already") {
    command.environment = {"LD_PRELOAD=" + AgentPath(),
                           "HEAPREC_NATIVE_SAMPLED=only=java,rate=500,file=" + folder + "/other.bin"};
    const Outcome outcome = Run(command);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const std::string why = "another recording of this process already samples it";
    CHECK(outcome.err.find("heaprec: native memory is not sampled: " + why) != std::string::npos);
    CHECK(note() == "native memory was not sampled: " + why);
    CHECK(say("summary").out.find("\nnative memory was not sampled: " + why + "\n") != std::string::npos);
    // A busy machine may lose samples while the JVM starts, which is another reason.
    const json reasons = Read({"summary", "--json", mine})["reasons"];
    CHECK(reasons.dump().find("native memory") == std::string::npos);
    const Outcome native = say("native");
    CHECK(native.exit_code == 0);
    CHECK(native.out.starts_with("# native memory was not sampled: " + why + "\n"));
    CHECK(say("verify").exit_code == 0);
    CheckIsAbout(RowOf(NativeIn(folder + "/other.bin"), "libnative_jni.so.Java_Native_keep")["live"]["bytes"],
                 64 * kMb);
  }
  SECTION("the slots of some libraries are sealed") {
    command.args.insert(command.args.begin(), {RunfilePath("tests/support/refuse"), "sealed-slots"});
    const Outcome outcome = Run(command);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    CHECK(outcome.out == "kept 32\n");
    // In some builds of the JDK the slots of all libraries are read-only.
    const bool in_part =
        outcome.err.find("heaprec: native memory is only partly sampled: calls of ") != std::string::npos;
    CHECK((in_part || outcome.err.find("heaprec: native memory is not sampled: no library's") != std::string::npos));
    const std::string what = note();
    CHECK(what.starts_with(in_part ? "native memory was sampled in part: calls of "
                                   : "native memory was not sampled: no library's malloc can be replaced; calls of "));
    CHECK(what.find("libjvm.so") != std::string::npos);
    CHECK(what.ends_with(" are not seen: their slots cannot be written to (Operation not permitted)"));
    CHECK(say("summary").out.find("\n" + what + "\n") != std::string::npos);
    const Outcome native = say("native");
    CHECK((in_part ? native.out : native.err).find(what) != std::string::npos);
    CHECK(native.exit_code == (in_part ? 0 : 3));
    if (in_part) CHECK(NativeIn(mine)["unavailable_reason"] == what);
    const std::string open = FreshFolder() + "/public.bin";
    REQUIRE(RunHeaprec({"redact", "-q", mine, "-o", open}).exit_code == 0);
    CHECK(ReadFile(open).find("libjvm.so") == std::string::npos);
  }
}

TEST_CASE("Stacks have their Java methods in other modes of the JVM, too") {
  const std::vector<std::string> flags{"-Xint", "-XX:TieredStopAtLevel=1", "-Xcheck:jni"};
  const std::string folder = FreshFolder();
  std::vector<Command> commands;
  for (const std::string& flag : flags) {
    commands.push_back(Native({flag, "-agentpath:" + AgentPath() + "=file=" + folder + "/" + flag + ".bin,native=on"}));
  }
  const std::vector<Outcome> outcomes = RunAll(commands, commands.size());
  for (size_t i = 0; i < flags.size(); ++i) {
    INFO(flags[i]);
    REQUIRE(outcomes[i].exit_code == 0);
    const json row =
        RowOf(NativeIn(folder + "/" + flags[i] + ".bin", {"--callers", "100"}), "libnative_jni.so.Java_Native_keep");
    CHECK(row["callers"].dump().find("Native.main") != std::string::npos);
  }
}

}  // namespace heaprec::testing

// libheaprec.so preloaded into programs without a JVM, whose allocations are known to the byte.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "tests/native/native_run.h"

namespace heaprec::testing {
namespace {

constexpr int kRate = 2000;

std::string Odd(const std::string& how) { return Built("odd_program_" + how); }
std::vector<std::string> WithPlugin() { return {Built("allocations"), Built("libplugin.so")}; }
std::vector<std::string> With(const std::string& options) {
  return {"LD_PRELOAD=" + AgentPath(), "HEAPREC_NATIVE_SAMPLED=" + options + ",rate=" + std::to_string(kRate)};
}

// Runs a program that is sampled; its recording.
struct Sampled {
  Outcome outcome;
  std::string file;
};
Sampled Sample(std::vector<std::string> program, const std::string& options = "") {
  const std::string file = FreshFolder() + "/rec.bin";
  Command command{std::move(program)};
  command.environment = With("file=" + file + (options.empty() ? "" : ",") + options);
  const Outcome outcome = Run(command);
  return {outcome, file};
}

// A JVM that records itself, with these options of the agent, and keeps a direct buffer.
std::vector<std::string> Jvm(const std::string& agent_options) {
  return {JavaHome() + "/bin/java",
          "-XX:-UsePerfData",
          "-agentpath:" + AgentPath() + "=" + agent_options,
          "-cp",
          ProgramsJar(),
          "e2e.Direct",
          "1"};
}

struct Truth {
  double allocated, live;
};

// `live`: negative if it is not known.
void CheckSite(const json& document, const std::string& site, const Truth& truth) {
  CAPTURE(site);
  const json row = RowOf(document, site);
  CheckIsAbout(row["allocated"]["bytes"], truth.allocated);
  if (truth.live == 0) CHECK(row["live"]["bytes"]["value"] == 0);
  if (truth.live > 0) CheckIsAbout(row["live"]["bytes"], truth.live);
}

constexpr double kLeaked = 64 << 20, kChurned = 500'000'000;

void CheckProgram(const std::string& recording) {
  const json sites = Read({"native", "--json", "--limit", "0", recording});
  CheckSite(sites, "allocations.leaks", {kLeaked, kLeaked});
  CheckSite(sites, "allocations.churns", {kChurned, 0});
  CheckSite(sites, "allocations.grows", {50'050'000, -1});
  CheckSite(sites, "allocations.larges", {3 * 2'700'100 + (20 << 20) + (1 << 20) - 1 + (1 << 25) - 1, -1});
  CheckSite(sites, "allocations.of_thread", {64'000 * 48, 32'000 * 48});
  for (const json& row : sites["rows"]) {
    CHECK(row["name"] != "allocations.in_child");
    CHECK(row["name"].get<std::string>().find("operator new") == std::string::npos);
  }
  const json summary = Read({"summary", "--json", recording});
  CHECK(summary["malloc"]["allocated_bytes"].get<double>() > 680e6);
  CHECK(summary["malloc"]["allocated_bytes"].get<double>() < 690e6);
  CHECK(summary["recording"]["program"] == std::filesystem::canonical(Built("allocations")).string());
  CHECK(summary["recording"]["jvm_name"] == "");
  CHECK(summary["trustworthy"] == true);
  const json threads = Read({"top", "--kind", "malloc", "--by", "thread", "--json", recording});
  for (const json& row : threads["tables"][0]["rows"]) CHECK(row["name"] != "heaprec-drain");
  CheckVerified(recording);
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    // The ring of a killed process comes when the next agent starts, of any process of the machine.
    if (entry.path().extension() != ".ring") files.push_back(entry.path());
  }
  return files;
}

}  // namespace

TEST_CASE("A program's native memory is shown by site, and the program runs as usual") {
  const Outcome without = Run(Command{WithPlugin()});
  REQUIRE(without.exit_code == 3);
  const auto [outcome, file] = Sample(WithPlugin());
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.out == without.out);
  CHECK(outcome.err == "");
  CheckProgram(file);
  CHECK(FilesIn(std::filesystem::path(file).parent_path()).size() == 1);  // its child has none
  CHECK(Read({"summary", "--json", file})["ended"] == "exit");
}

TEST_CASE("A program's mappings are shown by site, to the byte, also those that were unmapped") {
  constexpr double kMb = 1 << 20;
  const auto [outcome, file] = Sample({Built("maps")});
  CHECK(outcome.out == "mapped\n");
  CHECK(outcome.err == "");
  const json mapped = Read({"native", "--json", file})["mmap"];
  INFO(mapped.dump());
  const auto at = [&](const std::string& site, const char* what) {
    return RowOf(mapped, "maps." + site)[what]["value"].get<double>();
  };
  CHECK(at("piece", "committed") == (64 - 18) * kMb);
  CHECK(at("reserves", "reserved") == 1024 * kMb);
  CHECK(at("reserves", "committed") == 0);
  CHECK(at("commits", "committed") == 8 * kMb);
}

TEST_CASE("After kill -9 everything is there") {
  const std::string file = FreshFolder() + "/rec.bin";
  Command command{{Built("allocations"), Built("libplugin.so"), "wait"}};
  command.environment = With("file=" + file);
  Process process(command);
  REQUIRE(process.WaitForOutput("kept"));
  // The drain has yet to name what was sampled in the last tenth of a second, or more on a busy machine.
  json before, now;
  do {
    before = std::move(now);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    now = Read({"summary", "--json", file})["malloc"];
  } while (now != before || now["allocated_bytes"].get<double>() < 680e6);
  process.Kill(SIGKILL);
  (void)process.Finish();
  CHECK(Read({"summary", "--json", file})["ended"] == "cut off");
  CheckProgram(file);
  RemoveRingsOf(process.pid());
}

TEST_CASE("After a kill before its first block, a recording is recovered with all of its points") {
  const std::string folder = FreshFolder(), file = folder + "/rec.bin", whole = folder + "/whole.bin";
  Command command{{Built("allocations"), Built("libplugin.so"), "wait"}};
  command.environment = With("file=" + file);
  Process process(command);
  REQUIRE(process.WaitForOutput("kept"));
  process.Kill(SIGKILL);
  (void)process.Finish();
  REQUIRE(RunHeaprec({"recover", file, "-o", whole}).exit_code == 0);
  CheckVerified(whole);
  const json counters = Read({"summary", "--json", whole})["losses"]["malloc"];
  INFO(counters.dump());
  CHECK(counters["points"] > 100);
  CHECK(counters["points"] == counters["committed"].get<uint64_t>() + counters["thinned"].get<uint64_t>());
  CHECK(counters["lost"]["killed"]["points"] == 0);
  RemoveRingsOf(process.pid());
}

TEST_CASE("Programs that are started by a recorded one have their own recordings, if `only` selects them") {
  const std::string folder = FreshFolder();
  const std::string program = Built("allocations"), twice = program + "; " + program + "; exec " + program;
  Command command{{"sh", "-c", twice}};
  command.environment = With("only=allocations,file=" + folder + "/rec-%p.bin");
  CHECK(Run(command).exit_code == 3);
  const auto files = FilesIn(folder);
  CHECK(files.size() == 3);
  for (const std::string& file : files) {
    CheckSite(Read({"native", "--json", file}), "allocations.leaks", {kLeaked, kLeaked});
  }
}

TEST_CASE("record starts a program with the sampler, and reports the result") {
  const std::string file = FreshFolder() + "/rec.bin";
  const auto record = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"record", "--lib", AgentPath(), "-o", file});
    return RunHeaprec(std::move(words));
  };
  const Outcome outcome =
      record({"--native=sampled", "--rate", std::to_string(kRate), "--", Built("allocations"), Built("libplugin.so")});
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.err.starts_with("heaprec: " + file + ": "));
  CHECK(outcome.err.ends_with(" samples\n"));
  CheckProgram(file);
  const Outcome refused = record({"--native=sampled", "--set", "live=on", "--", Built("allocations")});
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find(
            "option `live` is not available without a JVM; valid options: file, rate, only, native.mmap_rate") !=
        std::string::npos);
  CHECK(std::ranges::count(refused.err, '\n') == 1);
  const Outcome missing = record({"--native=sampled", "--set", "only=another", "--", Built("allocations")});
  CHECK(missing.exit_code == 3);
  CHECK(missing.err == "heaprec: nothing was recorded: no process of this program started\n");
  const Outcome unable = record({"--native=sampled", "--", Built("static_program")});
  CHECK(unable.exit_code == 2);
  CHECK(unable.err.find("static_program: statically linked") != std::string::npos);
  const std::string script = FreshFolder() + "/script";
  std::ofstream(script) << "#!/usr/bin/env -S sh\nexit 4\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const Outcome scripted = record({"--native=sampled", "--", script});
  CHECK(scripted.exit_code == 4);
  CHECK(scripted.err.find(" sample") != std::string::npos);  // one, or several
  const std::string shop = FreshFolder() + "/shop.bin";
  REQUIRE(RunHeaprec({"record", "--lib", AgentPath(), "-o", shop, "--native=sampled", "--service", "shop", "--",
                      Built("allocations"), Built("libplugin.so")})
              .exit_code == 3);
  const std::string otlp = RunHeaprec({"export", "--format", "otlp", "--kind", "malloc", shop}).out;
  CHECK(otlp.find("service.name") != std::string::npos);
  CHECK(otlp.find("shop") != std::string::npos);
  CHECK(otlp.find("process.runtime") == std::string::npos);  // it has no JVM
  const Outcome exact = record({"--native=exact", "--", Built("allocations"), Built("libplugin.so")});
  CHECK(exact.exit_code == 3);
  CHECK(exact.err.find("exact native memory table") != std::string::npos);
  Command limited{{HeaprecPath(), "record", "--native=exact", "-o", FreshFolder() + "/rec.bin", "--", "true"}};
  limited.largest_file_bytes = 16 << 10;  // less than a table needs
  const Outcome none = Run(limited);
  CHECK(none.exit_code == 6);
  CHECK(none.err.find("heaprec: no native memory was recorded\n") != std::string::npos);
}

TEST_CASE("A program that imports no allocation function is recorded, and so are libraries that it loads later") {
  std::string file;
  const auto record = [&](const std::vector<std::string>& arguments) {
    file = FreshFolder() + "/rec.bin";
    Command command{
        {HeaprecPath(), "record", "--lib", AgentPath(), "--native=sampled", "-o", file, "--", Built("no_malloc")}};
    command.args.insert(command.args.end(), arguments.begin(), arguments.end());
    const Outcome outcome = Run(command);
    CHECK(outcome.exit_code == 5);
    CHECK(outcome.out == "done\n");
    CHECK(outcome.err.starts_with("heaprec: " + file + ": "));
    CHECK(std::ranges::count(outcome.err, '\n') == 1);
    return outcome.err;
  };
  CHECK(record({}).ends_with(" 0 samples\n"));
  const json none = Read({"summary", "--json", file});
  CHECK(none["malloc"]["allocated_bytes"] == 0);
  CHECK(none["trustworthy"] == true);
  CHECK_FALSE(record({Built("liblate_allocator.so")}).ends_with(" 0 samples\n"));
  CheckSite(Read({"native", "--json", file}), "liblate_allocator.so.allocates_late", {20'000'000, 0});
}

TEST_CASE("A folder or a device in place of the file is refused, and no table is created beside it") {
  const std::string folder = FreshFolder(), link = folder + "/link.bin";
  std::filesystem::create_symlink(folder + "/nothing.bin", link);
  const std::string irregular = "exists and is not a regular file";
  for (const auto& [file, what] :
       {std::pair(link, std::string("is a dangling symbolic link")), {folder, irregular}, {"/dev/null", irregular}}) {
    const Outcome outcome =
        RunHeaprec({"record", "--lib", AgentPath(), "--native=exact", "-o", file, "--", Built("allocations")});
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err == "heaprec: " + file + ": " + what + "; name a file to record into\n");
  }
}

TEST_CASE("Commands that show the heap say that there is none") {
  const auto [recorded, file] = Sample({Built("allocations")});
  REQUIRE(recorded.exit_code == 3);
  for (const char* verb : {"top", "tree", "live", "leaks", "timeline", "histogram", "export", "report"}) {
    const Outcome outcome = RunHeaprec({verb, file});
    CAPTURE(verb, outcome.err);
    CHECK(outcome.exit_code == 3);
    CHECK(outcome.out == "");
    CHECK(outcome.err.find("the recording has native memory only, no heap; add --kind malloc") != std::string::npos);
  }
  const Outcome followed = RunHeaprec({"top", "--follow", file});
  CHECK(followed.err.find("native memory only; --follow shows allocations of the heap only") != std::string::npos);
  const Outcome page = RunHeaprec({"report", "--kind", "malloc", "-o", file + ".html", file});
  INFO(page.err);
  CHECK(page.exit_code == 0);
  CHECK(page.err.starts_with("heaprec: " + file + ".html: "));
  CHECK(page.err.ends_with(" samples\n"));
  CHECK(page.err.find(", 0 samples") == std::string::npos);
  const Outcome printed = RunHeaprec({"print", "--limit", "1", file});
  CHECK(printed.out.starts_with("heaprec.NativeSample {"));
  const Outcome summary = RunHeaprec({"summary", file});
  CHECK(summary.out.find("program:") != std::string::npos);
  CHECK(summary.out.find("JVM:") == std::string::npos);
  CHECK(summary.out.find("\ntrustworthy: yes\n") != std::string::npos);
  const Outcome redacted = RunHeaprec({"redact", file, "-o", file + ".public"});
  REQUIRE(redacted.exit_code == 0);
  CHECK(ReadFile(file + ".public").find("allocations") == std::string::npos);
}

TEST_CASE("A program that is not to be recorded runs as usual") {
  const auto run = [](const std::string& options) {
    const auto [outcome, file] = Sample(WithPlugin(), options);
    CHECK(outcome.exit_code == 3);
    CHECK(FilesIn(std::filesystem::path(file).parent_path()).empty());
    return outcome.err;
  };
  CHECK(run("only=another") == "");
  CHECK(run("delay=3s")
            .find("HEAPREC_NATIVE_SAMPLED: option `delay` is not available without a JVM; valid options: file, rate, "
                  "only") != std::string::npos);
  CHECK(run("maxsize=x").find("invalid value `x` for option `maxsize`") != std::string::npos);
  Command command{{Built("allocations")}};
  command.environment = {"LD_PRELOAD=" + AgentPath()};
  CHECK(Run(command).err == "");
}

// What programs print goes through a pipe, which has no such limit.
TEST_CASE("A limit on the size of files raises no signal, in a program or in a JVM") {
  const auto limited = [](const std::vector<std::string>& program) {
    Command command{{"sh", "-c", "{ (ulimit -f 0; exec \"$@\"); echo exit $?; } 2>&1 | cat", "sh"}};
    command.args.insert(command.args.end(), program.begin(), program.end());
    command.environment = With("only=allocations,file=" + FreshFolder() + "/rec.bin");
    return Run(command).out;
  };
  const std::string program = limited(WithPlugin());
  CAPTURE(program);
  CHECK(program.find(": File too large; native memory is not recorded\n") != std::string::npos);
  CHECK(program.ends_with(", wrong 0\nexit 3\n"));
  const std::string jvm = limited(Jvm("native=on,file=" + FreshFolder() + "/rec.bin"));
  CAPTURE(jvm);
  CHECK(jvm.find("rec.bin: File too large\n") != std::string::npos);
  CHECK(jvm.ends_with("\nexit 0\n"));
}

TEST_CASE("A full pipe without a reader blocks neither a program nor a JVM") {
  const FullPipe unread;
  Command program{WithPlugin()};
  program.environment = With("only=allocations,unknown=1");
  CHECK(Run(unread.Into(program)).exit_code == 3);
  Command jvm{Jvm("native=on,file=" + FreshFolder() + "/rec.bin")};
  jvm.largest_file_bytes = 16 << 10;  // so that the drain has something to say
  CHECK(Run(unread.Into(jvm)).exit_code == 0);
}

TEST_CASE("If no slot can be written, nothing is recorded, a message says so, and the program runs") {
  const auto [outcome, file] =
      Sample({RunfilePath("tests/support/refuse"), "sealed-slots", Built("maps")}, "only=maps");
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "mapped\n");
  CHECK(outcome.err ==
        "heaprec: HEAPREC_NATIVE_SAMPLED: no library's malloc can be replaced; calls of the program are not seen: "
        "their slots cannot be written to (Operation not permitted); native memory is not recorded\n");
  CHECK(FilesIn(std::filesystem::path(file).parent_path()).empty());
}

// Its pointers to malloc are variables.
TEST_CASE("If some slots can be written, their calls are recorded, and a message names the others") {
  const auto [outcome, file] =
      Sample({RunfilePath("tests/support/refuse"), "sealed-slots", Odd("pie")}, "only=odd_program_pie");
  CHECK(outcome.exit_code == 4);
  const std::string why =
      "calls of the program are not seen: their slots cannot be written to (Operation not permitted)";
  CHECK(outcome.err == "heaprec: native memory is only partly sampled: " + why + "\n");
  const json sites = Read({"native", "--json", file});
  CHECK(sites["unavailable_reason"] == "native memory was sampled in part: " + why);
  const std::string rows = sites["rows"].dump();
  CHECK(rows.find("odd_program_pie.through_pointers") != std::string::npos);
  CHECK(rows.find("odd_program_pie.directly") == std::string::npos);
}

// The program without sampling and with it, side by side.
struct OddRun {
  Process without, recorded;
};
OddRun StartOdd(Command command, const std::string& file) {
  Process without(command);
  command.environment = With("file=" + file);
  return {std::move(without), Process(command)};
}

// Checks that it ends in the same way and prints the same. Returns the recorded process, and what heaprec added on
// stderr. `shares`: its descriptors, with heaprec's threads; while one of them opens a file, the program's first
// descriptor is the next one.
std::pair<pid_t, std::string> FinishOdd(OddRun run, bool shares = false) {
  const Outcome without = run.without.Finish(), outcome = run.recorded.Finish();
  CHECK(outcome.exit_code == without.exit_code);
  CHECK(outcome.signal == without.signal);
  const auto said = [shares](const std::string& out) {
    return shares ? std::regex_replace(out, std::regex("^descriptor [0-9]+"), "descriptor") : out;
  };
  CHECK(said(outcome.out) == said(without.out));
  const bool is_longer = outcome.err.ends_with(without.err);
  CHECK(is_longer);
  return {run.recorded.pid(), is_longer ? outcome.err.substr(0, outcome.err.size() - without.err.size()) : outcome.err};
}

// Programs that are not position independent have entries of their own for malloc.
TEST_CASE("Unusual programs run as without heaprec, and are recorded") {
  struct Odds {
    std::string build, how, file;
    OddRun run;
  };
  const std::string folder = FreshFolder(), own = folder + "/own";
  std::vector<Odds> all;
  for (const std::string build : {"pie", "fixed"}) {
    for (const std::string how : {"", "_exit", "abort", "main ends", "main ends with handler", "forks", "closes",
                                  "loads", "hides environment", "lists"}) {
      const std::string file = folder + "/" + build + how + ".bin";
      all.push_back({build, how, file, StartOdd({{Odd(build), how, own, Built("libending.so")}}, file)});
    }
  }
  for (Odds& one : all) {
    const auto& [build, how, file, run] = one;
    CAPTURE(build, how);
    const auto [pid, added] = FinishOdd(std::move(one.run));
    CHECK(added.empty());
    CHECK(Read({"summary", "--json", file})["trustworthy"] == true);
    RemoveRingsOf(pid);
    if (how == "_exit" || how == "abort") continue;  // at once: the drain has hardly looked
    const json sites = Read({"native", "--json", file});
    const double times = how == "closes" ? 31 : how.starts_with("main ends") || how == "forks" ? 2 : 1;
    const std::string name = "odd_program_" + build;
    CheckSite(sites, name + ".directly", {times * 20e6, 0});
    CheckSite(sites, name + ".through_pointers", {times * 20e6, 0});
  }
  CHECK(std::filesystem::file_size(own) == 0);
}

// As root these calls succeed. With another thread glibc aborted after capset, and the kernel refused the others.
TEST_CASE("The recording ends before a call that fails in a process with another thread") {
  for (const std::string call : {"capset", "unshare", "setns"}) {
    CAPTURE(call);
    const std::string file = FreshFolder() + "/rec.bin";
    const auto [pid, added] = FinishOdd(StartOdd({{Odd("pie"), call}}, file));
    CHECK(added == "heaprec: " + file + ": recording ended: the program called " + call +
                       ", which requires that heaprec's threads end\n");
    const json summary = Read({"summary", "--json", file});
    CHECK(summary["trustworthy"] == true);
    CHECK(summary["ended"] == "the program called " + call);
    RemoveRingsOf(pid);
  }
}

TEST_CASE("The recording continues after a call that also fails without heaprec") {
  for (const std::string call : {"setns fails", "unshare fails"}) {
    CAPTURE(call);
    const std::string file = FreshFolder() + "/rec.bin";
    const auto [pid, added] = FinishOdd(StartOdd({{Odd("pie"), call}}, file));
    CHECK(added.empty());
    CHECK(Read({"summary", "--json", file})["ended"] == "exit");
    RemoveRingsOf(pid);
  }
}

// Nothing of ours may then keep the process.
TEST_CASE("A program whose main thread ends exits with its last thread, even if its recording ended before") {
  (void)FinishOdd(StartOdd({{Odd("pie"), "main ends early"}}, FreshFolder() + "/rec.bin,duration=1s"));
}

TEST_CASE("A program whose main thread ends exits with its last thread, even if no thread can be started") {
  const std::string file = FreshFolder() + "/rec.bin";
  const auto [pid, added] = FinishOdd(StartOdd({{Odd("pie"), "main ends without memory"}}, file));
  const std::string why = "the main thread ended, and no thread could be started to run exit";
  CHECK(added == "heaprec: " + file + ": recording ended: " + why + "\n");
  CHECK(Read({"summary", "--json", file})["ended"] == why);
  RemoveRingsOf(pid);
}

TEST_CASE("A program that waits for signals which all its threads block receives them") {
  Command command{{Odd("pie"), "waits for signals"}};
  REQUIRE(Run(command).exit_code == 0);
  const std::vector<std::string> counted{"LD_PRELOAD=" + ExactLibrary(),
                                         "HEAPREC_NATIVE_EXACT=file=" + FreshFolder() + "/native.bin"};
  for (const auto& environment : {With("file=" + FreshFolder() + "/rec.bin"), counted}) {
    CAPTURE(environment);
    command.environment = environment;
    const Outcome outcome = Run(command);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.signal == 0);
  }
}

// The threads for the one recording block the signal with which a census installs its hooks.
TEST_CASE("A JVM that is also sampled as a program has both recordings") {
  const std::string folder = FreshFolder();
  Command jvm{Jvm("census=all,file=" + folder + "/jvm.bin")};
  jvm.environment = With("only=java,file=" + folder + "/program.bin");
  const Outcome outcome = Run(jvm);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err == "");
  CHECK(Read({"summary", "--json", folder + "/jvm.bin"})["recording"]["source"] == "hooks");
  CHECK(Read({"census", "--json", folder + "/jvm.bin"})["exact"] == true);
  CHECK(Read({"summary", "--json", folder + "/program.bin"})["ended"] == "exit");
}

// As before Linux 5.9.
TEST_CASE("A program that shares its descriptors with heaprec's threads may close all, and is recorded") {
  const std::string folder = FreshFolder(), file = folder + "/rec.bin", own = folder + "/own";
  const auto [pid, added] =
      FinishOdd(StartOdd({{RunfilePath("tests/support/refuse"), "close_range", Odd("pie"), "closes", own}},
                         file + ",only=odd_program_pie,sync=block"),
                /*shares=*/true);
  CHECK(added.empty());
  CheckSite(Read({"native", "--json", file}), "odd_program_pie.directly", {31 * 20e6, 0});
  CHECK(std::filesystem::file_size(own) == 0);
  RemoveRingsOf(pid);
}

// Before the shells: each message about a ring that one of them left, and that cannot be moved within the limit, delays
// this one.
TEST_CASE("Messages of the drain go to the program's standard error") {
  Command command{{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", Built("allocations"), Built("libplugin.so"), "wait"}};
  command.environment = With("only=allocations,duration=1s,file=" + FreshFolder() + "/rec.bin");
  command.largest_file_bytes = 4 << 10;  // less than is written in that second, however starved the machine is
  Process process(command);
  CHECK(process.WaitForOutput("File too large; cannot write the recording."));
  process.Kill(SIGKILL);
  (void)process.Finish();
  RemoveRingsOf(process.pid());
}

// A shell closes 2 and then needs it: a thread of ours that opens a file may not take that number. Before threads had
// descriptors of their own, one in four of these shells failed (16 of 60).
TEST_CASE("A shell's redirections work while rings of killed processes are moved") {
  const std::string folder = FreshFolder();
  constexpr int kShells = 40;
  int failed = 0;
  for (int i = 0; i < kShells; ++i) {
    Command shell{{"/bin/sh", "-c", "i=0; while [ $i -lt 500 ]; do : 2>&1; i=$((i + 1)); done"}};
    shell.environment = With("file=" + folder + "/%p.bin");
    failed += Run(shell).exit_code != 0;
  }
  CHECK(failed == 0);
}

TEST_CASE("A program has the same descriptors as without heaprec") {
  const std::vector<std::string> program{"ls", "/proc/self/fd"};
  const Outcome without = Run(Command{program}), outcome = Sample(program).outcome;
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == without.out);
}

// The shell waits, for a minute at most, until somebody has noticed that it closed the pipe.
TEST_CASE("A reader of a program's pipe sees its end when the program closes it") {
  const std::string folder = FreshFolder(), noticed = folder + "/noticed", late = folder + "/late";
  Command command{{"/bin/sh", "-c",
                   "/bin/sh -c 'exec >&- 2>&-; i=0; until [ -e \"$0\" ]; do sleep 0.1; i=$((i + 1)); "
                   "[ $i -lt 600 ] || { : > \"$1\"; exit; }; done' \"$0\" \"$1\" 2>&1 | { cat; : > \"$0\"; }",
                   noticed, late}};
  command.environment = With("file=" + folder + "/%p.bin");
  CHECK(Run(command).exit_code == 0);
  CHECK(std::filesystem::exists(noticed));
  CHECK(!std::filesystem::exists(late));
}

TEST_CASE("Messages of the drain never go to a file of a program that was started without standard error") {
  CheckNoMessageInOwnFile(
      [](Command* command, const std::string& folder) {
        command->environment = With("only=odd_program_pie,file=" + folder + "/rec.bin");
        command->largest_file_bytes = 4 << 10;  // less than is written at the end, if not before
      },
      "File too large; cannot write the recording");
}

// glibc aborts if it is given a block of the library's own malloc, and that malloc does with one of glibc's.
TEST_CASE("A library that is bound to its own malloc is not changed, even before it is bound") {
  const Command command{{Odd("pie"), "binds deeply", Built("libdeep_importer.so")}};
  CHECK(Run(command).exit_code == 9);
  const std::string file = FreshFolder() + "/rec.bin";
  const auto [pid, added] = FinishOdd(StartOdd(command, file));
  CHECK(added.empty());
  CHECK(Read({"native", "--json", file})["rows"].dump().find("deep_allocates") == std::string::npos);
  RemoveRingsOf(pid);
}

}  // namespace heaprec::testing

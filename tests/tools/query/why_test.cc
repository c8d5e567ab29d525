// Why a process ended: each rule of the verdict over states made by hand, and what is said where evidence is missing.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/tools/recording_fixture.h"
#include "tools/query/why/explanation.h"
#include "tools/query/why/owners.h"
#include "tools/query/why/verdict.h"

namespace heaprec::tools::testing {
namespace {

using format::AccountItem;
using format::Amount;
using format::ProcessStateKind;

constexpr uint64_t kMiB = 1 << 20, kEnd = 100 * kSecond;

EndFacts FactsOf(std::optional<std::string> end_reason) {
  EndFacts facts;
  facts.header = SomeHeader();
  facts.header.pid = 4711;
  facts.header.ring_path = "/dev/shm/x.ring";
  facts.header.settings = {{"UseContainerSupport", "true", format::Setting::Origin::kDefault}};
  facts.end_reason = std::move(end_reason);
  facts.was_in_ring = true;
  facts.end_ns = kEnd;
  return facts;
}

EndEvent EventOf(ProcessStateKind kind, uint64_t time_ns, uint64_t used, uint64_t committed,
                 std::vector<std::string> frames = {}, std::string cause = "") {
  EndEvent event;
  event.state.kind = kind;
  event.state.time_ns = time_ns;
  event.state.used = used;
  event.state.committed = committed;
  event.state.cause = std::move(cause);
  event.frames = std::move(frames);
  event.thread = "main";
  return event;
}

EndEvent ErrorOf(uint64_t time_ns, const std::string& message, std::vector<std::string> frames = {},
                 uint64_t ends_jvm = 0) {
  EndEvent error = EventOf(ProcessStateKind::kError, time_ns, 1, ends_jvm, std::move(frames), message);
  error.class_name = "java.lang.OutOfMemoryError";
  return error;
}

void AddError(EndFacts* facts, const EndEvent& error) {
  facts->errors.push_back(error);
  ++facts->errors_seen;
  facts->first_error_ns = facts->errors.front().state.time_ns;
}

AccountAt At(uint64_t time_ns, std::vector<std::pair<AccountItem, Amount>> items) {
  AccountAt at;
  at.time_ns = time_ns;
  at.heap_used = 46 * kMiB;
  at.heap_committed = 48 * kMiB;
  at.rss = 100 * kMiB;
  for (const auto& [item, amount] : items) at.account.Set(item, amount);
  return at;
}

AccountAt InCgroup(uint64_t used, uint64_t limit, uint64_t file = 0, uint64_t shmem = 0) {
  return At(kEnd, {{AccountItem::kCgroupCurrent, Amount::Of(used)},
                   {AccountItem::kCgroupMax, Amount::Of(limit)},
                   {AccountItem::kCgroupFile, Amount::Of(file)},
                   {AccountItem::kCgroupShmem, Amount::Of(shmem)},
                   {AccountItem::kCgroupOomKills, Amount::Of(2)}});
}

bool Has(const std::vector<std::string>& texts, const std::string& part) {
  for (const std::string& text : texts) {
    if (text.find(part) != std::string::npos) return true;
  }
  return false;
}

std::vector<std::string> TextsOf(const EndFacts& facts) {
  std::vector<std::string> texts;
  for (const NextStep& step : NextStepsOf(facts, EndVerdictOf(facts), GrowthOf(facts), {}, "app.hrec"))
    texts.push_back(step.text);
  return texts;
}

void Check(const EndFacts& facts, const std::string& id, Certainty certainty, const std::string& text) {
  const EndVerdict verdict = EndVerdictOf(facts);
  CHECK(verdict.id == id);
  CHECK(CertaintyName(verdict.certainty) == std::string(CertaintyName(certainty)));
  CHECK(verdict.text == text);
}

}  // namespace

TEST_CASE("Rule 1: a crash, by its report, its signal or an error that ends the JVM") {
  EndFacts crash = FactsOf(std::nullopt);
  crash.crash =
      CrashReport{"hs_err_pid4711.log", "SIGSEGV (0xb) at pc=0x1", "C  [libx.so+0x1]  f+0x9", "JavaThread \"w\"", 1};
  // The signal handler of the program has run, too.
  crash.ends.push_back(EventOf(ProcessStateKind::kSignal, kEnd, SIGTERM, 1));
  Check(crash, "crash", Certainty::kCertain, "SIGSEGV (0xb) at pc=0x1 in C  [libx.so+0x1]  f+0x9");
  CHECK(Has(EndVerdictOf(crash).evidence, "hs_err_pid4711.log"));

  EndFacts signal = FactsOf(std::nullopt);
  signal.ends.push_back(EventOf(ProcessStateKind::kSignal, kEnd, SIGBUS, 0, {"p.Main.read:5"}));
  Check(signal, "crash", Certainty::kCertain, "SIGBUS in p.Main.read:5 in thread main");
  CHECK(Has(EndVerdictOf(signal).missing, "hs_err_pid4711.log"));

  EndFacts error = FactsOf("jvm exit");
  error.header.settings = {{"ExitOnOutOfMemoryError", "true", format::Setting::Origin::kSet}};
  AddError(&error, ErrorOf(kEnd, "Java heap space", {"p.Main.fill:9"}, 1));
  error.accounts = {At(kEnd, {{AccountItem::kHeapMax, Amount::Of(48 * kMiB)}})};
  Check(error, "out_of_memory", Certainty::kCertain,
        "OutOfMemoryError: Java heap space; the JVM exited at once (-XX:+ExitOnOutOfMemoryError)");
  CHECK(Has(EndVerdictOf(error).evidence, "p.Main.fill:9"));
  CHECK(Has(EndVerdictOf(error).evidence, "46.0 MiB of 48.0 MiB used"));
  error.header.settings.push_back({"CrashOnOutOfMemoryError", "true", format::Setting::Origin::kSet});
  Check(error, "out_of_memory", Certainty::kCertain,
        "OutOfMemoryError: Java heap space; the JVM crashed itself (-XX:+CrashOnOutOfMemoryError)");
  error.accounts.clear();
  CHECK(Has(EndVerdictOf(error).missing, "no account"));
  format::ProcessState& full = error.heap_full.emplace_back();
  full.used = 47 * kMiB;
  full.committed = 48 * kMiB;
  CHECK(Has(EndVerdictOf(error).evidence, "heap: 47.0 MiB of 48.0 MiB used when it was full"));
}

TEST_CASE("Rule 2: a signal, confirmed by code 143, with its sender where that is known") {
  EndFacts facts = FactsOf("jvm exit");
  facts.ends = {EventOf(ProcessStateKind::kSignal, kEnd - kSecond, SIGTERM, 99, {}, "kubelet"),
                EventOf(ProcessStateKind::kExit, kEnd, 143 + 1, 0)};
  Check(facts, "signal", Certainty::kCertain, "SIGTERM, sent by PID 99 (kubelet)");
  // Without the exit, and without a sender.
  facts.ends = {EventOf(ProcessStateKind::kSignal, kEnd - 30 * kSecond, SIGTERM, 0)};
  facts.end_reason.reset();
  Check(facts, "signal", Certainty::kProbable, "SIGTERM, its sender is not known; not yet shut down 30.000 s later");
  CHECK(Has(EndVerdictOf(facts).missing, "SIGKILL at the end of the grace period"));
  CHECK(Has(EndVerdictOf(facts).missing, "who sent it"));
  // The program handled it long ago.
  facts.ends.front().state.time_ns = kSecond;
  facts.end_ns = 1000 * kSecond;
  CHECK(EndVerdictOf(facts).id == "killed");
  // It ended in its own way.
  facts.ends.push_back(EventOf(ProcessStateKind::kExit, facts.end_ns, 3 + 1, 0));
  CHECK(EndVerdictOf(facts).id == "exit");
  CHECK(Has(EndVerdictOf(facts).evidence, "SIGTERM arrived"));
}

TEST_CASE("Rule 3: an exit, with its code and its caller") {
  EndFacts facts = FactsOf("jvm exit");
  facts.ends = {EventOf(ProcessStateKind::kExit, kEnd, 7 + 1, 0,
                        {"java.lang.Shutdown.halt0", "java.lang.Shutdown.exit:173", "java.lang.Runtime.exit:115",
                         "java.lang.System.exit:1860", "p.Handler.run:12"})};
  Check(facts, "exit", Certainty::kCertain, "System.exit(7) called by p.Handler.run:12 in thread main");
  facts.ends.front().state.used = 0;
  facts.ends.front().state.committed = 1;
  facts.ends.front().frames.clear();
  Check(facts, "exit", Certainty::kCertain, "Runtime.halt(code not known) in thread main");
  CHECK(Has(EndVerdictOf(facts).missing, "no stack"));
  AddError(&facts, ErrorOf(kEnd - kSecond, "Metaspace"));
  CHECK(EndVerdictOf(facts).text.ends_with("; 1.000 s before: OutOfMemoryError: Metaspace"));
  facts.errors.front().state.time_ns = kEnd - 20 * kSecond;
  CHECK(EndVerdictOf(facts).text == "Runtime.halt(code not known) in thread main");
}

TEST_CASE("Rule 4: an uncaught exception of the main thread, unless the process went on") {
  EndFacts facts = FactsOf("jvm exit");
  facts.ends = {EventOf(ProcessStateKind::kUncaught, kEnd, 0, 0, {"p.Files.open:7", "p.Main.main:3"}, "no such file")};
  facts.ends.front().class_name = "java.io.IOException";
  Check(facts, "uncaught", Certainty::kCertain, "main ended with an uncaught java.io.IOException: no such file");
  CHECK(Has(EndVerdictOf(facts).evidence, "stack: p.Files.open:7 <- p.Main.main:3"));
  AddError(&facts, ErrorOf(kEnd, "Java heap space"));
  facts.ends.front().class_name = "java.lang.OutOfMemoryError";
  facts.ends.front().state.cause = "Java heap space";
  Check(facts, "out_of_memory", Certainty::kCertain, "main ended with an uncaught OutOfMemoryError: Java heap space");
  // No heap left for the end marker, or killed in that second: then the kernel has counted it.
  facts.end_reason.reset();
  facts.accounts = {InCgroup(500 * kMiB, 512 * kMiB)};
  CHECK(EndVerdictOf(facts).certainty == Certainty::kProbable);
  facts.survivor = Survivor{"/cg/memory.events", 3};
  CHECK(EndVerdictOf(facts).id == "oom_kill");
  // Other threads went on.
  facts.ends.front().state.time_ns = facts.errors.front().state.time_ns = kEnd - 30 * kSecond;
  const EndVerdict killed = EndVerdictOf(facts);
  CHECK(killed.id == "oom_kill");
  CHECK(Has(killed.evidence, "main ended with an uncaught OutOfMemoryError: Java heap space, 30.000 s before"));
  facts.end_reason = "jvm exit";
  CHECK(EndVerdictOf(facts).id == "normal");
  facts.ends.push_back(EventOf(ProcessStateKind::kExit, kEnd, 3 + 1, 0, {"p.Handler.uncaughtException:5"}));
  Check(facts, "exit", Certainty::kCertain, "System.exit(3) called by p.Handler.uncaughtException:5 in thread main");
  CHECK(Has(EndVerdictOf(facts).evidence, "main ended with an uncaught"));
}

TEST_CASE("Rule 5: an ordinary end, and one after an error that was caught, or may not have been") {
  EndFacts facts = FactsOf("jvm exit");
  Check(facts, "normal", Certainty::kCertain, "the JVM shut down when its last non-daemon thread ended");
  AddError(&facts, ErrorOf(kEnd, "Java heap space"));
  Check(facts, "out_of_memory", Certainty::kProbable, "OutOfMemoryError: Java heap space; then the JVM ended");
  facts.errors.back().is_in_main = true;
  Check(facts, "normal", Certainty::kCertain,
        "the JVM shut down when its last non-daemon thread ended; 0.000 s before: OutOfMemoryError: Java heap space");
  facts.header.settings.push_back({"events.not_seen", "uncaught exceptions: no slot"});
  CHECK(EndVerdictOf(facts).id == "out_of_memory");
  facts.errors.clear();
  CHECK(EndVerdictOf(facts).certainty == Certainty::kProbable);
  CHECK(Has(EndVerdictOf(facts).missing, "uncaught exceptions: no slot"));
  facts.header.settings.clear();
  CHECK(EndVerdictOf(facts).certainty == Certainty::kProbable);
  CHECK(Has(EndVerdictOf(facts).missing, "wrote no events"));
}

TEST_CASE("Rule 6: killed, by whom the cgroup tells") {
  EndFacts facts = FactsOf(std::nullopt);
  facts.accounts = {InCgroup(500 * kMiB, 512 * kMiB)};
  Check(facts, "oom_kill", Certainty::kProbable,
        "probably killed by the kernel's OOM killer, at 98 % of the cgroup's memory limit: 500 MiB of 512 MiB");
  CHECK(Has(EndVerdictOf(facts).missing, "--cgroup"));
  facts.survivor = Survivor{"/cg/memory.events", 3};
  Check(facts, "oom_kill", Certainty::kCertain,
        "killed by the kernel's OOM killer: the cgroup's oom_kill rose from 2 to 3");
  // It did not rise: use alone speaks for it.
  facts.survivor->oom_kills = 2;
  CHECK(EndVerdictOf(facts).certainty == Certainty::kProbable);
  CHECK(Has(EndVerdictOf(facts).evidence, "as in the recording"));
  facts.accounts = {InCgroup(210 * kMiB, 512 * kMiB)};
  Check(facts, "killed", Certainty::kProbable,
        "killed from outside (SIGKILL), or ended unseen, at 41 % of the cgroup's memory limit: 210 MiB of 512 MiB");
  // The kernel drops page cache before it kills, but not tmpfs.
  facts.accounts = {InCgroup(510 * kMiB, 512 * kMiB, 300 * kMiB)};
  CHECK(EndVerdictOf(facts).id == "killed");
  facts.accounts = {InCgroup(510 * kMiB, 512 * kMiB, 300 * kMiB, 300 * kMiB)};
  CHECK(EndVerdictOf(facts).id == "oom_kill");
  AddError(&facts, ErrorOf(kEnd, "", {"java.nio.Bits.reserveMemory:175"}));
  CHECK(EndVerdictOf(facts).text.find("OutOfMemoryError: direct buffer memory") != std::string::npos);
}

TEST_CASE("Rule 6: an error that leaves the JVM no heap for its end; errors that a service lives on with") {
  EndFacts facts = FactsOf(std::nullopt);
  facts.accounts = {InCgroup(210 * kMiB, 512 * kMiB)};
  AddError(&facts, ErrorOf(kEnd - kSecond / 2, "Java heap space", {"p.Main.fill:9"}));
  Check(facts, "out_of_memory", Certainty::kProbable,
        "OutOfMemoryError: Java heap space; then the process ended, without an end marker");
  CHECK(Has(EndVerdictOf(facts).missing, "killed in that second"));
  facts.first_error_ns = kSecond;
  CHECK(EndVerdictOf(facts).id == "killed");
  CHECK(EndVerdictOf(facts).text.ends_with("; 0.500 s before: OutOfMemoryError: Java heap space"));
  facts.errors.back().state.time_ns = facts.first_error_ns = kEnd - 5 * kSecond;
  CHECK(EndVerdictOf(facts).id == "killed");
}

TEST_CASE("Rule 6: growth that reaches the limit before the next account") {
  EndFacts facts = FactsOf(std::nullopt);
  for (uint64_t second = 90; second <= 100; ++second) {
    facts.accounts.push_back(InCgroup((400 + 10 * (second - 90)) * kMiB, 512 * kMiB));
    facts.accounts.back().time_ns = second * kSecond;
  }
  facts.accounts.back().account.Set(AccountItem::kCgroupCurrent, Amount::Of(470 * kMiB));
  CHECK(EndVerdictOf(facts).id == "killed");
  CHECK(Has(EndVerdictOf(facts).evidence, "use grew by 7.00 MiB/s in the last 10.0 s: full 6.00 s after the account"));
  facts.accounts.back().account.Set(AccountItem::kCgroupMax, Amount::Of(485 * kMiB));
  facts.accounts.back().account.Set(AccountItem::kCgroupCurrent, Amount::Of(469 * kMiB));
  Check(facts, "killed", Certainty::kProbable,
        "killed from outside (SIGKILL), or ended unseen, at 97 % of the cgroup's memory limit: 469 MiB of 485 MiB");
  facts.accounts[5].account.Set(AccountItem::kCgroupCurrent, Amount::Of(430 * kMiB));
  CHECK(EndVerdictOf(facts).id == "oom_kill");  // in one second it grew by 30 MiB
  CHECK(Has(EndVerdictOf(facts).evidence, ", by 30.0 MiB in one second: full"));
  facts.accounts[5].account.Set(AccountItem::kCgroupCurrent, Amount::Of(450 * kMiB));
  CHECK(EndVerdictOf(facts).id == "killed");
  facts.accounts.front().account.Set(AccountItem::kCgroupCurrent, Amount::Of(300 * kMiB));
  CHECK(EndVerdictOf(facts).id == "oom_kill");
  CHECK(EndVerdictOf(facts).certainty == Certainty::kProbable);
}

TEST_CASE("Rule 6: what is missing is named") {
  EndFacts facts = FactsOf(std::nullopt);
  Check(facts, "killed", Certainty::kProbable,
        "killed from outside (SIGKILL), or ended unseen; memory use and limit are not recorded");
  CHECK(Has(EndVerdictOf(facts).missing, "no account"));
  facts.accounts = {At(kEnd, {{AccountItem::kCgroupMax, Amount::NotKnown()}})};
  Check(facts, "killed", Certainty::kProbable,
        "killed from outside (SIGKILL), or ended unseen; the memory limit is not known");
  CHECK(Has(EndVerdictOf(facts).missing, "memory.max"));
  facts.accounts = {At(kEnd, {{AccountItem::kCgroupMax, Amount::NoLimit()}})};
  Check(facts, "killed", Certainty::kProbable,
        "killed from outside (SIGKILL), or ended unseen; the cgroup has no memory limit");
  facts.accounts.front().account.Set(AccountItem::kHostTotal, Amount::Of(1000 * kMiB));
  facts.accounts.front().account.Set(AccountItem::kHostAvailable, Amount::Of(10 * kMiB));
  CHECK(EndVerdictOf(facts).id == "oom_kill");
  facts.was_in_ring = false;
  CHECK(Has(EndVerdictOf(facts).missing, "the shared ring is gone"));
  facts.header.ring_path.clear();
  CHECK(Has(EndVerdictOf(facts).missing, "ring=auto"));
  facts.header.settings = {{"ReduceSignalUsage", "true", format::Setting::Origin::kSet}};
  CHECK(Has(EndVerdictOf(facts).missing, "-Xrs"));
}

TEST_CASE("Recordings without the end of their process") {
  for (const auto& [reason, id] : {std::pair("rotated", "continues"),
                                   {"dump", "continues"},
                                   {"trim", "continues"},
                                   {"duration", "stopped"},
                                   {"stop", "stopped"},
                                   {"nothing recovered", "nothing"}}) {
    INFO(reason);
    CHECK(EndVerdictOf(FactsOf(reason)).id == id);
    CHECK(EndVerdictOf(FactsOf(reason)).certainty == Certainty::kUnknown);
  }
  EndFacts cut = FactsOf(std::nullopt);
  cut.breaks_off = true;
  CHECK(EndVerdictOf(cut).id == "killed");  // in the midst of a write, but the ring has the rest
  cut.was_in_ring = false;
  CHECK(EndVerdictOf(cut).id == "continues");
  EndFacts running = FactsOf(std::nullopt);
  running.is_running = true;
  CHECK(EndVerdictOf(running).id == "running");
  running.accounts = {InCgroup(500 * kMiB, 512 * kMiB)};
  running.accounts.front().account.Set(AccountItem::kDescriptors, Amount::Of(3));
  running.accounts.front().account.Set(AccountItem::kDescriptorsMax, Amount::Of(1000));
  CHECK(EndVerdictOf(running).text == "the process is still running; fullest: cgroup 98 % (500 MiB of 512 MiB)");
  CHECK(EndVerdictOf(FactsOf("recovered")).id == "killed");
  EndFacts empty = FactsOf(std::nullopt);
  empty.end_ns = 0;
  empty.was_in_ring = false;
  Check(empty, "nothing", Certainty::kUnknown,
        "not known: the recording has only its header, and its shared ring is gone");
}

TEST_CASE("Errors name the resource that ran out, by message or by stack") {
  CHECK(ResourceOf(ErrorOf(0, "GC overhead limit exceeded")) == Resource::kGcTime);
  CHECK(ResourceOf(ErrorOf(0, "Compressed class space")) == Resource::kClassSpace);
  CHECK(ResourceOf(ErrorOf(0, "", {"java.lang.Thread.start0", "java.lang.Thread.start:802"})) == Resource::kThreads);
  CHECK(ResourceOf(ErrorOf(0, "the program's own")) == Resource::kOther);
  EndFacts facts = FactsOf("jvm exit");
  AddError(&facts, ErrorOf(kEnd, "", {"java.lang.Thread.start0"}));
  facts.accounts = {
      At(kEnd, {{AccountItem::kCgroupPids, Amount::Of(32)}, {AccountItem::kCgroupPidsMax, Amount::Of(32)}})};
  CHECK(Has(EndVerdictOf(facts).evidence, "threads: 32 of 32, the limit of the cgroup"));
  facts.accounts = {At(kEnd, {{AccountItem::kThreads, Amount::Of(32)}})};
  CHECK(Has(EndVerdictOf(facts).evidence, "their limit is not known"));
}

TEST_CASE("What grew: rate and onset; a sawtooth and a constant have not") {
  EndFacts facts = FactsOf(std::nullopt);
  for (uint64_t second = 0; second <= 100; ++second) {
    const uint64_t grown = second < 50 ? 0 : second - 50;
    AccountAt at = At(second * kSecond, {{AccountItem::kDirectUsed, Amount::Of((10 + 2 * grown) * kMiB)},
                                         {AccountItem::kMetaspaceUsed, Amount::Of(30 * kMiB)},
                                         {AccountItem::kThreads, Amount::Of(20 + second)}});
    at.heap_used = (20 + second % 7 * 5) * kMiB;
    facts.accounts.push_back(at);
    facts.pauses.push_back({second * kSecond, kSecond / 100});
  }
  const auto grown = GrowthOf(facts);
  REQUIRE(grown.size() == 2);
  CHECK(grown[0].owner->id == "direct_buffers");
  CHECK(grown[0].per_second.low <= 2.0 * kMiB);
  CHECK(grown[0].per_second.high >= 1.9 * kMiB);
  CHECK(grown[0].since_s.low <= 51);
  CHECK(grown[0].since_s.high >= 50);
  CHECK(grown[0].since_s.low > 35);
  CHECK(grown[0].since_s.high < 65);
  // The threads grew from the start.
  CHECK(grown[1].since_s.low == 0);
  CHECK(grown[1].owner->id == "threads");
  CHECK(grown[1].per_second.value == Approx(1).margin(0.05));
  REQUIRE(facts.before() != nullptr);
  CHECK(facts.before()->time_ns == 90 * kSecond);
}

TEST_CASE("The limit that would have been enough") {
  EndFacts facts = FactsOf(std::nullopt);
  facts.header.settings = {{"MaxHeapSize", std::to_string(200 * kMiB), format::Setting::Origin::kSet}};
  facts.accounts = {InCgroup(255 * kMiB, 256 * kMiB)};
  facts.accounts.front().rss = 250 * kMiB;
  facts.accounts.front().heap_committed = 150 * kMiB;
  const auto next = NextStepsOf(facts, EndVerdictOf(facts), {}, {}, "app.hrec");
  REQUIRE(next.size() == 1);
  CHECK(next[0].text == "memory limit of 300Mi or more, or -Xmx156m or less");
  CHECK(next[0].reason == "the limit leaves 56.0 MiB beside MaxHeapSize; this process needed 100 MiB");
  // Whoever set a percentage needs one.
  facts.header.settings.push_back({"MaxRAMPercentage", "78.0", format::Setting::Origin::kSet});
  CHECK(NextStepsOf(facts, EndVerdictOf(facts), {}, {}, "app.hrec")[0].text ==
        "memory limit of 300Mi or more, or -XX:MaxRAMPercentage=60 or less");
  // Files in tmpfs take the limit: 100 MiB, without page cache.
  facts.accounts = {InCgroup(255 * kMiB, 256 * kMiB, 100 * kMiB, 100 * kMiB)};
  facts.accounts.front().rss = 150 * kMiB;
  CHECK(Has(TextsOf(facts), "size limit below 100Mi for tmpfs"));
  // So does another process.
  facts.accounts = {InCgroup(255 * kMiB, 256 * kMiB)};
  CHECK(Has(TextsOf(facts), "memory limit for 155Mi of other processes"));
}

TEST_CASE("A hs_err file is of this process, and not of an older one with its id") {
  const Directory directory;
  const std::string text =
      "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n"
      "#  SIGSEGV (0xb) at pc=0x00007f0f84115150, pid=4711, tid=4712\n#\n"
      "# Problematic frame:\n# C  [libx.so+0x1139]  crash+0x9\n#\n"
      "Time: Sat Nov 28 22:28:03 2026 UTC elapsed time: 100.5 seconds (0d 0h 1m 40s)\n"
      "Current thread (0x00007f0f7c012000):  JavaThread \"main\" [_thread_in_native, id=4712]\n";
  std::ofstream(directory / "hs_err_pid4711.log") << text;
  EndFacts facts = FactsOf(std::nullopt);
  facts.header.start_epoch_ns = 0;
  const auto report = FindCrashReport(directory / "app.hrec", facts);
  REQUIRE(report);
  CHECK(report->problem == "SIGSEGV (0xb) at pc=0x00007f0f84115150");
  CHECK(report->frame == "C  [libx.so+0x1139]  crash+0x9");
  CHECK(report->thread == "JavaThread \"main\"");
  facts.end_ns = 200 * kSecond;
  CHECK(!FindCrashReport(directory / "app.hrec", facts));
  facts.header.pid = 4712;
  CHECK(!FindCrashReport(directory / "app.hrec", facts));
  const auto internal = ParseCrashReport(
      "x",
      "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n"
      "#  Internal Error (debug.cpp:362), pid=1, tid=2\n#  fatal error: OutOfMemory encountered: Java heap space\n#\n");
  CHECK(internal.problem == "fatal error: OutOfMemory encountered: Java heap space");
}

TEST_CASE("A survivor reads oom_kill of either version of cgroups") {
  const Directory directory;
  CHECK(!ReadSurvivor(SomeHeader(), directory / ""));
  std::ofstream(directory / "memory.oom_control") << "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n";
  const auto first = ReadSurvivor(SomeHeader(), directory / "");
  REQUIRE(first);
  CHECK(first->oom_kills == 1);
  std::ofstream(directory / "memory.events") << "low 0\nhigh 0\nmax 7\noom 2\noom_kill 2\noom_group_kill 0\n";
  const auto second = ReadSurvivor(SomeHeader(), directory / "");
  REQUIRE(second);
  CHECK(second->oom_kills == 2);
  CHECK(second->file == directory / "memory.events");
}

TEST_CASE("A survivor finds the recorded cgroup by its inode, on the same boot only") {
  const Directory directory;
  std::filesystem::create_directories(directory / "memory/pods/app");
  std::filesystem::create_directories(directory / "memory/pods/other");
  std::ofstream(directory / "memory/pods/app/memory.oom_control") << "oom_kill 5\n";
  std::ofstream(directory / "memory/pods/other/memory.oom_control") << "oom_kill 7\n";
  struct stat status {};
  REQUIRE(stat((directory / "memory/pods/app").c_str(), &status) == 0);
  format::FileHeader header = SomeHeader();
  header.settings = {{"cgroup.inode", std::to_string(status.st_ino), format::Setting::Origin::kUnknown}};
  CHECK(!ReadSurvivor(header, "", directory / ""));
  std::ifstream("/proc/sys/kernel/random/boot_id") >> header.boot_id;
  header.start_monotonic_ns = 1;
  const auto found = ReadSurvivor(header, "", directory / "");
  REQUIRE(found);
  CHECK(found->oom_kills == 5);
  std::filesystem::remove_all(directory / "memory/pods/app");
  CHECK(!ReadSurvivor(header, "", directory / ""));
}

TEST_CASE("Each verdict has a step to take") {
  const auto first_of = [](const EndFacts& facts) {
    const auto texts = TextsOf(facts);
    return texts.empty() ? "" : texts.front();
  };
  EndFacts crash = FactsOf(std::nullopt);
  crash.crash = CrashReport{"/d/hs_err_pid4711.log", "SIGSEGV (0xb)", "C  [libx.so+0x1]  f+0x9", "", 1};
  CHECK(first_of(crash) == "less /d/hs_err_pid4711.log");
  CHECK(Has(TextsOf(crash), "another version of libx.so"));
  crash.crash.reset();
  crash.ends = {EventOf(ProcessStateKind::kSignal, kEnd, SIGSEGV, 0)};
  CHECK(Has(TextsOf(crash), "-XX:ErrorFile=DIR/hs_err_%p.log"));

  EndFacts signal = FactsOf(std::nullopt);
  signal.ends = {EventOf(ProcessStateKind::kSignal, kEnd - 30 * kSecond, SIGTERM, 0)};
  CHECK(Has(TextsOf(signal), "terminationGracePeriodSeconds of more than 30"));
  CHECK(first_of(FactsOf("rotated")) == "heaprec why .");
  CHECK(first_of(FactsOf("duration")) == "record without duration=");
  CHECK(first_of(FactsOf("nothing recovered")) == "heaprec verify app.hrec");
  CHECK(first_of(FactsOf("jvm exit")) == "heaprec summary app.hrec");
  EndFacts killed = FactsOf(std::nullopt);
  killed.accounts = {InCgroup(210 * kMiB, 512 * kMiB)};
  CHECK(Has(TextsOf(killed), "kubectl describe pod"));

  killed.accounts.clear();
  for (uint64_t second = 0; second <= 100; ++second) {
    AccountAt at = InCgroup(210 * kMiB, 512 * kMiB);
    at.time_ns = second * kSecond;
    at.rss = (100 + second) * kMiB;
    killed.accounts.push_back(at);
  }
  CHECK(Has(TextsOf(killed), "record with native=on"));
  killed.header.max_tracked_blocks = 1;
  CHECK(Has(TextsOf(killed), "heaprec leaks --kind malloc app.hrec"));

  EndFacts uncaught = FactsOf("jvm exit");
  uncaught.ends = {EventOf(ProcessStateKind::kUncaught, kEnd, 0, 0)};
  CHECK(Has(TextsOf(uncaught), "record with exceptions=on"));

  EndFacts error = FactsOf("jvm exit");
  error.accounts = {At(kEnd, {{AccountItem::kHeapMax, Amount::Of(48 * kMiB)},
                              {AccountItem::kMetaspaceUsed, Amount::Of(31 * kMiB)},
                              {AccountItem::kMetaspaceMax, Amount::Of(32 * kMiB)},
                              {AccountItem::kDirectUsed, Amount::Of(64 * kMiB)},
                              {AccountItem::kDirectMax, Amount::Of(64 * kMiB)},
                              {AccountItem::kCgroupPidsMax, Amount::Of(32)}})};
  const auto of = [&](const std::string& message) {
    error.errors.clear();
    AddError(&error, ErrorOf(kEnd, message));
    return TextsOf(error);
  };
  CHECK(Has(of("Java heap space"), "-Xmx80m"));
  CHECK(Has(of("Java heap space"), "record with live=on"));
  CHECK(Has(of("Metaspace"), "-XX:MaxMetaspaceSize=48m"));
  CHECK(Has(of("Cannot reserve 1 bytes of direct buffer memory"), "-XX:MaxDirectMemorySize=96m"));
  CHECK(Has(of("unable to create native thread: possibly out of memory"), "pids limit of 48 or more"));
  CHECK(Has(of("Requested array size exceeds VM limit"), "heaprec print --kind event app.hrec"));
  CHECK(Has(of("no room in the warehouse"), "heaprec print --kind event app.hrec"));
}

TEST_CASE("What was different in the last ten seconds: only what is twice as much as ever before") {
  EndFacts facts = FactsOf(std::nullopt);
  for (uint64_t second = 0; second <= 100; ++second) {
    const uint64_t late = second > 90 ? second - 90 : 0;
    AccountAt at = At(second * kSecond, {{AccountItem::kThreads, Amount::Of(20 + 5 * late)},
                                         {AccountItem::kDirectUsed, Amount::Of((10 + 2 * second) * kMiB)},
                                         {AccountItem::kClassesLoaded, Amount::Of(1000)}});
    at.rss = (100 + second % 3 + 9 * late) * kMiB;
    facts.accounts.push_back(at);
    facts.pauses.push_back({second * kSecond, kSecond / (second > 90 ? 2 : 50)});
  }
  const Changes changes = ChangesOf(facts, "");
  CHECK(changes.span_ns == 10 * kSecond);
  CHECK(changes.spans_before == 9);
  std::vector<std::string> ids;
  for (const Change& one : changes.rows) ids.push_back(one.id);
  CHECK(ids == std::vector<std::string>{"threads", "rss", "gc"});
  CHECK(changes.rows[0].at_end.value == 50);
  CHECK(changes.rows[2].at_end.value == Approx(0.5).margin(0.01));
  CHECK(changes.rows[2].most_before == Approx(0.02).margin(0.01));
  // The same a minute earlier: nothing is different at the end.
  for (AccountAt& at : facts.accounts) at.account.Set(AccountItem::kThreads, Amount::Of(at.time_ns > 40 * kSecond));
  CHECK(ChangesOf(facts, "").rows.front().id != "threads");
  facts.end_ns = 5 * kSecond;
  CHECK(ChangesOf(facts, "").span_ns == 0);
}

TEST_CASE("What the ends of a crash loop have in common") {
  std::vector<ProcessEnd> ends;
  const auto add = [&](EndFacts facts, uint64_t lived_ns, const char* leak) {
    facts.end_ns = lived_ns;
    facts.header.settings = {{"MaxHeapSize", std::to_string(48 * kMiB), format::Setting::Origin::kSet}};
    Explanation one;
    one.file = std::to_string(ends.size()) + ".hrec";
    one.facts = std::move(facts);
    one.verdict = EndVerdictOf(one.facts);
    if (leak != nullptr) one.sites = {{format::Stream::kAllocations, leak, {}, {}, FoundLeak{}}};
    ends.push_back(EndOf(one));
  };
  for (const uint64_t lived : {50, 52, 47}) {
    EndFacts error = FactsOf("jvm exit");
    AddError(&error, ErrorOf(lived * kSecond, "Java heap space"));
    add(std::move(error), lived * kSecond, "p.Main.fill");
  }
  add(FactsOf("jvm exit"), 90 * kSecond, nullptr);
  add(FactsOf("rotated"), 10 * kSecond, nullptr);
  const CrashLoop loop = CrashLoopOf(ends);
  CHECK(loop.ends == 4);
  CHECK(loop.cause.value == "OutOfMemoryError: Java heap space");
  CHECK(loop.cause.ends == 3);
  CHECK(loop.leak.value == "p.Main.fill");
  CHECK(loop.heap_limit.ends == 4);
  CHECK(loop.lived_ns == 50 * kSecond);
  CHECK(loop.shortest_ns == 47 * kSecond);
  CHECK(loop.longest_ns == 52 * kSecond);
  REQUIRE(loop.typical != nullptr);
  CHECK(loop.typical->file == "2.hrec");
  CHECK(CrashLoopOf({}).ends == 0);
}

}  // namespace heaprec::tools::testing

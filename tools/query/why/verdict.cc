#include "tools/query/why/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <utility>

#include "tools/input/stream_traits.h"
#include "tools/query/why/owners.h"
#include "tools/render/value_format.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using format::AccountItem;
using format::Amount;
using format::ProcessStateKind;

constexpr uint64_t kSecondNs = 1'000'000'000, kEndNs = 10 * kSecondNs;
// From a signal to the end of the process that obeys it: shutdown hooks, and the grace period of Kubernetes and
// systemd.
constexpr uint64_t kGraceNs = 120 * kSecondNs;
// Accounts are taken once a second, at a tick of the drain: what is unseen is not longer.
constexpr double kUnseenS = 1.25;
constexpr uint64_t kUnseenNs = kSecondNs + kSecondNs / 4;
// What is further away did not end the process.
constexpr double kSoonS = 10;
constexpr ptrdiff_t kStackFrames = 4;
constexpr double kLeastFull = 0.1;  // of a limit
constexpr double kFull = 0.97, kHostFull = 0.03;

const char* SignalName(uint64_t number) {
  constexpr std::array<std::pair<int, const char*>, 8> kNames{{{SIGTERM, "SIGTERM"},
                                                               {SIGINT, "SIGINT"},
                                                               {SIGHUP, "SIGHUP"},
                                                               {SIGSEGV, "SIGSEGV"},
                                                               {SIGBUS, "SIGBUS"},
                                                               {SIGILL, "SIGILL"},
                                                               {SIGFPE, "SIGFPE"},
                                                               {SIGABRT, "SIGABRT"}}};
  const auto named = std::ranges::find(kNames, static_cast<int>(number), &decltype(kNames)::value_type::first);
  return named != kNames.end() ? named->second : "a signal";
}

bool IsCrash(uint64_t signal) {
  constexpr std::array kCrashes{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
  return std::ranges::find(kCrashes, static_cast<int>(signal)) != kCrashes.end();
}

bool HasFrame(const EndEvent& event, std::string_view method) {
  return std::ranges::any_of(event.frames, [&](const std::string& frame) { return frame.starts_with(method); });
}

// The method of the program: behind those of the JDK that did what it asked for.
std::string CallerOf(const EndEvent& event) {
  constexpr std::array<std::string_view, 3> kJdk{"java.", "jdk.", "sun."};
  for (const std::string& frame : event.frames) {
    if (std::ranges::none_of(kJdk, [&](std::string_view jdk) { return frame.starts_with(jdk); })) return frame;
  }
  return event.frames.empty() ? "" : event.frames.front();
}

// " called by com.x.Main.run:42 in thread main"
std::string ByText(const EndEvent& event, const char* verb) {
  std::string text;
  if (const std::string caller = CallerOf(event); !caller.empty()) text += fmt::format(" {} {}", verb, caller);
  if (!event.thread.empty()) text += " in thread " + event.thread;
  return text;
}

std::string ErrorName(const EndEvent& error) {
  if (error.class_name.empty()) return "resource exhausted";
  const size_t dot = error.class_name.rfind('.');
  return dot == std::string::npos ? error.class_name : error.class_name.substr(dot + 1);
}

const char* ResourceName(Resource resource) {
  constexpr std::array kNames{"",  // kOther
                              "Java heap space",
                              "Metaspace",
                              "Compressed class space",
                              "direct buffer memory",
                              "unable to create native thread",
                              "",  // kStack
                              "array too large",
                              "GC overhead limit exceeded"};
  static_assert(kNames.size() == static_cast<size_t>(Resource::kGcTime) + 1);
  return kNames.at(static_cast<size_t>(resource));
}

// The message of the error, or else what ran out, after `name`.
std::string WithCause(std::string name, const EndEvent& error) {
  const std::string what = !error.state.cause.empty() ? error.state.cause : ResourceName(ResourceOf(error));
  return what.empty() ? name : name + ": " + what;
}

// "OutOfMemoryError: Java heap space"
std::string ErrorText(const EndEvent& error) { return WithCause(ErrorName(error), error); }

// "metaspace: 46.0 MiB of 48.0 MiB (MaxMetaspaceSize)"; empty: not known.
std::string UseText(const EndFacts& facts, const char* what, AccountItem used_item, AccountItem limit_item,
                    const char* setting) {
  const Amount used = AmountAt(facts.last(), used_item), limit = AmountAt(facts.last(), limit_item);
  if (!used.is_known()) return "";
  if (!limit.is_known() || limit.value() == 0) return fmt::format("{}: {}", what, BytesText(used.value()));
  return fmt::format("{}: {} ({})", what, OfText(used.value(), limit.value()), setting);
}

// What the recording says about the resource of an error; empty: nothing.
std::string ResourceUse(const EndFacts& facts, Resource resource) {
  const AccountAt* const last = facts.last();
  switch (resource) {
    case Resource::kHeap:
    case Resource::kGcTime: {
      const Amount max = AmountAt(last, AccountItem::kHeapMax), old = AmountAt(last, AccountItem::kOldAfterCollection);
      const uint64_t limit = max.ValueOr(facts.NumberOf("MaxHeapSize").value_or(0));
      std::string text;
      if (!facts.heap_full.empty())
        text = fmt::format("heap: {} used when it was full",
                           OfText(facts.heap_full.back().used, facts.heap_full.back().committed));
      else if (last != nullptr && limit > 0)
        text = fmt::format("heap: {} used (MaxHeapSize)", OfText(last->heap_used, limit));
      if (old.is_known() && old.value() > 0)
        text += fmt::format("{}old generation after its last collection: {}", text.empty() ? "" : "; ",
                            BytesText(old.value()));
      return text;
    }
    case Resource::kMetaspace:
      return UseText(facts, "metaspace", AccountItem::kMetaspaceCommitted, AccountItem::kMetaspaceMax,
                     "MaxMetaspaceSize");
    case Resource::kClassSpace:
      return UseText(facts, "class space", AccountItem::kClassSpaceCommitted, AccountItem::kClassSpaceMax,
                     "CompressedClassSpaceSize");
    case Resource::kDirect:
      return UseText(facts, "direct buffers", AccountItem::kDirectUsed, AccountItem::kDirectMax, "MaxDirectMemorySize");
    case Resource::kThreads: {
      const Amount pids = AmountAt(last, AccountItem::kCgroupPids), most = AmountAt(last, AccountItem::kCgroupPidsMax);
      const Amount threads = AmountAt(last, AccountItem::kThreads), user = AmountAt(last, AccountItem::kThreadsMax);
      std::string text;
      if (pids.is_known() && most.is_known())
        text = fmt::format("threads: {} of {}, the limit of the cgroup (pids.max)", pids.value(), most.value());
      if (most.has_no_limit() && threads.is_known()) {
        text = fmt::format("threads: {}; the cgroup has no limit{}", threads.value(),
                           user.is_known() ? fmt::format(", the user has {}", Grouped(user.value())) : "");
      }
      if (text.empty() && threads.is_known())
        text = fmt::format("threads: {}; their limit is not known", threads.value());
      return text;
    }
    default:
      return "";
  }
}

// With the age of the account, because what runs out at once is not in it.
std::string ResourceEvidence(const EndFacts& facts, Resource resource) {
  const std::string text = ResourceUse(facts, resource);
  const bool is_marked = (resource == Resource::kHeap || resource == Resource::kGcTime) && !facts.heap_full.empty();
  if (text.empty() || is_marked || facts.last() == nullptr) return text;
  return fmt::format("{}, {} before the end", text, Duration(facts.BeforeEnd(facts.last()->time_ns)));
}

void Add(std::vector<std::string>* into, std::string text) {
  if (!text.empty()) into->push_back(std::move(text));
}

// Errors of the last ten seconds, for a verdict that is not one of them.
void AddErrors(const EndFacts& facts, EndVerdict* verdict) {
  const EndEvent* const error = LastError(facts);
  if (error == nullptr) return;
  verdict->text += fmt::format("; {} before: {}", Duration(facts.BeforeEnd(error->state.time_ns)), ErrorText(*error));
  Add(&verdict->evidence, fmt::format("{}{}; {}, the first {} after the start", ErrorText(*error), ByText(*error, "in"),
                                      CountOf(facts.errors_seen, "error"), Duration(facts.first_error_ns)));
  Add(&verdict->evidence, ResourceEvidence(facts, ResourceOf(*error)));
}

// "main ended with an uncaught java.io.IOException: no such file"
std::string UncaughtText(const EndEvent& uncaught) {
  const bool is_common = uncaught.class_name.starts_with("java.lang.");
  return WithCause(fmt::format("{} ended with an uncaught {}", uncaught.thread.empty() ? "main" : uncaught.thread,
                               is_common ? ErrorName(uncaught) : uncaught.class_name),
                   uncaught);
}

void AddStack(const EndEvent& event, std::vector<std::string>::const_iterator from, EndVerdict* verdict) {
  std::string text;
  for (auto frame = from; frame != event.frames.end() && frame - from < kStackFrames; ++frame)
    text += (frame == from ? "stack: " : " <- ") + *frame;
  Add(&verdict->evidence, text);
}

// Which events the recorder could not see, and why. Empty: it saw all kinds.
std::string_view NotSeen(const EndFacts& facts) {
  const format::Setting* const unseen = facts.SettingOf("events.not_seen");
  return unseen != nullptr ? std::string_view(unseen->value) : std::string_view();
}

void AddNotSeen(const EndFacts& facts, EndVerdict* verdict) {
  if (const std::string_view unseen = NotSeen(facts); !unseen.empty())
    verdict->missing.push_back(fmt::format("the recorder could not see {}", ToUtf8(unseen)));
}

EndVerdict OfError(const EndFacts& facts, const EndEvent& error, std::string text, Certainty certainty) {
  EndVerdict verdict{"out_of_memory", std::move(text), certainty};
  Add(&verdict.evidence,
      fmt::format("{}{}, {} before the end; {} since the start", ErrorText(error), ByText(error, "in"),
                  Duration(facts.BeforeEnd(error.state.time_ns)), CountOf(facts.errors_seen, "error")));
  const std::string use = ResourceEvidence(facts, ResourceOf(error));
  Add(&verdict.evidence, use);
  if (use.empty() && ResourceOf(error) != Resource::kOther && ResourceOf(error) != Resource::kStack)
    verdict.missing.emplace_back("how full it was: the recording has no account of it");
  return verdict;
}

bool IsSet(const EndFacts& facts, std::string_view flag) {
  const format::Setting* const setting = facts.SettingOf(flag);
  return setting != nullptr && setting->value == "true";
}

// Rule 1.
std::optional<EndVerdict> Crashed(const EndFacts& facts) {
  const EndEvent* fatal = nullptr;
  for (const EndEvent& error : facts.errors) {
    if (error.state.kind == ProcessStateKind::kError && error.state.committed != 0) fatal = &error;
  }
  const bool has_exited = IsExit(facts.end_reason);  // a JVM that crashes writes no end marker
  if (fatal != nullptr) {
    // With both flags it crashes.
    const char* how = "the JVM ended itself";
    if (IsSet(facts, "ExitOnOutOfMemoryError")) how = "the JVM exited at once (-XX:+ExitOnOutOfMemoryError)";
    if (IsSet(facts, "CrashOnOutOfMemoryError")) how = "the JVM crashed itself (-XX:+CrashOnOutOfMemoryError)";
    EndVerdict verdict = OfError(facts, *fatal, ErrorText(*fatal) + "; " + how, Certainty::kCertain);
    if (facts.crash) verdict.evidence.push_back(facts.crash->file);
    return verdict;
  }
  if (facts.crash && !has_exited) {
    EndVerdict verdict{"crash", facts.crash->problem, Certainty::kCertain};
    if (!facts.crash->frame.empty()) verdict.text += " in " + facts.crash->frame;
    verdict.evidence.push_back(facts.crash->file);
    if (!facts.crash->thread.empty()) verdict.evidence.push_back("thread: " + facts.crash->thread);
    return verdict;
  }
  for (const EndEvent& end : facts.ends) {
    if (end.state.kind != ProcessStateKind::kSignal || !IsCrash(end.state.used)) continue;
    EndVerdict verdict{"crash", SignalName(end.state.used) + ByText(end, "in"), Certainty::kCertain};
    verdict.evidence.push_back(
        fmt::format("signal {}, {} before the end", end.state.used, Duration(facts.BeforeEnd(end.state.time_ns))));
    verdict.missing.push_back(
        fmt::format("the native frame: hs_err_pid{}.log is not beside the recording; -XX:ErrorFile says "
                    "where the JVM writes it",
                    facts.header.pid));
    return verdict;
  }
  return std::nullopt;
}

// The main thread ended by an exception long before the process did.
void AddUncaught(const EndFacts& facts, EndVerdict* verdict) {
  const EndEvent* const uncaught = LastOf(facts, ProcessStateKind::kUncaught);
  if (uncaught == nullptr) return;
  verdict->evidence.push_back(
      fmt::format("{}, {} before", UncaughtText(*uncaught), Duration(facts.BeforeEnd(uncaught->state.time_ns))));
}

std::optional<int32_t> CodeOf(const EndEvent& exit) {
  if (exit.state.used == 0) return std::nullopt;
  return static_cast<int32_t>(exit.state.used - 1);
}

std::string SenderText(const EndEvent& signal) {
  if (signal.state.committed == 0) return "its sender is not known";
  return signal.state.cause.empty() ? fmt::format("sent by PID {}", signal.state.committed)
                                    : fmt::format("sent by PID {} ({})", signal.state.committed, signal.state.cause);
}

// Rule 2. A program may handle a signal and go on, or end in its own way: then the exit is the verdict.
std::optional<EndVerdict> Signalled(const EndFacts& facts) {
  const EndEvent* const signal = LastOf(facts, ProcessStateKind::kSignal);
  if (signal == nullptr) return std::nullopt;
  const EndEvent* const exit = LastOf(facts, ProcessStateKind::kExit);
  const uint64_t after_ns = facts.BeforeEnd(signal->state.time_ns);
  const auto code = exit != nullptr ? CodeOf(*exit) : std::nullopt;
  const bool is_confirmed = code == 128 + static_cast<int32_t>(signal->state.used);
  if (!is_confirmed && (after_ns > kGraceNs || exit != nullptr)) return std::nullopt;
  EndVerdict verdict{"signal", fmt::format("{}, {}", SignalName(signal->state.used), SenderText(*signal)),
                     is_confirmed ? Certainty::kCertain : Certainty::kProbable};
  Add(&verdict.evidence, fmt::format("signal {} arrived {} before the end", signal->state.used, Duration(after_ns)));
  if (is_confirmed) Add(&verdict.evidence, fmt::format("the JVM then exited with code {}", *code));
  if (signal->state.committed == 0)
    verdict.missing.emplace_back(
        "who sent it: the kernel gives no PID for a terminal, or a sender outside the process' PID namespace");
  if (exit == nullptr && !IsExit(facts.end_reason)) {
    verdict.text += fmt::format("; not yet shut down {} later", Duration(after_ns));
    verdict.missing.emplace_back(
        "an exit: SIGKILL at the end of the grace period, or shutdown hooks that never return, would explain that");
  }
  AddErrors(facts, &verdict);
  return verdict;
}

// Rule 3.
std::optional<EndVerdict> Exited(const EndFacts& facts) {
  const EndEvent* const exit = LastOf(facts, ProcessStateKind::kExit);
  if (exit == nullptr) return std::nullopt;
  const auto code = CodeOf(*exit);
  EndVerdict verdict{"exit",
                     fmt::format("{}({}){}", exit->state.committed != 0 ? "Runtime.halt" : "System.exit",
                                 code ? fmt::to_string(*code) : "code not known", ByText(*exit, "called by")),
                     Certainty::kCertain};
  AddStack(*exit, std::ranges::find(exit->frames, CallerOf(*exit)), &verdict);  // from the program's own code on
  if (exit->frames.empty()) verdict.missing.emplace_back("who called it: the recording has no stack of the call");
  if (const EndEvent* const signal = LastOf(facts, ProcessStateKind::kSignal)) {
    verdict.evidence.push_back(fmt::format(
        "{} arrived {} before, {}", SignalName(signal->state.used),
        Duration(exit->state.time_ns - std::min(exit->state.time_ns, signal->state.time_ns)), SenderText(*signal)));
  }
  AddUncaught(facts, &verdict);
  AddErrors(facts, &verdict);
  return verdict;
}

// Whether the kernel has killed in the process' cgroup since the last account.
bool KillsSeen(const EndFacts& facts) {
  const Amount kills = AmountAt(facts.last(), AccountItem::kCgroupOomKills);
  return facts.survivor && kills.is_known() && facts.survivor->oom_kills > kills.value();
}

// Rule 4.
std::optional<EndVerdict> Uncaught(const EndFacts& facts) {
  const EndEvent* const uncaught = LastOf(facts, ProcessStateKind::kUncaught);
  if (uncaught == nullptr) return std::nullopt;
  const uint64_t after_ns = facts.BeforeEnd(uncaught->state.time_ns);
  const bool has_marker = IsExit(facts.end_reason);
  // Other threads may go on. Without heap left the JVM cannot write its end marker.
  if (after_ns > (has_marker ? kEndNs : kUnseenNs) || (!has_marker && KillsSeen(facts))) return std::nullopt;
  const bool is_out_of_memory = uncaught->class_name == "java.lang.OutOfMemoryError";
  EndVerdict verdict{is_out_of_memory ? "out_of_memory" : "uncaught", UncaughtText(*uncaught),
                     has_marker ? Certainty::kCertain : Certainty::kProbable};
  AddStack(*uncaught, uncaught->frames.begin(), &verdict);
  if (uncaught->frames.empty()) verdict.missing.emplace_back("where it was thrown: it has no stack");
  if (!has_marker) verdict.missing.emplace_back("whether the process was killed in the second after it");
  if (is_out_of_memory) {
    Add(&verdict.evidence, ResourceEvidence(facts, ResourceOf(*uncaught)));
  } else {
    AddErrors(facts, &verdict);
  }
  return verdict;
}

// Rule 5.
EndVerdict Ended(const EndFacts& facts) {
  const EndEvent* const error = LastError(facts);
  // The main thread has not ended by it.
  const bool was_caught = error != nullptr && error->is_in_main && NotSeen(facts).empty();
  if (error != nullptr && !was_caught) {
    EndVerdict verdict = OfError(facts, *error, ErrorText(*error) + "; then the JVM ended", Certainty::kProbable);
    verdict.missing.emplace_back("whether the error was caught: a stack trace on stderr would tell");
    AddNotSeen(facts, &verdict);
    return verdict;
  }
  EndVerdict verdict{"normal", "the JVM shut down when its last non-daemon thread ended", Certainty::kCertain};
  verdict.evidence.emplace_back(was_caught ? "end marker; no exit and no signal before it"
                                           : "end marker; no exit, signal or error before it");
  if (facts.header.source == kPreloaded) {
    verdict.text = "the program ended by itself";
    verdict.certainty = Certainty::kProbable;
    verdict.missing.emplace_back("its exit code: a program without a JVM has no events");
    return verdict;
  }
  // A recorder that writes events writes settings.
  const bool has_events = !facts.header.settings.empty();
  if (!has_events || !NotSeen(facts).empty()) verdict.certainty = Certainty::kProbable;
  if (!has_events) verdict.missing.emplace_back("exits, signals and errors: the recorder wrote no events");
  AddNotSeen(facts, &verdict);
  if (was_caught) verdict.evidence.push_back("the error was caught: main did not end by it");
  AddUncaught(facts, &verdict);
  AddErrors(facts, &verdict);
  return verdict;
}

std::string FillText(const Fill& fill) {
  std::string text = fmt::format("{} % of the cgroup's memory limit", std::lround(100 * fill.Share()));
  text += ": " + OfText(fill.needed, fill.limit);
  const uint64_t dropped = fill.used - fill.needed;
  if (dropped > fill.limit / 100) text += fmt::format(", and {} of page cache", BytesText(dropped));
  return text;
}

// Growth of the use in the ten seconds before the last account.
struct Trend {
  double per_second = 0, seconds = 0;
  double steepest = 0;  // bytes in one second: a heap grows in steps
  static double RestOf(const Fill& fill) { return static_cast<double>(fill.limit - std::min(fill.limit, fill.needed)); }
  double SecondsTo(const Fill& fill) const { return RestOf(fill) / per_second; }
  bool ReachesUnseen(const Fill& fill) const { return RestOf(fill) <= kUnseenS * std::max(per_second, steepest); }
};

// nullopt: it did not grow.
std::optional<Trend> TrendOf(const EndFacts& facts, const Fill& fill) {
  const AccountAt& last = *facts.last();
  const auto earlier = std::ranges::find_if(
      facts.accounts, [&](const AccountAt& at) { return at.time_ns + kEndNs >= last.time_ns && FillOf(&at); });
  if (earlier == facts.accounts.end() || earlier->time_ns >= last.time_ns) return std::nullopt;
  const Fill from = *FillOf(&*earlier);
  if (from.needed >= fill.needed) return std::nullopt;
  const double seconds = static_cast<double>(last.time_ns - earlier->time_ns) * 1e-9;
  Trend trend{static_cast<double>(fill.needed - from.needed) / seconds, seconds};
  for (auto at = earlier; std::next(at) != facts.accounts.end(); ++at) {
    const auto before = FillOf(&*at), after = FillOf(&*std::next(at));
    if (!before || !after || after->needed < before->needed) continue;
    const double step_s = std::max(static_cast<double>(std::next(at)->time_ns - at->time_ns) * 1e-9, 1.0);
    trend.steepest = std::max(trend.steepest, static_cast<double>(after->needed - before->needed) / step_s);
  }
  return trend;
}

std::string TrendText(const Trend& trend, const Fill& fill) {
  const auto time = [](double seconds) { return render::FormatInline(seconds, render::Unit::kSeconds, true); };
  const std::string steepest =
      trend.steepest > 1.5 * trend.per_second ? fmt::format(", by {} in one second", BytesText(trend.steepest)) : "";
  return fmt::format("use grew by {}/s in the last {}{}: full {} after the account", BytesText(trend.per_second),
                     time(trend.seconds), steepest, time(trend.SecondsTo(fill)));
}

constexpr char kKernelTells[] = "dmesg ('Killed process') or kubectl describe pod (OOMKilled)";

void AddUnknownLimit(const EndFacts& facts, EndVerdict* verdict) {
  const Amount limit = AmountAt(facts.last(), AccountItem::kCgroupMax);
  if (facts.last() == nullptr || facts.last()->account.empty()) {
    verdict->text += "; memory use and limit are not recorded";
    verdict->missing.emplace_back(
        "memory limit and use: this recording has no account of the process (its agent wrote none); " +
        std::string(kKernelTells));
    return;
  }
  if (limit.has_no_limit()) {
    verdict->text += "; the cgroup has no memory limit";
    const Amount free = AmountAt(facts.last(), AccountItem::kHostAvailable),
                 total = AmountAt(facts.last(), AccountItem::kHostTotal);
    if (free.is_known() && total.is_known()) {
      verdict->evidence.push_back(fmt::format("host: {} available", OfText(free.value(), total.value())));
      if (static_cast<double>(free.value()) < kHostFull * static_cast<double>(total.value())) {
        verdict->id = "oom_kill";
        verdict->text = "probably killed by the kernel's OOM killer: the host's memory was used up";
        verdict->certainty = Certainty::kProbable;
      }
    }
    verdict->missing.push_back("who killed it: " + std::string(kKernelTells));
    return;
  }
  verdict->text += "; the memory limit is not known";
  if (!limit.was_taken()) {
    verdict->missing.emplace_back("the memory limit: it is not in what can be read of the file");
    return;
  }
  verdict->missing.push_back(fmt::format("the memory limit: the agent could not read the cgroup's {}; {} would tell",
                                         facts.SettingOf("cgroup") != nullptr && facts.SettingOf("cgroup")->value == "1"
                                             ? "memory.limit_in_bytes"
                                             : "memory.max",
                                         kKernelTells));
}

// The process ended at its first errors, and the JVM could not write its end marker: without heap left even the
// handler of uncaught exceptions fails. A process that goes on after errors has ended by something else.
std::optional<EndVerdict> EndedByError(const EndFacts& facts) {
  const EndEvent* const error = LastError(facts);
  if (error == nullptr || facts.first_error_ns + kEndNs < facts.end_ns) return std::nullopt;
  if (static_cast<double>(facts.BeforeEnd(facts.errors.back().state.time_ns)) > kUnseenS * 1e9) return std::nullopt;
  EndVerdict verdict = OfError(facts, *error, ErrorText(*error) + "; then the process ended, without an end marker",
                               Certainty::kProbable);
  verdict.missing.emplace_back(
      "whether it was killed in that second; exit code 1 or the stack trace on stderr would tell");
  AddNotSeen(facts, &verdict);
  return verdict;
}

// Rule 6.
EndVerdict Killed(const EndFacts& facts) {
  EndVerdict verdict{"killed", "killed from outside (SIGKILL), or ended unseen", Certainty::kProbable};
  const auto fill = FillOf(facts.last());
  const Amount kills = AmountAt(facts.last(), AccountItem::kCgroupOomKills);
  if (KillsSeen(facts)) {
    verdict.id = "oom_kill";
    verdict.certainty = Certainty::kCertain;
    verdict.text = fmt::format("killed by the kernel's OOM killer: the cgroup's oom_kill rose from {} to {}",
                               kills.value(), facts.survivor->oom_kills);
    verdict.evidence.push_back(facts.survivor->file);
    if (fill) verdict.evidence.push_back("last second: " + FillText(*fill));
  } else if (!fill) {
    AddUnknownLimit(facts, &verdict);
  } else if (fill->Share() >= kFull) {
    verdict.id = "oom_kill";
    verdict.text = "probably killed by the kernel's OOM killer, at " + FillText(*fill);
  } else if (const auto trend = TrendOf(facts, *fill); trend && trend->ReachesUnseen(*fill)) {
    verdict.id = "oom_kill";
    verdict.text = fmt::format("probably killed by the kernel's OOM killer, at {}, growing by {}/s", FillText(*fill),
                               BytesText(trend->per_second));
  } else {
    verdict.text += ", at " + FillText(*fill);
  }
  if (verdict.id == "killed") {
    if (auto error = EndedByError(facts)) return *error;
  }
  if (fill && verdict.certainty != Certainty::kCertain) {
    if (const auto trend = TrendOf(facts, *fill); trend && trend->SecondsTo(*fill) <= kSoonS)
      verdict.evidence.push_back(TrendText(*trend, *fill));
    if (facts.survivor && kills.is_known()) {
      verdict.evidence.push_back(
          fmt::format("{}: oom_kill is {}, as in the recording", facts.survivor->file, facts.survivor->oom_kills));
    } else {
      verdict.missing.push_back("who killed it: the cgroup's oom_kill (--cgroup DIR), " + std::string(kKernelTells));
    }
  }
  verdict.evidence.push_back(
      fmt::format("no end marker, no exit, no signal that a process sees, and no hs_err_pid{}.log beside the recording",
                  facts.header.pid));
  const format::Setting* const reduced = facts.SettingOf("ReduceSignalUsage");
  if (reduced != nullptr && reduced->value == "true")
    verdict.missing.emplace_back("SIGTERM, SIGINT and SIGHUP: with -Xrs they end the JVM unseen");
  if (!facts.was_in_ring && facts.end_reason != format::kEndRecovered) {
    verdict.missing.emplace_back(facts.header.ring_path.empty()
                                     ? "the last second: there is no shared ring (ring=auto has one)"
                                     : "the last seconds: the shared ring is gone, or the file was copied "
                                       "without it, perhaps while the process ran");
  }
  AddNotSeen(facts, &verdict);
  AddUncaught(facts, &verdict);
  AddErrors(facts, &verdict);
  return verdict;
}

// Used, the lowest of the last ten seconds.
uint64_t LeastHeap(const EndFacts& facts) {
  uint64_t least = facts.last()->heap_used;
  for (const AccountAt& at : facts.accounts) {
    if (at.time_ns + kEndNs >= facts.last()->time_ns) least = std::min(least, at.heap_used);
  }
  return least;
}

// "; fullest: cgroup 91 % (199 MiB of 220 MiB), metaspace 40 % (...)"; empty: there is no account.
std::string FullestText(const EndFacts& facts) {
  struct Full {
    double share;
    std::string text;
  };
  std::vector<Full> all;
  const auto add = [&all](std::string_view name, double share, const std::string& of) {
    all.push_back({share, fmt::format("{} {} % ({})", name, std::lround(100 * share), of)});
  };
  if (facts.last() == nullptr) return "";
  for (const Owner& owner : Owners()) {
    const OwnerAmounts amounts = AmountsOf(owner, *facts.last());
    if (owner.id == "cgroup" || amounts.Share() <= 0) continue;
    const uint64_t limit = amounts.limit.value();
    uint64_t used = *amounts.Charged();
    // The heap fills up between collections, too.
    if (owner.id == "heap") used = LeastHeap(facts);
    add(owner.name, static_cast<double>(used) / static_cast<double>(limit),
        owner.is_count ? fmt::format("{} of {}", Grouped(used), Grouped(limit)) : OfText(used, limit));
  }
  if (const auto fill = FillOf(facts.last())) add("cgroup", fill->Share(), OfText(fill->needed, fill->limit));
  std::erase_if(all, [](const Full& one) { return one.share < kLeastFull; });
  std::ranges::stable_sort(all, std::ranges::greater(), &Full::share);
  if (all.empty()) return "; nothing is near a limit";
  return "; fullest: " + all[0].text + (all.size() > 1 ? ", " + all[1].text : "");
}

// Recordings that do not have the end of their process.
std::optional<EndVerdict> NoEnd(const EndFacts& facts) {
  const auto of = [](const char* id, std::string text, std::string missing) {
    EndVerdict verdict{id, std::move(text), Certainty::kUnknown};
    Add(&verdict.missing, std::move(missing));
    return verdict;
  };
  if (IsImported(facts.header.source))
    return of("continues", "not known: an imported file says nothing about the end of its process",
              "a recording by heaprec");
  if (facts.is_running) return of("running", "the process is still running" + FullestText(facts), "");
  if (!facts.end_reason && facts.end_ns == 0 && !facts.was_in_ring)
    return of("nothing", "not known: the recording has only its header, and its shared ring is gone",
              "the ring, in which samples and events wait for the file");
  if (!facts.end_reason && facts.breaks_off && !facts.was_in_ring)
    return of("continues", "not known: the file is cut off or damaged at its end",
              "the whole file, or its shared ring");
  if (!facts.end_reason) return std::nullopt;
  const std::string& reason = *facts.end_reason;
  if (format::ContinuesAfter(reason) || reason == format::kEndTrim) {
    return of(
        "continues", fmt::format("not known: the recording continues elsewhere ({})", reason),
        reason == format::kEndRotated ? "the last part of the recording" : "the recording from which this was copied");
  }
  if (reason == format::kEndNothingRecovered)
    return of("nothing", "not known: nothing of the recording could be read", "");
  if (!IsExit(reason) && reason != format::kEndRecovered) {
    return of("stopped", fmt::format("not known: the recording ended before the process ({})", reason),
              "a recording that lasts until the JVM ends: without duration= and stop");
  }
  return std::nullopt;
}

}  // namespace

const char* CertaintyName(Certainty certainty) {
  return certainty == Certainty::kCertain ? "certain" : certainty == Certainty::kProbable ? "probable" : "not known";
}

bool IsExit(const std::optional<std::string>& reason) { return reason == "jvm exit" || reason == "exit"; }

// How the messages of the JDK's own OutOfMemoryErrors begin, in all releases. Without a stack the event has no other
// sign of what ran out.
constexpr std::pair<std::string_view, Resource> kMessagesOfTheJdk[] = {
    {"GC overhead limit exceeded", Resource::kGcTime},
    {"Java heap space", Resource::kHeap},
    {"Compressed class space", Resource::kClassSpace},
    {"Metaspace", Resource::kMetaspace},
    {"Requested array size exceeds VM limit", Resource::kArray},
    {"unable to create native thread", Resource::kThreads},
    {"Direct buffer memory", Resource::kDirect},
    {"Cannot reserve ", Resource::kDirect},
};

Resource ResourceOf(const EndEvent& error) {
  if (error.class_name.ends_with("StackOverflowError")) return Resource::kStack;
  const auto known = std::ranges::find_if(
      kMessagesOfTheJdk, [&](const auto& one) { return std::string_view(error.state.cause).starts_with(one.first); });
  if (known != std::end(kMessagesOfTheJdk)) return known->second;
  if (HasFrame(error, "java.lang.Thread.start")) return Resource::kThreads;
  if (HasFrame(error, "java.nio.Bits.reserveMemory")) return Resource::kDirect;
  return Resource::kOther;
}

const EndEvent* LastOf(const EndFacts& facts, ProcessStateKind kind) {
  const EndEvent* last = nullptr;
  for (const EndEvent& end : facts.ends) {
    if (end.state.kind == kind && !(kind == ProcessStateKind::kSignal && IsCrash(end.state.used))) last = &end;
  }
  return last;
}

const EndEvent* LastError(const EndFacts& facts) {
  if (facts.errors.empty() || facts.errors.back().state.time_ns + kEndNs < facts.end_ns) return nullptr;
  // What the JVM says of itself comes first: the program's own errors often follow it.
  for (auto error = facts.errors.rbegin(); error != facts.errors.rend(); ++error) {
    if (error->state.time_ns + kEndNs < facts.end_ns) break;
    if (ResourceOf(*error) != Resource::kOther) return &*error;
  }
  return &facts.errors.back();
}

EndVerdict EndVerdictOf(const EndFacts& facts) {
  if (auto verdict = NoEnd(facts)) return *verdict;
  for (auto* rule : {&Crashed, &Signalled, &Exited, &Uncaught}) {
    if (auto verdict = (*rule)(facts)) return *verdict;
  }
  return IsExit(facts.end_reason) ? Ended(facts) : Killed(facts);
}

std::string CauseOf(const EndFacts& facts, const EndVerdict& verdict) {
  if (verdict.id == "oom_kill") return "killed by the kernel's OOM killer";
  if (verdict.id == "killed") return "killed from outside, or ended unseen";
  if (verdict.id == "normal") return "ended by itself";
  if (verdict.id == "crash" && facts.crash && !facts.crash->frame.empty()) return "crash in " + facts.crash->frame;
  if (const EndEvent* const error = LastError(facts); error != nullptr && verdict.id == "out_of_memory")
    return ErrorText(*error);
  if (const EndEvent* const exit = LastOf(facts, ProcessStateKind::kExit); exit != nullptr && verdict.id == "exit") {
    const auto code = CodeOf(*exit);
    return fmt::format("{}({}) called by {}", exit->state.committed != 0 ? "Runtime.halt" : "System.exit",
                       code ? fmt::to_string(*code) : "code not known", CallerOf(*exit));
  }
  if (const EndEvent* const signal = LastOf(facts, ProcessStateKind::kSignal);
      signal != nullptr && verdict.id == "signal")
    return SignalName(signal->state.used);
  if (const EndEvent* const uncaught = LastOf(facts, ProcessStateKind::kUncaught);
      uncaught != nullptr && verdict.id == "uncaught")
    return "uncaught " + uncaught->class_name;
  return verdict.text;
}

}  // namespace heaprec::tools

#include "tools/query/why/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "tools/input/file_source.h"
#include "tools/query/summary/headlines.h"
#include "tools/render/value_format.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using format::AccountItem;
using format::Amount;
using format::ProcessStateKind;

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr double kWorthSeconds = 60;  // a shorter delay is not worth a larger limit
constexpr double kMuchGc = 0.3;       // of the last ten seconds

std::string Need(uint64_t low, uint64_t high) {
  return low == high ? BytesText(high) : fmt::format("{} to {}", BytesText(low), BytesText(high));
}

// What the process needs beside the heap: at the end, and at its peak.
std::optional<std::pair<uint64_t, uint64_t>> BesideHeap(const EndFacts& facts) {
  if (facts.last() == nullptr || facts.last()->rss == 0) return std::nullopt;
  const auto beside = [](const AccountAt& at) {
    const uint64_t heap = at.account[AccountItem::kHeapResident].ValueOr(at.heap_committed);
    return at.rss - std::min(at.rss, std::min(heap, at.heap_committed));
  };
  uint64_t peak = 0;
  for (const AccountAt& at : facts.accounts) peak = std::max(peak, beside(at));
  return std::pair(beside(*facts.last()), peak);
}

// Whether it takes a tenth of the process' memory more than before: for recordings that are too short for a rate.
bool HasRisen(const EndFacts& facts, std::string_view id) {
  const auto owner = std::ranges::find(Owners(), id, &Owner::id);
  if (facts.before() == nullptr || owner->is_count) return false;
  const uint64_t to = AmountsOf(*owner, *facts.last()).Charged().value_or(0);
  const uint64_t from = AmountsOf(*owner, *facts.before()).Charged().value_or(to);
  return to > from + facts.last()->rss / 10;
}

constexpr uint64_t kMiB = 1 << 20;
uint64_t RoundedUp(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

bool IsGiven(const EndFacts& facts, std::string_view name) {
  const format::Setting* const setting = facts.SettingOf(name);
  return setting != nullptr && setting->origin == format::Setting::Origin::kSet;
}

void AdviseLimit(const EndFacts& facts, const std::vector<GrownOwner>& grown, std::vector<NextStep>* into) {
  const auto fill = FillOf(facts.last());
  if (!fill) return;
  // What is in the cgroup beside this process.
  const uint64_t rss = facts.last()->rss, shmem = AmountAt(facts.last(), AccountItem::kCgroupShmem).ValueOr(0);
  if (shmem > fill->limit / 10) {
    into->push_back({fmt::format("size limit below {}Mi for tmpfs (emptyDir with medium: Memory)", shmem / kMiB),
                     fmt::format("its files take {} of the limit", BytesText(shmem))});
  }
  const uint64_t others = fill->needed - std::min(fill->needed, rss + shmem);
  if (rss > 0 && others > fill->limit / 5) {
    into->push_back({fmt::format("memory limit for {}Mi of other processes, or a container of their own",
                                 RoundedUp(others, kMiB) / kMiB),
                     "they share the cgroup with this one"});
  }
  const auto heap = facts.NumberOf("MaxHeapSize");
  const auto beside = BesideHeap(facts);
  if (!heap || !beside) return;
  const uint64_t need = *heap + beside->second;
  if (need <= fill->limit) return;
  const std::string room = fill->limit > *heap ? BytesText(fill->limit - *heap) : "nothing";
  std::string text = fmt::format("memory limit of {}Mi or more", RoundedUp(need, kMiB) / kMiB);
  if (fill->limit > beside->second + 16 * kMiB) {
    const uint64_t fits = fill->limit - beside->second;
    text += IsGiven(facts, "MaxRAMPercentage")
                ? fmt::format(", or -XX:MaxRAMPercentage={} or less", 100 * fits / fill->limit)
                : fmt::format(", or -Xmx{}m or less", fits / kMiB);
  }
  std::string reason = fmt::format("the limit leaves {} beside MaxHeapSize; this process needed {}", room,
                                   Need(beside->first, beside->second));
  const auto rate = std::ranges::find(grown, "process", [](const GrownOwner& one) { return one.owner->id; });
  if (rate != grown.end()) {
    const double seconds = static_cast<double>(need - fill->limit) / rate->per_second.value;
    reason +=
        fmt::format(", and grew: that lasts {} longer", render::FormatInline(seconds, render::Unit::kSeconds, true));
  }
  into->push_back({text, reason});
}

// A larger limit of what ran out is enough if its use is steady, and a delay if it, or a part of it, grows. No advice
// if the delay is short, or if the limit was reached at once.
void AdviseLarger(const EndFacts& facts, const std::vector<GrownOwner>& grown, std::string_view id,
                  std::string_view part_id, const char* option, std::vector<NextStep>* into) {
  if (facts.last() == nullptr) return;
  const OwnerAmounts amounts = AmountsOf(*std::ranges::find(Owners(), id, &Owner::id), *facts.last());
  const auto used = amounts.Charged();
  if (!used || !amounts.limit.is_known()) return;
  const uint64_t limit = amounts.limit.value();
  const uint64_t larger = RoundedUp(limit + limit / 2, 16 * kMiB);
  const auto rate = std::ranges::find_if(
      grown, [&](const GrownOwner& one) { return one.owner->id == id || one.owner->id == part_id; });
  std::string reason = fmt::format("{} used; it was steady", OfText(*used, limit));
  if (rate != grown.end()) {
    const double seconds = static_cast<double>(larger - limit) / rate->per_second.value;
    if (seconds < kWorthSeconds) return;
    reason =
        fmt::format("lasts {} longer, because its use grows by {}/s",
                    render::FormatInline(seconds, render::Unit::kSeconds, true), BytesText(rate->per_second.value));
  } else if (*used < limit / 2) {
    return;  // it filled up at once
  }
  into->push_back({fmt::format("{}{}m", option, larger / kMiB), reason});
}

void AdviseThreads(const EndFacts& facts, std::vector<NextStep>* into) {
  if (!facts.thread_sites.empty()) {
    const ThreadSite& site = facts.thread_sites.front();
    into->push_back({"a bound on the threads that " + site.site + " starts",
                     fmt::format("{} were started there", CountOf(site.started, "thread"))});
  }
  const Amount pids = AmountAt(facts.last(), AccountItem::kCgroupPidsMax);
  if (pids.is_known())
    into->push_back({fmt::format("pids limit of {} or more", pids.value() + pids.value() / 2),
                     fmt::format("the cgroup allows {}", pids.value())});
}

// HotSpot begins a frame with the kind of its code.
void AdviseCrash(const EndFacts& facts, std::vector<NextStep>* into) {
  if (!facts.crash) {
    into->push_back({"-XX:ErrorFile=DIR/hs_err_%p.log",
                     "a folder that outlives the container: the JVM's report has the native frame and the thread"});
    return;
  }
  into->push_back({"less " + ShellQuoted(facts.crash->file), "the JVM's report: native stack, libraries, registers"});
  const std::string& frame = facts.crash->frame;
  const size_t open = frame.find('['), plus = frame.find('+');
  if (frame.starts_with('C') && open < plus && plus != std::string::npos) {
    into->push_back({"another version of " + frame.substr(open + 1, plus - open - 1), "it crashed in that library"});
  } else if (frame.starts_with('V')) {
    into->push_back({"the latest update of the JVM",
                     "it crashed in the JVM's own code, where the program's use of Unsafe or JNI can lead, too"});
  }
}

void AdviseSignal(const EndFacts& facts, std::vector<NextStep>* into) {
  into->push_back({"kubectl describe pod", "in Kubernetes: who stopped it (a failed probe, an eviction, a rollout)"});
  const EndEvent* const signal = LastOf(facts, ProcessStateKind::kSignal);
  if (signal == nullptr || IsExit(facts.end_reason)) return;
  const uint64_t seconds = facts.BeforeEnd(signal->state.time_ns) / kSecondNs;
  into->push_back({fmt::format("terminationGracePeriodSeconds of more than {}", std::max<uint64_t>(seconds, 1)),
                   "the process was still shutting down"});
}

}  // namespace

std::vector<NextStep> NextStepsOf(const EndFacts& facts, const EndVerdict& verdict,
                                  const std::vector<GrownOwner>& grown, const std::vector<LiveSite>& sites,
                                  const std::string& name) {
  std::string file;
  for (const std::string& one : FilesOf(name)) file += (file.empty() ? "" : " ") + ShellQuoted(one);
  // In this order: what shows the cause, what to set, what to record the next time.
  std::vector<NextStep> advice, settings, records;
  const auto command = [&](const std::string& words, const char* reason) {
    advice.push_back({"heaprec " + words + " " + file, reason});
  };
  const EndEvent* const error = LastError(facts);
  const Resource resource = error != nullptr ? ResourceOf(*error) : Resource::kOther;
  const auto grows = [&](std::string_view id) {
    return HasRisen(facts, id) ||
           std::ranges::any_of(grown, [&](const GrownOwner& one) { return one.owner->id == id; });
  };
  const auto is_leak_of = [](format::Stream stream) {
    return [stream](const LiveSite& site) { return site.leak && site.stream == stream; };
  };
  const bool was_killed = verdict.id == "oom_kill" || verdict.id == "killed";
  const bool is_heap = resource == Resource::kHeap || resource == Resource::kGcTime;
  const bool wants_heap = is_heap || !facts.heap_full.empty() || grows("old_generation") || grows("heap") ||
                          facts.gc_at_end.Share() > kMuchGc;
  if (verdict.id == "crash") AdviseCrash(facts, &advice);
  if (verdict.id == "exit" || verdict.id == "signal" || verdict.id == "uncaught")
    command("print --kind event", "the whole stack, and what came before");
  if (verdict.id == "uncaught" && facts.header.exceptions.interval_ns > 0)
    command("tree --callers --kind exception", "which exceptions were thrown, and where");
  if (verdict.id == "uncaught" && facts.header.exceptions.interval_ns == 0)
    records.push_back({"record with exceptions=on", "which exceptions came before it"});
  if (verdict.id == "signal") AdviseSignal(facts, &advice);
  if (wants_heap && facts.header.max_tracked_objects > 0) {
    const bool leaks = std::ranges::any_of(sites, is_leak_of(format::Stream::kAllocations));
    command(leaks ? "leaks" : "live", leaks ? "what grows" : "what fills the heap");
  }
  if (wants_heap && facts.header.max_tracked_objects == 0) {
    command("top --by site", "what allocates most, which need not be what stays");
    records.push_back({"record with live=on", "which objects filled the heap; this recording tracked none"});
  }
  if (is_heap) AdviseLarger(facts, grown, "heap", "old_generation", "-Xmx", &settings);
  if (resource == Resource::kMetaspace || resource == Resource::kClassSpace || grows("metaspace"))
    command("tree --callers --site 'java.lang.ClassLoader.<init>'", "who makes class loaders");
  if (resource == Resource::kMetaspace)
    AdviseLarger(facts, grown, "metaspace", "metaspace", "-XX:MaxMetaspaceSize=", &settings);
  if (resource == Resource::kClassSpace)
    AdviseLarger(facts, grown, "class_space", "class_space", "-XX:CompressedClassSpaceSize=", &settings);
  if (resource == Resource::kDirect || grows("direct_buffers"))
    command("tree --callers --class java.nio.DirectByteBuffer", "who allocates direct buffers");
  if (resource == Resource::kDirect)
    AdviseLarger(facts, grown, "direct_buffers", "direct_buffers", "-XX:MaxDirectMemorySize=", &settings);
  if (resource == Resource::kThreads || grows("threads") || grows("cgroup_threads")) {
    command("print --kind event", "which code starts threads, with stacks");
    AdviseThreads(facts, &settings);
  }
  if (error != nullptr &&
      (resource == Resource::kArray || resource == Resource::kStack || resource == Resource::kOther))
    command("print --kind event", "the whole stack of the error");
  const bool leaks_native = std::ranges::any_of(sites, is_leak_of(format::Stream::kNative));
  const bool wants_native = leaks_native || grows("unexplained") || grows("malloc") ||
                            ((was_killed || verdict.id == "running") && grows("process") && !wants_heap);
  if (wants_native && facts.header.max_tracked_blocks == 0)
    records.push_back({"record with native=on", "which code holds native memory; this recording has none"});
  if (wants_native && facts.header.max_tracked_blocks > 0)
    command("leaks --kind malloc", "which code holds native memory");
  if (verdict.id == "oom_kill") AdviseLimit(facts, grown, &settings);
  if (was_killed && verdict.certainty != Certainty::kCertain) {
    if (!facts.survivor && facts.SettingOf("cgroup.inode") != nullptr && FillOf(facts.last()))
      command("why", "again, on the host that ran it: the cgroup counts what the kernel killed, while it exists");
  }
  if (verdict.id == "killed") {
    advice.push_back({"kubectl describe pod", "in Kubernetes: OOMKilled, or a failed probe"});
    advice.push_back({"dmesg -T | grep -i 'killed process'", "on its host: what the kernel killed"});
  }
  if (verdict.id == "continues" && facts.end_reason == format::kEndRotated) {
    const size_t slash = name.rfind('/');
    advice.push_back({"heaprec why " + ShellQuoted(slash == std::string::npos ? "." : name.substr(0, slash + 1)),
                      "all its parts together"});
  }
  if (verdict.id == "stopped") settings.push_back({"record without duration=", "how the process ends"});
  if (verdict.id == "nothing") command("verify", "what is damaged");
  advice.insert(advice.end(), settings.begin(), settings.end());
  advice.insert(advice.end(), records.begin(), records.end());
  std::vector<NextStep> once;
  for (NextStep& step : advice) {
    if (std::ranges::find(once, step.text, &NextStep::text) == once.end()) once.push_back(std::move(step));
  }
  if (!once.empty() || verdict.id == "stopped" || verdict.id == "continues") return once;
  command("summary", "what the process did");
  return advice;
}

namespace {

constexpr size_t kSites = 3;

}  // namespace

Explanation ExplainEnd(Recording* recording, const std::string& file, bool is_alone, const std::string& cgroup) {
  Explanation one;
  one.file = file;
  one.is_alone = is_alone;
  EndFactsReader reader(recording->header());
  while (const auto block = recording->Next()) reader.Add(*block);
  one.facts = reader.Finish(*recording);
  one.facts.crash = FindCrashReport(file, one.facts);
  if (!one.facts.is_running) one.facts.survivor = ReadSurvivor(one.facts.header, cgroup);
  one.verdict = EndVerdictOf(one.facts);
  one.grown = GrowthOf(one.facts);
  if (is_alone) one.sites = SearchLiveSites(file, one.facts.header, kSites);
  if (is_alone && !one.facts.heap_full.empty())
    one.filled = SearchLiveAt(file, one.facts.header, one.facts.heap_full.back().time_ns, kSites);
  one.advice = NextStepsOf(one.facts, one.verdict, one.grown, one.sites, file);
  return one;
}

void AddChanges(Explanation* into) { into->changes = ChangesOf(into->facts, into->is_alone ? into->file : ""); }

namespace {

// Of equally frequent values the one of the latest end. `value_of`: nullopt: it has none.
template <typename T, typename ValueOf>
Shared<T> MostFrequent(const std::vector<const ProcessEnd*>& ends, ValueOf value_of) {
  std::map<T, size_t> counts;
  for (const ProcessEnd* end : ends) {
    if (std::optional<T> value = value_of(*end)) ++counts[*value];
  }
  Shared<T> most;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    const std::optional<T> value = value_of(**end);
    if (value && counts[*value] > most.ends) most = {*value, counts[*value]};
  }
  return most;
}

std::optional<std::string> OrNone(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

// The owner that grew fastest, in the order in which they are shown: RSS and the cgroup grow with any of the others.
const GrownOwner* OwnGrowth(const ProcessEnd& end) {
  const auto is_own = [](const GrownOwner& one) { return one.owner->id != "cgroup" && one.owner->id != "process"; };
  const auto own = std::ranges::find_if(end.grown, is_own);
  if (own != end.grown.end()) return &*own;
  return end.grown.empty() ? nullptr : &end.grown.front();
}

std::optional<std::string> GrowthName(const ProcessEnd& end) {
  const GrownOwner* const grown = OwnGrowth(end);
  return grown != nullptr ? std::optional(std::string(grown->owner->name)) : std::nullopt;
}

}  // namespace

bool ProcessEnd::is_over() const {
  return verdict.id != "running" && verdict.id != "continues" && verdict.id != "stopped" && verdict.id != "nothing";
}

ProcessEnd EndOf(const Explanation& one) {
  const EndFacts& facts = one.facts;
  ProcessEnd end;
  end.file = one.file;
  end.end_epoch_ns = facts.header.start_epoch_ns + facts.end_ns;
  end.lived_ns = facts.end_ns;
  end.verdict = one.verdict;
  end.cause = CauseOf(facts, one.verdict);
  end.grown = one.grown;
  if (!one.sites.empty() && one.sites.front().leak) end.leak = one.sites.front().site;
  end.heap_limit = facts.NumberOf("MaxHeapSize");
  if (facts.last() != nullptr) {
    const format::Amount limit = facts.last()->account[format::AccountItem::kCgroupMax];
    if (limit.is_known()) end.memory_limit = limit.value();
  }
  return end;
}

CrashLoop CrashLoopOf(const std::vector<ProcessEnd>& ends) {
  std::vector<const ProcessEnd*> over;
  for (const ProcessEnd& end : ends) {
    if (end.is_over()) over.push_back(&end);
  }
  CrashLoop loop;
  loop.ends = over.size();
  if (over.empty()) return loop;
  loop.cause = MostFrequent<std::string>(over, [](const ProcessEnd& end) { return OrNone(end.cause); });
  loop.grown = MostFrequent<std::string>(over, GrowthName);
  loop.leak = MostFrequent<std::string>(over, [](const ProcessEnd& end) { return OrNone(end.leak); });
  loop.heap_limit = MostFrequent<uint64_t>(over, [](const ProcessEnd& end) { return end.heap_limit; });
  loop.memory_limit = MostFrequent<uint64_t>(over, [](const ProcessEnd& end) { return end.memory_limit; });
  std::vector<uint64_t> lived;
  std::vector<double> rates;
  for (const ProcessEnd* end : over) {
    if (end->cause == loop.cause.value) lived.push_back(end->lived_ns), loop.typical = end;
    if (GrowthName(*end) == loop.grown.value && OwnGrowth(*end) != nullptr)
      rates.push_back(OwnGrowth(*end)->per_second.value);
  }
  std::ranges::sort(lived);
  std::ranges::sort(rates);
  loop.lived_ns = lived[lived.size() / 2];
  loop.shortest_ns = lived.front();
  loop.longest_ns = lived.back();
  if (!rates.empty()) loop.grown_per_second = Estimate{rates[rates.size() / 2], rates.front(), rates.back()};
  return loop;
}

}  // namespace heaprec::tools

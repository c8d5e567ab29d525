#include "recorder/sources/state/memory_poller.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "recorder/sources/log.h"

namespace heaprec::sources {
namespace {

constexpr uint64_t kFirstMappingsNs = 900'000'000;

// Categories with an item of their own, and the sum. "Other" is what Java code has: direct buffers.
constexpr std::array<std::string_view, 10> kOwned{
    "Total", "Java Heap", "Class", "Metaspace", "Thread", "Thread Stack", "Code", "GC", "Other", "Shared class space"};

uint64_t OtherOf(const std::vector<hotspot::MemoryCategory>& categories) {
  uint64_t sum = 0;
  for (const hotspot::MemoryCategory& category : categories) {
    if (std::ranges::count(kOwned, category.name) == 0) sum += category.committed;
  }
  return sum;
}

}  // namespace

Status MemoryPoller::Tick(JNIEnv* jni, uint64_t now_ns) {
  if (now_ns < next_ns_) return {};
  std::string why;
  // All rows of a snapshot have the same time.
  if (summary_ && jni != nullptr) LookAtJvm(jni, now_ns, &why);
  const uint64_t asked_ns = MonotonicNs();
  if (asks_kernel_) LookAtProcess(now_ns);
  const uint64_t end_ns = MonotonicNs();
  if (asked_ns - now_ns > kMaxNs) {
    summary_.reset();
    why = "the JVM took more than a second to report its native memory";
  }
  if (end_ns - asked_ns > kMaxNs) {
    asks_kernel_ = false;
    why = "the kernel took more than a second to report the process' memory";
  }
  next_ns_ = end_ns + std::max(period_ns_, kMaxShare * (end_ns - now_ns)) - (end_ns - now_ns);
  if (!why.empty()) return Error{why};
  return {};
}

void MemoryPoller::LookAtJvm(JNIEnv* jni, uint64_t time_ns, std::string* why) {
  const auto categories = summary_->Ask(jni);
  if (!categories.ok()) {
    *why = categories.error().message;
    summary_.reset();
    return;
  }
  format::ProcessAccount account;
  for (const hotspot::MemoryCategory& category : *categories) {
    rows_.CommitMemory(time_ns, {category.name, category.reserved, category.committed, 0});
    if (category.name == "GC")
      account.Set(format::AccountItem::kCollectorCommitted, format::Amount::Of(category.committed));
  }
  account.Set(format::AccountItem::kOtherJvmCommitted, format::Amount::Of(OtherOf(*categories)));
  rows_.Post(account);
}

void MemoryPoller::LookAtProcess(uint64_t time_ns) {
  std::ifstream file("/proc/self/smaps_rollup");
  uint64_t rss = 0, pss = 0, own = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    uint64_t kilobytes = 0;
    if (!(words >> key >> kilobytes)) continue;
    if (key == "Rss:") rss = kilobytes << 10;
    if (key == "Pss:") pss = kilobytes << 10;
    if (key == "Private_Clean:" || key == "Private_Dirty:") own += kilobytes << 10;
  }
  if (rss == 0) {  // before Linux 4.14, or hidden
    asks_kernel_ = false;
    return;
  }
  rows_.CommitMemory(time_ns, {"", pss, own, rss});
}

void AccountPoller::Tick(JNIEnv* jni, uint64_t now_ns) {
  format::ProcessAccount taken;
  if (jni != nullptr) buffers_.Read(jni, &taken);
  // Not at once: a process that begins is not yet what it will be.
  if (!next_mappings_ns_) next_mappings_ns_ = now_ns + kFirstMappingsNs;
  if (now_ns >= *next_mappings_ns_) {
    mappings_.Read(&taken);
    const uint64_t took_ns = MonotonicNs() - now_ns;
    next_mappings_ns_ = now_ns + std::max(kMappingsPeriodNs, kMaxShare * took_ns);
    if (mappings_.rest()) {
      format::ProcessAccount owned = taken;
      usage_.Read(&owned);
      const uint64_t explained = owned[format::AccountItem::kMetaspaceCommitted].ValueOr(0) +
                                 owned[format::AccountItem::kDirectUsed].ValueOr(0);
      taken.Set(format::AccountItem::kUnexplained,
                format::Amount::Of(*mappings_.rest() - std::min(*mappings_.rest(), explained)));
    }
  }
  rows_.Post(taken);
}

Status MemorySnapshots::Activate() {
  const auto started = thread_.Start();
  if (!started.ok()) Log(LogLevel::kWarn, "buffers, mappings and NMT are not recorded: {}", started.error().message);
  return {};
}

// The thread is attached before it waits: the JVM attaches none while it exits.
void MemorySnapshots::Poll() {
  const std::chrono::milliseconds tick{poller_ ? 200 : 1000};
  const AttachedScope attached(vm_, "heaprec-memory");
  do {
    account_.Tick(attached.jni(), MonotonicNs());
    if (!poller_) continue;
    const auto polled = poller_->Tick(attached.jni(), MonotonicNs());
    if (!polled.ok()) Log(LogLevel::kWarn, "memory: {}; NMT is not queried again", polled.error().message);
  } while (!thread_.SleepOrStop(tick));
  account_.End(attached.jni());
}

}  // namespace heaprec::sources

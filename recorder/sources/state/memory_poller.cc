#include "recorder/sources/state/memory_poller.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "base/clock.h"
#include "recorder/sources/log.h"

namespace heaprec::sources {

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
  for (const hotspot::MemoryCategory& category : *categories) {
    rows_.CommitMemory(time_ns, {category.name, category.reserved, category.committed, 0});
  }
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

void MemorySnapshots::Poll() {
  constexpr std::chrono::milliseconds kTick{200};
  std::optional<AttachedScope> attached;
  do {
    if (poller_.asks_jvm() && (!attached || attached->jni() == nullptr)) attached.emplace(vm_, "heaprec-memory");
    if (!poller_.asks_jvm()) attached.reset();
    const auto polled = poller_.Tick(attached ? attached->jni() : nullptr, MonotonicNs());
    if (!polled.ok()) Log(LogLevel::kWarn, "memory: {}; NMT is not queried again", polled.error().message);
  } while (!thread_.SleepOrStop(kTick));
}

}  // namespace heaprec::sources

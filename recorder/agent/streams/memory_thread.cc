#include "recorder/agent/streams/memory_thread.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/clock.h"
#include "recorder/agent/options/log.h"

namespace heaprec::agent {
namespace {

constexpr std::chrono::milliseconds kTick{200};

std::optional<hotspot::NmtSummary> SummaryOf(const Jvm& jvm) {
  if (!hotspot::NmtEnabled(jvm.structs)) return std::nullopt;
  auto found = jvm.symbols.ok() ? hotspot::NmtSummary::Find(*jvm.symbols)
                                : format::Result<hotspot::NmtSummary>(jvm.symbols.error());
  if (found.ok()) return *found;
  Log(LogLevel::kWarn, "the JVM's native memory (NMT) is not recorded: {}", found.error().message);
  return std::nullopt;
}

}  // namespace

MemoryThread::MemoryThread(const Jvm& jvm, sources::HeapStateRecorder& rows, uint64_t period_ns)
    : jvm_(jvm), watch_(rows, SummaryOf(jvm), period_ns), thread_("heaprec-memory", [this] { Ask(); }) {}

void MemoryThread::Ask() {
  std::optional<AttachedScope> attached;
  for (;;) {
    if (watch_.asks_jvm() && (!attached || attached->jni() == nullptr)) attached.emplace(jvm_.vm, "heaprec-memory");
    if (!watch_.asks_jvm()) attached.reset();
    auto asked = watch_.Tick(attached ? attached->jni() : nullptr, MonotonicNs());
    if (!asked.ok()) Log(LogLevel::kWarn, "memory: {}; NMT is not queried again", asked.error().message);
    if (thread_.SleepOrStop(kTick)) return;
  }
}

}  // namespace heaprec::agent

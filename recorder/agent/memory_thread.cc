#include "recorder/agent/memory_thread.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "recorder/agent/log.h"
#include "recorder/sources/clock.h"
#include "recorder/writer/quiet_thread.h"

namespace heaprec::agent {
namespace {

constexpr std::chrono::milliseconds kTick{200};
constexpr std::chrono::seconds kStopPatience{2};

std::optional<hotspot::MemorySummary> SummaryOf(const Jvm& jvm) {
  if (!hotspot::TracksMemory(jvm.structs)) return std::nullopt;
  auto found = jvm.symbols.ok() ? hotspot::MemorySummary::Find(*jvm.symbols)
                                : format::Result<hotspot::MemorySummary>(jvm.symbols.error());
  if (found.ok()) return *found;
  Log(LogLevel::kWarn, "the JVM's native memory is not recorded: {}", found.error().message);
  return std::nullopt;
}

}  // namespace

MemoryThread::MemoryThread(const Jvm& jvm, sources::HeapWatch& rows, uint64_t period_ns)
    : jvm_(jvm), watch_(rows, SummaryOf(jvm), period_ns) {}

MemoryThread::~MemoryThread() {
  if (started_) pthread_join(thread_, nullptr);
}

format::Result<std::monostate> MemoryThread::Start() {
  auto thread = writer::StartQuietThread(
      "heaprec-memory", [](void* self) { static_cast<MemoryThread*>(self)->Run(); },
      [](void* self) { static_cast<MemoryThread*>(self)->Finish(); }, this);
  if (!thread.ok()) return thread.error();
  thread_ = *thread;
  started_ = true;
  return std::monostate{};
}

void MemoryThread::Run() {
  Ask();
  Finish();
}

void MemoryThread::Ask() {
  std::optional<AttachedScope> attached;
  for (;;) {
    if (watch_.asks_jvm() && (!attached || attached->jni() == nullptr)) attached.emplace(jvm_.vm, "heaprec-memory");
    if (!watch_.asks_jvm()) attached.reset();
    auto asked = watch_.Tick(attached ? attached->jni() : nullptr, sources::MonotonicNs());
    if (!asked.ok()) Log(LogLevel::kWarn, "memory: {}; it is not asked again", asked.error().message);
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kTick, [this] { return stop_requested_; })) return;
  }
}

void MemoryThread::Finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

void MemoryThread::Stop() {
  std::unique_lock lock(mutex_);
  stop_requested_ = true;
  changed_.notify_all();
  if (started_) (void)changed_.wait_for(lock, kStopPatience, [this] { return finished_; });
}

bool MemoryThread::TryJoin() {
  if (started_ && pthread_tryjoin_np(thread_, nullptr) == 0) started_ = false;
  return !started_;
}

}  // namespace heaprec::agent

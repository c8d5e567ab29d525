#include "recorder/agent/streams/census_stream.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <optional>

#include "recorder/agent/options/log.h"
#include "recorder/agent/options/rates.h"
#include "recorder/hotspot/threads/safepoint.h"

namespace heaprec::agent {
namespace {

// Target share of the limit per second. Census::Draw takes less than the controller aims at, and the more it has taken,
// the less it takes.
constexpr double kAim = 0.8;

// Who the threads of the process are: never destroyed, for a thread may end at any time.
std::atomic<sources::CensusThreads*> directory{nullptr};

void Put(const Jvm& jvm, JNIEnv* jni, jthread thread, const void* java_thread, uint32_t os_tid,
         sources::CensusThreads* into) {
  sources::ThreadIdentity identity;
  jvm.thread_fields.Read(jni, thread, &identity);
  into->Put(java_thread, identity.java_tid, os_tid, identity.Name());
}

std::optional<sources::CensusDraw> DrawOf(const CensusStream::Config& config) {
  if (config.mode != format::CensusMode::kDrawn) return std::nullopt;
  sources::CensusDraw draw;
  draw.config = ControllerFor(kAim * config.per_second, /*unit_is_event=*/true);
  draw.config.oversampling = draw.config.oversampling_new_stacks = 1;  // there is no second stage
  draw.most_per_second = static_cast<uint32_t>(config.per_second);
  draw.seed = config.seed;
  return draw;
}

}  // namespace

format::Result<std::unique_ptr<CensusStream>> CensusStream::Make(const Jvm& jvm, buffer::Ring& ring,
                                                                 const Config& config) {
  auto objects = jvm.Objects();
  if (!objects.ok()) return objects.error();
  if (directory.load() == nullptr) directory.store(new sources::CensusThreads);
  std::unique_ptr<CensusStream> stream(new CensusStream(jvm, *objects));
  stream->census_ = std::make_unique<sources::Census>(ring, jvm.layout, stream->objects_, jvm.names, *directory.load(),
                                                      DrawOf(config), config.start_ns);
  return stream;
}

void CensusStream::RegisterThreads(JNIEnv* jni) {
  jthread* threads = nullptr;
  jint count = 0;
  if (jvm_.jvmti->GetAllThreads(&count, &threads) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    const void* const java_thread = jvm_.thread_of.OfThread(jni, threads[i]);
    if (java_thread != nullptr) {
      Put(jvm_, jni, threads[i], java_thread, jvm_.layout.OsTidOfOther(java_thread), directory.load());
    }
    jni->DeleteLocalRef(threads[i]);
  }
  jvm_.jvmti->Deallocate(reinterpret_cast<unsigned char*>(threads));
}

format::Result<std::monostate> CensusStream::CountInUse() {
  const std::lock_guard lock(ending_);
  if (!is_active()) return format::Error{"the census has ended"};
  const auto look = [](void* self) {
    auto* const stream = static_cast<CensusStream*>(self);
    stream->census_->CountAtSafepoint(*stream->jvm_.threads);
  };
  return hotspot::AtSafepoint(jvm_.jvmti, *jvm_.symbols, look, this);
}

void CensusStream::End(JNIEnv* jni) {
  const std::lock_guard lock(ending_);
  if (!is_active()) return;
  const auto end = [](void* self) {
    auto* const stream = static_cast<CensusStream*>(self);
    stream->census_->StopAtSafepoint(*stream->jvm_.threads);
  };
  const auto stopped = hotspot::AtSafepoint(jvm_.jvmti, *jvm_.symbols, end, this);
  if (!is_active()) return;
  Log(LogLevel::kInfo, "census: cannot stop the threads at a safepoint: {}",
      stopped.ok() ? "" : stopped.error().message);
  census_->EndRunning(jni != nullptr ? jvm_.AllThreads(jni) : std::vector<void*>());
}

void CensusStream::OnThreadStart(const Jvm& jvm, JNIEnv* jni, jthread thread) {
  sources::CensusThreads* const into = directory.load(std::memory_order_acquire);
  if (into == nullptr) return;
  Put(jvm, jni, thread, jvm.thread_of(jni), static_cast<uint32_t>(syscall(SYS_gettid)), into);
}

void CensusStream::OnThreadEnd(const void* java_thread) {
  if (sources::CensusThreads* const known = directory.load(std::memory_order_acquire)) known->Forget(java_thread);
}

}  // namespace heaprec::agent

// The parts of a recording other than its source of samples: tracked objects and blocks, native memory, a census.
#include <algorithm>

#include "recorder/agent/options/log.h"
#include "recorder/agent/options/rates.h"
#include "recorder/agent/recording.h"
#include "recorder/sources/native/java_frames.h"
#include "recorder/sources/sample_limits.h"

namespace heaprec::agent {
namespace {

constexpr uint32_t kMinTracked = 4096;
constexpr uint64_t kMemoryPeriodNs = 10'000'000'000;

}  // namespace

void Recording::PlanStreams(const ChosenSource& source) {
  plan_.PlanAllocations();
  if (options_.exceptions && source.no_exceptions.empty()) {
    plan_.exceptions = plan_.At(options_.exceptions_per_second, /*unit_is_event=*/true);
  }
  if (!options_.native) return;
  auto led = plan_.InstallMallocHooks();
  if (!led.ok()) Log(LogLevel::kWarn, "native memory is not sampled: {}", led.error().message);
}

void Recording::MakeNative() {
  JNIEnv* jni = nullptr;
  if (Walker() != nullptr && jvm_.vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_6) == JNI_OK) {
    const auto current = hotspot::CurrentThread::Resolve(jvm_.thread_of(jni), jvm_.AllThreads(jni));
    if (current.ok()) {
      java_frames_ = std::make_unique<sources::WalkedJavaFrames>(*current, *Walker(), *capture_);
    } else {
      Log(LogLevel::kWarn, "native memory has no Java frames: {}", current.error().message);
    }
  }
  native_ = std::make_unique<NativeStream>(*ring_, *plan_.native, plan_.start_ns, number_, plan_.Seed(),
                                           MaxGapOf(*plan_.native), java_frames_.get(), plan_.maps_per_second());
}

// Half of the places are for births, at most (writer::ReservoirOf).
void Recording::MakeLive() {
  const auto times = [this](uint64_t n) {
    const uint32_t buffered = BufferedPerInterval(board_->config());
    return static_cast<uint32_t>(std::min<uint64_t>(n * buffered, sources::kMaxTracked));
  };
  const uint32_t bound =
      options_.max_tracked_objects > 0 ? options_.max_tracked_objects : std::max(kMinTracked, times(12));
  if (bound < times(4)) {
    Log(LogLevel::kWarn, "live={} is too small for this rate, some objects will not be tracked; use live={}", bound,
        times(12));
  }
  // Told by what shows live objects, as ranges.
  if (jvm_.KeepsYoungReferents()) Log(LogLevel::kInfo, "live: {}", kYoungReferents);
  live_ = std::make_unique<TrackerThread>(jvm_, *ring_, *heap_watch_, bound);
  capture_->FollowIn(&live_->places(), &jvm_.heap);
}

void Recording::MakeMemory() {
  const bool is_wanted = options_.nmt_ns > 0 || hotspot::NmtEnabled(jvm_.structs);
  if (options_.no_nmt || !is_wanted) return;
  const uint64_t period_ns = options_.nmt_ns > 0 ? options_.nmt_ns : kMemoryPeriodNs;
  memory_ = std::make_unique<MemoryThread>(jvm_, *heap_watch_, period_ns);
}

// Without one the recording is what it is without the option.
void Recording::MakeCensus(const ChosenSource& source) {
  if (options_.census == format::CensusMode::kOff) return;
  no_census_ = source.no_census;
  if (no_census_.empty()) {
    auto census =
        CensusStream::Make(jvm_, *ring_, {options_.census, options_.census_per_second, plan_.Seed(), plan_.start_ns});
    if (census.ok()) {
      census_ = std::move(*census);
    } else {
      no_census_ = census.error().message;
    }
  }
  JNIEnv* jni = nullptr;
  if (census_ != nullptr && jvm_.vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_6) == JNI_OK) {
    census_->RegisterThreads(jni);
  }
  if (!no_census_.empty()) Log(LogLevel::kWarn, "no census: {}", no_census_);
}

// Needs an attached thread.
void Recording::EndCensus() {
  JNIEnv* jni = nullptr;
  if (census_ == nullptr || jvm_.vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_6) != JNI_OK) return;
  census_->End(jni);
}

writer::TrackedSet::Callbacks Recording::Tracked() const {
  sources::WeakRefTable& places = live_->places();
  return {.drop = [&places](uint16_t place, uint64_t sample) { (void)places.Drop(place, sample); },
          .collections_at_birth =
              [this, &places](uint16_t place, uint64_t sample) {
                return places.CollectionsAtBirth(place, sample, jvm_.heap.Collections());
              },
          .collections = [this] { return jvm_.heap.Collections(); }};
}

}  // namespace heaprec::agent

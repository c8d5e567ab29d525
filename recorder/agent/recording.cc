#include "recorder/agent/recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "format/version.h"
#include "recorder/agent/events.h"
#include "recorder/agent/identity.h"
#include "recorder/agent/log.h"
#include "recorder/agent/rates.h"
#include "recorder/buffer/stale_rings.h"
#include "recorder/hotspot/safepoint.h"
#include "recorder/sources/byte_source.h"
#include "recorder/sources/clock.h"
#include "recorder/sources/entry.h"
#include "recorder/sources/tlab_source.h"

namespace heaprec::agent {
namespace {

// A drain that cannot finish in this time is stuck in a system call; the JVM's exit does not wait for it any longer.
constexpr uint64_t kStopPatienceNs = 5'000'000'000;
// Two intervals of the default rate (docs/decisions/0013).
constexpr uint64_t kBlockNs = 2'000'000'000;
// The drain's own lane hint: it writes windows only.
constexpr uint32_t kDrainLane = 0;
// Lanes of 128 KiB: 4 MiB, and all but 8 MiB where an interval may hold thousands of samples.
constexpr uint32_t kLanes = 32, kManyLanes = 62;
constexpr double kManySamples = 1000;

}  // namespace

format::Result<std::unique_ptr<Recording>> Recording::Start(const Jvm& jvm, const Options& options,
                                                            const std::string& agent_options,
                                                            const ChosenSource& source, uint32_t number,
                                                            Retired* retired) {
  std::unique_ptr<Recording> recording(new Recording(jvm, options, number));
  auto built = recording->Build(agent_options, source);
  if (!built.ok()) return built.error();
  // From here on a thread may be inside it: an exception must not destroy it.
  Recording& begun = *recording;
  retired->Add(std::move(recording));
  begun.Activate();
  if (begun.exceptions_ != nullptr) begun.exceptions_->Activate();
  if (begun.native_ != nullptr) begun.ActivateNative();
  // Release: whoever sees it sees all of it (pairs with the acquires in agent.cc).
  sources::active_heap_watch.store(begun.heap_watch_.get(), std::memory_order_release);
  auto started = begun.live_ != nullptr ? begun.live_->Start() : format::Result<std::monostate>(std::monostate{});
  if (started.ok() && begun.memory_ != nullptr) started = begun.memory_->Start();
  if (started.ok()) started = begun.drain_->Start();
  if (started.ok()) return retired->TakeLast();
  sources::active_source.store(nullptr);
  sources::active_exceptions.store(nullptr);
  sources::active_heap_watch.store(nullptr);
  if (begun.native_ != nullptr) begun.native_->Stop();
  if (begun.live_ != nullptr) begun.live_->Stop();
  if (begun.memory_ != nullptr) begun.memory_->Stop();
  begun.EndCensus();
  begun.ring_->Close();
  unlink(begun.path().c_str());  // nothing but a header, and ours
  return started.error();
}

// The source becomes active between two moments of every thread, if the threads can be stopped for that.
void Recording::Activate() {
  // Release: whoever sees the source sees the whole recording (pairs with the acquires in sources/entry.cc).
  const auto begin = [](void* self) {
    auto* const recording = static_cast<Recording*>(self);
    recording->source_->BeginStopped(*recording->jvm_.threads);
    if (recording->census_ != nullptr) recording->census_->Begin();
    sources::active_source.store(recording->source_.get(), std::memory_order_release);
  };
  if (jvm_.symbols.ok() && jvm_.threads.ok()) {
    auto stopped = hotspot::AtSafepoint(jvm_.jvmti, *jvm_.symbols, begin, this);
    if (!stopped.ok()) Log(LogLevel::kInfo, "the threads cannot be stopped: {}", stopped.error().message);
    if (sources::active_source.load(std::memory_order_acquire) == source_.get()) return;
  }
  if (census_ != nullptr) Log(LogLevel::kWarn, "no census: the threads cannot be stopped");
  JNIEnv* jni = nullptr;
  if (jvm_.vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_6) == JNI_OK) {
    source_->BeginRunning(jvm_.AllThreads(jni), jvm_.thread_of(jni));
  }
  sources::active_source.store(source_.get(), std::memory_order_release);
}

Recording::Recording(const Jvm& jvm, const Options& options, uint32_t number)
    : jvm_(jvm), options_(options), number_(number) {}

format::Result<std::monostate> Recording::Build(const std::string& agent_options, const ChosenSource& source) {
  id_ = NewRecordingId();
  start_epoch_ns_ = sources::EpochNs();
  start_ns_ = sources::MonotonicNs();
  population_at_start_ = sources::ThreadTable::Instance().Total();
  const Configs configs = ConfigsFor(source);
  auto ring = MakeRing(configs);
  if (!ring.ok()) return ring.error();
  ledger_ = std::make_unique<buffer::Ledger>(ring_->header().books);
  board_ = std::make_unique<sources::WindowBoard>(configs.allocations, start_ns_);
  capture_ = std::make_unique<sources::Capture>(*ring_, *ledger_, *board_, jvm_.names, Walker(), jvm_.thread_fields,
                                                options_.stack_depth);
  MakeSource(source);
  heap_watch_ = std::make_unique<sources::HeapWatch>(*ring_, jvm_.heap);
  if (options_.follows) MakeLive();
  MakeMemory();
  if (configs.has_exceptions) {
    exceptions_ =
        std::make_unique<ExceptionStream>(*ring_, jvm_, configs.exceptions, start_ns_, options_.stack_depth, Seed());
  }
  if (configs.has_native) MakeNative(configs.native);
  MakeCensus(source);
  const format::FileHeader header = Header(agent_options, source);
  auto store = writer::Store::Create({options_.file, header, options_.limits, options_.sync});
  if (!store.ok()) return store.error();

  writer::DrainConfig drain;
  drain.header = header;
  drain.max_samples = options_.samples;
  drain.duration_ns = options_.duration_ns;
  drain.held_per_interval[format::Stream::kAllocations] = HeldPerInterval(configs.allocations);
  drain.held_per_interval[format::Stream::kNative] = HeldPerInterval(configs.native);
  drain.held_per_interval[format::Stream::kMapped] = MappedStream::kSurplus * options_.maps_per_second;
  // Whoever bounds what a file holds, or what a power cut takes, wants each interval by itself.
  const bool may_share = !ring_->path().empty() && options_.sync.every_ns > 0 && !options_.limits.drops();
  drain.block_ns = may_share ? kBlockNs : 0;
  writer::DrainCallbacks callbacks;
  callbacks.now = [] { return sources::MonotonicNs(); };
  callbacks.on_tick = [this](uint64_t now_ns) { OnTick(now_ns); };
  callbacks.on_new_chunk = [this] {
    capture_->NewEpoch();
    if (exceptions_ != nullptr) exceptions_->NewEpoch();
    if (native_ != nullptr) native_->NewEpoch();
    if (census_ != nullptr) census_->NewEpoch();
  };
  callbacks.on_stack = [this](const format::StackKey& key) {
    capture_->AnnounceStack(key);
    if (exceptions_ != nullptr) exceptions_->AnnounceStack(key);
    if (native_ != nullptr) native_->AnnounceStack(key);
  };
  callbacks.on_stop = [this] { OnDrainStop(); };
  if (live_ != nullptr) callbacks.followed[format::Stream::kAllocations] = Followed();
  // Collections have no part in when a block is freed.
  callbacks.followed[format::Stream::kNative] = {.drop = NativeStream::Drop,
                                                 .collections_at_birth = [](uint16_t, uint64_t) { return 0; },
                                                 .collections = [] { return 0; }};
  callbacks.followed[format::Stream::kMapped] = callbacks.followed[format::Stream::kNative];
  callbacks.followed[format::Stream::kMapped].drop = [](uint16_t, uint64_t) {};
  drain_ = std::make_unique<writer::Drain>(*ring_, std::move(*store), drain, std::move(callbacks));
  capture_->CommitWindow(board_->first(), kDrainLane);
  return std::monostate{};
}

format::Result<std::monostate> Recording::MakeRing(const Configs& configs) {
  buffer::RingOptions options;
  if (options_.ring == "auto") {
    options.path = DefaultRingPath(id_);
    buffer::RemoveStaleRings(std::filesystem::path(options.path).parent_path(), buffer::kStaleRingsKept);
  } else if (options_.ring != "off") {
    // Absolute: readers may look for it from another directory.
    options.path = std::filesystem::absolute(options_.ring).string();
  }
  options.recording_id = id_;
  options.start_epoch_ns = start_epoch_ns_;
  options.start_monotonic_ns = start_ns_;
  options.interval_ns = configs.allocations.interval_ns;
  options.interval_cap = static_cast<uint32_t>(configs.allocations.cap);
  double samples = configs.allocations.cap;
  if (configs.has_exceptions) {
    options.exceptions_interval_ns = configs.exceptions.interval_ns;
    options.exceptions_interval_cap = static_cast<uint32_t>(configs.exceptions.cap);
    samples += configs.exceptions.cap;
  }
  if (configs.has_native) {
    options.native_interval_ns = configs.native.interval_ns;
    options.native_interval_cap = static_cast<uint32_t>(configs.native.cap);
    samples += configs.native.cap;
    options.mapped_interval_ns = options_.maps_per_second > 0 ? MappedStream::kIntervalNs : 0;
    options.mapped_interval_cap = options_.maps_per_second;
  }
  options.lane_count = samples > kManySamples ? kManyLanes : kLanes;
  auto ring = buffer::Ring::Create(options);
  if (!ring.ok()) return ring.error();
  ring_ = std::move(*ring);
  if (!ring_->why().empty()) {
    Log(LogLevel::kWarn, "no shared ring ({}): a kill -9 loses what is not yet in the file", ring_->why());
  }
  return std::monostate{};
}

format::FileHeader Recording::Header(const std::string& agent_options, const ChosenSource& source) const {
  format::FileHeader header;
  header.recording_id = id_;
  header.start_epoch_ns = start_epoch_ns_;
  header.start_monotonic_ns = start_ns_;
  header.interval_ns = ring_->header().interval_ns;
  header.interval_cap = ring_->header().interval_cap;
  header.rate_per_second = options_.rate_per_second;
  if (exceptions_ != nullptr) {
    header.exceptions = {ring_->header().exceptions.interval_ns, ring_->header().exceptions.interval_cap,
                         options_.exceptions_per_second};
  }
  header.exceptions_refused = source.no_exceptions;
  if (native_ != nullptr) {
    header.native = {ring_->header().native.interval_ns, ring_->header().native.interval_cap,
                     options_.native_per_second};
    header.native_bound = NativeStream::kMostFollowed;
  }
  if (native_ != nullptr && options_.maps_per_second > 0) {
    header.mapped = {ring_->header().mapped.interval_ns, ring_->header().mapped.interval_cap,
                     static_cast<double>(options_.maps_per_second)};
    header.mapped_bound = MappedStream::kMostFollowed;
  }
  if (live_ != nullptr) header.live_bound = live_->places().count();
  if (census_ != nullptr) {
    header.census = options_.census;
    header.census_per_second = options_.census_per_second;
  }
  header.census_refused = no_census_;
  header.max_samples = options_.samples;
  header.duration_ns = options_.duration_ns;
  header.pid = static_cast<uint32_t>(getpid());
  header.boot_id = BootId();
  header.container_id = ContainerId();
  header.jvm_name = jvm_.Property("java.vm.name");
  header.jvm_version = jvm_.Property("java.vm.version");
  header.gc_name = jvm_.GcName();
  header.agent_version = kVersion;
  header.agent_options = agent_options;
  header.source = SourceName(source.source);
  header.source_reason = source.why + "; " + WayOfStacks();
  if (live_ != nullptr && jvm_.KeepsYoungReferents()) header.source_reason += std::string("; ") + kYoungReferents;
  header.ring_path = ring_->path();
  return header;
}

const hotspot::StackWalker* Recording::Walker() const {
  return options_.walk_stacks && jvm_.walker.ok() ? &*jvm_.walker : nullptr;
}

std::string Recording::WayOfStacks() const {
  if (Walker() != nullptr) return "stacks are walked";
  return "stacks by GetStackTrace: " + (options_.walk_stacks ? jvm_.walker.error().message : "asked for");
}

uint64_t Recording::Seed() const {
  uint64_t seed = 0;
  std::memcpy(&seed, id_.data() + sizeof(seed), sizeof(seed));
  return seed;
}

void Recording::MakeSource(const ChosenSource& source) {
  const sources::SourceParts parts{jvm_.layout,
                                   *board_,
                                   *ledger_,
                                   *capture_,
                                   sources::ThreadTable::Instance(),
                                   number_,
                                   Seed(),
                                   ReachOf(board_->config())};
  if (source.armed) {
    source_ = std::make_unique<sources::ByteSource>(parts, /*hooked=*/source.source == SourceChoice::kHooks);
  } else if (source.source == SourceChoice::kTlab) {
    source_ = std::make_unique<sources::TlabSource>(parts);
    unit_is_event_ = true;
  } else {
    auto jvmti = std::make_unique<sources::JvmtiSource>(parts);
    jvmti_source_ = jvmti.get();
    source_ = std::move(jvmti);
    SetJvmInterval();
  }
}

void Recording::OnTick(uint64_t now_ns) {
  const sources::Totals totals = sources::ThreadTable::Instance().Total();
  const uint64_t bytes = totals.bytes - population_at_start_.bytes + uncounted_at_end_;
  const uint64_t candidates = totals.candidates - population_at_start_.candidates;
  ledger_->SetPopulation(candidates, bytes);
  format::RingStacks& stacks = ring_->header().stacks;
  stacks.walked.store(capture_->stacks().walked(), std::memory_order_relaxed);
  stacks.asked.store(capture_->stacks().asked(), std::memory_order_relaxed);
  stacks.differed.store(capture_->stacks().differed(), std::memory_order_relaxed);
  const auto window = board_->Tick(now_ns, unit_is_event_ ? candidates : bytes);
  if (window) capture_->CommitWindow(*window, kDrainLane);
  if (exceptions_ != nullptr) exceptions_->OnTick(now_ns);
  if (native_ != nullptr) native_->OnTick(now_ns);
  if (census_ != nullptr) census_->OnTick(now_ns);
  heap_watch_->OnTick(now_ns);
  if (capture_->stacks().distrusted() && !told_of_walker_) {
    told_of_walker_ = true;
    Log(LogLevel::kWarn, "a walked stack was not what JVMTI says: stacks now come from GetStackTrace");
  }
  if (jvmti_source_ == nullptr || sources::active_source.load(std::memory_order_relaxed) != source_.get()) return;
  if (attached_ == nullptr) attached_ = std::make_unique<AttachedScope>(jvm_.vm);
  if (attached_->jni() != nullptr) SetJvmInterval();
}

// Needs an attached thread. The JVM takes whole bytes.
void Recording::SetJvmInterval() {
  const throttle::LambdaInForce now = board_->Read();
  const double wanted = now.lambda > 0 ? 1 / now.lambda : std::numeric_limits<jint>::max();
  const auto interval = static_cast<jint>(std::clamp(wanted, 1.0, double{std::numeric_limits<jint>::max()}));
  if (interval == jvm_interval_) return;
  if (jvm_.jvmti->SetHeapSamplingInterval(interval) != JVMTI_ERROR_NONE) return;
  jvm_interval_ = interval;
  jvmti_source_->SetInForce(static_cast<uint32_t>(interval), now.window);
}

void Recording::Stop(const std::string& reason, bool jvm_ends) {
  jvm_ends_.store(jvm_ends, std::memory_order_relaxed);
  EndCensus();
  drain_->RequestStop(reason);
  if (!drain_->Wait(kStopPatienceNs)) {
    Log(LogLevel::kError, "{}: the end of the recording could not be written in time", path());
  }
}

void Recording::OnDrainStop() {
  sources::Source* expected = source_.get();
  sources::active_source.compare_exchange_strong(expected, nullptr);
  if (exceptions_ != nullptr) exceptions_->Stop();
  if (native_ != nullptr) native_->Stop();
  sources::HeapWatch* watch = heap_watch_.get();
  sources::active_heap_watch.compare_exchange_strong(watch, nullptr, std::memory_order_release);
  if (live_ != nullptr) live_->Stop();
  if (memory_ != nullptr) memory_->Stop();
  uncounted_at_end_ = source_->UncountedBytes();
  if (!jvm_ends_.load(std::memory_order_relaxed)) {
    const AttachedScope attached(jvm_.vm);
    EndCensus();
    if (attached.jni() != nullptr) QuietJvm(jvm_);
  }
  attached_.reset();
}

}  // namespace heaprec::agent

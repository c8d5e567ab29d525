#include "recorder/agent/plain_recording.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "format/version.h"
#include "recorder/agent/identity.h"
#include "recorder/agent/last_thread.h"
#include "recorder/agent/log.h"
#include "recorder/agent/rates.h"
#include "recorder/buffer/stale_rings.h"
#include "recorder/sources/clock.h"

namespace heaprec::agent {
namespace {

// No recording of a JVM that comes into the same process has this number.
constexpr uint32_t kNumber = UINT32_MAX;
constexpr uint64_t kStopPatienceNs = 5'000'000'000;
constexpr std::chrono::milliseconds kPausePatience{100};
// As a JVM's recordings: docs/decisions/0013.
constexpr uint64_t kBlockNs = 2'000'000'000;
// Of 128 KiB. The drain alone writes into them.
constexpr uint32_t kLanes = 16, kManyLanes = 62;
constexpr double kManySamples = 1000;

}  // namespace

format::Result<std::unique_ptr<PlainRecording>> PlainRecording::Start(const Options& options,
                                                                      const std::string& program) {
  std::unique_ptr<PlainRecording> recording(new PlainRecording(options, program));
  auto built = recording->Build();
  if (!built.ok()) return built.error();
  auto started = recording->native_->Activate();
  if (started.ok()) started = recording->drain_->Start();
  if (started.ok()) return recording;
  recording->native_->Stop();
  recording->ring_->Close();
  unlink(recording->path().c_str());  // nothing but a header, and ours
  (void)recording.release();          // a thread may be inside
  return started.error();
}

format::Result<std::monostate> PlainRecording::Build() {
  id_ = NewRecordingId();
  start_epoch_ns_ = sources::EpochNs();
  start_ns_ = sources::MonotonicNs();
  throttle::ControllerConfig config = ControllerFor(options_.native_per_second, /*unit_is_event=*/false);
  config.rule = options_.rule;
  auto ring = MakeRing(config);
  if (!ring.ok()) return ring.error();
  native_ = std::make_unique<NativeStream>(*ring_, config, start_ns_, kNumber, Seed(), ReachOf(config),
                                           /*java=*/nullptr, options_.maps_per_second);
  return MakeDrain(config);
}

format::Result<std::monostate> PlainRecording::MakeRing(const throttle::ControllerConfig& config) {
  buffer::RingOptions options;
  if (options_.ring == "auto") {
    options.path = DefaultRingPath(id_);
    buffer::RemoveStaleRings(std::filesystem::path(options.path).parent_path(), buffer::kStaleRingsKept);
  } else if (options_.ring != "off") {
    options.path = std::filesystem::absolute(options_.ring).string();
  }
  options.recording_id = id_;
  options.start_epoch_ns = start_epoch_ns_;
  options.start_monotonic_ns = start_ns_;
  options.native_interval_ns = config.interval_ns;
  options.native_interval_cap = static_cast<uint32_t>(config.cap);
  options.mapped_interval_ns = options_.maps_per_second > 0 ? MappedStream::kIntervalNs : 0;
  options.mapped_interval_cap = options_.maps_per_second;
  options.lane_count = config.cap > kManySamples ? kManyLanes : kLanes;
  auto ring = buffer::Ring::Create(options);
  if (!ring.ok()) return ring.error();
  ring_ = std::move(*ring);
  if (!ring_->why().empty()) {
    Log(LogLevel::kWarn, "no shared ring ({}): a kill -9 loses what is not yet in the file", ring_->why());
  }
  return std::monostate{};
}

format::FileHeader PlainRecording::Header() const {
  format::FileHeader header;
  header.recording_id = id_;
  header.start_epoch_ns = start_epoch_ns_;
  header.start_monotonic_ns = start_ns_;
  header.native = {ring_->header().native.interval_ns, ring_->header().native.interval_cap, options_.native_per_second};
  header.native_bound = NativeStream::kMostFollowed;
  if (options_.maps_per_second > 0) {
    header.mapped = {ring_->header().mapped.interval_ns, ring_->header().mapped.interval_cap,
                     static_cast<double>(options_.maps_per_second)};
    header.mapped_bound = MappedStream::kMostFollowed;
  }
  header.duration_ns = options_.duration_ns;
  header.pid = static_cast<uint32_t>(getpid());
  header.boot_id = BootId();
  header.container_id = ContainerId();
  header.jvm_name = program_;
  header.agent_version = kVersion;
  header.agent_options = options_.given;
  header.source = "preload";
  header.source_reason = "HEAPREC_SAMPLED";
  header.ring_path = ring_->path();
  return header;
}

format::Result<std::monostate> PlainRecording::MakeDrain(const throttle::ControllerConfig& config) {
  const format::FileHeader header = Header();
  // Absolute: the program may go to another folder before the next file is begun.
  const std::string file = std::filesystem::absolute(options_.file).string();
  auto store = writer::Store::Create({file, header, options_.limits, options_.sync});
  if (!store.ok()) return store.error();
  writer::DrainConfig drain;
  drain.header = header;
  drain.duration_ns = options_.duration_ns;
  drain.held_per_interval[format::Stream::kNative] = static_cast<uint32_t>(std::ceil(config.surplus * config.cap));
  drain.held_per_interval[format::Stream::kMapped] = MappedStream::kSurplus * options_.maps_per_second;
  const bool may_share = !ring_->path().empty() && options_.sync.every_ns > 0 && !options_.limits.drops();
  drain.block_ns = may_share ? kBlockNs : 0;
  writer::DrainCallbacks callbacks;
  callbacks.now = [] { return sources::MonotonicNs(); };
  callbacks.on_tick = [this](uint64_t now_ns) { OnTick(now_ns); };
  callbacks.on_new_chunk = [this] { native_->NewEpoch(); };
  callbacks.on_stack = [this](const format::StackKey& key) { native_->AnnounceStack(key); };
  callbacks.on_stop = [this] { native_->Stop(); };
  callbacks.followed[format::Stream::kNative] = {.drop = NativeStream::Drop,
                                                 .collections_at_birth = [](uint16_t, uint64_t) { return 0; },
                                                 .collections = [] { return 0; }};
  callbacks.followed[format::Stream::kMapped] = callbacks.followed[format::Stream::kNative];
  callbacks.followed[format::Stream::kMapped].drop = [](uint16_t, uint64_t) {};
  drain_ = std::make_unique<writer::Drain>(*ring_, std::move(*store), drain, std::move(callbacks));
  return std::monostate{};
}

void PlainRecording::OnTick(uint64_t now_ns) {
  if (OnlyOursAreLeft()) EndProcess();
  const std::lock_guard lock(looking_);
  native_->OnTick(now_ns);
}

void PlainRecording::Pause() {
  if (!looking_.try_lock_for(kPausePatience)) return;
  holds_patching_ = native::HoldPatching(kPausePatience);
  paused_by_.store(pthread_self());
}

void PlainRecording::GoOn() {
  if (paused_by_.load() != pthread_self()) return;
  paused_by_.store(0);
  if (holds_patching_) native::LetPatching();
  looking_.unlock();
}

uint64_t PlainRecording::Seed() const {
  uint64_t seed = 0;
  std::memcpy(&seed, id_.data() + sizeof(seed), sizeof(seed));
  return seed;
}

void PlainRecording::Stop(const std::string& reason) {
  drain_->RequestStop(reason);
  if (!drain_->Wait(kStopPatienceNs)) {
    Log(LogLevel::kError, "{}: the end of the recording could not be written in time", path());
  }
}

}  // namespace heaprec::agent

#include "recorder/agent/recording_plan.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/descriptors.h"
#include "base/time.h"
#include "format/model/version.h"
#include "format/ring/ring_records.h"
#include "recorder/agent/identity.h"
#include "recorder/agent/options/rates.h"
#include "recorder/agent/options/service_labels.h"
#include "recorder/buffer/stale_rings.h"
#include "recorder/sources/log.h"
#include "recorder/writer/open_store.h"
#include "recorder/writer/signal_masked_thread.h"

namespace heaprec::agent {
namespace {

using format::Stream;

// Maximum time for which the exit of the process waits. A drain that takes longer is stuck in a system call.
constexpr uint64_t kStopPatienceNs = 5'000'000'000;
// The same for the start of the JVM or program, which waits until the file has been created.
constexpr std::chrono::seconds kOpenPatience(5);
// Two intervals of the default rate (docs/decisions.md, 13).
constexpr uint64_t kBlockNs = 2'000'000'000;
// Lanes have at least 128 KiB. One thread can write to a lane at a time (docs/decisions.md, 14). If an interval may
// have thousands of samples, uses as many lanes as fit into 8 MiB with the modules.
constexpr uint32_t kFewLanes = 32, kManyLanes = 61;
constexpr double kManySamples = 1000;

std::string RingPathOf(const Options& options, const format::RecordingId& id) {
  if (options.ring == "off") return {};
  if (options.ring == "auto") return DefaultRingPath(id);
  // Makes the path absolute, because readers may have another working directory. Fails if the working directory was
  // removed.
  std::error_code error;
  const std::string path = std::filesystem::absolute(options.ring, error).string();
  return error ? options.ring : path;
}

// Moves rings of killed processes to their recordings, on a separate thread because a disk may take seconds.
void MoveAbandonedRings(void*) {
  LeaveSharedDescriptors();
  for (const std::string& loss : buffer::MoveAbandonedRings(kRingFolder).losses) Log(LogLevel::kWarn, "{}", loss);
}

void StartMovingRings() {
  const auto thread = writer::StartSignalMaskedThread("heaprec-rings", MoveAbandonedRings, nullptr, nullptr);
  if (thread.ok()) pthread_detach(*thread);  // otherwise the next agent moves them
}

}  // namespace

RecordingPlan::RecordingPlan(const Options& of)
    : options(of), id(NewRecordingId()), start_epoch_ns(EpochNs()), start_ns(MonotonicNs()) {}

void RecordingPlan::Add(Stream stream, double per_second) {
  throttle::ControllerConfig config = ControllerFor(per_second, format::CountsEvents(stream));
  config.rule = options.rule;
  streams[stream] = {.cap = {config.interval_ns, static_cast<uint32_t>(config.cap), per_second},
                     .throttle = config,
                     .buffered_per_interval = static_cast<uint32_t>(std::ceil(config.oversampling * config.cap))};
}

// The window rule has no light points. Intervals of more than a second would buffer too many.
void RecordingPlan::AddAllocations() {
  Add(Stream::kAllocations, options.rate_per_second);
  if (options.rule != throttle::Rule::kAdaptive || options.rate_per_second < 1) return;
  throttle::ControllerConfig& config = *streams[Stream::kAllocations].throttle;
  config.points = options.points_per_second * static_cast<double>(config.interval_ns) * 1e-9;
}

void RecordingPlan::AddNative() {
  Add(Stream::kNative, options.native_per_second);
  streams[Stream::kNative].max_tracked = sources::NativeStream::kMaxTracked;
  const uint32_t maps = options.maps_per_second;
  if (maps == 0) return;
  streams[Stream::kMapping] = {.cap = {sources::MappingStream::kIntervalNs, maps, static_cast<double>(maps)},
                               .throttle = std::nullopt,
                               .buffered_per_interval = sources::MappingStream::kOversampling * maps,
                               .max_tracked = sources::MappingStream::kMaxTracked};
}

Status RecordingPlan::InstallMallocHooks() {
  auto hooks = native::MallocHooks::Install();
  native_unavailable_reason = hooks.ok() ? (*hooks)->missing() : hooks.error().message;
  if (!hooks.ok()) return hooks.error();
  if (!native_unavailable_reason.empty())
    Log(LogLevel::kWarn, "native memory is only partly sampled: {}", native_unavailable_reason);
  malloc_hooks = std::move(*hooks);
  AddNative();
  return {};
}

sources::NativeStream::Config RecordingPlan::NativeConfig(uint32_t recording) const {
  const throttle::ControllerConfig& config = *streams[Stream::kNative].throttle;
  return {.throttle = config,
          .start_ns = start_ns,
          .recording = recording,
          .seed = Seed(),
          .max_gap = MaxGapOf(config),
          .maps_per_second = streams[Stream::kMapping].cap.interval_cap};
}

uint64_t RecordingPlan::Seed() const {
  uint64_t seed = 0;
  std::memcpy(&seed, id.data() + sizeof(seed), sizeof(seed));
  return seed;
}

format::PerStream<format::StreamCap> RecordingPlan::Caps() const {
  format::PerStream<format::StreamCap> caps;
  for (const Stream stream : format::kAllStreams) caps[stream] = streams[stream].cap;
  return caps;
}

Result<std::unique_ptr<buffer::Ring>> RecordingPlan::MakeRing() const {
  buffer::RingOptions ring;
  ring.path = RingPathOf(options, id);
  ring.recording_id = id;
  ring.start_epoch_ns = start_epoch_ns;
  ring.start_monotonic_ns = start_ns;
  ring.caps = Caps();
  ring.has_modules = streams[Stream::kNative].is_recorded();
  ring.has_census = options.census != format::CensusMode::kOff;
  double samples = 0;
  for (const StreamPlan& stream : streams.of) samples += stream.throttle ? stream.throttle->cap : 0;
  // Includes space for the light points of two blocks.
  const double most =
      options.max_points ? std::max(options.points_per_second, MostPointsPerSecond()) : options.points_per_second;
  const auto& allocations = streams[Stream::kAllocations].throttle;
  const double points = allocations && allocations->points > 0 ? most : 0;
  const double needed = points * 2 * static_cast<double>(kBlockNs) * 1e-9 * sizeof(format::PointRecord);
  const auto room = [&ring] { return static_cast<double>(uint64_t{ring.lane_count} * ring.lane_bytes); };
  ring.lane_count = samples > kManySamples ? kManyLanes : kFewLanes;
  if (room() < needed) ring.lane_count = kManyLanes;
  while (room() < needed) ring.lane_bytes *= 2;
  auto made = buffer::Ring::Create(ring);
  if (made.ok() && !(*made)->why().empty()) {
    Log(LogLevel::kWarn,
        "cannot create the shared ring ({}): after kill -9 up to a second of samples is lost; set ring=PATH on a "
        "tmpfs",
        (*made)->why());
  }
  return made;
}

format::FileHeader RecordingPlan::Header(const buffer::Ring& ring, const sources::Parts& parts) const {
  format::FileHeader header;
  header.recording_id = id;
  header.start_epoch_ns = start_epoch_ns;
  header.start_monotonic_ns = start_ns;
  const format::PerStream<format::StreamCap> caps = Caps();
  header.interval_ns = caps[Stream::kAllocations].interval_ns;
  header.interval_cap = caps[Stream::kAllocations].interval_cap;
  header.rate_per_second = caps[Stream::kAllocations].rate_per_second;
  header.exceptions = caps[Stream::kExceptions];
  header.native = caps[Stream::kNative];
  header.mapped = caps[Stream::kMapping];
  header.max_tracked_objects = streams[Stream::kAllocations].max_tracked;
  header.max_tracked_blocks = streams[Stream::kNative].max_tracked;
  header.max_tracked_mappings = streams[Stream::kMapping].max_tracked;
  if (streams[Stream::kNative].is_recorded()) header.native_not_seen = native::kNotSeen;
  header.native_unavailable_reason = native_unavailable_reason;
  header.max_samples = options.max_samples;
  header.duration_ns = options.duration_ns;
  header.pid = static_cast<uint32_t>(getpid());
  header.boot_id = BootId();
  header.container_id = ContainerId();
  header.agent_version = kVersion;
  header.agent_options = options.given;
  header.service_labels = ServiceLabels(options.service, options.labels);
  header.ring_path = ring.path();
  parts.Describe(&header);
  return header;
}

Result<std::unique_ptr<writer::Drain>> RecordingPlan::MakeDrain(buffer::Ring* ring, const format::FileHeader& header,
                                                                sources::Parts* parts,
                                                                writer::DrainCallbacks callbacks) const {
  auto store = writer::OpenStore({options.file, header, options.limits, options.sync}, kOpenPatience);
  if (!store.ok()) return store.error();
  writer::DrainConfig drain;
  drain.header = header;
  drain.max_samples = options.max_samples;
  drain.duration_ns = options.duration_ns;
  for (const Stream stream : format::kAllStreams)
    drain.buffered_per_interval[stream] = streams[stream].buffered_per_interval;
  // If file size or age, or the loss at a power cut, is closely limited, each interval gets its own block.
  const bool may_share = !ring->path().empty() && options.sync.every_ns > 0 && !options.limits.are_close();
  drain.block_ns = may_share ? kBlockNs : 0;
  if (options.ring == "auto") callbacks.on_start = StartMovingRings;
  callbacks.now = [] { return MonotonicNs(); };
  callbacks.on_writing_stopped = [](const std::string& error) {
    Log(LogLevel::kWarn, "{}; cannot write the recording. Samples stay in memory while there is space", error);
  };
  callbacks.on_writing_resumed = [](uint64_t lost_samples, uint64_t outage_ns) {
    Log(LogLevel::kWarn, "writing the recording works again after {:.1f} s; {} lost",
        static_cast<double>(outage_ns) * 1e-9, SampleCount(lost_samples));
  };
  callbacks.on_sync_failed = [](const std::string& error) {
    Log(LogLevel::kWarn,
        "{}; fdatasync failed and will be retried. A power cut may damage or shorten the recording; check the disk",
        error);
  };
  parts->Connect(&callbacks);
  return std::make_unique<writer::Drain>(*ring, std::move(*store), drain, std::move(callbacks));
}

void EndAndWait(writer::Drain* drain, const std::string& reason) {
  drain->RequestStop(reason);
  if (drain->Wait(kStopPatienceNs)) return;
  Log(LogLevel::kError, "{}: could not write the end of the recording in time; run 'heaprec recover'", drain->path());
}

}  // namespace heaprec::agent

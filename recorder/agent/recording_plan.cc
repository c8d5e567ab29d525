#include "recorder/agent/recording_plan.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/descriptors.h"
#include "format/model/version.h"
#include "format/ring/ring_records.h"
#include "recorder/agent/identity.h"
#include "recorder/agent/options/log.h"
#include "recorder/agent/options/rates.h"
#include "recorder/agent/options/service_labels.h"
#include "recorder/agent/streams/native_stream.h"
#include "recorder/buffer/stale_rings.h"
#include "recorder/writer/open_store.h"
#include "recorder/writer/signal_masked_thread.h"

namespace heaprec::agent {
namespace {

using format::Stream;

// A drain that cannot finish in this time is stuck in a system call; the exit of the process does not wait any longer.
constexpr uint64_t kStopPatienceNs = 5'000'000'000;
// Likewise for the start of the JVM or the program, which waits for the file.
constexpr std::chrono::seconds kOpenPatience(5);
// Two intervals of the default rate (docs/decisions/0013).
constexpr uint64_t kBlockNs = 2'000'000'000;
// Of 128 KiB or more. As many threads can write at a time, those of a program without a JVM, too (docs/decisions/0014).
// Where an interval may hold thousands of samples, as many as fit into 8 MiB with the modules.
constexpr uint32_t kFewLanes = 32, kManyLanes = 61;
constexpr double kManySamples = 1000;

format::StreamCap CapOf(const RecordingPlan::Config& stream, double rate) {
  if (!stream) return {};
  return {stream->interval_ns, static_cast<uint32_t>(stream->cap), rate};
}

std::string RingPathOf(const Options& options, const format::RecordingId& id) {
  if (options.ring == "off") return {};
  if (options.ring == "auto") return DefaultRingPath(id);
  // Absolute: readers may look for it from another directory. This fails where the working directory is gone.
  std::error_code error;
  const std::string path = std::filesystem::absolute(options.ring, error).string();
  return error ? options.ring : path;
}

// Moves rings of killed processes beside their recordings, on a separate thread because a disk may take seconds.
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

RecordingPlan::Config RecordingPlan::At(double per_second, bool unit_is_event) const {
  throttle::ControllerConfig config = ControllerFor(per_second, unit_is_event);
  config.rule = options.rule;
  return config;
}

// The window rule has no light points. In intervals of more than a second too many would wait.
void RecordingPlan::PlanAllocations() {
  allocations = At(options.rate_per_second, /*unit_is_event=*/false);
  if (options.rule != throttle::Rule::kAdaptive || options.rate_per_second < 1) return;
  allocations->points = options.points_per_second * static_cast<double>(allocations->interval_ns) * 1e-9;
}

format::Result<std::monostate> RecordingPlan::InstallMallocHooks() {
  auto calls = native::MallocHooks::Install();
  native_unavailable_reason = calls.ok() ? (*calls)->missing() : calls.error().message;
  if (!calls.ok()) return calls.error();
  if (!native_unavailable_reason.empty())
    Log(LogLevel::kWarn, "native memory is only partly sampled: {}", native_unavailable_reason);
  native_calls = std::move(*calls);
  native = At(options.native_per_second, /*unit_is_event=*/false);
  return std::monostate{};
}

uint64_t RecordingPlan::Seed() const {
  uint64_t seed = 0;
  std::memcpy(&seed, id.data() + sizeof(seed), sizeof(seed));
  return seed;
}

format::PerStream<format::StreamCap> RecordingPlan::Caps() const {
  format::PerStream<format::StreamCap> caps;
  caps[Stream::kAllocations] = CapOf(allocations, options.rate_per_second);
  caps[Stream::kExceptions] = CapOf(exceptions, options.exceptions_per_second);
  caps[Stream::kNative] = CapOf(native, options.native_per_second);
  const uint32_t maps = maps_per_second();
  if (maps > 0) caps[Stream::kMapping] = {MappingStream::kIntervalNs, maps, static_cast<double>(maps)};
  return caps;
}

format::Result<std::unique_ptr<buffer::Ring>> RecordingPlan::MakeRing() const {
  buffer::RingOptions ring;
  ring.path = RingPathOf(options, id);
  ring.recording_id = id;
  ring.start_epoch_ns = start_epoch_ns;
  ring.start_monotonic_ns = start_ns;
  const format::PerStream<format::StreamCap> caps = Caps();
  ring.interval_ns = caps[Stream::kAllocations].interval_ns;
  ring.interval_cap = caps[Stream::kAllocations].interval_cap;
  ring.exceptions_interval_ns = caps[Stream::kExceptions].interval_ns;
  ring.exceptions_interval_cap = caps[Stream::kExceptions].interval_cap;
  ring.native_interval_ns = caps[Stream::kNative].interval_ns;
  ring.native_interval_cap = caps[Stream::kNative].interval_cap;
  ring.mapping_interval_ns = caps[Stream::kMapping].interval_ns;
  ring.mapping_interval_cap = caps[Stream::kMapping].interval_cap;
  ring.has_modules = native.has_value();
  ring.has_census = options.census != format::CensusMode::kOff;
  double samples = 0;
  for (const Config* stream : {&allocations, &exceptions, &native}) samples += *stream ? (*stream)->cap : 0;
  // The light points of two blocks have room, too.
  const double most =
      options.max_points ? std::max(options.points_per_second, MostPointsPerSecond()) : options.points_per_second;
  const double points = allocations && allocations->points > 0 ? most : 0;
  const double needed = points * 2 * static_cast<double>(kBlockNs) * 1e-9 * sizeof(format::PointRecord);
  const auto room = [&ring] { return static_cast<double>(uint64_t{ring.lane_count} * ring.lane_bytes); };
  ring.lane_count = samples > kManySamples ? kManyLanes : kFewLanes;
  if (room() < needed) ring.lane_count = kManyLanes;
  while (room() < needed) ring.lane_bytes *= 2;
  auto made = buffer::Ring::Create(ring);
  if (made.ok() && !(*made)->why().empty()) {
    Log(LogLevel::kWarn,
        "cannot create the shared ring ({}): after kill -9 up to two seconds of samples are lost; set ring=PATH on a "
        "tmpfs",
        (*made)->why());
  }
  return made;
}

format::FileHeader RecordingPlan::Header(const buffer::Ring& ring) const {
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
  if (native) {
    header.max_tracked_blocks = NativeStream::kMaxTracked;
    header.native_not_seen = native::kNotSeen;
  }
  if (maps_per_second() > 0) header.max_tracked_mappings = MappingStream::kMaxTracked;
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
  return header;
}

format::Result<std::unique_ptr<writer::Drain>> RecordingPlan::MakeDrain(buffer::Ring* ring,
                                                                        const format::FileHeader& header,
                                                                        writer::DrainCallbacks callbacks) const {
  auto store = writer::OpenStore({options.file, header, options.limits, options.sync}, kOpenPatience);
  if (!store.ok()) return store.error();
  writer::DrainConfig drain;
  drain.header = header;
  drain.max_samples = options.max_samples;
  drain.duration_ns = options.duration_ns;
  if (allocations) drain.buffered_per_interval[Stream::kAllocations] = BufferedPerInterval(*allocations);
  if (native) drain.buffered_per_interval[Stream::kNative] = BufferedPerInterval(*native);
  drain.buffered_per_interval[Stream::kMapping] = MappingStream::kOversampling * maps_per_second();
  // Whoever closely bounds what a file holds, or what a power cut takes, wants each interval by itself.
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
  // Collections have no part in when a block is freed.
  callbacks.tracked[Stream::kNative] = {.drop = NativeStream::Drop,
                                        .collections_at_birth = [](uint16_t, uint64_t) { return 0; },
                                        .collections = [] { return 0; }};
  callbacks.tracked[Stream::kMapping] = callbacks.tracked[Stream::kNative];
  callbacks.tracked[Stream::kMapping].drop = [](uint16_t, uint64_t) {};
  return std::make_unique<writer::Drain>(*ring, std::move(*store), drain, std::move(callbacks));
}

uint32_t BufferedPerInterval(const throttle::ControllerConfig& config) {
  return static_cast<uint32_t>(std::ceil(config.oversampling * config.cap));
}

void EndAndWait(writer::Drain* drain, const std::string& reason) {
  drain->RequestStop(reason);
  if (drain->Wait(kStopPatienceNs)) return;
  Log(LogLevel::kError, "{}: could not write the end of the recording in time; run 'heaprec recover'", drain->path());
}

}  // namespace heaprec::agent

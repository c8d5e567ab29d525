#include "recorder/agent/recording.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <utility>

#include "base/time.h"
#include "recorder/agent/jvm/hooks.h"
#include "recorder/agent/options/rates.h"
#include "recorder/hotspot/threads/safepoint.h"
#include "recorder/hotspot/usage/buffer_pools.h"
#include "recorder/hotspot/usage/nmt_summary.h"
#include "recorder/hotspot/usage/settings.h"
#include "recorder/native_sample/malloc_hooks.h"
#include "recorder/sources/end/end_recorder.h"
#include "recorder/sources/java/byte_clock_source.h"
#include "recorder/sources/java/entry.h"
#include "recorder/sources/java/exception_source.h"
#include "recorder/sources/live/weak_ref_poller.h"
#include "recorder/sources/log.h"
#include "recorder/sources/native/native_stream.h"
#include "recorder/sources/state/memory_poller.h"

namespace heaprec::agent {
namespace {

// Lane hint of the drain, which writes only windows.
constexpr uint32_t kDrainLane = 0;
// The JVM adds the bytes of all threads under a lock.
constexpr uint64_t kBeanPeriodNs = 100'000'000;
constexpr uint32_t kMinTracked = 4096;
constexpr uint64_t kMemoryPeriodNs = 10'000'000'000;
// The fraction of census= to aim for per second. Census::Draw takes less than the controller's target, and draws less
// the more it has taken.
constexpr double kCensusAim = 0.8;
// The heap's samples, whose definitions are per chunk of the drain, and the objects outside of TLABs.
class HeapSamples final : public sources::Part {
 public:
  HeapSamples(sources::SampleWriter& writer, sources::OutsideRecorder& outside) : writer_(writer), outside_(outside) {}
  void OnTick(uint64_t /*now_ns*/) override { outside_.OnTick(); }
  void NewEpoch() override { writer_.NewEpoch(); }
  void MarkStackEmitted(const format::StackKey& key) override { writer_.MarkStackEmitted(key); }
  void Stop() override {
    sources::OutsideRecorder::End();
    outside_.OnTick();
  }

 private:
  sources::SampleWriter& writer_;
  sources::OutsideRecorder& outside_;
};

// What ends the process. Its recorder is active with the recording.
class EndEvents final : public sources::Part {
 public:
  explicit EndEvents(std::unique_ptr<sources::EndRecorder> recorder) : recorder_(std::move(recorder)) {}
  Status Activate() override {
    // Release: a thread that sees it sees all of it (pairs with the loads in end_recorder.cc).
    sources::active_ends.store(recorder_.get());
    return {};
  }
  void Stop() override {
    sources::EndRecorder* expected = recorder_.get();
    sources::active_ends.compare_exchange_strong(expected, nullptr);
  }

 private:
  const std::unique_ptr<sources::EndRecorder> recorder_;
};

// A callback takes microseconds; one that was descheduled is not waited for any longer than this.
constexpr int kMaxPauses = 20;
constexpr timespec kPause{0, 1'000'000};

bool CallbacksHaveLeft() {
  for (int pause = 0; !sources::CallbackScope::NobodyIsInside() || !native::IsQuiet(); ++pause) {
    if (pause == kMaxPauses) return false;
    nanosleep(&kPause, nullptr);
  }
  return true;
}

}  // namespace

// Hooks run in threads that are in the VM, where they cannot stop for a safepoint; so after a safepoint all threads
// have left them. Callbacks run in native code, for which a safepoint does not wait; so threads in callbacks are
// counted, as are threads in malloc's hooks.
bool NoThreadInside(jvmtiEnv* jvmti) {
  const arch::GracePeriod safepoint = hotspot::SafepointGrace(jvmti);
  return safepoint.wait(safepoint.context) && CallbacksHaveLeft();
}

EndedRecordings::EndedRecordings() = default;
EndedRecordings::~EndedRecordings() = default;

void EndedRecordings::Add(std::unique_ptr<Recording>&& recording) {
  recordings_.emplace_back();
  recordings_.back() = std::move(recording);
}

std::unique_ptr<Recording> EndedRecordings::TakeLast() {
  std::unique_ptr<Recording> last = std::move(recordings_.back());
  recordings_.pop_back();
  return last;
}

void EndedRecordings::Free(jvmtiEnv* jvmti) {
  if (recordings_.empty() || !NoThreadInside(jvmti)) return;
  std::erase_if(recordings_, [](const std::unique_ptr<Recording>& recording) { return recording->TryJoin(); });
}

void StopSources() {
  sources::active_source.store(nullptr);
  sources::active_exceptions.store(nullptr);
  sources::active_heap_states.store(nullptr);
  sources::active_ends.store(nullptr);
  sources::OutsideRecorder::End();
}

Result<std::unique_ptr<Recording>> Recording::Start(const sources::Jvm& jvm, const Options& options,
                                                    const ChosenSource& source, uint32_t number,
                                                    const std::atomic<bool>& ending, EndedRecordings* retired) {
  std::unique_ptr<Recording> recording(new Recording(jvm, options, number));
  auto built = recording->Build(source);
  if (!built.ok()) return built.error();
  const std::string path = recording->path();
  if (ending) {
    recording->ring_->Close();
    unlink(path.c_str());
    return Error{kJvmEnds};
  }
  // From here on a thread may use the recording: an exception must not destroy it.
  Recording& begun = *recording;
  retired->Add(std::move(recording));
  auto started = begun.Begin();
  if (started.ok()) return retired->TakeLast();
  begun.RestoreInterval();
  StopSources();
  try {
    begun.parts_.Stop();
    begun.EndCensus();
  } catch (...) {  // out of memory: active streams would fill a ring that is not read
  }
  begun.ring_->Close();
  unlink(path.c_str());  // the file has only a header, and this process created it
  return started.error();
}

Status Recording::Begin() try {
  // As late as possible: threads allocate meanwhile, and nothing of that is sampled.
  population_at_start_ = sources::ThreadTable::Instance().Total();
  Activate();
  // Release: a thread that sees it sees all of it (pairs with the acquires in agent.cc).
  sources::active_heap_states.store(heap_states_.get(), std::memory_order_release);
  auto started = parts_.Activate();
  if (started.ok()) started = drain_->Start();
  return started;
} catch (...) {
  return Error{"out of memory"};
}

void Recording::Activate() {
  AskBean(plan_.start_ns);
  ActivateSource();
  if (active_interval_ != 0) jvm_.jvmti->SetHeapSamplingInterval(active_interval_);
}

// Without hooks the JVM draws the thresholds, and weights depend on its interval until the source is off.
void Recording::RestoreInterval() {
  if (active_interval_ != 0) agent::RestoreInterval(jvm_);
}

// If the threads can be stopped, the source becomes active while they are stopped.
void Recording::ActivateSource() {
  // Release: a thread that sees the source sees the whole recording (pairs with the acquires in sources/java/entry.cc).
  const auto begin = [](void* self) {
    auto* const recording = static_cast<Recording*>(self);
    recording->source_->StartAtSafepoint(*recording->jvm_.threads);
    if (recording->census_ != nullptr) recording->census_->StartAtSafepoint();
    recording->outside_->Begin();
    sources::active_source.store(recording->source_.get(), std::memory_order_release);
  };
  if (jvm_.symbols.ok() && jvm_.threads.ok()) {
    auto stopped = hotspot::AtSafepoint(jvm_.jvmti, *jvm_.symbols, begin, this);
    if (!stopped.ok()) Log(LogLevel::kInfo, "cannot stop the threads at a safepoint: {}", stopped.error().message);
    if (sources::active_source.load(std::memory_order_acquire) == source_.get()) return;
  }
  if (census_ != nullptr) Log(LogLevel::kWarn, "no census: cannot stop the threads at a safepoint");
  if (JNIEnv* const jni = sources::EnvOf(jvm_.vm)) source_->BeginRunning(jvm_.AllThreads(jni), jvm_.thread_of(jni));
  outside_->Begin();
  sources::active_source.store(source_.get(), std::memory_order_release);
}

Recording::Recording(const sources::Jvm& jvm, const Options& options, uint32_t number)
    : jvm_(jvm), options_(options), number_(number), plan_(options_) {}

Status Recording::Build(const ChosenSource& source) {
  PlanStreams(source);
  const throttle::ControllerConfig& allocations = *plan_.streams[format::Stream::kAllocations].throttle;
  auto ring = plan_.MakeRing();
  if (!ring.ok()) return ring.error();
  ring_ = std::move(*ring);
  shared_counters_ = std::make_unique<buffer::SharedCounters>(ring_->header().counters);
  windows_ = std::make_unique<sources::WindowPublisher>(allocations, plan_.start_ns);
  sample_writer_ = std::make_unique<sources::SampleWriter>(*ring_, *shared_counters_, *windows_, jvm_.names, Walker(),
                                                           jvm_.thread_fields, options_.stack_depth);
  if (options_.max_points && allocations.points > 0) {
    allowance_.emplace(Walker() != nullptr ? kWalkedPointNs : kAskedPointNs, options_.points_per_second,
                       MostPointsPerSecond());
  }
  MakeSource(source);
  outside_ = std::make_unique<sources::OutsideRecorder>(*sample_writer_, jvm_.names);
  heap_states_ = std::make_unique<sources::HeapStateRecorder>(*ring_, jvm_.heap, jvm_.usage);
  parts_.Add(std::make_unique<HeapSamples>(*sample_writer_, *outside_));
  AddExceptions();
  AddNative();
  AddTracker();
  AddMemorySnapshots();
  AddEnds(source);
  AddCensus(source);
  auto made = MakeDrain(Header(source));
  if (made.ok()) sample_writer_->CommitWindow(windows_->first(), kDrainLane);
  return made;
}

void Recording::PlanStreams(const ChosenSource& source) {
  plan_.AddAllocations();
  if (options_.exceptions && source.no_exceptions.empty()) {
    plan_.Add(format::Stream::kExceptions, options_.exceptions_per_second);
  }
  if (!options_.native) return;
  auto installed = plan_.InstallMallocHooks();
  if (!installed.ok()) Log(LogLevel::kWarn, "native memory is not sampled: {}", installed.error().message);
}

void Recording::AddExceptions() {
  const StreamPlan& planned = plan_.streams[format::Stream::kExceptions];
  if (!planned.is_recorded()) return;
  parts_.Add(std::make_unique<sources::ExceptionStream>(*ring_, jvm_.names, jvm_.thread_fields, *planned.throttle,
                                                        plan_.start_ns, options_.stack_depth, plan_.Seed()));
}

void Recording::AddNative() {
  if (!plan_.streams[format::Stream::kNative].is_recorded()) return;
  std::unique_ptr<sources::JavaFrames> java;
  JNIEnv* const jni = sources::EnvOf(jvm_.vm);
  if (Walker() != nullptr && jni != nullptr) {
    const auto current = hotspot::CurrentThread::Resolve(jvm_.thread_of(jni), jvm_.AllThreads(jni));
    if (current.ok()) {
      java = std::make_unique<sources::WalkedJavaFrames>(*current, *Walker(), *sample_writer_);
    } else {
      Log(LogLevel::kWarn, "native memory has no Java frames: {}", current.error().message);
    }
  }
  parts_.Add(std::make_unique<sources::NativeStream>(*ring_, plan_.NativeConfig(number_), std::move(java),
                                                     std::move(plan_.malloc_hooks)));
}

// At most half of the entries are used for objects of open intervals (writer::ReservoirOf).
void Recording::AddTracker() {
  if (!options_.tracks) return;
  const auto times = [this](uint64_t n) {
    const uint32_t buffered = plan_.streams[format::Stream::kAllocations].buffered_per_interval;
    return static_cast<uint32_t>(std::min<uint64_t>(n * buffered, format::kMaxTracked));
  };
  const uint32_t bound =
      options_.max_tracked_objects > 0 ? options_.max_tracked_objects : std::max(kMinTracked, times(12));
  if (bound < times(4)) {
    Log(LogLevel::kWarn, "live={} is too small for this rate, some objects will not be tracked; use live={}", bound,
        times(12));
  }
  // This is not a warning: the commands that show live objects show ranges.
  if (jvm_.KeepsYoungReferents()) Log(LogLevel::kInfo, "live: {}", kYoungReferents);
  auto& tracker =
      parts_.Add(std::make_unique<sources::ObjectTracker>(jvm_.vm, jvm_.heap, *ring_, *heap_states_, bound));
  sample_writer_->TrackIn(&tracker.table(), &jvm_.heap);
  if (options_.paths) AddPaths(tracker.table());
}

// If there can be no paths, records as without the option.
void Recording::AddPaths(sources::WeakRefTable& tracked) {
  sources::PathLimits limits{options_.paths_every_ns, 0, options_.paths_pause_ns, options_.paths_retained_ns,
                             options_.paths_memory};
  // Early enough that what is found is in the file.
  if (options_.duration_ns > 0)
    limits.last_ns = plan_.start_ns + options_.duration_ns - std::min<uint64_t>(options_.duration_ns / 2, kNsPerSecond);
  JNIEnv* const jni = sources::EnvOf(jvm_.vm);
  auto made = jni != nullptr ? sources::PathRecorder::Make(jvm_, jni, *sample_writer_, *heap_states_, tracked, limits)
                             : Result<std::unique_ptr<sources::PathRecorder>>(Error{"the thread is not attached"});
  if (made.ok()) {
    paths_ = &parts_.Add(std::move(*made));
  } else {
    no_paths_ = made.error().message;
    Log(LogLevel::kWarn, "no paths: {}", no_paths_);
  }
}

void Recording::SearchPaths() {
  JNIEnv* const jni = sources::EnvOf(jvm_.vm);
  if (paths_ != nullptr && jni != nullptr) paths_->Search(jni);
}

void Recording::AddMemorySnapshots() {
  std::optional<sources::MemoryPoller> rows;
  const bool has_nmt = hotspot::NmtEnabled(jvm_.structs);
  if (!options_.no_nmt && (options_.nmt_ns > 0 || has_nmt)) {
    std::optional<hotspot::NmtSummary> summary;
    if (has_nmt) {
      auto found = jvm_.symbols.ok() ? hotspot::NmtSummary::Find(*jvm_.symbols)
                                     : Result<hotspot::NmtSummary>(jvm_.symbols.error());
      if (found.ok()) {
        summary = *found;
      } else {
        Log(LogLevel::kWarn, "the JVM's native memory (NMT) is not recorded: {}", found.error().message);
      }
    }
    rows.emplace(*heap_states_, summary, options_.nmt_ns > 0 ? options_.nmt_ns : kMemoryPeriodNs);
  }
  sources::AccountPoller account(*heap_states_, jvm_.usage,
                                 hotspot::BufferPools::Find(jvm_.jvmti, sources::EnvOf(jvm_.vm)));
  parts_.Add(std::make_unique<sources::MemorySnapshots>(jvm_.vm, std::move(account), std::move(rows)));
}

void Recording::AddEnds(const ChosenSource& source) {
  JNIEnv* const jni = sources::EnvOf(jvm_.vm);
  if (!jvm_.internals.ok() || jni == nullptr) return;
  if (source.ends.sees_thread_starts) heap_states_->ExpectFailedStarts();
  parts_.Add(std::make_unique<EndEvents>(sources::EndRecorder::Make(jvm_, jni, *sample_writer_, *heap_states_)));
}

// If there can be no census, records as without the option.
void Recording::AddCensus(const ChosenSource& source) {
  if (options_.census == format::CensusMode::kOff) return;
  no_census_ = source.no_census;
  if (no_census_.empty()) {
    std::optional<sources::CensusDraw> draw;
    if (options_.census == format::CensusMode::kDrawn) {
      draw.emplace(ControllerFor(kCensusAim * options_.census_per_second, /*unit_is_event=*/true),
                   static_cast<uint32_t>(options_.census_per_second), plan_.Seed());
      draw->config.oversampling = draw->config.oversampling_new_stacks = 1;  // there is no second stage
    }
    auto census = sources::Census::Make(jvm_, *ring_, draw, plan_.start_ns);
    if (census.ok()) {
      census_ = &parts_.Add(std::move(*census));
    } else {
      no_census_ = census.error().message;
    }
  }
  if (JNIEnv* const jni = sources::EnvOf(jvm_.vm); jni != nullptr && census_ != nullptr) census_->RegisterThreads(jni);
  if (!no_census_.empty()) Log(LogLevel::kWarn, "no census: {}", no_census_);
}

// Needs an attached thread.
void Recording::EndCensus() {
  JNIEnv* const jni = sources::EnvOf(jvm_.vm);
  if (census_ != nullptr && jni != nullptr) census_->End(jni);
}

Status Recording::MakeDrain(const format::FileHeader& header) {
  writer::DrainCallbacks callbacks;
  callbacks.on_tick = [this](uint64_t now_ns) { OnTick(now_ns); };
  callbacks.name_of = [this](uint64_t address) { return sample_writer_->NameOf(address); };
  callbacks.on_stop = [this] { OnDrainStop(); };
  auto drain = plan_.MakeDrain(ring_.get(), header, &parts_, std::move(callbacks));
  if (!drain.ok()) return drain.error();
  drain_ = std::move(*drain);
  return {};
}

format::FileHeader Recording::Header(const ChosenSource& source) const {
  format::FileHeader header = plan_.Header(*ring_, parts_);
  header.exceptions_unavailable_reason = source.no_exceptions;
  header.census_unavailable_reason = no_census_;
  header.jvm_name = jvm_.Property("java.vm.name");
  header.jvm_version = jvm_.Property("java.vm.version");
  header.gc_name = jvm_.GcName();
  header.settings = hotspot::ReadSettings(jvm_.structs);
  if (const sources::CgroupMeter& cgroup = heap_states_->cgroup(); cgroup.version() > 0) {
    header.settings.push_back({"cgroup", std::to_string(cgroup.version())});
    header.settings.push_back({"cgroup.inode", std::to_string(cgroup.inode())});
  }
  if (options_.paths) header.settings.push_back({"paths", paths_ != nullptr ? "" : no_paths_});
  if (paths_ != nullptr && !paths_->why_by_jvmti().empty())
    header.settings.push_back({"paths.jvmti", paths_->why_by_jvmti()});
  if (!source.ends.missing.empty()) header.settings.push_back({"events.not_seen", source.ends.missing});
  header.source = SourceName(source.source);
  header.source_reason = source.why + "; " + StackSourceText();
  const hotspot::SafeReader& reader = jvm_.layout.reader();
  if (reader.way() != hotspot::SafeReader::Way::kProcessVm) {
    header.source_reason += "; threads are read by " + reader.Description();
  }
  if (source.fact) header.Note(*source.fact);
  if (header.max_tracked_objects > 0 && jvm_.KeepsYoungReferents()) {
    header.Note(format::SourceFact::kKeepsYoungReferents);
    header.source_reason += std::string("; ") + kYoungReferents;
  }
  return header;
}

const hotspot::StackWalker* Recording::Walker() const {
  return options_.walk_stacks && jvm_.walker.ok() ? &*jvm_.walker : nullptr;
}

std::string Recording::StackSourceText() const {
  if (Walker() != nullptr) return "stacks are walked";
  return "stacks by GetStackTrace: " + (options_.walk_stacks ? jvm_.walker.error().message : "asked for");
}

void Recording::MakeSource(const ChosenSource& source) {
  const sources::SourceParts parts{
      jvm_.layout, *windows_,    *shared_counters_,           *sample_writer_, sources::ThreadTable::Instance(),
      number_,     plan_.Seed(), MaxGapOf(windows_->config())};
  if (source.armed) {
    active_interval_ = kIntervalUnderHooks;
    source_ = std::make_unique<sources::ByteClockSource>(parts, /*hooked=*/source.source == SourceChoice::kHooks);
  } else {
    auto jvmti = std::make_unique<sources::JvmtiSource>(parts);
    jvmti_source_ = jvmti.get();
    source_ = std::move(jvmti);
    SetJvmInterval();
  }
}

void Recording::OnTick(uint64_t now_ns) {
  const sources::Totals totals = sources::ThreadTable::Instance().Total();
  const uint64_t bytes = Population(totals.bytes - population_at_start_.bytes + uncounted_at_end_, now_ns);
  const uint64_t candidates = totals.candidates - population_at_start_.candidates;
  shared_counters_->SetPopulation(candidates, bytes);
  format::RingStackChunks& chunks = ring_->header().stack_chunks;
  chunks.objects.store(totals.stack_chunks - population_at_start_.stack_chunks, std::memory_order_relaxed);
  chunks.bytes.store(totals.stack_chunk_bytes - population_at_start_.stack_chunk_bytes, std::memory_order_relaxed);
  format::RingStacks& stacks = ring_->header().stacks;
  stacks.walked.store(sample_writer_->stacks().walked(), std::memory_order_relaxed);
  stacks.asked.store(sample_writer_->stacks().asked(), std::memory_order_relaxed);
  stacks.differed.store(sample_writer_->stacks().differed(), std::memory_order_relaxed);
  const auto window = windows_->Tick(now_ns, bytes, PointsFor(heap_states_->OnTick(now_ns), now_ns));
  if (window) sample_writer_->CommitWindow(*window, kDrainLane);
  parts_.OnTick(now_ns);
  if (sample_writer_->stacks().differed() > 0 && !mismatch_reported_) {
    mismatch_reported_ = true;
    Log(LogLevel::kWarn, "a walked stack differs from GetStackTrace, which is used for the next ones");
  }
  if (jvmti_source_ == nullptr || sources::active_source.load(std::memory_order_relaxed) != source_.get()) return;
  if (attached_ == nullptr) attached_ = std::make_unique<sources::AttachedScope>(jvm_.vm);
  if (attached_->jni() != nullptr) SetJvmInterval();
}

// Returns how many points to use per interval from now on, with points=max; nullopt: no change.
std::optional<double> Recording::PointsFor(std::optional<uint64_t> cpu_ns, uint64_t now_ns) {
  if (!allowance_ || !cpu_ns) return std::nullopt;
  return allowance_->Update(now_ns, *cpu_ns) * static_cast<double>(windows_->config().interval_ns) * 1e-9;
}

// All bytes allocated so far. In portable mode the JVM's bean reports them, if there is one; otherwise the sources
// count them. Never decreases.
uint64_t Recording::Population(uint64_t seen, uint64_t now_ns) {
  if (!jvm_.beans.CountsAllocatedBytes()) return seen;
  if (now_ns >= bean_.asked_ns + kBeanPeriodNs) AskBean(now_ns);
  return bean_.most;
}

void Recording::AskBean(uint64_t now_ns) {
  JNIEnv* const jni = sources::EnvOf(jvm_.vm);
  const auto bytes = jni != nullptr ? jvm_.beans.AllocatedBytes(jni) : std::nullopt;
  if (!bytes) return;
  if (!bean_.at_start) bean_.at_start = *bytes;
  bean_.most = std::max(bean_.most, *bytes - std::min(*bytes, *bean_.at_start));
  bean_.asked_ns = now_ns;
}

// Needs an attached thread. The interval is a whole number of bytes.
void Recording::SetJvmInterval() {
  const throttle::ActiveWindow now = windows_->Read();
  const double wanted = now.lambda > 0 ? 1 / now.lambda : std::numeric_limits<jint>::max();
  const auto interval = static_cast<jint>(std::clamp(wanted, 1.0, double{std::numeric_limits<jint>::max()}));
  if (interval == jvm_interval_) return;
  if (jvm_.jvmti->SetHeapSamplingInterval(interval) != JVMTI_ERROR_NONE) return;
  jvm_interval_ = interval;
  jvmti_source_->SetInForce(static_cast<uint32_t>(interval), now.window);
}

void Recording::Stop(const std::string& reason, bool jvm_ends) {
  jvm_ends_.store(jvm_ends, std::memory_order_relaxed);
  if (jvm_ends) RestoreInterval();  // the drain will not attach
  EndCensus();
  if (!ended()) SearchPaths();
  EndAndWait(drain_.get(), reason);
}

std::string Recording::UnwrittenText() const {
  const writer::Unwritten unwritten = drain_->unwritten();
  if (!unwritten.any()) return {};
  const std::string lost = fmt::format("lost {} that could not be written", SampleCount(unwritten.lost_samples));
  if (unwritten.error.empty()) return fmt::format("{}: {}", path(), lost);
  const std::string rest =
      ring_->path().empty()
          ? ""
          : fmt::format("; {} has the rest: free disk space, then run 'heaprec recover'", ring_->path());
  return fmt::format("{}; {}{}", unwritten.error, lost, rest);
}

void Recording::OnDrainStop() {
  std::optional<sources::AttachedScope> attached;
  if (!jvm_ends_.load(std::memory_order_relaxed)) attached.emplace(jvm_.vm);
  const bool is_attached = attached && attached->jni() != nullptr;
  if (is_attached) RestoreInterval();
  sources::Source* expected = source_.get();
  sources::active_source.compare_exchange_strong(expected, nullptr);
  // As early as possible: threads allocate meanwhile, and nothing of that is sampled.
  uncounted_at_end_ = source_->UncountedBytes();
  AskBean(MonotonicNs());
  heap_states_->OnEnd(MonotonicNs());
  sources::HeapStateRecorder* states = heap_states_.get();
  sources::active_heap_states.compare_exchange_strong(states, nullptr, std::memory_order_release);
  parts_.Stop();
  if (attached) EndCensus();
  if (is_attached) DisableEvents(jvm_);
  attached.reset();
  attached_.reset();
}

}  // namespace heaprec::agent

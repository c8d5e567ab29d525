#include "recorder/agent/program/program_recording.h"

#include <chrono>
#include <exception>
#include <filesystem>
#include <utility>

#include "base/descriptors.h"
#include "recorder/agent/program/last_thread.h"
#include "recorder/sources/native/native_stream.h"
#include "recorder/writer/signal_masked_thread.h"

namespace heaprec::agent {
namespace {

// No recording of a JVM in the same process has this number.
constexpr uint32_t kNumber = UINT32_MAX;
constexpr std::chrono::milliseconds kPausePatience{100};

// The program may change its working directory before the next file is created.
Options WithAbsoluteFile(Options options) {
  options.file = std::filesystem::absolute(options.file).string();
  return options;
}

}  // namespace

Result<std::unique_ptr<ProgramRecording>> ProgramRecording::Start(const Options& options, const std::string& program) {
  std::unique_ptr<ProgramRecording> recording(new ProgramRecording(options, program));
  auto installed = recording->plan_.InstallMallocHooks();
  if (!installed.ok()) return installed.error();
  Beginning beginning{recording.get(), {}};
  auto outcome = beginning.outcome.get_future();
  auto thread =
      writer::StartSignalMaskedThread("heaprec-drain", Enter, nullptr, &beginning, writer::Process::kWithoutJvm);
  if (!thread.ok()) return thread.error();
  pthread_detach(*thread);
  auto begun = outcome.get();
  if (!begun.ok()) return begun.error();
  return recording;
}

// All files are opened here, so that the program's table of descriptors stays unchanged.
void ProgramRecording::Enter(void* beginning) {
  LeaveSharedDescriptors();
  auto* const own = static_cast<Beginning*>(beginning);
  ProgramRecording* const recording = own->recording;
  auto begun = recording->Begin();
  const bool has_begun = begun.ok();
  own->outcome.set_value(std::move(begun));  // after this, `own` no longer exists
  if (!has_begun) return;
  recording->drain_->Run();
  StopWatchingMainThread();
}

Status ProgramRecording::Begin() {
  try {
    auto built = Build();
    return built.ok() ? parts_.Activate() : built;
  } catch (const std::exception&) {
    return Error{"out of memory"};
  }
}

ProgramRecording::ProgramRecording(Options options, const std::string& program)
    : options_(WithAbsoluteFile(std::move(options))), program_(program), plan_(options_) {}

Status ProgramRecording::Build() {
  auto ring = plan_.MakeRing();
  if (!ring.ok()) return ring.error();
  ring_ = std::move(*ring);
  parts_.Add(std::make_unique<sources::NativeStream>(*ring_, plan_.NativeConfig(kNumber), /*java=*/nullptr,
                                                     std::move(plan_.malloc_hooks)));
  format::FileHeader header = plan_.Header(*ring_, parts_);
  header.jvm_name = program_;
  header.source = "preload";
  header.source_reason = "HEAPREC_NATIVE_SAMPLED";
  writer::DrainCallbacks callbacks;
  callbacks.on_tick = [this](uint64_t now_ns) { OnTick(now_ns); };
  callbacks.on_stop = [this] { parts_.Stop(); };
  auto drain = plan_.MakeDrain(ring_.get(), header, &parts_, std::move(callbacks));
  if (!drain.ok()) return drain.error();
  drain_ = std::move(*drain);
  return {};
}

void ProgramRecording::OnTick(uint64_t now_ns) {
  if (OnlyAgentThreadsLeft()) ExitProcess();
  const std::lock_guard lock(looking_);
  parts_.OnTick(now_ns);
}

void ProgramRecording::Pause() {
  if (!looking_.try_lock_for(kPausePatience)) return;
  holds_patching_ = native::HoldPatching(kPausePatience);
  paused_by_.store(pthread_self());
}

void ProgramRecording::Resume() {
  if (paused_by_.load() != pthread_self()) return;
  paused_by_.store(0);
  if (holds_patching_) native::ReleasePatching();
  looking_.unlock();
}

void ProgramRecording::Stop(const std::string& reason) { EndAndWait(drain_.get(), reason); }

}  // namespace heaprec::agent

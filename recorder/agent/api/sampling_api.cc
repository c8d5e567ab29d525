// Entry points for other agents that sample through this one: heaprec_sample_allocations and heaprec_visit_traces of
// include/heaprec_sampling.h. Defines the members of Agent that serve them.
//
// Context:  any attached thread of the application, outside of allocations.
// Failure:  a result that the header names; if sampling cannot be started, the JVM is unchanged.
#include <cstdint>
#include <string>

#include "include/heaprec_sampling.h"
#include "recorder/agent/agent.h"
#include "recorder/agent/jvm/hooks.h"
#include "recorder/sources/java/entry.h"
#include "recorder/sources/log.h"

namespace heaprec::agent {
namespace {

bool IsValid(const heaprec_sampling& how) {
  if (how.struct_bytes < sizeof(how)) return false;
  if (how.function == nullptr) return true;
  return how.depth >= 1 && how.depth <= HEAPREC_MAX_FRAMES && how.tracked >= 0 && how.tracked <= HEAPREC_MAX_TRACKED;
}

}  // namespace

int Agent::Sample(JavaVM* vm, const heaprec_sampling& how, SamplingClient sampler, std::string* why) {
  const auto refuse = [why](int answer, const std::string& sentence) {
    if (why != nullptr) *why = sentence;
    return answer;
  };
  if (vm == nullptr || !IsValid(how)) return refuse(HEAPREC_INVALID, "invalid sampling parameters");
  const std::lock_guard lock(mutex_);
  JNIEnv* const jni = sources::EnvOf(vm);
  if (jni == nullptr) return HEAPREC_INVALID;
  // After Abandon the source is off, so sampling starts anew.
  if (samples_ && sampler == sampler_ && sources::active_source.load() != samplings_.back().get()) StopSampling(jni);
  const bool is_its_own = samples_ && sampler == sampler_;
  if (how.function == nullptr) {
    if (is_its_own) StopSampling(jni);
    return HEAPREC_OK;
  }
  if (is_its_own) {
    samplings_.back()->Replace(how);
    return HEAPREC_OK;
  }
  if (samples_) return refuse(HEAPREC_RECORDING, "another client already samples through heaprec");
  if (delayed_ || (recording_ != nullptr && !recording_->ended())) {
    return refuse(HEAPREC_RECORDING, "a recording is running or waiting for its delay; stop it first");
  }
  auto environment = MakeLateEnvironment(vm);
  if (!environment.ok()) return refuse(HEAPREC_UNSUPPORTED, environment.error().message);
  auto started = StartSampling(jni, how);
  if (!started.ok()) return refuse(HEAPREC_UNSUPPORTED, started.error().message);
  sampler_ = sampler;
  return HEAPREC_OK;
}

Status Agent::StartSampling(JNIEnv* jni, const heaprec_sampling& how) {
  auto prepared = Prepare(jni);
  if (!prepared.ok()) return prepared.error();
  auto enabled = EnableEvents(*jvm_, /*exceptions=*/false);
  if (!enabled.ok()) return enabled.error();
  EventsOfStart events(*jvm_);
  options_.source = SourceChoice::kAuto;
  const ChosenSource choice = ChooseSource(jni);
  if (!choice.armed) return Error{choice.why};
  const sources::CallbackSourceParts parts{jvm_->layout,
                                           jvm_->thread_fields,
                                           sources::ThreadTable::Instance(),
                                           jvm_->names,
                                           jvm_->walker.ok() ? &*jvm_->walker : nullptr,
                                           ++recordings_};
  jvmtiCapabilities files{};
  files.can_get_source_file_name = 1;
  jvmti_->AddCapabilities(&files);  // always available; without it frames have no file
  // Frees earlier samplings: each may take megabytes.
  if (!samplings_.empty() && NoThreadInside(jvmti_)) samplings_.clear();
  samplings_.push_back(std::make_unique<sources::CallbackSource>(parts, how));
  samples_ = true;
  events.Keep();
  // Release: a thread that sees the source sees all of it (pairs with the acquires in sources/java/entry.cc).
  sources::active_source.store(samplings_.back().get(), std::memory_order_release);
  jvmti_->SetHeapSamplingInterval(kIntervalUnderHooks);
  return {};
}

// Frees the traces. The source itself stays until the next one starts, because a thread may be inside it.
void Agent::StopSampling(JNIEnv* jni) {
  if (!samples_) return;
  samples_ = false;
  RestoreInterval(*jvm_);
  sources::active_source.store(nullptr);
  DisableEvents(*jvm_);
  samplings_.back()->tracked().Clear(jni);
}

int64_t Agent::VisitTraces(JNIEnv* jni, int which, heaprec_visit visit, void* user, SamplingClient sampler) {
  const std::lock_guard lock(mutex_);
  if (jni == nullptr || visit == nullptr || samplings_.empty() || sampler != sampler_) return 0;
  return samplings_.back()->tracked().ForEach(jni, which, visit, user);
}

}  // namespace heaprec::agent

using heaprec::Log;
using heaprec::LogLevel;
using heaprec::agent::Agent;
using heaprec::agent::SamplingClient;

extern "C" {

JNIEXPORT int heaprec_sample_allocations(void* vm, const heaprec_sampling* how) {
  if (how == nullptr) return HEAPREC_INVALID;
  try {
    std::string why;
    const int answer = Agent::Instance().Sample(static_cast<JavaVM*>(vm), *how, SamplingClient::kAgent, &why);
    if (answer == HEAPREC_UNSUPPORTED) Log(LogLevel::kError, "no sampling: {}", why);
    return answer;
  } catch (...) {  // out of memory
    Agent::Instance().Abandon();
    return HEAPREC_UNSUPPORTED;
  }
}

JNIEXPORT int64_t heaprec_visit_traces(void* jni, int which, heaprec_visit visit, void* user) {
  try {
    return Agent::Instance().VisitTraces(static_cast<JNIEnv*>(jni), which, visit, user, SamplingClient::kAgent);
  } catch (...) {
    return 0;
  }
}
}

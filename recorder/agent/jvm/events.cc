#include "recorder/agent/jvm/events.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "recorder/agent/jvm/hooks.h"
#include "recorder/sources/java/jvmti_source.h"
#include "recorder/sources/log.h"

namespace heaprec::agent {
namespace {
// The last two only where exceptions are recorded.
constexpr std::array kEvents{JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END,
                             JVMTI_EVENT_EXCEPTION, JVMTI_EVENT_EXCEPTION_CATCH};
constexpr std::array kGcEvents{JVMTI_EVENT_GARBAGE_COLLECTION_START, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH};

jvmtiCapabilities SamplingCapability() {
  jvmtiCapabilities capabilities{};
  capabilities.can_generate_sampled_object_alloc_events = 1;
  return capabilities;
}

}  // namespace

format::Result<std::monostate> EnableEvents(const sources::Jvm& jvm, bool exceptions) {
  const jvmtiCapabilities sampling = SamplingCapability();
  if (jvm.jvmti->AddCapabilities(&sampling) != JVMTI_ERROR_NONE) {
    return format::Error{
        "another agent owns the SampledObjectAlloc capability; remove that agent or stop its allocation profiling"};
  }
  for (const jvmtiEvent event : std::span(kEvents).first(kEvents.size() - (exceptions ? 0 : 2))) {
    const jvmtiError error = jvm.jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
    if (error == JVMTI_ERROR_NONE) continue;
    DisableEvents(jvm);
    return format::Error{
        fmt::format("the JVM refused JVMTI event {} (error {})", static_cast<int>(event), static_cast<int>(error))};
  }
  // A recording without collections is still one.
  for (const jvmtiEvent event : kGcEvents) jvm.jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  return std::monostate{};
}

void DisableEvents(const sources::Jvm& jvm) {
  jvm.jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, nullptr);
  jvm.jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_EXCEPTION, nullptr);
  jvm.jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_EXCEPTION_CATCH, nullptr);
  for (const jvmtiEvent event : kGcEvents) jvm.jvmti->SetEventNotificationMode(JVMTI_DISABLE, event, nullptr);
  RestoreInterval(jvm);
  const jvmtiCapabilities sampling = SamplingCapability();
  jvm.jvmti->RelinquishCapabilities(&sampling);
  auto removed = RemoveHooks();
  // Installed but without a source, a hook is one load and a branch.
  if (!removed.ok()) Log(LogLevel::kInfo, "the hooks stay installed: {}", removed.error().message);
}

void RestoreInterval(const sources::Jvm& jvm) {
  jvm.jvmti->SetHeapSamplingInterval(static_cast<jint>(sources::kJvmDefaultInterval));
}

EventsOfStart::~EventsOfStart() {
  if (jvm_ == nullptr) return;
  try {
    DisableEvents(*jvm_);
  } catch (...) {  // no memory for the sentence why the hooks stay
  }
}

}  // namespace heaprec::agent

#include "recorder/agent/events.h"

#include <fmt/format.h>

#include "recorder/agent/hooks.h"
#include "recorder/agent/log.h"

namespace heaprec::agent {
namespace {
constexpr jvmtiEvent kEvents[] = {JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END};
}  // namespace

format::Result<std::monostate> EnableEvents(const Jvm& jvm) {
  for (const jvmtiEvent event : kEvents) {
    const jvmtiError error = jvm.jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
    if (error != JVMTI_ERROR_NONE) {
      return format::Error{
          fmt::format("the JVM refuses JVMTI event {} (error {})", static_cast<int>(event), static_cast<int>(error))};
    }
  }
  return std::monostate{};
}

void QuietJvm(const Jvm& jvm) {
  for (const jvmtiEvent event : kEvents) jvm.jvmti->SetEventNotificationMode(JVMTI_DISABLE, event, nullptr);
  auto removed = RemoveHooks();
  // Installed but without a source, a hook is one load and a branch.
  if (!removed.ok()) Log(LogLevel::kInfo, "the hooks stay in place: {}", removed.error().message);
}

}  // namespace heaprec::agent

// Entry points for heaprec.Probe of Java: what a thread allocates between two calls.
//
// Context:  any thread of the application, in native.
// Failure:  begin0 throws an IllegalStateException that says why this JVM cannot be probed; end0 returns what
//           was seen.
#include <jni.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "format/model/names.h"
#include "recorder/agent/agent.h"
#include "recorder/agent/api/java_arrays.h"
#include "recorder/agent/jvm/hooks.h"
#include "recorder/hotspot/metadata/object_layout.h"
#include "recorder/sources/census/allocation_probe.h"

namespace heaprec::agent {
namespace {

using sources::AllocationProbe;

Result<AllocationProbe*> Begin(JavaVM* vm, JNIEnv* jni, size_t most_objects) {
  auto jvm = Agent::Instance().PrepareProbes(vm, jni);
  if (!jvm.ok()) return jvm.error();
  static const auto objects = (*jvm)->Objects();
  if (!objects.ok()) return objects.error();
  AllocationProbe* const probe = AllocationProbe::Begin((*jvm)->layout, *objects, (*jvm)->thread_of(jni), most_objects);
  if (probe == nullptr) return Error{"too many probes at the same time"};
  return probe;
}

// The names of the classes in order of their first object, and per object the index of its class.
struct Classes {
  std::vector<std::string> names;
  std::vector<jint> of;
};

Classes ClassesOf(const sources::Jvm& jvm, const AllocationProbe::Found& found) {
  Classes classes;
  std::map<const void*, jint> known;
  for (const sources::ProbedObject& object : found.objects) {
    const auto [at, is_new] = known.try_emplace(object.klass, static_cast<jint>(classes.names.size()));
    if (is_new) classes.names.push_back(format::JavaClassName(jvm.names.KlassName(object.klass)));
    classes.of.push_back(at->second);
  }
  return classes;
}

// Returns an Object[]: String[] names of the classes, int[] each object's index in them, long[] sizes, long[] count and
// bytes of all objects, and whether they are complete.
jobjectArray ToJava(JNIEnv* jni, const sources::Jvm& jvm, const AllocationProbe::Found& found) {
  const Classes classes = ClassesOf(jvm, found);
  std::vector<jlong> sizes;
  for (const sources::ProbedObject& object : found.objects) sizes.push_back(static_cast<jlong>(object.size));
  return JavaArrays(jni)
      .Add(classes.names)
      .Add(classes.of)
      .Add(sizes)
      .Add(std::vector<jlong>{static_cast<jlong>(found.count), static_cast<jlong>(found.bytes), found.is_whole ? 1 : 0})
      .Take();
}

}  // namespace

Result<const sources::Jvm*> Agent::PrepareProbes(JavaVM* vm, JNIEnv* jni) {
  const std::lock_guard lock(mutex_);
  auto environment = MakeLateEnvironment(vm);
  if (!environment.ok()) return environment.error();
  auto prepared = Prepare(jni);
  if (!prepared.ok()) return prepared.error();
  auto installed = InstallProbeHooks(*jvm_);
  if (!installed.ok()) return installed.error();
  return static_cast<const sources::Jvm*>(jvm_.get());
}

}  // namespace heaprec::agent

using heaprec::agent::AllocationProbe;

extern "C" {

JNIEXPORT jlong JNICALL Java_heaprec_Probe_begin0(JNIEnv* jni, jclass, jint most_objects) {
  JavaVM* vm = nullptr;
  if (jni->GetJavaVM(&vm) != JNI_OK) return 0;
  try {
    auto probe = heaprec::agent::Begin(vm, jni, static_cast<size_t>(std::max(most_objects, 0)));
    if (probe.ok()) return reinterpret_cast<jlong>(*probe);
    heaprec::agent::ThrowIllegalState(jni, probe.error().message);
  } catch (...) {
    heaprec::agent::ThrowIllegalState(jni, "out of memory");
  }
  return 0;
}

// Ends the probe before anything is allocated.
JNIEXPORT jobjectArray JNICALL Java_heaprec_Probe_end0(JNIEnv* jni, jclass, jlong probe) {
  if (probe == 0) return nullptr;
  try {
    const auto found = AllocationProbe::End(reinterpret_cast<AllocationProbe*>(probe));  // NOLINT: as begin0 gave it
    return heaprec::agent::ToJava(jni, *heaprec::agent::Agent::Instance().jvm(), found);
  } catch (...) {
    heaprec::agent::ThrowIllegalState(jni, "out of memory");
    return nullptr;
  }
}
}

#include "recorder/agent/probe_entry.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "format/java_names.h"
#include "recorder/agent/agent.h"
#include "recorder/agent/hooks.h"
#include "recorder/hotspot/jdk_version.h"
#include "recorder/hotspot/object_layout.h"
#include "recorder/sources/allocation_probe.h"

namespace heaprec::agent {
namespace {

using sources::AllocationProbe;

format::Result<hotspot::ObjectLayout> ObjectsOf(const Jvm& jvm) {
  auto major = hotspot::JdkMajorVersion(jvm.jvmti, jvm.structs);
  if (!major.ok()) return major.error();
  return hotspot::ObjectLayout::Resolve(jvm.structs, *major, jvm.names);
}

format::Result<AllocationProbe*> Begin(JavaVM* vm, JNIEnv* jni, size_t most_objects) {
  auto jvm = Agent::Instance().PrepareProbes(vm, jni);
  if (!jvm.ok()) return jvm.error();
  static const auto objects = ObjectsOf(**jvm);
  if (!objects.ok()) return objects.error();
  AllocationProbe* const probe = AllocationProbe::Begin((*jvm)->layout, *objects, (*jvm)->thread_of(jni), most_objects);
  if (probe == nullptr) return format::Error{"too many probes at a time"};
  return probe;
}

// The classes by name in order of their first object, and which of them each object is of.
struct Classes {
  std::vector<std::string> names;
  std::vector<jint> of;
};

Classes ClassesOf(const Jvm& jvm, const AllocationProbe::Found& found) {
  Classes classes;
  std::map<const void*, jint> known;
  for (const sources::ProbedObject& object : found.objects) {
    const auto [at, is_new] = known.try_emplace(object.klass, static_cast<jint>(classes.names.size()));
    if (is_new) classes.names.push_back(format::JavaClassName(jvm.names.KlassName(object.klass)));
    classes.of.push_back(at->second);
  }
  return classes;
}

jobjectArray StringsOf(JNIEnv* jni, const std::vector<std::string>& texts) {
  const jclass string = jni->FindClass("java/lang/String");
  const jobjectArray array =
      string != nullptr ? jni->NewObjectArray(static_cast<jsize>(texts.size()), string, nullptr) : nullptr;
  for (jsize i = 0; array != nullptr && i < static_cast<jsize>(texts.size()); ++i) {
    const jstring text = jni->NewStringUTF(texts[static_cast<size_t>(i)].c_str());
    if (text == nullptr) return nullptr;  // an OutOfMemoryError is on its way
    jni->SetObjectArrayElement(array, i, text);
    jni->DeleteLocalRef(text);
  }
  return array;
}

jlongArray LongsOf(JNIEnv* jni, const std::vector<jlong>& values) {
  const jlongArray array = jni->NewLongArray(static_cast<jsize>(values.size()));
  if (array != nullptr) jni->SetLongArrayRegion(array, 0, static_cast<jsize>(values.size()), values.data());
  return array;
}

// Object[]: String[] of the classes, int[] which of them each object is of, long[] sizes, long[] unseen and whether it
// is whole.
jobjectArray ToJava(JNIEnv* jni, const Jvm& jvm, const AllocationProbe::Found& found) {
  const Classes classes = ClassesOf(jvm, found);
  std::vector<jlong> sizes;
  for (const sources::ProbedObject& object : found.objects) sizes.push_back(static_cast<jlong>(object.size));
  const jclass object = jni->FindClass("java/lang/Object");
  const jobjectArray all = object != nullptr ? jni->NewObjectArray(4, object, nullptr) : nullptr;
  const jobjectArray names = all != nullptr ? StringsOf(jni, classes.names) : nullptr;
  const jintArray of = names != nullptr ? jni->NewIntArray(static_cast<jsize>(classes.of.size())) : nullptr;
  if (of == nullptr) return nullptr;
  jni->SetIntArrayRegion(of, 0, static_cast<jsize>(classes.of.size()), classes.of.data());
  const jlongArray longs = LongsOf(jni, sizes);
  const jlongArray rest =
      longs != nullptr ? LongsOf(jni, {static_cast<jlong>(found.unseen), found.is_whole ? 1 : 0}) : nullptr;
  if (rest == nullptr) return nullptr;
  jni->SetObjectArrayElement(all, 0, names);
  jni->SetObjectArrayElement(all, 1, of);
  jni->SetObjectArrayElement(all, 2, longs);
  jni->SetObjectArrayElement(all, 3, rest);
  return all;
}

void Throw(JNIEnv* jni, const std::string& why) {
  const jclass type = jni->FindClass("java/lang/IllegalStateException");
  if (type != nullptr) jni->ThrowNew(type, ("heaprec: " + why).c_str());
}

}  // namespace

format::Result<const Jvm*> Agent::PrepareProbes(JavaVM* vm, JNIEnv* jni) {
  const std::lock_guard lock(mutex_);
  if (jvmti_ == nullptr) {
    auto environment = MakeEnvironment(vm);
    if (!environment.ok()) return environment.error();
    jvmti_->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr);
  }
  auto prepared = Prepare(jni);
  if (!prepared.ok()) return prepared.error();
  auto installed = InstallProbeHooks(*jvm_);
  if (!installed.ok()) return installed.error();
  return static_cast<const Jvm*>(jvm_.get());
}

}  // namespace heaprec::agent

using heaprec::agent::AllocationProbe;

JNIEXPORT jlong JNICALL Java_heaprec_Probe_begin0(JNIEnv* jni, jclass, jint most_objects) {
  JavaVM* vm = nullptr;
  if (jni->GetJavaVM(&vm) != JNI_OK) return 0;
  try {
    auto probe = heaprec::agent::Begin(vm, jni, static_cast<size_t>(std::max(most_objects, 0)));
    if (probe.ok()) return reinterpret_cast<jlong>(*probe);
    heaprec::agent::Throw(jni, probe.error().message);
  } catch (...) {
    heaprec::agent::Throw(jni, "out of memory");
  }
  return 0;
}

// First of all the end: nothing is allocated before it.
JNIEXPORT jobjectArray JNICALL Java_heaprec_Probe_end0(JNIEnv* jni, jclass, jlong probe) {
  if (probe == 0) return nullptr;
  try {
    const auto found = AllocationProbe::End(reinterpret_cast<AllocationProbe*>(probe));  // NOLINT: as begin0 gave it
    return heaprec::agent::ToJava(jni, *heaprec::agent::Agent::Instance().jvm(), found);
  } catch (...) {
    heaprec::agent::Throw(jni, "out of memory");
    return nullptr;
  }
}

// Entry points for sampling by heaprec.Heaprec of Java: random points in bytes, tracked objects, traces as arrays.
//
// Context:  any thread of the application, in native.
// Failure:  sample0 returns the reason as a sentence; traces0 throws an IllegalStateException.
#include <jni.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "format/model/names.h"
#include "recorder/agent/agent.h"
#include "recorder/agent/api/java_arrays.h"
#include "recorder/hotspot/jvmti_memory.h"
#include "recorder/hotspot/metadata/jvmti_methods.h"
#include "throttle/byte_clock.h"
#include "throttle/random.h"

namespace heaprec::agent {
namespace {

constexpr int32_t kDepth = 64;
// As in StackTraceElement: -2 is a native method.
constexpr jint kUnknownLine = -1, kNativeLine = -2;

std::atomic<uint64_t> draws{0};

// Intervals are random, so that no pattern in the program can synchronize with them, and the weight of an object
// follows from its size alone. The mean interval is stored where other agents store their context.
int64_t OnSample(heaprec_trace* trace, const heaprec_callback_env*, void* every_bytes) {
  const auto mean = static_cast<double>(reinterpret_cast<intptr_t>(every_bytes));
  const auto size = static_cast<uint64_t>(trace->byte_size);
  const double weight = throttle::Length(size) / throttle::InclusionProbability(1 / mean, size);
  trace->context = reinterpret_cast<void*>(std::bit_cast<uintptr_t>(weight));  // NOLINT: a number
  throttle::Random random(throttle::Mix64(MonotonicNs() + draws.fetch_add(1, std::memory_order_relaxed)));
  return static_cast<int64_t>(std::ceil(random.Exponential() * mean));
}

// The names of a frame when its object was sampled.
struct KeptName {
  std::string class_name, method, file;
  jint line = kUnknownLine;
};
using FrameKey = std::pair<void*, int64_t>;

// Traces are copied under the trackers' lock; names that the JVM still has are added later.
struct Found {
  std::vector<std::string> signatures;
  std::vector<jlong> numbers;
  std::vector<jdouble> weights;
  std::vector<jint> depths;
  std::vector<heaprec_frame> frames;
  std::map<FrameKey, KeptName> names;
  int64_t now_ns = 0;
};

void OnTrace(const heaprec_trace* trace, void* user) {
  Found& found = *static_cast<Found*>(user);
  found.signatures.emplace_back(trace->class_signature);
  const int64_t end_ns = trace->dead_ns != 0 ? trace->dead_ns : std::max(found.now_ns, trace->born_ns);
  found.numbers.insert(found.numbers.end(), {static_cast<jlong>(trace->uid), trace->byte_size, trace->thread_id,
                                             end_ns - trace->born_ns, trace->code});
  found.weights.push_back(std::bit_cast<double>(reinterpret_cast<uintptr_t>(trace->context)));
  found.depths.push_back(trace->frame_count);
  found.frames.insert(found.frames.end(), trace->frames, trace->frames + trace->frame_count);
  for (int32_t i = 0; i < trace->frame_count; ++i) {
    const heaprec_frame_name& name = trace->names[i];
    if (name.class_name == nullptr) continue;
    const auto [at, is_new] = found.names.try_emplace({trace->frames[i].method, trace->frames[i].location});
    if (is_new) at->second = {format::JavaClassName(name.class_name), name.method_name, name.file_name, name.line};
  }
}

std::string NameOf(std::string_view signature) {
  const bool is_class = signature.starts_with('L') && signature.ends_with(';');
  return format::JavaClassName(is_class ? signature.substr(1, signature.size() - 2) : signature);
}

// Frames with the fields of StackTraceElement, each once.
class Frames {
 public:
  Frames(jvmtiEnv* jvmti, JNIEnv* jni, const std::map<FrameKey, KeptName>& kept)
      : jvmti_(*jvmti), jni_(*jni), kept_(kept) {
    jvmtiCapabilities capabilities{};
    capabilities.can_get_source_file_name = 1;
    jvmti_.AddCapabilities(&capabilities);  // always available
  }

  jint IndexOf(const heaprec_frame& frame) {
    const FrameKey key{frame.method, frame.location};
    const auto [at, is_new] = known_.try_emplace(key, static_cast<jint>(lines.size()));
    if (is_new) Add(NameOfFrame(key));
    return at->second;
  }

  std::vector<std::string> texts;
  std::vector<jint> lines;

 private:
  void Add(const KeptName& name) {
    texts.push_back(name.class_name.empty() ? "[unknown]" : name.class_name);
    texts.push_back(name.method.empty() ? "[unknown]" : name.method);
    texts.push_back(name.file);
    lines.push_back(name.line);
  }

  KeptName NameOfFrame(const FrameKey& key) {
    const auto method = static_cast<jmethodID>(key.first);
    jclass type = nullptr;
    // JVMTI returns an error for classes that have been unloaded.
    if (jvmti_.GetMethodDeclaringClass(method, &type) != JVMTI_ERROR_NONE || type == nullptr) {
      const auto kept = kept_.find(key);
      return kept != kept_.end() ? kept->second : KeptName();
    }
    hotspot::JvmtiText name(&jvmti_), signature(&jvmti_), file(&jvmti_);
    jvmti_.GetMethodName(method, name.out(), nullptr, nullptr);
    jvmti_.GetClassSignature(type, signature.out(), nullptr);
    jvmti_.GetSourceFileName(type, file.out());
    jni_.DeleteLocalRef(type);
    return {NameOf(signature.c_str()), name.c_str(), file.c_str(),
            key.second < 0 ? kNativeLine : LineOf(method, key.second)};
  }

  jint LineOf(jmethodID method, jlocation location) {
    hotspot::JvmtiArray<jvmtiLineNumberEntry> table(&jvmti_);
    const jvmtiError error = jvmti_.GetLineNumberTable(method, table.count(), table.out());
    return error == JVMTI_ERROR_NONE ? hotspot::LineAt(table, location) : kUnknownLine;
  }

  jvmtiEnv& jvmti_;
  JNIEnv& jni_;
  const std::map<FrameKey, KeptName>& kept_;
  std::map<FrameKey, jint> known_;
};

std::string Sample(JNIEnv* jni, int64_t every, int32_t tracked) {
  JavaVM* vm = nullptr;
  if (jni->GetJavaVM(&vm) != JNI_OK) return "no JVM";
  auto* const every_bytes = reinterpret_cast<void*>(static_cast<intptr_t>(every));  // NOLINT: a number
  const heaprec_sampling how{sizeof(how), every > 0 ? OnSample : nullptr, every_bytes, -every, kDepth, tracked};
  std::string why;
  return Agent::Instance().Sample(vm, how, SamplingClient::kJava, &why) == HEAPREC_OK ? "" : why;
}

jobjectArray TracesOf(JNIEnv* jni, int which) {
  Found found;
  found.now_ns = static_cast<int64_t>(MonotonicNs());
  if (Agent::Instance().VisitTraces(jni, which, OnTrace, &found, SamplingClient::kJava) == 0) return nullptr;
  Frames frames(Agent::Instance().jvm()->jvmti, jni, found.names);
  std::vector<jint> stacks;
  for (const heaprec_frame& frame : found.frames) stacks.push_back(frames.IndexOf(frame));
  std::vector<std::string> classes;
  for (const std::string& signature : found.signatures) classes.push_back(NameOf(signature));
  return JavaArrays(jni)
      .Add(classes)
      .Add(found.numbers)
      .Add(found.weights)
      .Add(found.depths)
      .Add(stacks)
      .Add(frames.texts)
      .Add(frames.lines)
      .Take();
}

}  // namespace
}  // namespace heaprec::agent

extern "C" {

// every_bytes 0: stops sampling. Returns null on success.
JNIEXPORT jstring JNICALL Java_heaprec_Heaprec_sample0(JNIEnv* jni, jclass, jlong every_bytes, jint tracked) {
  try {
    const std::string why = heaprec::agent::Sample(jni, every_bytes, tracked);
    return why.empty() ? nullptr : jni->NewStringUTF(why.c_str());
  } catch (...) {
    heaprec::agent::Agent::Instance().Abandon();
    return jni->NewStringUTF("out of memory");
  }
}

// Returns for each trace its class, its numbers (uid, bytes, thread id, age in ns, heaprec_code), its weight, and
// its number of frames in `stacks`, where the frames of all traces follow one another. Then the frames (class, method,
// file: "" if unknown) and their lines.
JNIEXPORT jobjectArray JNICALL Java_heaprec_Heaprec_traces0(JNIEnv* jni, jclass, jint which) {
  try {
    return heaprec::agent::TracesOf(jni, which);
  } catch (...) {
    heaprec::agent::ThrowIllegalState(jni, "out of memory");
    return nullptr;
  }
}
}

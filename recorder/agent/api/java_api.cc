// Entry points for the application: heaprec.Heaprec of Java, heaprec_label of C (include/heaprec.h).
//
// Context:  any thread of the application, outside of allocations.
// Failure:  a label that cannot be set is ignored. Nothing is thrown into the application except by Heaprec.java.
#include <jni.h>
#include <jvmti.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>

#include "base/time.h"
#include "recorder/agent/agent.h"
#include "recorder/hotspot/jvmti_memory.h"
#include "recorder/sources/sample/thread_fields.h"

namespace heaprec::agent {
namespace {

constexpr std::chrono::seconds kSnapshotPatience(10);
constexpr std::string_view kClass = "Lheaprec/Heaprec;";

// A Java string in modified UTF-8, up to the size of a label.
class Text {
 public:
  Text(JNIEnv* jni, jstring from) {
    const jsize chars = jni->GetStringLength(from);
    if (chars > static_cast<jsize>(sources::kMaxLabelBytes)) return;
    jni->GetStringUTFRegion(from, 0, chars, text_);
    size_ = static_cast<size_t>(jni->GetStringUTFLength(from));
    fits_ = true;
  }
  bool fits() const { return fits_; }
  std::string_view view() const { return {text_, size_}; }

 private:
  char text_[3 * sources::kMaxLabelBytes + 1];  // up to 3 bytes a char, and a terminator
  size_t size_ = 0;
  bool fits_ = false;
};

bool IsOurs(jvmtiEnv* jvmti, jclass loaded) {
  hotspot::JvmtiText signature(jvmti);
  jvmti->GetClassSignature(loaded, signature.out(), nullptr);
  return signature.c_str() == kClass;
}

}  // namespace

// Slow steps run without the lock, because the JVM's exit may wait for it.
Result<std::string> Agent::Dump(const std::string& pattern) {
  std::future<Result<writer::Snapshot>> requested;
  {
    const std::lock_guard lock(mutex_);
    if (recording_ == nullptr || recording_->ended()) return Error{"no recording is running"};
    requested = recording_->RequestSnapshot();
  }
  if (requested.wait_for(kSnapshotPatience) != std::future_status::ready) {
    return Error{"could not write the recording's file in time"};
  }
  const auto snapshot = requested.get();
  if (!snapshot.ok()) return snapshot.error();
  return writer::CopyOf(*snapshot, pattern, static_cast<uint32_t>(getpid()), EpochNs());
}

}  // namespace heaprec::agent

extern "C" {

JNIEXPORT void JNICALL Java_heaprec_Heaprec_label0(JNIEnv* jni, jclass, jstring key, jstring value) {
  using heaprec::agent::Text;
  const Text name(jni, key);
  if (!name.fits()) return;
  if (value == nullptr) return heaprec::sources::ClearLabel(name.view());
  const Text text(jni, value);
  if (text.fits()) heaprec::sources::SetLabel(name.view(), text.view());
}

JNIEXPORT jstring JNICALL Java_heaprec_Heaprec_ask0(JNIEnv* jni, jclass, jstring command) {
  using heaprec::agent::Agent;
  JavaVM* vm = nullptr;
  if (jni->GetJavaVM(&vm) != JNI_OK) return nullptr;
  const char* const text = jni->GetStringUTFChars(command, nullptr);
  if (text == nullptr) return nullptr;  // an OutOfMemoryError is pending
  std::string answer;
  try {
    std::string sentence;
    const bool ok = Agent::Instance().Ask(vm, text, &sentence);
    answer = (ok ? "ok " : "error ") + sentence;
  } catch (...) {
    Agent::Instance().Abandon();
    answer = "error out of memory";
  }
  jni->ReleaseStringUTFChars(command, text);
  return jni->NewStringUTF(answer.c_str());
}

JNIEXPORT jstring JNICALL Java_heaprec_Heaprec_dump0(JNIEnv* jni, jclass, jstring path) {
  using heaprec::agent::Agent;
  const char* const text = jni->GetStringUTFChars(path, nullptr);
  if (text == nullptr) return nullptr;  // an OutOfMemoryError is pending
  std::string answer;
  try {
    const auto dumped = Agent::Instance().Dump(text);
    answer = dumped.ok() ? "ok " + *dumped : "error " + dumped.error().message;
  } catch (...) {
    answer = "error out of memory";
  }
  jni->ReleaseStringUTFChars(path, text);
  return jni->NewStringUTF(answer.c_str());
}

JNIEXPORT void heaprec_label(const char* key, const char* value) {
  if (key == nullptr) return;
  if (value == nullptr) return heaprec::sources::ClearLabel(key);
  heaprec::sources::SetLabel(key, value);
}
}

namespace heaprec::agent {

void LinkLabels(jvmtiEnv* jvmti, JNIEnv* jni) {
  hotspot::JvmtiArray<jclass> classes(jvmti);
  if (jvmti->GetLoadedClasses(classes.count(), classes.out()) != JVMTI_ERROR_NONE) return;
  for (const jclass loaded : classes) {
    if (IsOurs(jvmti, loaded)) {
      const jfieldID linked = jni->GetStaticFieldID(loaded, "linked", "Z");
      if (linked != nullptr) jni->SetStaticBooleanField(loaded, linked, JNI_TRUE);
      jni->ExceptionClear();  // another class with this name
    }
    jni->DeleteLocalRef(loaded);
  }
}

}  // namespace heaprec::agent

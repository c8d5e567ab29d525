#include "recorder/sources/jvm/jvm_beans.h"

#include <array>
#include <string_view>
#include <utility>

namespace heaprec::sources {
namespace {

constexpr jint kLocals = 64;

class LocalFrame {
 public:
  explicit LocalFrame(JNIEnv* jni) : jni_(jni), ok_(jni->PushLocalFrame(kLocals) == JNI_OK) {}
  ~LocalFrame() {
    jni_->ExceptionClear();
    if (ok_) jni_->PopLocalFrame(nullptr);
  }
  LocalFrame(const LocalFrame&) = delete;
  LocalFrame& operator=(const LocalFrame&) = delete;
  bool ok() const { return ok_; }

 private:
  JNIEnv* const jni_;
  const bool ok_;
};

// Null, and no exception is pending, if anything fails.
jobject CallStatic(JNIEnv* jni, jclass type, const char* name, const char* descriptor) {
  const jmethodID method = jni->GetStaticMethodID(type, name, descriptor);
  jobject result = method != nullptr ? jni->CallStaticObjectMethod(type, method) : nullptr;
  if (jni->ExceptionCheck() == JNI_FALSE) return result;
  jni->ExceptionClear();
  return nullptr;
}

std::string NameOf(JNIEnv* jni, jobject bean, jmethodID get_name) {
  auto* const name = static_cast<jstring>(jni->CallObjectMethod(bean, get_name));
  if (jni->ExceptionCheck() != JNI_FALSE || name == nullptr) return {};
  const char* const text = jni->GetStringUTFChars(name, nullptr);
  std::string copy = text != nullptr ? text : "";
  if (text != nullptr) jni->ReleaseStringUTFChars(name, text);
  return copy;
}

// By how the names of their beans begin.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kCollectors{{{"G1 ", "G1"},
                                                                                    {"Copy", "Serial"},
                                                                                    {"MarkSweepCompact", "Serial"},
                                                                                    {"PS ", "Parallel"},
                                                                                    {"ZGC", "Z"},
                                                                                    {"Shenandoah", "Shenandoah"},
                                                                                    {"Epsilon", "Epsilon"},
                                                                                    {"Serial", "Serial"}}};

}  // namespace

JvmBeans JvmBeans::Resolve(JNIEnv* jni) {
  JvmBeans beans;
  const LocalFrame frame(jni);
  if (!frame.ok()) return beans;
  const jclass factory = jni->FindClass("java/lang/management/ManagementFactory");
  if (factory == nullptr) return beans;
  beans.FindThreads(jni, factory);
  beans.FindCollector(jni, factory);
  return beans;
}

void JvmBeans::FindThreads(JNIEnv* jni, jclass factory) {
  const jclass type = jni->FindClass("com/sun/management/ThreadMXBean");
  allocated_ = type != nullptr ? jni->GetMethodID(type, "getTotalThreadAllocatedBytes", "()J") : nullptr;
  jni->ExceptionClear();
  if (allocated_ == nullptr) return;
  const jobject bean = CallStatic(jni, factory, "getThreadMXBean", "()Ljava/lang/management/ThreadMXBean;");
  if (bean == nullptr || jni->IsInstanceOf(bean, type) == JNI_FALSE) return;
  threads_ = jni->NewGlobalRef(bean);
  if (!AllocatedBytes(jni)) {  // it is refused, or turned off
    jni->DeleteGlobalRef(threads_);
    threads_ = nullptr;
  }
}

void JvmBeans::FindCollector(JNIEnv* jni, jclass factory) {
  const jobject list = CallStatic(jni, factory, "getGarbageCollectorMXBeans", "()Ljava/util/List;");
  const jclass list_type = jni->FindClass("java/util/List");
  const jclass bean_type = jni->FindClass("java/lang/management/MemoryManagerMXBean");
  if (list == nullptr || list_type == nullptr || bean_type == nullptr) return;
  const jmethodID size = jni->GetMethodID(list_type, "size", "()I");
  const jmethodID get = jni->GetMethodID(list_type, "get", "(I)Ljava/lang/Object;");
  const jmethodID get_name = jni->GetMethodID(bean_type, "getName", "()Ljava/lang/String;");
  if (size == nullptr || get == nullptr || get_name == nullptr) return;
  const jint count = jni->CallIntMethod(list, size);
  for (jint i = 0; i < count && jni->ExceptionCheck() == JNI_FALSE; ++i) {
    const jobject bean = jni->CallObjectMethod(list, get, i);
    // -Xcheck:jni asks for this check after each call.
    if (jni->ExceptionCheck() != JNI_FALSE || bean == nullptr) return;
    const std::string name = NameOf(jni, bean, get_name);
    for (const auto& [begins, collector] : kCollectors) {
      if (name.starts_with(begins)) gc_name_ = collector;
    }
    has_majors_ |= name.find("Major") != std::string::npos;
    jni->DeleteLocalRef(bean);
  }
}

std::optional<uint64_t> JvmBeans::AllocatedBytes(JNIEnv* jni) const {
  if (threads_ == nullptr) return std::nullopt;
  const jlong bytes = jni->CallLongMethod(threads_, allocated_);
  if (jni->ExceptionCheck() == JNI_FALSE && bytes >= 0) return static_cast<uint64_t>(bytes);
  jni->ExceptionClear();
  return std::nullopt;
}

}  // namespace heaprec::sources

#include "recorder/hotspot/stacks/throwables.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>

namespace heaprec::hotspot {
namespace {

// java_lang_Throwable: the stack is a list of arrays, each with an array of so many frames for each part of a frame.
enum Part : jsize { kNumbers = 0, kBcis = 1, kMirrors = 2, kNames = 3, kNext = 4, kParts = 5 };
constexpr jsize kFrames = 32;
constexpr int kMaxArrays = 64;  // of 1,024 frames, the JVM's default of MaxJavaStackTraceDepth, there are 32

jclass GlobalClass(JNIEnv* jni, const char* name) {
  const jclass local = jni->FindClass(name);
  const auto global = local != nullptr ? static_cast<jclass>(jni->NewGlobalRef(local)) : nullptr;
  jni->ExceptionClear();
  jni->DeleteLocalRef(local);
  return global;
}

jfieldID FieldOf(JNIEnv* jni, jclass type, const char* name, const char* descriptor) {
  const jfieldID field = jni->GetFieldID(type, name, descriptor);
  jni->ExceptionClear();
  return field;
}

class LocalRef {
 public:
  LocalRef(JNIEnv* jni, jobject object) : jni_(jni), object_(object) {}
  LocalRef(const LocalRef&) = delete;
  LocalRef& operator=(const LocalRef&) = delete;
  ~LocalRef() { jni_->DeleteLocalRef(object_); }
  template <typename Type = jobject>
  Type as() const {
    return static_cast<Type>(object_);
  }
  void Reset(jobject object) {
    jni_->DeleteLocalRef(object_);
    object_ = object;
  }
  // Whether it is an array of this class with at least so many elements.
  bool Is(jclass array_class, jsize elements) const {
    return object_ != nullptr && jni_->IsInstanceOf(object_, array_class) == JNI_TRUE &&
           jni_->GetArrayLength(as<jarray>()) >= elements;
  }

 private:
  JNIEnv* const jni_;
  jobject object_;
};

}  // namespace

Throwables Throwables::Resolve(JNIEnv* jni, const Names& names) {
  Throwables made;
  const jclass type = jni->FindClass("java/lang/Throwable");
  if (type == nullptr) {
    jni->ExceptionClear();
    return made;
  }
  made.message_ = FieldOf(jni, type, "detailMessage", "Ljava/lang/String;");
  made.stack_ = FieldOf(jni, type, "backtrace", "Ljava/lang/Object;");
  jni->DeleteLocalRef(type);
  // Found once, because the references stay as long as the JVM.
  static const std::array<jclass, 5> classes{GlobalClass(jni, "[S"), GlobalClass(jni, "[I"), GlobalClass(jni, "[J"),
                                             GlobalClass(jni, "[Ljava/lang/Object;"),
                                             GlobalClass(jni, "java/lang/Class")};
  if (std::ranges::find(classes, nullptr) != classes.end()) made.stack_ = nullptr;
  std::tie(made.shorts_, made.ints_, made.longs_, made.objects_, made.class_) = std::tuple_cat(classes);
  made.names_ = &names;
  return made;
}

std::string_view Throwables::MessageOf(JNIEnv* jni, jthrowable thrown, std::span<char> room) const {
  if (message_ == nullptr) return {};
  const LocalRef message(jni, jni->GetObjectField(thrown, message_));
  if (message.as() == nullptr) return {};
  // Modified UTF-8 needs up to 3 bytes a char, and GetStringUTFRegion adds a terminator.
  const auto most = static_cast<jsize>((room.size() - 1) / 3);
  const jsize chars = std::min(jni->GetStringLength(message.as<jstring>()), most);
  room[0] = '\0';
  jni->GetStringUTFRegion(message.as<jstring>(), 0, chars, room.data());
  return room.data();
}

std::span<MethodFrame> Throwables::StackOf(JNIEnv* jni, jthrowable thrown, std::span<MethodFrame> room) const {
  if (stack_ == nullptr) return {};
  size_t count = 0;
  LocalRef array(jni, jni->GetObjectField(thrown, stack_));
  for (int i = 0; i < kMaxArrays && count < room.size() && array.Is(objects_, kParts); ++i) {
    const auto part = [&](Part which) { return jni->GetObjectArrayElement(array.as<jobjectArray>(), which); };
    const LocalRef numbers(jni, part(kNumbers)), bcis(jni, part(kBcis)), mirrors(jni, part(kMirrors)),
        symbols(jni, part(kNames));
    const bool is_known = numbers.Is(shorts_, kFrames) && bcis.Is(ints_, kFrames) && mirrors.Is(objects_, kFrames) &&
                          symbols.Is(longs_, kFrames);
    if (!is_known) break;
    std::array<jshort, kFrames> number;
    std::array<jint, kFrames> bci;
    std::array<jlong, kFrames> symbol;
    jni->GetShortArrayRegion(numbers.as<jshortArray>(), 0, kFrames, number.data());
    jni->GetIntArrayRegion(bcis.as<jintArray>(), 0, kFrames, bci.data());
    jni->GetLongArrayRegion(symbols.as<jlongArray>(), 0, kFrames, symbol.data());
    for (jsize at = 0; at < kFrames && count < room.size(); ++at) {
      const LocalRef mirror(jni, jni->GetObjectArrayElement(mirrors.as<jobjectArray>(), at));
      if (mirror.as() == nullptr) return room.first(count);  // the last array is not full
      if (jni->IsInstanceOf(mirror.as(), class_) == JNI_FALSE) return room.first(count);
      const void* const klass = names_->KlassOfMirror(jni, mirror.as<jclass>());
      const VmMethod* const method = klass != nullptr ? names_->MethodNumbered(klass, static_cast<uint16_t>(number[at]),
                                                                               static_cast<uintptr_t>(symbol[at]))
                                                      : nullptr;
      if (method == nullptr) return room.first(count);  // its class was redefined
      // The lower half is the version of the method.
      room[count++] = {
          .method = method,
          .bci = names_->IsNative(method) ? -1 : static_cast<int32_t>(static_cast<uint32_t>(bci[at]) >> 16)};
    }
    array.Reset(part(kNext));
  }
  return room.first(count);
}

}  // namespace heaprec::hotspot

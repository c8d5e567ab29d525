// Instead of what the capture asks of HotSpot (the linker's --wrap): the names of the object that the calling thread
// allocates. An opaque pointer of the JVM is an index into the program's tables, and one more.
#include "tests/crash/jvm_link_seams.h"

#include <jvmti.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "recorder/hotspot/metadata/names.h"
#include "recorder/sources/sample/thread_fields.h"
#include "tests/crash/program.h"

using heaprec::crash::allocated;
using heaprec::hotspot::Names;
using heaprec::hotspot::VmMethod;

namespace {

template <typename Pointer>
size_t IndexOf(Pointer pointer) {
  return reinterpret_cast<uintptr_t>(pointer) - 1;
}
template <typename Pointer>
Pointer PointerTo(size_t index) {
  return reinterpret_cast<Pointer>(index + 1);
}

jvmtiError JNICALL GetStackTrace(jvmtiEnv*, jthread, jint start, jint most, jvmtiFrameInfo* into, jint* count) {
  const auto depth = static_cast<jint>(allocated.Depth());
  if (start < 0) start += depth;
  if (start < 0 || start >= depth) return JVMTI_ERROR_ILLEGAL_ARGUMENT;
  *count = std::min(most, depth - start);
  for (jint i = 0; i < *count; ++i) {
    into[i].method = PointerTo<jmethodID>(allocated.Method(static_cast<size_t>(start + i)));
    into[i].location = start + i;
  }
  return JVMTI_ERROR_NONE;
}

}  // namespace

#define INSTEAD(result, name, symbol, ...)                     \
  result name##Instead(__VA_ARGS__) __asm__("__wrap_" symbol); \
  result name##Instead(__VA_ARGS__)

INSTEAD(bool, Method, "_ZNK7heaprec7hotspot5Names6MethodEPKNS0_8VmMethodEPNS1_10MethodViewE", const Names*,
        const VmMethod* method, Names::MethodView* into) {
  const heaprec::crash::MethodNames& names = heaprec::crash::MethodOf(IndexOf(method));
  *into = {names.class_name, names.name, names.descriptor};
  return true;
}
INSTEAD(int, Line, "_ZNK7heaprec7hotspot5Names4LineEPKNS0_8VmMethodEi", const Names*, const VmMethod* method, int) {
  return heaprec::crash::LineOf(IndexOf(method));
}
INSTEAD(const VmMethod*, MethodOfId, "_ZNK7heaprec7hotspot5Names8MethodOfEP10_jmethodID", const Names*, jmethodID id) {
  return reinterpret_cast<const VmMethod*>(id);
}
INSTEAD(const void*, KlassOfMirror, "_ZNK7heaprec7hotspot5Names13KlassOfMirrorEP7JNIEnv_P7_jclass", const Names*,
        JNIEnv*, jclass mirror) {
  return mirror;
}
INSTEAD(std::string_view, KlassName, "_ZNK7heaprec7hotspot5Names9KlassNameEPKv", const Names*, const void* klass) {
  return heaprec::crash::ClassName(IndexOf(klass));
}
INSTEAD(void, ReadThread, "_ZNK7heaprec7sources12ThreadFields4ReadEP7JNIEnv_P8_jobjectPNS0_14ThreadIdentityE",
        const heaprec::sources::ThreadFields*, JNIEnv*, jobject, heaprec::sources::ThreadIdentity* into) {
  const std::string name = allocated.ThreadName();
  into->java_tid = allocated.thread + 100;
  into->name_bytes = name.copy(into->name, sizeof(into->name));
}

namespace heaprec::crash {

sources::CallbackContext ContextOf(const Object& object) {
  static const jvmtiInterface_1_ functions = [] {
    jvmtiInterface_1_ table{};
    table.GetStackTrace = GetStackTrace;
    return table;
  }();
  static jvmtiEnv jvmti{&functions};
  allocated = object;
  return {.jvmti = &jvmti,
          .jni = nullptr,
          .java_thread = nullptr,
          .thread = nullptr,
          .object_class = PointerTo<jclass>(object.Class()),
          .object = nullptr,
          .os_tid = object.thread + 1,
          .lane_hint = object.thread};
}

}  // namespace heaprec::crash

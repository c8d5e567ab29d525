#include "recorder/sources/callback/tracked_objects.h"

#include <catch2/catch.hpp>
#include <new>

namespace heaprec::sources {
namespace {

// A JVM with one live object, which counts the weak references to it.
struct OneObject {
  OneObject() {
    references = 0;
    calls.NewWeakGlobalRef = [](JNIEnv*, jobject object) -> jweak { return ++references, object; };
    calls.DeleteWeakGlobalRef = [](JNIEnv*, jweak) { --references; };
    calls.IsSameObject = [](JNIEnv*, jobject, jobject) -> jboolean { return JNI_FALSE; };
    jni.functions = &calls;
  }
  JNINativeInterface_ calls{};
  JNIEnv jni{};
  static inline int references = 0;
  jobject object = reinterpret_cast<jobject>(this);
};

}  // namespace

TEST_CASE("After a visit that ran out of memory, objects are tracked and visited again") {
  OneObject jvm;
  const hotspot::Names names = hotspot::Names::FromJvmti(nullptr);
  TrackedObjects tracked(2, 1, names);
  heaprec_trace trace{};
  trace.class_signature = "[B";
  tracked.Track(nullptr, &jvm.jni, jvm.object, trace);
  const auto fail = [](const heaprec_trace*, void*) { throw std::bad_alloc(); };
  CHECK_THROWS_AS(tracked.ForEach(&jvm.jni, HEAPREC_LIVE, fail, nullptr), std::bad_alloc);
  tracked.Track(nullptr, &jvm.jni, jvm.object, trace);
  REQUIRE(tracked.untracked() == 0);
  CHECK(tracked.ForEach(
            &jvm.jni, HEAPREC_LIVE, [](const heaprec_trace*, void*) {}, nullptr) == 2);
}

TEST_CASE("A thread that is in the callback while sampling is stopped leaves no reference") {
  OneObject jvm;
  const hotspot::Names names = hotspot::Names::FromJvmti(nullptr);
  TrackedObjects tracked(2, 1, names);
  heaprec_trace trace{};
  trace.class_signature = "[B";
  tracked.Track(nullptr, &jvm.jni, jvm.object, trace);
  REQUIRE(OneObject::references == 1);
  tracked.Clear(&jvm.jni);
  CHECK(OneObject::references == 0);
  tracked.Track(nullptr, &jvm.jni, jvm.object, trace);
  CHECK(OneObject::references == 0);
  CHECK(tracked.untracked() == 0);
}

}  // namespace heaprec::sources

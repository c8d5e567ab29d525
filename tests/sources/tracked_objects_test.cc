#include "recorder/sources/callback/tracked_objects.h"

#include <catch2/catch.hpp>
#include <new>

namespace heaprec::sources {
namespace {

// Tracks the one live object of a JVM that counts the weak references to it.
struct TrackedOnce {
  TrackedOnce() {
    references = 0;
    calls.NewWeakGlobalRef = [](JNIEnv*, jobject object) -> jweak { return ++references, object; };
    calls.DeleteWeakGlobalRef = [](JNIEnv*, jweak) { --references; };
    calls.IsSameObject = [](JNIEnv*, jobject, jobject) -> jboolean { return JNI_FALSE; };
    jni.functions = &calls;
    trace.class_signature = "[B";
    Track();
    REQUIRE(references == 1);
  }
  void Track() { tracked.Track(nullptr, &jni, reinterpret_cast<jobject>(this), trace); }

  JNINativeInterface_ calls{};
  JNIEnv jni{};
  static inline int references = 0;
  heaprec_trace trace{};
  const hotspot::Names names = hotspot::Names::FromJvmti(nullptr);
  TrackedObjects tracked{2, 1, names};
};

}  // namespace

TEST_CASE("After a visit without memory, objects are tracked and visited again") {
  TrackedOnce jvm;
  const auto fail = [](const heaprec_trace*, void*) { throw std::bad_alloc(); };
  CHECK_THROWS_AS(jvm.tracked.ForEach(&jvm.jni, HEAPREC_LIVE, fail, nullptr), std::bad_alloc);
  jvm.Track();
  REQUIRE(jvm.tracked.untracked() == 0);
  CHECK(jvm.tracked.ForEach(
            &jvm.jni, HEAPREC_LIVE, [](const heaprec_trace*, void*) {}, nullptr) == 2);
}

TEST_CASE("A thread in the callback at the end of sampling leaves no reference") {
  TrackedOnce jvm;
  jvm.tracked.Clear(&jvm.jni);
  CHECK(TrackedOnce::references == 0);
  jvm.Track();
  CHECK(TrackedOnce::references == 0);
  CHECK(jvm.tracked.untracked() == 0);
}

}  // namespace heaprec::sources

#include "recorder/sources/callback/tracked_objects.h"

#include <catch2/catch.hpp>
#include <new>

namespace heaprec::sources {
namespace {

// A JVM with one live object.
struct OneObject {
  OneObject() {
    calls.NewWeakGlobalRef = [](JNIEnv*, jobject object) -> jweak { return object; };
    calls.IsSameObject = [](JNIEnv*, jobject, jobject) -> jboolean { return JNI_FALSE; };
    jni.functions = &calls;
  }
  JNINativeInterface_ calls{};
  JNIEnv jni{};
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

}  // namespace heaprec::sources

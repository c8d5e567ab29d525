#include <catch2/catch.hpp>
#include <new>
#include <string>

#include "recorder/sources/callback/tracked_objects.h"

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

namespace {

heaprec_frame FrameOf(uint64_t method, int64_t location) {
  return {reinterpret_cast<void*>(method * 8), location};  // NOLINT: as a jmethodID is, no address of ours
}

// Three frames of each of so many methods.
void AddAll(FrameNames* names, uint64_t from, uint64_t to) {
  for (uint64_t method = from; method < to; ++method) {
    const std::string class_name = "p/C" + std::to_string(method), name = "m" + std::to_string(method);
    names->AddMethod(FrameOf(method, 0).method, {class_name, name, "C.java"});
    for (int64_t location = -1; location < 2; ++location) {
      names->Add(FrameOf(method, location), static_cast<int32_t>(10 * location));
    }
  }
}

bool IsKnown(const FrameNames& names, uint64_t method, int64_t location) {
  const heaprec_frame_name found = names.Find(FrameOf(method, location));
  return found.class_name != nullptr && "p/C" + std::to_string(method) == found.class_name &&
         "m" + std::to_string(method) == found.method_name && std::string("C.java") == found.file_name &&
         found.line == 10 * location;
}

}  // namespace

TEST_CASE("Frames have the names with which they were added, and others have none") {
  FrameNames names(true);
  AddAll(&names, 1, 1000);
  for (uint64_t method = 1; method < 1000; ++method) {
    CHECK(names.Has(FrameOf(method, 1)));
    CHECK(IsKnown(names, method, -1));
    CHECK(IsKnown(names, method, 1));
  }
  CHECK(names.Find(FrameOf(5, 7)).class_name == nullptr);
  CHECK(names.Find(FrameOf(1000, 0)).class_name == nullptr);
  CHECK(names.HasMethod(FrameOf(999, 0).method));
  CHECK_FALSE(names.HasMethod(FrameOf(1000, 0).method));
}

TEST_CASE("A full table keeps its content, and entries without a trace are freed") {
  FrameNames names(true);
  AddAll(&names, 1, 20'000);
  CHECK(names.IsHalfFull());
  CHECK(IsKnown(names, 1, 0));
  CHECK_FALSE(names.Has(FrameOf(19'999, 0)));
  names.Retain([](const auto& keep) {
    for (uint64_t method = 1; method < 30; ++method) keep(FrameOf(method, 1));
    keep(FrameOf(19'999, 0));  // was never kept
  });
  CHECK_FALSE(names.IsHalfFull());
  for (uint64_t method = 1; method < 30; ++method) CHECK(IsKnown(names, method, 1));
  CHECK_FALSE(names.Has(FrameOf(1, 0)));
  CHECK_FALSE(names.HasMethod(FrameOf(30, 0).method));
  AddAll(&names, 19'990, 20'000);
  CHECK(IsKnown(names, 19'999, 0));
}

TEST_CASE("Without tracking nothing is kept") {
  FrameNames names(false);
  AddAll(&names, 1, 3);
  CHECK_FALSE(names.Has(FrameOf(1, 0)));
  CHECK(names.Find(FrameOf(1, 0)).class_name == nullptr);
}

}  // namespace heaprec::sources

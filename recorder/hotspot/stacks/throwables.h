// Message and stack of a throwable, read from its fields through JNI: no Java code runs, no object is made, and a
// pending exception stays pending, because HotSpot's JNI functions keep one.
//
// Context:  Resolve: setup, an attached thread. The others: a Java thread in native state; not under -Xcheck:jni, which
//           complains about calls with a pending exception.
// Threads:  any.
// Failure:  an empty message or stack: there is none, a method of the program would have to compute it, or its form is
//           not known.
#pragma once

#include <jni.h>

#include <span>
#include <string_view>

#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/stacks/stack_walker.h"

namespace heaprec::hotspot {

class Throwables {
 public:
  Throwables() = default;
  // `names` must outlive it.
  static Throwables Resolve(JNIEnv* jni, const Names& names);

  // Modified UTF-8, cut to fit with a terminator.
  std::string_view MessageOf(JNIEnv* jni, jthrowable thrown, std::span<char> room) const;
  // The frames as the JVM stored them when the throwable was made, the innermost first. `thrown` keeps their classes
  // loaded.
  std::span<MethodFrame> StackOf(JNIEnv* jni, jthrowable thrown, std::span<MethodFrame> room) const;

 private:
  const Names* names_ = nullptr;
  jfieldID message_ = nullptr, stack_ = nullptr;
  // Global references: classes of arrays, and java.lang.Class.
  jclass shorts_ = nullptr, ints_ = nullptr, longs_ = nullptr, objects_ = nullptr, class_ = nullptr;
};

}  // namespace heaprec::hotspot

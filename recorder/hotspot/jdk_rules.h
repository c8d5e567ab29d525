// What differs between JDKs and cannot be read from the JVM's own description of itself: one row per JDK, and a
// conservative one for every other.
//
// For a new JDK, copy the row of the JDK before it in jdk_rules.cc, check each source named there, then run
// tests/e2e/jdks.sh (CONTRIBUTING.md). What a row does not know is off: the recording says so and is made without it.
//
// Threads:  any.
// Failure:  none: an unknown JDK gets the conservative row.
#pragma once

#include <cstdint>

namespace heaprec::hotspot {

struct JdkRules {
  // How the JVM's heap sampler counts towards its next event.
  enum class ThresholdRule : uint8_t { kUnknown, kJdk11, kJdk17, kJdk25 };
  // What a jmethodID is.
  enum class MethodIds : uint8_t { kUnknown, kPointers, kNumbers };
  // ZGC's generations, where the flag ZGenerational does not tell.
  enum class DefaultZ : uint8_t { kUnknown, kOneGeneration, kGenerations };

  int jdk;  // 0: the conservative row
  ThresholdRule threshold;
  MethodIds method_ids;
  // Whether StackWalker knows this JDK's frames, code cache and compiled methods.
  bool knows_frames;
  // UNSIGNED5: byte values below this are not digits.
  uint8_t excluded_bytes;
  // Where the JVM describes how it compresses class pointers.
  const char* narrow_klass_owner;
  // A jfieldID of an instance field is the field's offset shifted left by this, with tag bits below. 0: unknown, so no
  // hidden field is read.
  uint8_t field_id_shift;
  // Serial and Parallel let generated code allocate inline without TLABs.
  bool allocates_inline_without_tlabs;
  bool has_virtual_threads;
  DefaultZ default_z;

  // Whether the row is of exactly this JDK. Otherwise the JVM's own memory is neither read nor written.
  bool is_known() const { return jdk != 0; }

  // `major` as JdkMajorVersion.
  static const JdkRules& For(int major);
};

}  // namespace heaprec::hotspot

// Differences between JDKs that the JVM does not describe itself: one row per JDK, and a conservative one for all
// others.
//
// For a new JDK, copy the row of the JDK before it in jdk_rules.cc, check each source named there, then run
// tests/e2e/jdks.sh (CONTRIBUTING.md). A feature whose rule is unknown is disabled, and the recording says so.
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
  // ZGC's generations, if the flag ZGenerational does not exist.
  enum class DefaultZ : uint8_t { kUnknown, kOneGeneration, kGenerations };

  int jdk;  // major version; 0: the conservative row
  ThresholdRule threshold;
  MethodIds method_ids;
  // Whether StackWalker knows this JDK's frames, code cache and compiled methods.
  bool knows_frames;
  // UNSIGNED5: byte values below this are not digits.
  uint8_t excluded_bytes;
  // The class in which the JVM describes the compression of class pointers.
  const char* narrow_klass_owner;
  // A jfieldID of an instance field is the field's offset shifted left by this, with tag bits below it. 0: unknown, so
  // hidden fields are not read.
  uint8_t field_id_shift;
  // Serial and Parallel let generated code allocate inline without TLABs.
  bool allocates_inline_without_tlabs;
  bool has_virtual_threads;
  DefaultZ default_z;

  // Whether the row is for exactly this JDK. Otherwise the JVM's own memory is neither read nor written.
  bool is_known() const { return jdk != 0; }

  // `major`: as returned by JdkMajorVersion.
  static const JdkRules& For(int major);
};

}  // namespace heaprec::hotspot

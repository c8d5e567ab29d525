// Names of methods and classes read straight from the JVM's metadata: no heap, no lock, no JVMTI call.
//
// Units:    names in the JVM's internal form (java/util/HashMap), modified UTF-8.
// Context:  setup: Resolve. Else a Java thread in native state (a JVMTI callback) while the methods are on its stack or
//           the class is held by a local reference; then nothing read here can be unloaded. KlassName: alloc too.
// Threads:  any.
// Failure:  false, -1, an empty view or null for what is not understood; VerifyNames (self_test.h) compares with JVMTI.
#pragma once

#include <jni.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "format/result.h"
#include "recorder/hotspot/vm_structs.h"

namespace heaprec::hotspot {

class Names {
 public:
  static format::Result<Names> Resolve(const VmStructs& structs, int jdk_major);

  // Views into the JVM's memory: copy them before leaving the context.
  struct MethodView {
    std::string_view class_name;
    std::string_view name;
    std::string_view descriptor;
  };
  bool Method(jmethodID id, MethodView* out) const;

  // -1: unknown, or a native method.
  int Line(jmethodID id, int bci) const;

  // Internal name; arrays as descriptors ([I, [Ljava/lang/String;); hidden classes as the JVM's Symbol has them.
  std::string_view KlassName(const void* klass) const;

  // The Klass behind a java.lang.Class; null for primitive types, and always under -Xcheck:jni, which would abort.
  const void* KlassOfMirror(JNIEnv* jni, jclass mirror) const;

 private:
  // 0 when the pointer cannot be metadata.
  const char* Pointer(const char* base, size_t offset) const;
  std::string_view SymbolText(const char* symbol) const;
  std::string_view PoolSymbol(const char* pool, size_t index) const;
  const char* ConstMethodOf(jmethodID id) const;

  // Byte offsets and sizes, as the JVM describes itself.
  size_t method_const_ = 0;
  size_t const_pool_ = 0, const_flags_ = 0, const_code_size_ = 0, const_name_ = 0, const_descriptor_ = 0;
  size_t const_size_ = 0;
  size_t flags_width_ = 2;
  uint32_t has_lines_ = 0;
  size_t pool_holder_ = 0, pool_length_ = 0, pool_size_ = 0;
  size_t klass_name_ = 0;
  size_t symbol_length_ = 0, symbol_body_ = 0;
  uint8_t excluded_bytes_ = 0;         // UNSIGNED5: byte values below this are not digits (1 since JDK 20)
  const int* mirror_klass_ = nullptr;  // java_lang_Class::_klass_offset, set when the JVM has loaded that class
  bool checked_jni_ = false;
};

// One line of a compressed line number table: exposed for tests. Reads at most `size` bytes.
// Returns the line of the last entry at or before `bci`, -1 if none or if the table is malformed before it.
int DecodeLine(const uint8_t* table, size_t size, int bci, uint8_t excluded_bytes);

}  // namespace heaprec::hotspot

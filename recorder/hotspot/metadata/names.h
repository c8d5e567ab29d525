// Reads names of methods and classes from the JVM's metadata: no heap, no lock, no JVMTI call. If the metadata cannot
// be read, names come from JVMTI (JvmtiMethods).
//
// Units:    names in the JVM's internal form (java/util/HashMap), modified UTF-8.
// Context:  setup: Resolve. The others: a Java thread in native state (a JVMTI callback), while the methods are on its
//           stack or a local reference keeps the class loaded; so nothing read here can be unloaded. KlassName:
//           alloc too.
// Threads:  any.
// Failure:  false, -1, an empty view or null for data that is not understood; VerifyNames compares
//           with JVMTI.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "recorder/hotspot/jdk_rules.h"
#include "recorder/hotspot/memory.h"
#include "recorder/hotspot/metadata/jvmti_methods.h"
#include "recorder/hotspot/vm_structs.h"

namespace heaprec::hotspot {

struct VmMethod;  // HotSpot's Method, which only Names and StackWalker read

class Names {
 public:
  // field_access_count: address of JvmtiExport::_field_access_count (kFieldAccessCount in libjvm.h), 0 if not known.
  // methods: resolves methods known only by a jmethodID; null if a jmethodID points to its Method.
  static Result<Names> Resolve(const VmStructs& structs, const JdkRules& rules, uintptr_t field_access_count = 0,
                               JvmtiMethods* methods = nullptr);
  // Does not read the JVM's memory: methods come from JVMTI, and classes are unknown.
  static Names FromJvmti(JvmtiMethods* methods);

  // Views into the JVM's memory: copy them before leaving the context.
  struct MethodView {
    std::string_view class_name;
    std::string_view name;
    std::string_view descriptor;
  };
  bool Method(const VmMethod* method, MethodView* out) const;

  // -1: unknown, or a native method.
  int Line(const VmMethod* method, int bci) const;
  bool IsNative(const VmMethod* method) const {
    constexpr uint16_t kAccNative = 0x0100;
    return (Load<uint16_t>(reinterpret_cast<const char*>(method) + method_access_) & kAccNative) != 0;
  }
  bool Method(jmethodID id, MethodView* out) const { return Method(MethodOf(id), out); }
  int Line(jmethodID id, int bci) const { return Line(MethodOf(id), bci); }

  // Returns the range of a method's bytecodes; empty if it cannot be a method.
  struct Code {
    const char* begin = nullptr;
    size_t size = 0;
  };
  Code CodeOf(const VmMethod* method) const;

  // Returns null for an id whose class was unloaded. If jmethodIDs do not point to methods, returns a placeholder that
  // only Method and Line accept.
  const VmMethod* MethodOf(jmethodID id) const;
  bool ids_lead_to_methods() const { return methods_ == nullptr; }
  // Whether a class's name can be loaded; makes system calls. For self-tests.
  bool IsReadable(const void* klass) const;
  // Returns the method of a class with this name and descriptor; null: none. For self-tests.
  const VmMethod* FindMethod(const void* klass, std::string_view name, std::string_view descriptor) const;
  // Returns the method with this number and name in its class, as the JVM stores stacks; null: none, or not known.
  // `name`: a Symbol, which is not read.
  const VmMethod* MethodNumbered(const void* klass, uint16_t number, uintptr_t name) const;

  // Internal name; arrays as descriptors ([I, [Ljava/lang/String;); hidden classes as the JVM's Symbol has them.
  std::string_view KlassName(const void* klass) const;

  // Returns the name of the field at this offset in an object of the class, or, static, in its java.lang.Class. Empty:
  // no such field, or not known (JDKs whose fields are stored otherwise).
  std::string_view FieldName(const void* klass, uint32_t offset, bool is_static) const;

  // Returns the Klass of a java.lang.Class. Null for primitive types, and if the hidden field cannot safely be read
  // through JNI: under -Xcheck:jni (the JVM would abort), and while a debugger watches fields (the JVM would look the
  // field up).
  const void* KlassOfMirror(JNIEnv* jni, jclass mirror) const;

 private:
  std::string_view SymbolText(const char* symbol) const;
  const char* PoolEntry(const char* pool, size_t index) const;
  std::string_view PoolSymbol(const char* pool, size_t index) const { return SymbolText(PoolEntry(pool, index)); }
  const char* ConstMethodOf(const VmMethod* method) const;
  std::string_view OwnFieldName(const char* klass, uint32_t offset, bool is_static) const;
  template <typename Matches>
  const VmMethod* FindMethodOf(const void* klass, const Matches& matches) const;
  bool MayReadMirrors() const;
  // A method that JVMTI must resolve: its id, marked by being odd.
  static bool IsId(const VmMethod* method) { return (reinterpret_cast<uintptr_t>(method) & 1) != 0; }
  static jmethodID IdOf(const VmMethod* method) {
    return reinterpret_cast<jmethodID>(reinterpret_cast<uintptr_t>(method) >> 1);  // NOLINT(performance-no-int-to-ptr)
  }

  // Byte offsets and sizes from vmStructs.
  size_t method_const_ = 0, method_access_ = 0;
  size_t const_words_ = 0, const_pool_ = 0, const_flags_ = 0, const_code_size_ = 0, const_name_ = 0,
         const_descriptor_ = 0;
  size_t const_size_ = 0;
  uint32_t has_lines_ = 0;
  size_t pool_holder_ = 0, pool_length_ = 0, pool_size_ = 0;
  size_t klass_name_ = 0;
  size_t symbol_length_ = 0, symbol_body_ = 0;
  uint8_t excluded_bytes_ = 0;         // UNSIGNED5: byte values below this are not digits (1 since JDK 20)
  const int* mirror_klass_ = nullptr;  // java_lang_Class::_klass_offset; set by the JVM when it loads that class
  const int* field_watches_ = nullptr;
  bool checked_jni_ = false;
  uint8_t field_id_shift_ = 0;
  size_t class_methods_ = 0, array_length_ = 0, array_data_ = 0;
  size_t const_number_ = 0;  // 0: not known
  // Of fields; 0: not known. Until JDK 20 they are in an array of 16-bit numbers, then in a stream of bytes.
  size_t class_super_ = 0, class_pool_ = 0, class_field_array_ = 0, class_field_count_ = 0, class_field_stream_ = 0;
  size_t shorts_ = 0, bytes_ = 0;    // where the elements of such an array begin
  JvmtiMethods* methods_ = nullptr;  // null: jmethodIDs point to methods
};

// Decodes a compressed line number table, and reads at most `size` bytes. Returns the line of the last entry at or
// before `bci`; -1 if there is none, or if the table is malformed before it. Exposed for tests.
int DecodeLine(const uint8_t* table, size_t size, int bci, uint8_t excluded_bytes);

// Compares names read from memory with JVMTI's before they are used.
//
// Context:  setup; live phase, a Java thread in native state; needs can_get_line_numbers. About a millisecond.
// Failure:  an Error naming the class, the method and the step that differs.
//
// Compares a few classes that every JVM has: plain, interface, nested, array.
Status VerifyNames(jvmtiEnv* jvmti, JNIEnv* jni, const Names& names);

// Compares all methods and the name of one class.
Status VerifyClass(jvmtiEnv* jvmti, JNIEnv* jni, const Names& names, jclass type);

}  // namespace heaprec::hotspot

#include "recorder/hotspot/metadata/names.h"

#include <algorithm>
#include <string>

#include "recorder/hotspot/jvmti_memory.h"

namespace heaprec::hotspot {
namespace {

// Reads a compressed line number table: HotSpot's code/compressedStream and utilities/unsigned5.
class LineStream {
 public:
  LineStream(const uint8_t* table, size_t size, uint8_t excluded) : bytes_(table, size, excluded) {}

  bool Next() {
    constexpr uint8_t kEnd = 0;
    constexpr uint8_t kEscape = 0xff;
    uint8_t byte = kEnd;
    if (!bytes_.Byte(&byte) || byte == kEnd) return false;
    if (byte != kEscape) {
      bci_ += byte >> 3;
      line_ += byte & 7;
      return true;
    }
    int bci = 0;
    int line = 0;
    if (!bytes_.NextSigned(&bci) || !bytes_.NextSigned(&line)) return false;
    bci_ = Add(bci_, bci);
    line_ = Add(line_, line);
    return true;
  }
  int bci() const { return bci_; }
  int line() const { return line_; }

 private:
  static int Add(int a, int b) { return static_cast<int>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)); }

  Unsigned5Reader bytes_;
  int bci_ = 0;
  int line_ = 0;
};

Error Differs(const std::string& where, const std::string& step) {
  return Error{"self-test of raw names: " + where + ": " + step};
}

// Compares with the internal form of JVMTI's signature: Lp/C; is p/C, arrays are unchanged. A hidden class has '+' in
// its Symbol where the signature has '.'. The anonymous classes of JDK 11 have a number after the name, which the
// Symbol does not have.
bool SameClass(std::string_view raw, std::string signature) {
  if (signature.size() > 2 && signature.front() == 'L') signature = signature.substr(1, signature.size() - 2);
  const size_t number = signature.find_last_not_of("0123456789");
  if (number == raw.size() && number + 1 < signature.size() && signature[number] == '/') signature.resize(number);
  std::string name(raw);
  if (const size_t suffix = name.rfind('+');
      suffix != std::string::npos && signature.size() == name.size() && signature[suffix] == '.')
    name[suffix] = '.';
  return name == signature;
}

// `method`: JVMTI's id; `raw`: the same method in the JVM's memory.
Status VerifyLines(jvmtiEnv* jvmti, const Names& names, jmethodID method, const VmMethod* raw,
                   const std::string& where) {
  JvmtiArray<jvmtiLineNumberEntry> table(jvmti);
  const jvmtiError error = jvmti->GetLineNumberTable(method, table.count(), table.out());
  if (error == JVMTI_ERROR_ABSENT_INFORMATION || error == JVMTI_ERROR_NATIVE_METHOD) {
    if (names.Line(raw, 0) != -1) return Differs(where, "a line number that the method does not have");
    return {};
  }
  if (error != JVMTI_ERROR_NONE) return Differs(where, "GetLineNumberTable: error " + std::to_string(error));
  for (const jvmtiLineNumberEntry& entry : table) {
    // The entry's own bci and the previous one, which belongs to another entry.
    for (const jlocation bci : {entry.start_location, entry.start_location - 1}) {
      if (bci < 0) continue;
      if (names.Line(raw, static_cast<int>(bci)) != LineAt(table, bci))
        return Differs(where, "line at bci " + std::to_string(bci));
    }
  }
  return {};
}

// `klass`: the method's class in the JVM's memory; null if that cannot be read.
Status VerifyMethod(jvmtiEnv* jvmti, const Names& names, jmethodID method, const void* klass,
                    const std::string& signature) {
  JvmtiText name(jvmti), descriptor(jvmti);
  if (jvmti->GetMethodName(method, name.out(), descriptor.out(), nullptr) != JVMTI_ERROR_NONE)
    return Differs(signature, "GetMethodName fails");
  const std::string where = signature + name.c_str() + descriptor.c_str();
  if (!names.ids_lead_to_methods() && klass == nullptr) return {};  // nothing of the method is read
  const VmMethod* const raw =
      names.ids_lead_to_methods() ? names.MethodOf(method) : names.FindMethod(klass, name.c_str(), descriptor.c_str());
  Names::MethodView view;
  if (raw == nullptr || !names.Method(raw, &view)) return Differs(where, "not readable");
  if (view.name != name.c_str()) return Differs(where, "name is " + std::string(view.name));
  if (view.descriptor != descriptor.c_str()) return Differs(where, "descriptor is " + std::string(view.descriptor));
  if (!SameClass(view.class_name, signature)) return Differs(where, "class is " + std::string(view.class_name));
  return VerifyLines(jvmti, names, method, raw, where);
}

}  // namespace

int DecodeLine(const uint8_t* table, size_t size, int bci, uint8_t excluded_bytes) {
  LineStream stream(table, size, excluded_bytes);
  int best_bci = 0;
  int best_line = -1;
  while (stream.Next()) {  // not necessarily sorted
    if (stream.bci() == bci) return stream.line();
    if (stream.bci() < bci && stream.bci() >= best_bci) {
      best_bci = stream.bci();
      best_line = stream.line();
    }
  }
  return best_line;
}

Names Names::FromJvmti(JvmtiMethods* methods) {
  static constexpr int kNoOffset = 0;
  Names names;
  names.methods_ = methods;
  names.mirror_klass_ = &kNoOffset;
  return names;
}

Result<Names> Names::Resolve(const VmStructs& structs, const JdkRules& rules, uintptr_t field_access_count,
                             JvmtiMethods* methods) {
  Names names;
  NeededFields fields(structs);
  names.method_const_ = fields.At("Method", "_constMethod");
  names.method_access_ = fields.At("Method", "_access_flags");
  names.const_pool_ = fields.At("ConstMethod", "_constants");
  names.const_words_ = fields.At("ConstMethod", "_constMethod_size");
  names.const_flags_ = fields.At({"ConstMethod"}, {"_flags._flags", "_flags"});
  names.const_code_size_ = fields.At("ConstMethod", "_code_size");
  names.const_name_ = fields.At("ConstMethod", "_name_index");
  names.const_descriptor_ = fields.At("ConstMethod", "_signature_index");
  names.const_size_ = fields.Size("ConstMethod");
  names.pool_holder_ = fields.At("ConstantPool", "_pool_holder");
  names.pool_length_ = fields.At("ConstantPool", "_length");
  names.pool_size_ = fields.Size("ConstantPool");
  names.klass_name_ = fields.At("Klass", "_name");
  names.symbol_length_ = fields.At("Symbol", "_length");
  names.symbol_body_ = fields.At({"Symbol"}, {"_body", "_body[0]"});
  names.mirror_klass_ = static_cast<const int*>(fields.Static("java_lang_Class", "_klass_offset"));
  names.has_lines_ = static_cast<uint32_t>(fields.IntConstant(
      "ConstMethod", {"ConstMethodFlags::_misc_has_linenumber_table", "ConstMethod::_has_linenumber_table"}));
  if (!fields.missing().empty()) return Error{"libjvm.so does not describe " + fields.missing()};
  names.excluded_bytes_ = rules.excluded_bytes;
  names.field_id_shift_ = rules.field_id_shift;
  names.const_number_ = structs.Offset("ConstMethod", "_method_idnum").value_or(0);
  names.class_methods_ = structs.Offset("InstanceKlass", "_methods").value_or(0);
  names.array_length_ = structs.Offset("Array<int>", "_length").value_or(0);
  names.array_data_ = structs.Offset("Array<Method*>", {"_data", "_data[0]"}).value_or(0);
  names.class_super_ = structs.Offset("Klass", "_super").value_or(0);
  names.class_pool_ = structs.Offset("InstanceKlass", "_constants").value_or(0);
  names.class_field_array_ = structs.Offset("InstanceKlass", "_fields").value_or(0);
  names.class_field_count_ = structs.Offset("InstanceKlass", "_java_fields_count").value_or(0);
  names.class_field_stream_ = structs.Offset("InstanceKlass", "_fieldinfo_stream").value_or(0);
  names.shorts_ = structs.Offset("Array<u2>", "_data").value_or(0);
  names.bytes_ = structs.Offset("Array<u1>", "_data").value_or(0);
  if (rules.method_ids != JdkRules::MethodIds::kPointers) {
    if (methods == nullptr) return Error{"jmethodIDs do not lead to methods"};
    names.methods_ = methods;
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it came from a symbol table
  names.field_watches_ = reinterpret_cast<const int*>(field_access_count);
  names.checked_jni_ = structs.BoolFlag("CheckJNICalls").value_or(false);
  return names;
}

std::string_view Names::SymbolText(const char* symbol) const {
  if (symbol == nullptr) return {};
  return {symbol + symbol_body_, Load<uint16_t>(symbol + symbol_length_)};
}

const char* Names::PoolEntry(const char* pool, size_t index) const {
  const int length = Load<int32_t>(pool + pool_length_);
  if (length <= 0 || index >= static_cast<size_t>(length)) return nullptr;
  return PointerAt(pool, pool_size_ + index * sizeof(void*));  // the entries follow the header
}

const VmMethod* Names::MethodOf(jmethodID id) const {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (methods_ != nullptr) return reinterpret_cast<const VmMethod*>(reinterpret_cast<uintptr_t>(id) << 1 | 1);
  const char* const handle = Metadata(reinterpret_cast<const char*>(id));  // a Method** on 11 to 25
  return handle != nullptr ? reinterpret_cast<const VmMethod*>(PointerAt(handle, 0)) : nullptr;
}

template <typename Matches>
const VmMethod* Names::FindMethodOf(const void* klass, const Matches& matches) const {
  if (class_methods_ == 0 || array_data_ == 0) return nullptr;
  const char* const methods = PointerAt(static_cast<const char*>(klass), class_methods_);
  if (methods == nullptr) return nullptr;
  const int count = Load<int32_t>(methods + array_length_);
  for (int i = 0; i < count; ++i) {
    const auto* const method =
        reinterpret_cast<const VmMethod*>(PointerAt(methods, array_data_ + static_cast<size_t>(i) * sizeof(void*)));
    if (method != nullptr && matches(method)) return method;
  }
  return nullptr;
}

const VmMethod* Names::FindMethod(const void* klass, std::string_view name, std::string_view descriptor) const {
  return FindMethodOf(klass, [&](const VmMethod* method) {
    MethodView view;
    return Method(method, &view) && view.name == name && view.descriptor == descriptor;
  });
}

const VmMethod* Names::MethodNumbered(const void* klass, uint16_t number, uintptr_t name) const {
  if (const_number_ == 0) return nullptr;
  return FindMethodOf(klass, [&](const VmMethod* method) {
    const char* const constant = ConstMethodOf(method);
    if (constant == nullptr || Load<uint16_t>(constant + const_number_) != number) return false;
    const char* const pool = PointerAt(constant, const_pool_);
    return pool != nullptr &&
           reinterpret_cast<uintptr_t>(PoolEntry(pool, Load<uint16_t>(constant + const_name_))) == name;
  });
}

const char* Names::ConstMethodOf(const VmMethod* method) const {
  const char* const metadata = Metadata(reinterpret_cast<const char*>(method));
  return metadata != nullptr ? PointerAt(metadata, method_const_) : nullptr;
}

Names::Code Names::CodeOf(const VmMethod* method) const {
  const char* const constant = ConstMethodOf(method);
  if (constant == nullptr) return {};
  // The bytecodes follow the header; native methods have none.
  return {constant + const_size_, Load<uint16_t>(constant + const_code_size_)};
}

bool Names::Method(const VmMethod* method, MethodView* out) const {
  if (IsId(method)) {
    const JvmtiMethods::Names* const asked = methods_ != nullptr ? methods_->Find(IdOf(method)) : nullptr;
    if (asked != nullptr) *out = {asked->class_name, asked->name, asked->descriptor};
    return asked != nullptr;
  }
  const char* const constant = ConstMethodOf(method);
  if (constant == nullptr) return false;
  const char* const pool = PointerAt(constant, const_pool_);
  if (pool == nullptr) return false;
  out->class_name = KlassName(PointerAt(pool, pool_holder_));
  out->name = PoolSymbol(pool, Load<uint16_t>(constant + const_name_));
  out->descriptor = PoolSymbol(pool, Load<uint16_t>(constant + const_descriptor_));
  return !out->class_name.empty() && !out->name.empty() && !out->descriptor.empty();
}

int Names::Line(const VmMethod* method, int bci) const {
  if (IsId(method)) return methods_ != nullptr && bci >= 0 ? methods_->Line(IdOf(method), bci) : -1;
  const char* const constant = ConstMethodOf(method);
  if (constant == nullptr || bci < 0) return -1;
  const size_t code_size = Load<uint16_t>(constant + const_code_size_);
  if (static_cast<size_t>(bci) >= code_size) return -1;  // native methods have no code
  if ((Load<uint16_t>(constant + const_flags_) & has_lines_) == 0) return -1;
  // Header, bytecodes, line numbers, other tables; the total size is in words.
  const int words = Load<int32_t>(constant + const_words_);
  const size_t table = const_size_ + code_size;
  const size_t all = words > 0 ? static_cast<size_t>(words) * sizeof(void*) : 0;
  if (all <= table) return -1;
  return DecodeLine(reinterpret_cast<const uint8_t*>(constant + table), all - table, bci, excluded_bytes_);
}

std::string_view Names::KlassName(const void* klass) const {
  const char* const metadata = Metadata(static_cast<const char*>(klass));
  return metadata != nullptr ? SymbolText(PointerAt(metadata, klass_name_)) : std::string_view();
}

// HotSpot's oops/fieldInfo (FieldInfo until JDK 20, then FieldInfoReader).
std::string_view Names::OwnFieldName(const char* klass, uint32_t offset, bool is_static) const {
  constexpr uint32_t kAccStatic = 0x0008;
  const char* const pool = PointerAt(klass, class_pool_);
  if (pool == nullptr) return {};
  const auto is_it = [=](uint32_t access, uint32_t at) {
    return at == offset && ((access & kAccStatic) != 0) == is_static;
  };
  if (class_field_stream_ != 0 && bytes_ != 0) {
    const char* const stream = PointerAt(klass, class_field_stream_);
    if (stream == nullptr) return {};
    Unsigned5Reader numbers(reinterpret_cast<const uint8_t*>(stream + bytes_),
                            static_cast<size_t>(std::max(0, Load<int32_t>(stream + array_length_))), excluded_bytes_);
    uint32_t fields = 0, skipped = 0;
    if (!numbers.Next(&fields) || !numbers.Next(&skipped)) return {};
    for (uint32_t i = 0; i < fields; ++i) {
      uint32_t name = 0, type = 0, at = 0, access = 0, flags = 0;
      for (uint32_t* number : {&name, &type, &at, &access, &flags}) {
        if (!numbers.Next(number)) return {};
      }
      // An initial value, a generic type, and a group of contended fields.
      for (const uint32_t flag : {1U << 0, 1U << 2, 1U << 4}) {
        if ((flags & flag) != 0 && !numbers.Next(&skipped)) return {};
      }
      if (is_it(access, at)) return PoolSymbol(pool, name);
    }
    return {};
  }
  if (class_field_array_ == 0 || class_field_count_ == 0 || shorts_ == 0) return {};
  const char* const array = PointerAt(klass, class_field_array_);
  if (array == nullptr) return {};
  // Access flags, name, type, initial value, and the offset in two parts, whose lowest two bits are a tag.
  constexpr size_t kNumbers = 6;
  const size_t fields =
      std::min<size_t>(Load<uint16_t>(klass + class_field_count_),
                       static_cast<size_t>(std::max(0, Load<int32_t>(array + array_length_))) / kNumbers);
  for (size_t i = 0; i < fields; ++i) {
    const char* const field = array + shorts_ + i * kNumbers * sizeof(uint16_t);
    const auto number = [field](size_t n) { return uint32_t{Load<uint16_t>(field + n * sizeof(uint16_t))}; };
    if (is_it(number(0), (number(5) << 16 | number(4)) >> 2)) return PoolSymbol(pool, number(1));
  }
  return {};
}

std::string_view Names::FieldName(const void* klass, uint32_t offset, bool is_static) const {
  if (class_super_ == 0 || class_pool_ == 0) return {};
  for (const char* of = Metadata(static_cast<const char*>(klass)); of != nullptr; of = PointerAt(of, class_super_)) {
    const std::string_view name = OwnFieldName(of, offset, is_static);
    if (!name.empty() || is_static) return name;
  }
  return {};
}

bool Names::IsReadable(const void* klass) const {
  const char* const metadata = Metadata(static_cast<const char*>(klass));
  if (metadata == nullptr || !SafeReader::IsReadable(metadata + klass_name_)) return false;
  const char* const symbol = PointerAt(metadata, klass_name_);
  return symbol != nullptr && SafeReader::IsReadable(symbol);
}

bool Names::MayReadMirrors() const {
  if (checked_jni_ || field_id_shift_ == 0 || *mirror_klass_ <= 0) return false;
  return field_watches_ == nullptr || __atomic_load_n(field_watches_, __ATOMIC_RELAXED) == 0;
}

const void* Names::KlassOfMirror(JNIEnv* jni, jclass mirror) const {
  if (mirror == nullptr || !MayReadMirrors()) return nullptr;
  // HotSpot's jfieldID of an instance field (jfieldIDWorkaround): offset and the instance bit. GetLongField applies the
  // collector's barriers to the mirror; the field itself is not a reference.
  const uintptr_t field = static_cast<uintptr_t>(*mirror_klass_) << field_id_shift_ | 2;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<const void*>(jni->GetLongField(mirror, reinterpret_cast<jfieldID>(field)));
}

Status VerifyClass(jvmtiEnv* jvmti, JNIEnv* jni, const Names& names, jclass type) {
  JvmtiText signature(jvmti);
  if (jvmti->GetClassSignature(type, signature.out(), nullptr) != JVMTI_ERROR_NONE)
    return Differs("a class", "GetClassSignature fails");
  // Null only if KlassOfMirror must not read; its callers know the class.
  const void* const klass = names.KlassOfMirror(jni, type);
  if (klass != nullptr) {
    // If the rules are wrong, the value may be anything, and a plain load could crash the JVM.
    if (!names.IsReadable(klass)) return Differs(signature.c_str(), "its class cannot be read");
    if (!SameClass(names.KlassName(klass), signature.c_str()))
      return Differs(signature.c_str(), "class is " + std::string(names.KlassName(klass)));
  }
  JvmtiArray<jmethodID> methods(jvmti);
  const jvmtiError error = jvmti->GetClassMethods(type, methods.count(), methods.out());
  if (error == JVMTI_ERROR_CLASS_NOT_PREPARED) return {};
  if (error != JVMTI_ERROR_NONE) return Differs(signature.c_str(), "GetClassMethods: error " + std::to_string(error));
  for (const jmethodID method : methods) {
    auto same = VerifyMethod(jvmti, names, method, klass, signature.c_str());
    if (!same) return same;
  }
  return {};
}

Status VerifyNames(jvmtiEnv* jvmti, JNIEnv* jni, const Names& names) {
  constexpr const char* kClasses[] = {"java/lang/String", "java/lang/Thread",       "java/util/HashMap",
                                      "java/util/Map",    "java/util/HashMap$Node", "[Ljava/lang/String;"};
  for (const char* const name : kClasses) {
    const jclass type = jni->FindClass(name);
    if (type == nullptr) {
      jni->ExceptionClear();
      return Differs(name, "FindClass fails");
    }
    auto same = VerifyClass(jvmti, jni, names, type);
    jni->DeleteLocalRef(type);
    if (!same) return same;
  }
  return {};
}

}  // namespace heaprec::hotspot

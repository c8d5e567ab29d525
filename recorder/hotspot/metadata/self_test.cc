#include "recorder/hotspot/metadata/self_test.h"

#include <string>

namespace heaprec::hotspot {
namespace {

// Memory JVMTI allocated for us.
template <typename T>
class Owned {
 public:
  explicit Owned(jvmtiEnv* jvmti) : jvmti_(jvmti) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { jvmti_->Deallocate(reinterpret_cast<unsigned char*>(pointer_)); }
  T** out() { return &pointer_; }
  T* get() const { return pointer_; }

 private:
  jvmtiEnv* jvmti_;
  T* pointer_ = nullptr;
};

Error Differs(const std::string& where, const std::string& step) {
  return Error{"self-test of raw names: " + where + ": " + step};
}

// The internal name for JVMTI's signature: Lp/C; is p/C, arrays are themselves. Hidden classes have a '+' in
// their Symbol where the signature has a '.'. What JDK 11 has instead of them has a number behind the name, which is
// not in the Symbol.
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

// What JVMTI's table says for a bci, by the JVM's own rule: the entry itself, else the last one of the greatest bci
// below.
int LineInTable(const jvmtiLineNumberEntry* table, jint count, jlocation bci) {
  jlocation best = 0;
  int line = -1;
  for (jint i = 0; i < count; ++i) {
    if (table[i].start_location == bci) return table[i].line_number;
    if (table[i].start_location < bci && table[i].start_location >= best) {
      best = table[i].start_location;
      line = table[i].line_number;
    }
  }
  return line;
}

// `method` as JVMTI knows it, `raw` the same method as it is read.
Status VerifyLines(jvmtiEnv* jvmti, const Names& names, jmethodID method, const VmMethod* raw,
                   const std::string& where) {
  Owned<jvmtiLineNumberEntry> table(jvmti);
  jint count = 0;
  const jvmtiError error = jvmti->GetLineNumberTable(method, &count, table.out());
  if (error == JVMTI_ERROR_ABSENT_INFORMATION || error == JVMTI_ERROR_NATIVE_METHOD) {
    if (names.Line(raw, 0) != -1) return Differs(where, "a line where there is none");
    return {};
  }
  if (error != JVMTI_ERROR_NONE) return Differs(where, "GetLineNumberTable: error " + std::to_string(error));
  for (jint i = 0; i < count; ++i) {
    // The entry's own bci and the one before it, which belongs to another entry.
    for (const jlocation bci : {table.get()[i].start_location, table.get()[i].start_location - 1}) {
      if (bci < 0) continue;
      if (names.Line(raw, static_cast<int>(bci)) != LineInTable(table.get(), count, bci))
        return Differs(where, "line at bci " + std::to_string(bci));
    }
  }
  return {};
}

// `klass`: the method's class as it is read; null where it cannot be.
Status VerifyMethod(jvmtiEnv* jvmti, const Names& names, jmethodID method, const void* klass,
                    const std::string& signature) {
  Owned<char> name(jvmti);
  Owned<char> descriptor(jvmti);
  if (jvmti->GetMethodName(method, name.out(), descriptor.out(), nullptr) != JVMTI_ERROR_NONE)
    return Differs(signature, "GetMethodName fails");
  const std::string where = signature + name.get() + descriptor.get();
  if (!names.ids_lead_to_methods() && klass == nullptr) return {};  // nothing of it is read
  const VmMethod* const raw =
      names.ids_lead_to_methods() ? names.MethodOf(method) : names.FindMethod(klass, name.get(), descriptor.get());
  Names::MethodView view;
  if (raw == nullptr || !names.Method(raw, &view)) return Differs(where, "not readable");
  if (view.name != name.get()) return Differs(where, "name is " + std::string(view.name));
  if (view.descriptor != descriptor.get()) return Differs(where, "descriptor is " + std::string(view.descriptor));
  if (!SameClass(view.class_name, signature)) return Differs(where, "class is " + std::string(view.class_name));
  return VerifyLines(jvmti, names, method, raw, where);
}

}  // namespace

Status VerifyClass(jvmtiEnv* jvmti, JNIEnv* jni, const Names& names, jclass type) {
  Owned<char> signature(jvmti);
  if (jvmti->GetClassSignature(type, signature.out(), nullptr) != JVMTI_ERROR_NONE)
    return Differs("a class", "GetClassSignature fails");
  // Null only where KlassOfMirror must not look; its callers know that answer.
  const void* const klass = names.KlassOfMirror(jni, type);
  if (klass != nullptr) {
    // What was read may be anything, where the rules are wrong: a plain load could kill the JVM.
    if (!names.IsReadable(klass)) return Differs(signature.get(), "its class cannot be read");
    if (!SameClass(names.KlassName(klass), signature.get()))
      return Differs(signature.get(), "class is " + std::string(names.KlassName(klass)));
  }
  Owned<jmethodID> methods(jvmti);
  jint count = 0;
  const jvmtiError error = jvmti->GetClassMethods(type, &count, methods.out());
  if (error == JVMTI_ERROR_CLASS_NOT_PREPARED) return {};
  if (error != JVMTI_ERROR_NONE) return Differs(signature.get(), "GetClassMethods: error " + std::to_string(error));
  for (jint i = 0; i < count; ++i) {
    auto same = VerifyMethod(jvmti, names, methods.get()[i], klass, signature.get());
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

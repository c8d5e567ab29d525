#include "recorder/sources/jvm/jvm.h"

#include <array>
#include <optional>
#include <utility>

#include "recorder/hotspot/allocation/stack_chunks.h"
#include "recorder/hotspot/libjvm/jdk_version.h"
#include "recorder/hotspot/libjvm/libjvm.h"
#include "recorder/hotspot/metadata/self_test.h"

namespace heaprec::sources {

namespace {

format::Result<hotspot::SymbolTable> LoadSymbols(const hotspot::VmStructs& structs) {
  auto libjvm = hotspot::LibJvm::Locate();
  if (!libjvm.ok()) return libjvm.error();
  return hotspot::SymbolTable::Load(*libjvm, hotspot::StackChunkFunctions(structs));
}

// Returns the offset of a field in an object, from Unsafe. Runs Java code.
std::optional<size_t> OffsetOf(JNIEnv* jni, const char* class_name, const char* field) {
  std::optional<size_t> offset;
  if (jni->PushLocalFrame(8) != JNI_OK) return offset;
  const jclass unsafe = jni->FindClass("jdk/internal/misc/Unsafe");
  const jclass of = unsafe != nullptr ? jni->FindClass(class_name) : nullptr;
  const jmethodID get =
      of != nullptr ? jni->GetStaticMethodID(unsafe, "getUnsafe", "()Ljdk/internal/misc/Unsafe;") : nullptr;
  const jmethodID ask = get != nullptr
                            ? jni->GetMethodID(unsafe, "objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J")
                            : nullptr;
  const jstring name = ask != nullptr ? jni->NewStringUTF(field) : nullptr;
  const jobject one = name != nullptr ? jni->CallStaticObjectMethod(unsafe, get) : nullptr;
  if (one != nullptr && jni->ExceptionCheck() == JNI_FALSE) {
    const jlong found = jni->CallLongMethod(one, ask, of, name);
    if (jni->ExceptionCheck() == JNI_FALSE && found > 0) offset = static_cast<size_t>(found);
  }
  jni->ExceptionClear();
  jni->PopLocalFrame(nullptr);
  return offset;
}

format::Result<hotspot::ThreadOfEnv> ThreadOfEnvFor(jvmtiEnv* jvmti, JNIEnv* jni) {
  jthread current = nullptr;
  if (jvmti->GetCurrentThread(&current) != JVMTI_ERROR_NONE) return format::Error{"JVMTI reports no current thread"};
  auto thread_of = hotspot::ThreadOfEnv::Resolve(jni, current);
  jni->DeleteLocalRef(current);
  return thread_of;
}

// With the JVM's own memory. An Error: it is not what the rules of its JDK say, or there are none.
format::Result<Jvm> ResolveInternals(JavaVM* vm, jvmtiEnv* jvmti, JNIEnv* jni) {
  auto structs = hotspot::VmStructs::Load();
  if (!structs.ok()) return structs.error();
  const auto major = hotspot::JdkMajorVersion(jvmti, *structs);
  if (!major.ok()) return major.error();
  const hotspot::JdkRules& rules = hotspot::JdkRules::For(*major);
  if (!rules.is_known()) return format::Error{"the structures of JDK " + std::to_string(*major) + " are not known"};
  auto layout = hotspot::ThreadLayout::Resolve(*structs, rules);
  if (!layout.ok()) return layout.error();
  auto threads = hotspot::ThreadList::Resolve(*structs);
  auto symbols = LoadSymbols(*structs);
  const uintptr_t field_access_count = symbols.ok() ? symbols->FindByPrefix(hotspot::kFieldAccessCount).value_or(0) : 0;
  std::unique_ptr<hotspot::JvmtiMethods> methods;
  if (rules.method_ids != hotspot::JdkRules::MethodIds::kPointers) {
    methods = std::make_unique<hotspot::JvmtiMethods>(vm, jvmti);
  }
  auto names = hotspot::Names::Resolve(*structs, rules, field_access_count, methods.get());
  if (!names.ok()) return names.error();
  auto verified = hotspot::VerifyNames(jvmti, jni, *names);
  if (!verified.ok()) return verified.error();
  auto fields = ThreadFields::Resolve(jni);
  if (!fields.ok()) return fields.error();
  const auto thread_of = ThreadOfEnvFor(jvmti, jni);
  if (!thread_of.ok()) return thread_of.error();
  auto walker = hotspot::StackWalker::Resolve(*structs, *names, rules);
  return Jvm{vm,
             jvmti,
             rules,
             std::monostate{},
             *structs,
             std::move(symbols),
             *layout,
             threads,
             std::move(methods),
             *names,
             walker,
             *fields,
             *thread_of,
             {},
             {}};
}

format::Result<Jvm> ResolvePortable(JavaVM* vm, jvmtiEnv* jvmti, JNIEnv* jni, const format::Error& why) {
  auto fields = ThreadFields::Resolve(jni);
  if (!fields.ok()) return fields.error();
  auto methods = std::make_unique<hotspot::JvmtiMethods>(vm, jvmti);
  const hotspot::Names names = hotspot::Names::FromJvmti(methods.get());
  return Jvm{vm,
             jvmti,
             hotspot::JdkRules::For(0),
             why,
             {},
             why,
             hotspot::ThreadLayout::FromThreadWords(),
             why,
             std::move(methods),
             names,
             why,
             *fields,
             hotspot::ThreadOfEnv::FromThreadWords(),
             {},
             JvmBeans::Resolve(jni)};
}

}  // namespace

format::Result<Jvm> Jvm::Resolve(JavaVM* vm, jvmtiEnv* jvmti, JNIEnv* jni, bool portable) {
  auto jvm = portable ? format::Result<Jvm>(format::Error{"asked for"}) : ResolveInternals(vm, jvmti, jni);
  if (!jvm.ok()) return ResolvePortable(vm, jvmti, jni, jvm.error());
  jvm->heap = hotspot::HeapMeter::Resolve(jvm->structs, jvm->symbols.ok() ? &*jvm->symbols : nullptr, jvm->GcName());
  return jvm;
}

std::string Jvm::Property(const char* name) const {
  char* value = nullptr;
  if (jvmti->GetSystemProperty(name, &value) != JVMTI_ERROR_NONE || value == nullptr) return {};
  std::string copy = value;
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(value));
  return copy;
}

std::vector<void*> Jvm::AllThreads(JNIEnv* jni) const {
  std::vector<void*> threads;
  jthread* list = nullptr;
  jint count = 0;
  if (jvmti->GetAllThreads(&count, &list) != JVMTI_ERROR_NONE) return threads;
  for (jint i = 0; i < count; ++i) {
    if (void* const java_thread = thread_of.OfThread(jni, list[i])) threads.push_back(java_thread);
    jni->DeleteLocalRef(list[i]);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(list));
  return threads;
}

format::Result<hotspot::ObjectLayout> Jvm::Objects() const {
  if (!internals.ok()) return internals.error();
  auto layout = hotspot::ObjectLayout::Resolve(structs, rules, names);
  JNIEnv* jni = nullptr;
  if (!layout.ok() || !rules.has_virtual_threads ||
      vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_6) != JNI_OK) {
    return layout;
  }
  if (const auto offset = OffsetOf(jni, "jdk/internal/vm/StackChunk", "size")) layout->SetStackChunkSize(*offset);
  return layout;
}

std::string Jvm::GcName() const {
  if (!internals.ok()) return beans.gc_name();
  constexpr std::array<std::pair<const char*, const char*>, 6> kFlags{{{"UseG1GC", "G1"},
                                                                       {"UseSerialGC", "Serial"},
                                                                       {"UseParallelGC", "Parallel"},
                                                                       {"UseZGC", "Z"},
                                                                       {"UseShenandoahGC", "Shenandoah"},
                                                                       {"UseEpsilonGC", "Epsilon"}}};
  for (const auto& [flag, name] : kFlags) {
    if (structs.BoolFlag(flag).value_or(false)) return name;
  }
  return "unknown";
}

// Generational Z: always from JDK 24 on, where the flag is gone; with it in 21 to 23.
bool Jvm::KeepsYoungReferents() const {
  if (GcName() != "Z") return false;
  if (!internals.ok()) return beans.has_major_collections();
  if (const auto asked_for = structs.BoolFlag("ZGenerational")) return *asked_for;
  return rules.default_z != hotspot::JdkRules::DefaultZ::kOneGeneration;
}

}  // namespace heaprec::sources

#include "recorder/sources/jvm/jvm.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "recorder/hotspot/allocation/unseen_allocation.h"
#include "recorder/hotspot/libjvm.h"
#include "recorder/hotspot/threads/current_thread.h"
#include "recorder/sources/agent_thread.h"

namespace heaprec::sources {
namespace {

constexpr jint kLocals = 64;

class LocalFrame {
 public:
  explicit LocalFrame(JNIEnv* jni) : jni_(jni), ok_(jni->PushLocalFrame(kLocals) == JNI_OK) {}
  ~LocalFrame() {
    jni_->ExceptionClear();
    if (ok_) jni_->PopLocalFrame(nullptr);
  }
  LocalFrame(const LocalFrame&) = delete;
  LocalFrame& operator=(const LocalFrame&) = delete;
  bool ok() const { return ok_; }

 private:
  JNIEnv* const jni_;
  const bool ok_;
};

// Returns null, without a pending exception, if anything fails.
jobject CallStatic(JNIEnv* jni, jclass type, const char* name, const char* descriptor) {
  const jmethodID method = jni->GetStaticMethodID(type, name, descriptor);
  jobject result = method != nullptr ? jni->CallStaticObjectMethod(type, method) : nullptr;
  if (jni->ExceptionCheck() == JNI_FALSE) return result;
  jni->ExceptionClear();
  return nullptr;
}

std::string NameOf(JNIEnv* jni, jobject bean, jmethodID get_name) {
  auto* const name = static_cast<jstring>(jni->CallObjectMethod(bean, get_name));
  if (jni->ExceptionCheck() != JNI_FALSE || name == nullptr) return {};
  const char* const text = jni->GetStringUTFChars(name, nullptr);
  std::string copy = text != nullptr ? text : "";
  if (text != nullptr) jni->ReleaseStringUTFChars(name, text);
  return copy;
}

// Beans whose names begin with the first text belong to the collector in the second.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kCollectors{{{"G1 ", "G1"},
                                                                                    {"Copy", "Serial"},
                                                                                    {"MarkSweepCompact", "Serial"},
                                                                                    {"PS ", "Parallel"},
                                                                                    {"ZGC", "Z"},
                                                                                    {"Shenandoah", "Shenandoah"},
                                                                                    {"Epsilon", "Epsilon"},
                                                                                    {"Serial", "Serial"}}};

Result<hotspot::SymbolTable> LoadSymbols(const hotspot::VmStructs& structs) {
  auto libjvm = hotspot::LibJvm::Locate();
  if (!libjvm.ok()) return libjvm.error();
  return hotspot::SymbolTable::Load(*libjvm, hotspot::StackChunkFunctions(structs));
}

// Returns the offset of a field in an object, from Unsafe. Runs Java code.
std::optional<size_t> OffsetOf(JNIEnv* jni, const char* class_name, const char* field) {
  std::optional<size_t> offset;
  const LocalFrame frame(jni);
  if (!frame.ok()) return offset;
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
  return offset;
}

Result<hotspot::ThreadOfEnv> ThreadOfEnvFor(jvmtiEnv* jvmti, JNIEnv* jni) {
  jthread current = nullptr;
  if (jvmti->GetCurrentThread(&current) != JVMTI_ERROR_NONE) return Error{"JVMTI reports no current thread"};
  auto thread_of = hotspot::ThreadOfEnv::Resolve(jni, current);
  jni->DeleteLocalRef(current);
  return thread_of;
}

// Reads the JVM's memory. Returns an Error if its JDK has no rules, or the memory does not match them.
Result<Jvm> ResolveInternals(JavaVM* vm, jvmtiEnv* jvmti, JNIEnv* jni) {
  auto structs = hotspot::VmStructs::Load();
  if (!structs.ok()) return structs.error();
  const auto major = hotspot::JdkMajorVersion(jvmti, *structs);
  if (!major.ok()) return major.error();
  const hotspot::JdkRules& rules = hotspot::JdkRules::For(*major);
  if (!rules.is_known()) return Error{"the structures of JDK " + std::to_string(*major) + " are not known"};
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
  return Jvm{.vm = vm,
             .jvmti = jvmti,
             .rules = rules,
             .internals = std::monostate{},
             .structs = *structs,
             .symbols = std::move(symbols),
             .layout = *layout,
             .threads = threads,
             .methods = std::move(methods),
             .names = *names,
             .walker = walker,
             .thread_fields = *fields,
             .thread_of = *thread_of};
}

Result<Jvm> ResolvePortable(JavaVM* vm, jvmtiEnv* jvmti, JNIEnv* jni, const Error& why) {
  auto fields = ThreadFields::Resolve(jni);
  if (!fields.ok()) return fields.error();
  auto methods = std::make_unique<hotspot::JvmtiMethods>(vm, jvmti);
  const hotspot::Names names = hotspot::Names::FromJvmti(methods.get());
  return Jvm{.vm = vm,
             .jvmti = jvmti,
             .rules = hotspot::JdkRules::For(0),
             .internals = why,
             .structs = {},
             .symbols = why,
             .layout = hotspot::ThreadLayout::FromThreadWords(),
             .threads = why,
             .methods = std::move(methods),
             .names = names,
             .walker = why,
             .thread_fields = *fields,
             .thread_of = hotspot::ThreadOfEnv::FromThreadWords(),
             .beans = JvmBeans::Resolve(jni)};
}

}  // namespace

std::string PropertyOf(jvmtiEnv* jvmti, const char* name) {
  hotspot::JvmtiText value(jvmti);
  jvmti->GetSystemProperty(name, value.out());
  return value.c_str();
}

JvmBeans JvmBeans::Resolve(JNIEnv* jni) {
  JvmBeans beans;
  const LocalFrame frame(jni);
  if (!frame.ok()) return beans;
  const jclass factory = jni->FindClass("java/lang/management/ManagementFactory");
  if (factory == nullptr) return beans;
  beans.FindThreads(jni, factory);
  beans.FindCollector(jni, factory);
  return beans;
}

void JvmBeans::FindThreads(JNIEnv* jni, jclass factory) {
  const jclass type = jni->FindClass("com/sun/management/ThreadMXBean");
  allocated_ = type != nullptr ? jni->GetMethodID(type, "getTotalThreadAllocatedBytes", "()J") : nullptr;
  jni->ExceptionClear();
  if (allocated_ == nullptr) return;
  const jobject bean = CallStatic(jni, factory, "getThreadMXBean", "()Ljava/lang/management/ThreadMXBean;");
  if (bean == nullptr || jni->IsInstanceOf(bean, type) == JNI_FALSE) return;
  threads_ = jni->NewGlobalRef(bean);
  if (!AllocatedBytes(jni)) {  // not supported, or disabled
    jni->DeleteGlobalRef(threads_);
    threads_ = nullptr;
  }
}

void JvmBeans::FindCollector(JNIEnv* jni, jclass factory) {
  const jobject list = CallStatic(jni, factory, "getGarbageCollectorMXBeans", "()Ljava/util/List;");
  const jclass list_type = jni->FindClass("java/util/List");
  const jclass bean_type = jni->FindClass("java/lang/management/MemoryManagerMXBean");
  if (list == nullptr || list_type == nullptr || bean_type == nullptr) return;
  const jmethodID size = jni->GetMethodID(list_type, "size", "()I");
  const jmethodID get = jni->GetMethodID(list_type, "get", "(I)Ljava/lang/Object;");
  const jmethodID get_name = jni->GetMethodID(bean_type, "getName", "()Ljava/lang/String;");
  if (size == nullptr || get == nullptr || get_name == nullptr) return;
  const jint count = jni->CallIntMethod(list, size);
  for (jint i = 0; i < count && jni->ExceptionCheck() == JNI_FALSE; ++i) {
    const jobject bean = jni->CallObjectMethod(list, get, i);
    // -Xcheck:jni requires this check after each call.
    if (jni->ExceptionCheck() != JNI_FALSE || bean == nullptr) return;
    const std::string name = NameOf(jni, bean, get_name);
    for (const auto& [begins, collector] : kCollectors) {
      if (name.starts_with(begins)) gc_name_ = collector;
    }
    has_majors_ |= name.find("Major") != std::string::npos;
    jni->DeleteLocalRef(bean);
  }
}

std::optional<uint64_t> JvmBeans::AllocatedBytes(JNIEnv* jni) const {
  if (threads_ == nullptr) return std::nullopt;
  const jlong bytes = jni->CallLongMethod(threads_, allocated_);
  if (jni->ExceptionCheck() == JNI_FALSE && bytes >= 0) return static_cast<uint64_t>(bytes);
  jni->ExceptionClear();
  return std::nullopt;
}

Result<Jvm> Jvm::Resolve(JavaVM* vm, jvmtiEnv* jvmti, JNIEnv* jni, bool portable) {
  auto jvm = portable ? Result<Jvm>(Error{"asked for"}) : ResolveInternals(vm, jvmti, jni);
  if (!jvm.ok()) return ResolvePortable(vm, jvmti, jni, jvm.error());
  const hotspot::SymbolTable* const symbols = jvm->symbols.ok() ? &*jvm->symbols : nullptr;
  jvm->heap = hotspot::HeapMeter::Resolve(jvm->structs, symbols, jvm->GcName());
  jvm->usage = hotspot::JvmMeter::Resolve(jvm->structs, symbols, jvm->GcName());
  return jvm;
}

std::vector<void*> Jvm::AllThreads(JNIEnv* jni) const {
  std::vector<void*> threads;
  ForEachThread(jni, [&](jthread thread) {
    if (void* const java_thread = thread_of.OfThread(jni, thread)) threads.push_back(java_thread);
  });
  return threads;
}

Result<hotspot::ObjectLayout> Jvm::Objects() const {
  if (!internals.ok()) return internals.error();
  auto layout = hotspot::ObjectLayout::Resolve(structs, rules, names);
  JNIEnv* const jni = EnvOf(vm);
  if (!layout.ok() || !rules.has_virtual_threads || jni == nullptr) return layout;
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

// Generational ZGC: always from JDK 24 on, which has no flag; with the flag in 21 to 23.
bool Jvm::KeepsYoungReferents() const {
  if (GcName() != "Z") return false;
  if (!internals.ok()) return beans.has_major_collections();
  if (const auto asked_for = structs.BoolFlag("ZGenerational")) return *asked_for;
  return rules.default_z != hotspot::JdkRules::DefaultZ::kOneGeneration;
}

}  // namespace heaprec::sources

#include "recorder/agent/jvm.h"

#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "recorder/hotspot/jdk_version.h"
#include "recorder/hotspot/libjvm.h"
#include "recorder/hotspot/self_test.h"
#include "recorder/hotspot/stack_chunks.h"

namespace heaprec::agent {

namespace {

format::Result<hotspot::SymbolTable> LoadSymbols(const hotspot::VmStructs& structs) {
  auto libjvm = hotspot::LibJvm::Locate();
  if (!libjvm.ok()) return libjvm.error();
  return hotspot::SymbolTable::Load(*libjvm, hotspot::StackChunkFunctions(structs));
}

// Of a field in its objects, as Unsafe has it: Java code runs.
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

}  // namespace

format::Result<Jvm> Jvm::Resolve(JavaVM* vm, jvmtiEnv* jvmti, JNIEnv* jni) {
  auto structs = hotspot::VmStructs::Load();
  if (!structs.ok()) return structs.error();
  auto major = hotspot::JdkMajorVersion(jvmti, *structs);
  if (!major.ok()) return major.error();
  auto layout = hotspot::ThreadLayout::Resolve(*structs, *major);
  if (!layout.ok()) return layout.error();
  auto threads = hotspot::ThreadList::Resolve(*structs);
  auto symbols = LoadSymbols(*structs);
  const uintptr_t field_access_count = symbols.ok() ? symbols->FindByPrefix(hotspot::kFieldAccessCount).value_or(0) : 0;
  auto names = hotspot::Names::Resolve(*structs, *major, field_access_count);
  if (!names.ok()) return names.error();
  auto verified = hotspot::VerifyNames(jvmti, jni, *names);
  if (!verified.ok()) return verified.error();
  auto fields = sources::ThreadFields::Resolve(jni, *major);
  if (!fields.ok()) return fields.error();
  jthread current = nullptr;
  if (jvmti->GetCurrentThread(&current) != JVMTI_ERROR_NONE) return format::Error{"JVMTI reports no current thread"};
  auto thread_of = hotspot::ThreadOfEnv::Resolve(jni, current);
  jni->DeleteLocalRef(current);
  if (!thread_of.ok()) return thread_of.error();
  Jvm jvm{vm,      jvmti,      *structs, std::move(symbols),
          *layout, threads,    *names,   hotspot::StackWalker::Resolve(*structs, *names, *major),
          *fields, *thread_of, {}};
  jvm.heap = hotspot::HeapMeter::Resolve(*structs, jvm.symbols.ok() ? &*jvm.symbols : nullptr, jvm.GcName());
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
  auto major = hotspot::JdkMajorVersion(jvmti, structs);
  if (!major.ok()) return major.error();
  auto layout = hotspot::ObjectLayout::Resolve(structs, *major, names);
  JNIEnv* jni = nullptr;
  if (!layout.ok() || *major < 21 || vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_6) != JNI_OK) {
    return layout;
  }
  if (const auto offset = OffsetOf(jni, "jdk/internal/vm/StackChunk", "size")) layout->SetStackChunkSize(*offset);
  return layout;
}

std::string Jvm::GcName() const {
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
  if (const auto asked_for = structs.BoolFlag("ZGenerational")) return *asked_for;
  return std::atoi(Property("java.vm.specification.version").c_str()) >= 24;  // NOLINT(cert-err34-c): 0 is fine
}

AttachedScope::AttachedScope(JavaVM* vm, const char* name) : vm_(vm) {
  if (vm->GetEnv(reinterpret_cast<void**>(&jni_), JNI_VERSION_1_6) == JNI_OK) return;
  JavaVMAttachArgs args{JNI_VERSION_1_6, const_cast<char*>(name), nullptr};
  // A daemon: the JVM's exit does not wait for it.
  if (vm->AttachCurrentThreadAsDaemon(reinterpret_cast<void**>(&jni_), &args) != JNI_OK) {
    jni_ = nullptr;
    return;
  }
  attached_here_ = true;
}

AttachedScope::~AttachedScope() {
  if (attached_here_) vm_->DetachCurrentThread();
}

}  // namespace heaprec::agent

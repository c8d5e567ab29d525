#include "recorder/agent/jvm/end_hooks.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "recorder/hotspot/libjvm.h"
#include "recorder/hotspot/threads/safepoint.h"
#include "recorder/hotspot/vtable_slots.h"
#include "recorder/native_sample/got_patcher.h"
#include "recorder/sources/end/end_recorder.h"

namespace heaprec::agent {
namespace {

using hotspot::Diversion;

std::mutex installing;

std::atomic<void (*)(jint)> original_halt{nullptr};
std::atomic<void (*)(JNIEnv*, jobject)> original_fill{nullptr};

void OnHalt(jint code) {
  heaprec_on_halt(code);
  original_halt.load(std::memory_order_relaxed)(code);
}

void OnFillInStackTrace(JNIEnv* jni, jobject thrown) {
  heaprec_on_throwable(jni, thrown);
  original_fill.load(std::memory_order_relaxed)(jni, thrown);
}

// Never reset: a thread may be on its way through them when they are removed.
std::optional<native::GotPatcher> slots;
constinit Diversion<void(const char* message)> out_of_memory;
constinit Diversion<void(int signal, siginfo_t*, void* context)> signals;
constinit Diversion<void(JNIEnv*, jobject thread)> thread_starts;

// The event first: the JVM may end in it.
void OnOutOfMemory(const char* message) {
  heaprec_on_out_of_memory(message);
  out_of_memory.Original(message);
}

void OnSignal(int signal, siginfo_t* info, void* context) {
  if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP) heaprec_on_signal(signal, info);
  signals.Original(signal, info, context);
}

void OnStartThread(JNIEnv* jni, jobject thread) {
  heaprec_around_thread_start(jni, thread, [](JNIEnv* env, jobject started) { thread_starts.Original(env, started); });
}

std::optional<hotspot::VtableSlots> detach_slots;
bool watches_detaching = false;
std::atomic<jint (*)(JavaVM*)> original_detach{nullptr};

jint JNICALL OnDetach(JavaVM* vm) {
  heaprec_on_detach(vm);
  return original_detach.load(std::memory_order_relaxed)(vm);
}

void* InLibJvm(const char* name) {
  const auto libjvm = hotspot::LibJvm::Locate();
  void* const library = libjvm.ok() ? dlopen(libjvm->path.c_str(), RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (library == nullptr) return nullptr;
  void* const found = dlsym(library, name);
  dlclose(library);  // the JVM keeps its own reference
  return found;
}

// The JDK's library alone: others have reasons of their own to call what it calls.
native::GotPatcher::Listed OnlyLibJava(native::GotPatcher::Listed loaded) {
  const void* libjava = nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        const std::string_view path = info->dlpi_name != nullptr ? info->dlpi_name : "";
        if (!path.ends_with("/libjava.so")) return 0;
        *static_cast<const void**>(into) = info->dlpi_phdr;
        return 1;
      },
      &libjava);
  std::erase_if(loaded.modules, [libjava](const void* module) { return module != libjava; });
  return loaded;
}

Status PatchSlots() {
  if (!slots) {
    void* const halt = InLibJvm("JVM_Halt");
    void* const fill = InLibJvm("JVM_FillInStackTrace");
    if (halt == nullptr || fill == nullptr) return Error{"libjvm.so does not export JVM_Halt"};
    original_halt.store(reinterpret_cast<void (*)(jint)>(halt));
    original_fill.store(reinterpret_cast<void (*)(JNIEnv*, jobject)>(fill));
    slots.emplace(
        std::vector<native::Import>{{"JVM_Halt", reinterpret_cast<void*>(&OnHalt), {halt}},
                                    {"JVM_FillInStackTrace", reinterpret_cast<void*>(&OnFillInStackTrace), {fill}}},
        reinterpret_cast<const void*>(&OnHalt));
  }
  // Libraries may be unloaded meanwhile.
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    const auto outcome = slots->Patch(OnlyLibJava(native::GotPatcher::Loaded()));
    if (!outcome) continue;
    if (outcome->refused > 0) return Error{outcome->Refusal()};
    if (outcome->changed < 2) return Error{"libjava.so does not call JVM_Halt and JVM_FillInStackTrace through slots"};
    return {};
  }
  return Error{"libraries were loaded or unloaded during each attempt"};
}

// The launcher detaches the main thread while the exception that ended it is pending.
Status WatchDetaching(const sources::Jvm& jvm) {
  if (watches_detaching) return {};
  if (jvm.structs.BoolFlag("CheckJNICalls").value_or(false)) return Error{"-Xcheck:jni"};
  if (!detach_slots) {
    const auto libjvm = hotspot::LibJvm::Locate();
    if (!libjvm.ok()) return libjvm.error();
    const auto detach = jvm.vm->functions->DetachCurrentThread;
    const auto address = reinterpret_cast<uintptr_t>(detach);
    if (address < libjvm->text_begin || address >= libjvm->text_end)
      return Error{"another library has replaced DetachCurrentThread"};
    auto slots = hotspot::VtableSlots::Find(*libjvm, address);
    if (!slots.ok()) return Error{"DetachCurrentThread is in no table of libjvm.so"};
    original_detach.store(detach);
    detach_slots.emplace(std::move(*slots));
  }
  auto pointed = detach_slots->Point(reinterpret_cast<uintptr_t>(&OnDetach));
  watches_detaching = pointed.ok();
  return pointed;
}

template <typename Function>
Status Divert(const sources::Jvm& jvm, uintptr_t target, Function* replacement, Diversion<Function>* diversion) {
  if (target == 0 && !diversion->is_prepared())
    return Error{jvm.symbols.ok() ? jvm.symbols->origin() + ": no symbol" : jvm.symbols.error().message};
  Status done = diversion->Prepare(target, replacement);
  return done.ok() ? diversion->Install(jvm.jvmti) : done;
}

// 0: there is none.
uintptr_t Symbol(const sources::Jvm& jvm, std::string_view name) {
  return jvm.symbols.ok() ? jvm.symbols->FindByPrefix(name).value_or(0) : 0;
}

}  // namespace

EndHooks InstallEndHooks(const sources::Jvm& jvm, bool at_start) {
  const std::lock_guard lock(installing);
  if (!jvm.internals.ok()) return {"exits, errors, signals and thread starts: portable mode"};
  EndHooks hooks;
  const auto note = [&hooks](const char* what, const Status& hooked) {
    if (!hooked.ok())
      hooks.missing += (hooks.missing.empty() ? "" : "; ") + std::string(what) + ": " + hooked.error().message;
    return hooked.ok();
  };
  note("exits and errors of Java code", PatchSlots());
  note("errors of the JVM", Divert(jvm, Symbol(jvm, hotspot::kReportOutOfMemory), &OnOutOfMemory, &out_of_memory));
  note("uncaught exceptions of the main thread", WatchDetaching(jvm));
  if (!at_start) {
    note("signals and thread starts", Error{"the recording began after the JVM's start"});
    return hooks;
  }
  if (!jvm.structs.BoolFlag("ReduceSignalUsage").value_or(false)) {
    note("signals", Divert(jvm, Symbol(jvm, hotspot::kSignalHandler), &OnSignal, &signals));
  }
  const auto start = reinterpret_cast<uintptr_t>(InLibJvm("JVM_StartThread"));
  hooks.sees_thread_starts = note("thread starts", Divert(jvm, start, &OnStartThread, &thread_starts));
  return hooks;
}

// What stays, because its removal is refused, is one load and a branch.
void RemoveEndHooks() {
  const std::lock_guard lock(installing);
  if (slots) (void)slots->UndoAll();
  if (watches_detaching)
    watches_detaching = !detach_slots->Point(reinterpret_cast<uintptr_t>(original_detach.load())).ok();
  (void)out_of_memory.Remove();
  (void)signals.Remove();
  (void)thread_starts.Remove();
}

}  // namespace heaprec::agent

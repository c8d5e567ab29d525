// Another agent in the same JVM, there before us and in our way. Options, joined by '+':
//   jump        AllocTracer's functions start with a jump of its own
//   int3        they start with a breakpoint, as a debugger sets it (x86-64)
//   vtables     the allocators' vtables lead to it
//   capability  it holds the capability to sample objects
// At the JVM's end it says how often it was called: "squatter: N".
#include <fcntl.h>
#include <jvmti.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

#include "recorder/arch/detour.h"
#include "recorder/hotspot/libjvm.h"
#include "recorder/hotspot/vtable_slots.h"

#if defined(__x86_64__)
#include "recorder/arch/x86_64/prologue.h"
#include "recorder/arch/x86_64/trap.h"
#endif

namespace {

using namespace heaprec::arch;     // NOLINT(google-build-using-namespace): one test program
using namespace heaprec::hotspot;  // NOLINT(google-build-using-namespace): one test program

using AnyFunction = uintptr_t (*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
std::atomic<uint64_t> calls{0};
std::array<AnyFunction, 2> tracers;
std::array<AnyFunction, kAllocatorsEverywhere> initializers;

// The longer signature fits the shorter ones: what is not given is passed on as it stands in its register.
template <auto& originals, size_t I>
uintptr_t PassOn(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e) {
  calls.fetch_add(1, std::memory_order_relaxed);
  return originals[I](a, b, c, d, e);
}

template <typename To>
const void* Address(To function) {
  return reinterpret_cast<const void*>(function);
}

#if defined(__x86_64__)
// As a debugger would: through the kernel, whatever the page's protection.
bool SetBreakpoint(uintptr_t function, const void* original) {
  const std::span code(reinterpret_cast<const uint8_t*>(function), 16);  // NOLINT(performance-no-int-to-ptr)
  const uintptr_t site = function + EndbrSize(code);
  if (!TakeTraps() || !Redirect(site, original)) return false;
  const int memory = open("/proc/self/mem", O_WRONLY | O_CLOEXEC);
  const uint8_t int3 = 0xcc;
  const bool written = pwrite(memory, &int3, 1, static_cast<off_t>(site)) == 1;
  close(memory);
  return written;
}
#else
bool SetBreakpoint(uintptr_t /*function*/, const void* /*original*/) { return false; }
#endif

bool TakeTracer(uintptr_t function, size_t index, const void* replacement, bool breakpoint) {
  auto prepared = Detour::Prepare(function, replacement);
  if (!prepared.ok()) return false;
  auto* const detour = new Detour(std::move(*prepared));  // stays
  tracers[index] = detour->OriginalAs<AnyFunction>();
  return breakpoint ? SetBreakpoint(function, detour->original()) : detour->Install().ok();
}

bool TakeTracers(const SymbolTable& symbols, bool breakpoint) {
  const auto refill = symbols.FindFirst(kInNewTlab);
  const auto outside = symbols.FindFirst(kOutsideTlab);
  return refill && outside && TakeTracer(*refill, 0, Address(&PassOn<tracers, 0>), breakpoint) &&
         TakeTracer(*outside, 1, Address(&PassOn<tracers, 1>), breakpoint);
}

bool TakeVtable(const LibJvm& libjvm, const SymbolTable& symbols, size_t index, const void* replacement) {
  const auto function = symbols.FindByPrefix(kAllocatorInitialize[index]);
  if (!function) return false;
  auto slots = VtableSlots::Find(libjvm, *function);
  initializers[index] = reinterpret_cast<AnyFunction>(*function);  // NOLINT(performance-no-int-to-ptr)
  return slots.ok() && slots->Point(reinterpret_cast<uintptr_t>(replacement)).ok();
}

bool TakeVtables(const LibJvm& libjvm, const SymbolTable& symbols) {
  return TakeVtable(libjvm, symbols, 0, Address(&PassOn<initializers, 0>)) &&
         TakeVtable(libjvm, symbols, 1, Address(&PassOn<initializers, 1>)) &&
         TakeVtable(libjvm, symbols, 2, Address(&PassOn<initializers, 2>));
}

bool TakeCapability(JavaVM* vm) {
  jvmtiEnv* jvmti = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) return false;
  jvmtiCapabilities wanted = {};
  wanted.can_generate_sampled_object_alloc_events = 1;
  return jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE;
}

bool Take(JavaVM* vm, const std::string& what) {
  const auto libjvm = LibJvm::Locate();
  if (!libjvm.ok()) return false;
  const auto symbols = SymbolTable::Load(*libjvm);
  const auto asked = [&what](const char* part) { return what.find(part) != std::string::npos; };
  if (asked("capability") && !TakeCapability(vm)) return false;
  if (asked("vtables") && !(symbols.ok() && TakeVtables(*libjvm, *symbols))) return false;
  if (asked("jump") || asked("int3")) return symbols.ok() && TakeTracers(*symbols, asked("int3"));
  return true;
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  return Take(vm, options != nullptr ? options : "") ? JNI_OK : JNI_ERR;
}

extern "C" JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void*) {
  return Take(vm, options != nullptr ? options : "") ? JNI_OK : JNI_ERR;
}

extern "C" JNIEXPORT void JNICALL Agent_OnUnload(JavaVM*) {
  std::fprintf(stderr, "squatter: %llu\n", static_cast<unsigned long long>(calls.load()));
}

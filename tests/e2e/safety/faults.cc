// Linked into the faulty agent: makes what never fails here fail, between the agent's own parts or between it and libc
// (the linker's --wrap, as alloc_guard.cc).
//
// HEAPREC_FAULT_WALK=N        from the N-th stack on, the walker sees a frame more at the root than there is;
// HEAPREC_FAULT_WALKS=N       of so many stacks only.
// HEAPREC_FAULT_REMOVAL=FILE  the drain's first removal of a detour creates FILE and takes a second.
// HEAPREC_FAULT_STARTS=N      the first N starts of a recording run out of memory.
// HEAPREC_FAULT_THREADS=N     the first N threads of the agent cannot be created.
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "base/result.h"
#include "recorder/agent/identity.h"
#include "recorder/arch/detour.h"
#include "recorder/hotspot/stacks/stack_walker.h"

namespace {

uint64_t NumberIn(const char* name, uint64_t otherwise) {
  const char* const value = getenv(name);  // NOLINT(concurrency-mt-unsafe): at load, one thread
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

const uint64_t first_wrong_walk = NumberIn("HEAPREC_FAULT_WALK", std::numeric_limits<uint64_t>::max());
const uint64_t wrong_walks = NumberIn("HEAPREC_FAULT_WALKS", std::numeric_limits<uint64_t>::max());
const uint64_t failing_threads = NumberIn("HEAPREC_FAULT_THREADS", 0);
const uint64_t failing_starts = NumberIn("HEAPREC_FAULT_STARTS", 0);
const char* const removal_file = getenv("HEAPREC_FAULT_REMOVAL");  // NOLINT(concurrency-mt-unsafe): at load, one thread
std::atomic<uint64_t> walks{0}, threads{0}, starts{0}, removals{0};

bool IsDrain() {
  char name[16] = {};
  return pthread_getname_np(pthread_self(), name, sizeof(name)) == 0 && strcmp(name, "heaprec-drain") == 0;
}

}  // namespace

using heaprec::arch::Detour;
using heaprec::hotspot::FrameSelection;
using heaprec::hotspot::StackWalker;
using heaprec::hotspot::WalkResult;

// StackWalker::Expand, NewRecordingId, Detour::Remove. NOLINTBEGIN(bugprone-reserved-identifier): the linker chooses
// these names.
#define EXPAND(prefix) prefix##_ZNK7heaprec7hotspot11StackWalker6ExpandEPKvPNS0_14FrameSelectionE
#define NEW_RECORDING_ID(prefix) prefix##_ZN7heaprec5agent14NewRecordingIdEv
#define REMOVE(prefix) prefix##_ZN7heaprec4arch6Detour6RemoveEv

extern "C" {

WalkResult EXPAND(__real_)(const StackWalker* walker, const void* java_thread, FrameSelection* frames);
WalkResult EXPAND(__wrap_)(const StackWalker* walker, const void* java_thread, FrameSelection* frames) {
  const WalkResult walked = EXPAND(__real_)(walker, java_thread, frames);
  const uint64_t walk = walks.fetch_add(1) + 1;
  if (walk >= first_wrong_walk && walk - first_wrong_walk < wrong_walks) frames->Add({.method = nullptr, .bci = -1});
  return walked;
}

heaprec::format::RecordingId NEW_RECORDING_ID(__real_)();
heaprec::format::RecordingId NEW_RECORDING_ID(__wrap_)() {
  if (starts.fetch_add(1) < failing_starts) throw std::bad_alloc();
  return NEW_RECORDING_ID(__real_)();
}

heaprec::Status REMOVE(__real_)(Detour* detour);
heaprec::Status REMOVE(__wrap_)(Detour* detour) {
  if (removal_file != nullptr && IsDrain() && removals.fetch_add(1) == 0) {
    close(open(removal_file, O_WRONLY | O_CREAT, 0600));
    sleep(1);
  }
  return REMOVE(__real_)(detour);
}

int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
  if (threads.fetch_add(1) < failing_threads) return EAGAIN;
  return __real_pthread_create(thread, attributes, body, argument);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)

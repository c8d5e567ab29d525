// A thread of the agent that handles none of the process' signals: they belong to the JVM and the application. It
// blocks all except those that a thread raises itself. In a program without a JVM it blocks all except SIGSEGV and
// SIGBUS, because the program may block the others in all its threads and wait for them. Its locale is "C".
//
// Context:  setup.
// Failure:  an Error if the thread cannot be created.
#pragma once

#include <pthread.h>

#include "base/result.h"

namespace heaprec::writer {

// kAsCaller: the value for the calling thread, if StartSignalMaskedThread started it; otherwise a JVM.
enum class Process { kAsCaller, kWithoutJvm };

// Runs `body(argument)`, and `failed(argument)` (may be null) if that throws. The name, a constant of at most 15
// characters, is visible in /proc and debuggers.
Result<pthread_t> StartSignalMaskedThread(const char* name, void (*body)(void*), void (*failed)(void*), void* argument,
                                          Process process = Process::kAsCaller);

}  // namespace heaprec::writer

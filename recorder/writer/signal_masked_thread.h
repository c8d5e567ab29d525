// A thread of the agent that handles none of the process' signals: they are the JVM's and the application's. Its
// locale is "C".
//
// Context:  setup.
// Failure:  an Error if the thread cannot be created.
#pragma once

#include <pthread.h>

#include "format/bytes/result.h"

namespace heaprec::writer {

// Runs `body(argument)`, and `failed(argument)` (may be null) if that throws. The name, a constant, shows in /proc and
// debuggers (15 characters at most).
format::Result<pthread_t> StartSignalMaskedThread(const char* name, void (*body)(void*), void (*failed)(void*),
                                                  void* argument);

}  // namespace heaprec::writer

// Hooks for what ends the process, or foretells its end (recorder/sources/end). Each calls the active recorder, and
// always the original:
// - JVM_Halt and JVM_FillInStackTrace, in the slots through which libjava calls them;
// - DetachCurrentThread, in the JVM's table of functions for a launcher, if no other library has replaced it;
// - detours of report_java_out_of_memory, JVM_StartThread and of the JVM's signal handler, whose address stays what the
//   kernel and the program know.
//
// Context:  Install: setup, an attached thread, live phase. Remove: setup, or the drain while attached.
// Threads:  any; they serialise themselves.
// Failure:  what cannot be hooked is left out.
#pragma once

#include <string>

#include "recorder/sources/jvm/jvm.h"

namespace heaprec::agent {

struct EndHooks {
  std::string missing;  // what is not seen, and why; empty: all is
  bool sees_thread_starts = false;
};

// `at_start`: in VMInit. Later a thread may be in the first
// instructions of functions that it enters outside of the JVM, where no safepoint waits for it; these are left out.
EndHooks InstallEndHooks(const sources::Jvm& jvm, bool at_start);
void RemoveEndHooks();

}  // namespace heaprec::agent

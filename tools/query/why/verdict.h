// Why a process ended. The first rule that matches decides:
//
//   1 crash        a hs_err file, a crash signal, or an error that ends the JVM
//   2 signal       SIGTERM, SIGINT or SIGHUP
//   3 exit         System.exit or Runtime.halt
//   4 uncaught     the main thread ended by an exception in the last ten seconds
//   5 normal       an end marker, and nothing of the above; after an error of the last ten seconds that may not have
//                  been caught: error
//   6 killed       no end marker; right after its first errors: error
//
// Failure:  none. What is not in the recording is named in `missing`, with what would have told it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/query/why/end_facts.h"

namespace heaprec::tools {

enum class Certainty : uint8_t { kCertain, kProbable, kUnknown };
const char* CertaintyName(Certainty certainty);  // "certain", "probable", "not known"

struct EndVerdict {
  std::string id;    // "crash", "out_of_memory", "signal", "exit", "uncaught", "normal", "oom_kill", "killed",
                     // "running", "continues", "stopped", "nothing"
  std::string text;  // one sentence without its full stop
  Certainty certainty = Certainty::kUnknown;
  std::vector<std::string> evidence{}, missing{};
};

EndVerdict EndVerdictOf(const EndFacts& facts);
// What ends of other processes have in common with it: the verdict without times, amounts and threads.
std::string CauseOf(const EndFacts& facts, const EndVerdict& verdict);

// Whether a recording ended because its process, with or without a JVM, exited.
bool IsExit(const std::optional<std::string>& reason);

// What ran out according to an error.
enum class Resource : uint8_t { kOther, kHeap, kMetaspace, kClassSpace, kDirect, kThreads, kStack, kArray, kGcTime };
Resource ResourceOf(const EndEvent& error);
// The last exit, signal or uncaught exception; not a signal of a crash. nullptr: none.
const EndEvent* LastOf(const EndFacts& facts, format::ProcessStateKind kind);
// The error of the last ten seconds that says most; nullptr: none.
const EndEvent* LastError(const EndFacts& facts);

}  // namespace heaprec::tools

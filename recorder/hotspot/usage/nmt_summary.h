// The JVM's report of its native memory: `VM.native_memory summary`, as jcmd prints it, requested inside the process.
//
// Units:    bytes.
// Context:  Find: setup. Ask: an attached thread of the agent. The command reads each thread's stack: some us, or a ms
//           with hundreds of threads.
// Failure:  Find, Ask: an Error that says why.
#pragma once

#include <jni.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recorder/hotspot/libjvm.h"
#include "recorder/hotspot/vm_structs.h"

namespace heaprec::hotspot {

struct MemoryCategory {
  std::string name;  // "Total" is the sum
  uint64_t reserved = 0, committed = 0;
  bool operator==(const MemoryCategory&) const = default;
};

// Whether the JVM was started with -XX:NativeMemoryTracking.
bool NmtEnabled(const VmStructs& structs);

class NmtSummary {
 public:
  static Result<NmtSummary> Find(const SymbolTable& symbols);
  Result<std::vector<MemoryCategory>> Ask(JNIEnv* jni) const;

 private:
  using Execute = jstring (*)(JNIEnv*, jstring);
  explicit NmtSummary(Execute execute) : execute_(execute) {}

  Execute execute_;
};

// Parses the command's output; lines that are not categories are skipped.
std::vector<MemoryCategory> ParseMemorySummary(std::string_view text);

}  // namespace heaprec::hotspot

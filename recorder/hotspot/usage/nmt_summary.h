// The JVM's own account of its native memory: `VM.native_memory summary`, as jcmd prints it, asked for in the process.
//
// Units:    bytes.
// Context:  Find: setup. Ask: a thread of ours that is attached; it is in the JVM for as long as the command takes,
// which
//           is a look at each thread's stack: some us, or a ms with hundreds of threads.
// Failure:  Find, Ask: an Error that says why.
#pragma once

#include <jni.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/bytes/result.h"
#include "recorder/hotspot/libjvm/symbols.h"
#include "recorder/hotspot/libjvm/vm_structs.h"

namespace heaprec::hotspot {

struct MemoryCategory {
  std::string name;  // "Java Heap"; of all together "Total"
  uint64_t reserved = 0, committed = 0;
  bool operator==(const MemoryCategory&) const = default;
};

// Whether the JVM was started with -XX:NativeMemoryTracking.
bool NmtEnabled(const VmStructs& structs);

class NmtSummary {
 public:
  static format::Result<NmtSummary> Find(const SymbolTable& symbols);
  format::Result<std::vector<MemoryCategory>> Ask(JNIEnv* jni) const;

 private:
  using Execute = jstring (*)(JNIEnv*, jstring);
  explicit NmtSummary(Execute execute) : execute_(execute) {}

  Execute execute_;
};

// What the command prints; lines that are no category are passed over.
std::vector<MemoryCategory> ParseMemorySummary(std::string_view text);

}  // namespace heaprec::hotspot

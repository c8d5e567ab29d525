// How a program is started so that its native memory is counted exactly, with libheaprec-native.so in malloc's place,
// or sampled, with libheaprec.so in it: a JVM, or any other.
//
// Failure:  a sentence for the user.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace heaprec::tools {

// The file that becomes the process: of a script its interpreter. Fails if nothing can be preloaded into it: statically
// linked, of another machine, with another user's rights, with a sanitizer's malloc. `path`: where the command was
// found. What cannot be read is left to whoever starts it.
Result<std::string> PreloadableProgram(const std::string& path);

struct NativePreload {
  std::vector<std::string> environment;  // NAME=value
  std::string table;                     // where it will be; %p is the process id

  // Returns the table of a process, running or not; empty: it has none.
  std::string TableOf(uint32_t pid) const;
};

// `agent`: the path of libheaprec.so, beside which the library is. `recording`: as -o has it; the table comes beside
// it. `program`: the file that becomes the process, by whatever way; others that inherit the environment are not
// counted.
Result<NativePreload> PreloadNative(const std::string& agent, const std::string& recording, const std::string& program);

// `agent`: likewise. `options`: those of the agent, `only` the program unless it is among them.
Result<NativePreload> PreloadSampler(const std::string& agent, const std::string& options, const std::string& program);

}  // namespace heaprec::tools

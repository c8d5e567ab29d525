// HEAPREC_NATIVE_SAMPLED, the options of libheaprec.so in a program without a JVM:
// "file=rec-%p.hrec,rate=100,only=NAME". They are those of the agent that need no JVM, and `only`.
//
// Context:  setup.
// Failure:  an Error of one line that names the bad part and lists what is valid.
// Format:   docs/guide/native-memory.md#programs-without-a-jvm
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "recorder/agent/options/options.h"

namespace heaprec::agent {

struct ProgramOptions {
  Options options{};         // native, at native_per_second
  std::string only{};        // the name of a program's file; empty: any
  std::string reply_file{};  // as agent::Command
};

format::Result<ProgramOptions> ParseProgramOptions(std::string_view text);

}  // namespace heaprec::agent

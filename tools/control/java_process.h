// A JVM as its user knows it: main class or jar, JDK version, whether it lets agents in.
//
// From its hsperfdata file (in the JVM's own /tmp), or without one from its command line and the JDK's release file.
//
// Failure:  Find: no JVM of that name or number, or several; the sentence lists them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/control/process.h"

namespace heaprec::tools {

// The strings that a JVM publishes in its hsperfdata file. A file that is cut short gives what can be read of it, any
// other nothing. Format: perfMemory.hpp of OpenJDK: magic ca fe c0 c0, byte order, version 2.0, entries.
std::map<std::string, std::string> PerfDataStrings(std::string_view file);

struct JavaProcess {
  Process process;
  std::string main;     // main class or jar, without arguments
  std::string version;  // "17.0.13"; empty: unknown
  bool can_attach = true;

  int feature_version() const;  // 17; 8 for "1.8.0_292"; 0: unknown
};

JavaProcess Describe(Process process);
std::vector<JavaProcess> AllJavaProcesses();  // that this user may look at, ascending by pid

// "12345", or a name for Choose.
Result<JavaProcess> Find(const std::string& pid_or_name);

// By main class or jar: all of it, its last part, or any text in it, the first of these that fits any.
Result<JavaProcess> Choose(const std::vector<JavaProcess>& all, const std::string& name);

// The main class or jar of a java launcher's arguments (separated by zeros, as in /proc/PID/cmdline).
std::string MainOfCommandLine(std::string_view arguments);
// The same with what the JVM itself says: main and arguments, separated by blanks.
std::string MainOf(const std::string& java_command, std::string_view arguments);

}  // namespace heaprec::tools

// Describes a JVM for users: main class or jar, JDK version, whether it accepts agents.
//
// Read from its hsperfdata file (in the JVM's own /tmp), otherwise from its command line and the JDK's release file.
//
// Failure:  Find: no JVM with that name or number, or several, which the message lists.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/control/process.h"

namespace heaprec::tools {

// The strings in the hsperfdata file of a JVM. Of a truncated file returns the readable ones, of any other file none.
// Format: perfMemory.hpp of OpenJDK: magic ca fe c0 c0, byte order, version 2.0, entries.
std::map<std::string, std::string> PerfDataStrings(std::string_view file);

struct JavaProcess {
  Process process;
  std::string main;     // main class or jar, without arguments
  std::string version;  // "17.0.13"; empty: unknown
  bool can_attach = true;

  int feature_version() const;  // 17; 8 for "1.8.0_292"; 0: unknown
};

JavaProcess Describe(Process process);
std::vector<JavaProcess> AllJavaProcesses();  // that this user may inspect, ascending by pid

// Finds a JVM by number ("12345"), or by name as in Choose.
Result<JavaProcess> Find(const std::string& pid_or_name);

// Matches the whole main class or jar, otherwise its last part, otherwise any part of it.
Result<JavaProcess> Choose(const std::vector<JavaProcess>& all, const std::string& name);

// The main class or jar of a java launcher's arguments (separated by zeros, as in /proc/PID/cmdline).
std::string MainOfCommandLine(std::string_view arguments);
// The same, considering the JVM's own main and arguments, separated by blanks.
std::string MainOf(const std::string& java_command, std::string_view arguments);

}  // namespace heaprec::tools

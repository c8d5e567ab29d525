// Puts the agent into a command line that starts a JVM.
//
// Failure:  if the command is not a launcher of a JDK: an Error that says what to do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heaprec::tools {

// `agent` is "-agentpath:/x/libheaprec.so=rate=20". It becomes the first option of java; javac, jar and the other tools
// of a JDK get it with the prefix -J. `path`: where the command was found.
Result<std::vector<std::string>> WithAgent(const std::vector<std::string>& command, const std::string& path,
                                           const std::string& agent);

// Whether the agent can be added to the command.
bool StartsJvm(const std::vector<std::string>& command, const std::string& path);

// Returns "JAVA_TOOL_OPTIONS=..." for every JVM that the command starts: the variable's current value, then the agent.
std::string ToolOptions(const std::string& agent);

// Whether the next word is the value of this option of java, as in "-cp classes".
bool HasSeparateValue(std::string_view option);

// Adds a jar to the class path of a java command, to run one of our programs instead of the user's. Returns an Error if
// the command is not java, or names a main class. "java -cp classes -Xmx1g" becomes "java -cp classes:/x/heaprec.jar
// -Xmx1g". Without such an option the class path is $CLASSPATH, or the current folder.
Result<std::vector<std::string>> WithClasses(const std::vector<std::string>& command, const std::string& jar);

}  // namespace heaprec::tools

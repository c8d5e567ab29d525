// Puts the agent into a command line that starts a JVM.
//
// Failure:  a command that is no launcher of a JDK: an Error that says what to do.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace heaprec::tools {

// `agent` is "-agentpath:/x/libheaprec.so=rate=20". It becomes the first option of java, which prints nothing of it;
// javac, jar and the other tools of a JDK get it with -J in front. `path` is where the command was found.
Result<std::vector<std::string>> WithAgent(const std::vector<std::string>& command, const std::string& path,
                                           const std::string& agent);

// Whether it can be put there.
bool StartsJvm(const std::vector<std::string>& command, const std::string& path);

// "JAVA_TOOL_OPTIONS=..." for every JVM below: what the variable holds already, then the agent.
std::string ToolOptions(const std::string& agent);

// Adds a jar to the class path of a command that starts java, where a program of ours is to be run instead of the
// user's. A command that is no java, or names a main class already, is an Error that says so.
// java and its options: "java -cp classes -Xmx1g" becomes "java -cp classes:/x/heaprec.jar -Xmx1g". Without an option
// for it the class path is $CLASSPATH, or the current folder.
Result<std::vector<std::string>> WithClasses(const std::vector<std::string>& command, const std::string& jar);

}  // namespace heaprec::tools

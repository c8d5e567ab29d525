// Adds a jar to the class path of a command that starts java, where a program of ours is to be run instead of the
// user's.
//
// Failure:  a command that is no java, or names a main class already: an Error that says so.
#pragma once

#include <string>
#include <vector>

#include "format/bytes/result.h"

namespace heaprec::tools {

// java and its options: "java -cp classes -Xmx1g" becomes "java -cp classes:/x/heaprec.jar -Xmx1g". Without an option
// for it the class path is $CLASSPATH, or the current folder.
format::Result<std::vector<std::string>> WithClasses(const std::vector<std::string>& command, const std::string& jar);

}  // namespace heaprec::tools

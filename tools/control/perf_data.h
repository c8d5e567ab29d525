// The strings a JVM publishes in its hsperfdata file: its main class, its version, what it can do.
//
// Failure:  a file that is none, or is cut short, gives what can be read of it.
// Format:   the header of perfMemory.hpp in OpenJDK: magic ca fe c0 c0, byte order, version 2.0, entries.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace heaprec::tools {

std::map<std::string, std::string> PerfDataStrings(std::string_view file);

}  // namespace heaprec::tools

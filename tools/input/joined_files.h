// Files that were joined into one unlinked temporary file, under the name by which commands open and show it.
//
// Threads:  one writes, before others read.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace heaprec::tools {

// `descriptor`: of the joined file; stays open. `paths`: as they were given.
void AddJoinedFile(const std::string& name, int descriptor, std::vector<std::string> paths);
// nullopt: the name is that of an ordinary file.
std::optional<int> JoinedFile(const std::string& name);
// What a command line calls it: the files that were joined, or the name itself.
std::vector<std::string> PathsOf(const std::string& name);

}  // namespace heaprec::tools

// Files that were joined into a temporary one: what a command line calls it, and what a person is shown.
//
// Threads:  one writes, before others read.
#pragma once

#include <string>
#include <vector>

namespace heaprec::tools {

void AddJoinedFile(const std::string& path, std::vector<std::string> files);
// The files that were joined, or the path itself.
std::vector<std::string> FilesOf(const std::string& path);
// "app.hrec and 2 later parts", or the path itself.
std::string ShownName(const std::string& path);

}  // namespace heaprec::tools

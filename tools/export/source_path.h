// Where javac would look for the source of a class, guessed from the name of the outermost one.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace heaprec::tools {

// "java.util.HashMap$Node" -> "java/util/HashMap.java"
inline std::string SourcePath(std::string_view class_name) {
  std::string path(class_name.substr(0, class_name.find_first_of("$/[", class_name.rfind('.') + 1)));
  std::ranges::replace(path, '.', '/');
  return path + ".java";
}

}  // namespace heaprec::tools

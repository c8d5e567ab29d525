#include "tools/input/joined_files.h"

#include <map>
#include <utility>

#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

std::map<std::string, std::vector<std::string>>& All() {
  static std::map<std::string, std::vector<std::string>> all;
  return all;
}

}  // namespace

void AddJoinedFile(const std::string& path, std::vector<std::string> files) {
  All().insert_or_assign(path, std::move(files));
}

std::vector<std::string> FilesOf(const std::string& path) {
  const auto found = All().find(path);
  return found != All().end() ? found->second : std::vector{path};
}

std::string ShownName(const std::string& path) {
  const std::vector<std::string> files = FilesOf(path);
  return files.size() == 1 ? path : files.front() + " and " + CountOf(files.size() - 1, "later part");
}

}  // namespace heaprec::tools

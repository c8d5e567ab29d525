#include "tools/input/joined_files.h"

#include <map>
#include <utility>

namespace heaprec::tools {
namespace {

struct Joined {
  int descriptor;
  std::vector<std::string> paths;
};

std::map<std::string, Joined>& All() {
  static std::map<std::string, Joined> all;
  return all;
}

}  // namespace

void AddJoinedFile(const std::string& name, int descriptor, std::vector<std::string> paths) {
  All().insert_or_assign(name, Joined{descriptor, std::move(paths)});
}

std::optional<int> JoinedFile(const std::string& name) {
  const auto found = All().find(name);
  return found != All().end() ? std::optional(found->second.descriptor) : std::nullopt;
}

std::vector<std::string> PathsOf(const std::string& name) {
  const auto found = All().find(name);
  return found != All().end() ? found->second.paths : std::vector{name};
}

}  // namespace heaprec::tools

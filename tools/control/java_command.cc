#include "tools/control/java_command.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace heaprec::tools {
namespace {
constexpr const char* kVariable = "JAVA_TOOL_OPTIONS";
}  // namespace

format::Result<std::vector<std::string>> WithAgent(const std::vector<std::string>& command, const std::string& path,
                                                   const std::string& agent) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  const std::string name = std::filesystem::path(command.front()).filename();
  std::string option;
  if (name == "java" || real.filename() == "java") {
    option = agent;
  } else if (!error && std::filesystem::exists(real.parent_path() / "java", error) &&
             std::filesystem::exists(real.parent_path().parent_path() / "release", error)) {
    option = "-J" + agent;
  } else {
    return format::Error{
        fmt::format("{}: not java and not a JDK tool; use --child-jvms to record every JVM that it starts", name)};
  }
  std::vector<std::string> with = command;
  with.insert(with.begin() + 1, option);
  return with;
}

bool StartsJvm(const std::vector<std::string>& command, const std::string& path) {
  return WithAgent(command, path, "").ok();
}

std::string ToolOptions(const std::string& agent) {
  const char* const before = std::getenv(kVariable);  // NOLINT(concurrency-mt-unsafe): one thread
  std::string text = fmt::format("{}=", kVariable);
  if (before != nullptr && *before != '\0') text += std::string(before) + " ";
  // The JVM takes words apart at spaces, but not in quotes.
  return text + (agent.find(' ') == std::string::npos ? agent : "\"" + agent + "\"");
}

}  // namespace heaprec::tools

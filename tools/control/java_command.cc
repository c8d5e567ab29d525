#include "tools/control/java_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

namespace heaprec::tools {
namespace {

constexpr const char* kVariable = "JAVA_TOOL_OPTIONS";

constexpr std::array<std::string_view, 3> kClassPath{"-cp", "-classpath", "--class-path"};
constexpr std::array<std::string_view, 12> kOfTwoWords{
    "-cp",           "-classpath",    "--class-path", "-p",          "--module-path",   "--upgrade-module-path",
    "--add-modules", "--add-exports", "--add-opens",  "--add-reads", "--limit-modules", "--patch-module"};
constexpr std::string_view kWithValue = "--class-path=";

bool IsOneOf(std::string_view word, const auto& words) { return std::ranges::find(words, word) != words.end(); }

// Quotes one word for the JVM, which splits at white space outside of quotes and has no escapes: within one kind of
// quotes the other has no meaning.
std::string Quoted(const std::string& word) {
  if (word.find_first_of(" \t\n\v\f\r'\"") == std::string::npos) return word;
  std::string quoted = "\"";
  for (const char c : word) quoted += c == '"' ? "\"'\"'\"" : std::string(1, c);
  return quoted + "\"";
}

std::string ClassPathOfEnvironment() {
  const char* const path = std::getenv("CLASSPATH");  // NOLINT(concurrency-mt-unsafe): one thread
  return path != nullptr && *path != '\0' ? path : ".";
}

}  // namespace

Result<std::vector<std::string>> WithAgent(const std::vector<std::string>& command, const std::string& path,
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
    return Error{
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
  return text + Quoted(agent);
}

bool HasSeparateValue(std::string_view option) { return IsOneOf(option, kOfTwoWords); }

Result<std::vector<std::string>> WithClasses(const std::vector<std::string>& command, const std::string& jar) {
  if (std::filesystem::path(command.front()).filename() != "java") {
    return Error{fmt::format("{}: not a java command", command.front())};
  }
  std::vector<std::string> with = command;
  bool has_path = false;
  for (size_t i = 1; i < with.size(); ++i) {
    const std::string option = with[i];
    if (option == "-jar" || option == "-m" || option.starts_with("--module=") || option == "--module") {
      return Error{fmt::format("`{}` selects a main class; give the classes with -cp instead", option)};
    }
    if (!option.starts_with('-') && !option.starts_with('@')) {
      return Error{
          fmt::format("`{}` is a main class; give methods before --, and only JVM options after java", option)};
    }
    if (option.starts_with(kWithValue)) {
      with[i] += ":" + jar;
      has_path = true;
    }
    if (!HasSeparateValue(option)) continue;
    if (++i == with.size()) return Error{fmt::format("`{}` has no value", option)};
    if (!IsOneOf(option, kClassPath)) continue;
    with[i] += ":" + jar;
    has_path = true;
  }
  if (!has_path) with.insert(with.end(), {"-cp", ClassPathOfEnvironment() + ":" + jar});
  return with;
}

}  // namespace heaprec::tools

#include "recorder/agent/options/option_list.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/option_text.h"

namespace heaprec::agent {
namespace {

using format::Error;
using format::Result;

constexpr size_t kMaxBytes = 64 << 10;
constexpr std::string_view kSpace = " \t\r";

std::string_view Trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

Option ToOption(std::string_view part, const std::string& where) {
  const size_t separator = std::min(part.find_first_of("=:"), part.size());
  return {std::string(Trimmed(part.substr(0, separator))),
          std::string(part.substr(std::min(separator + 1, part.size()))), where};
}

Result<std::string> ReadOptionFile(const std::string& path) {
  const auto fail = [&path] { return Error{fmt::format("{}: {}", path, std::strerror(errno))}; };
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return fail();
  std::string text(kMaxBytes + 1, '\0');
  const ssize_t got = read(descriptor, text.data(), text.size());
  if (got < 0) {
    const Error error = fail();
    close(descriptor);
    return error;
  }
  close(descriptor);
  text.resize(static_cast<size_t>(got));
  if (text.size() > kMaxBytes || text.find('\0') != std::string::npos) {
    return Error{path + ": not a text file of agent options"};
  }
  return text;
}

Result<std::monostate> AddFile(const std::string& path, std::vector<Option>* options) {
  auto file = ReadOptionFile(path);
  if (!file.ok()) return file.error();
  std::string_view text = *file;
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view content = Trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (content.empty() || content.front() == '#') continue;
    Option option = ToOption(content, fmt::format("{}:{}: ", path, line));
    option.value = Trimmed(option.value);
    if (option.key.empty() || option.key.front() == '@') {
      return Error{fmt::format("{}`{}` is not of the form key=value", option.where, content)};
    }
    options->push_back(std::move(option));
  }
  return std::monostate{};
}

}  // namespace

Result<std::vector<Option>> SplitOptions(std::string_view text) {
  std::vector<Option> options;
  while (!text.empty()) {
    const std::string part = Unescaped(TakePart(&text));
    if (part.starts_with('@')) {
      auto added = AddFile(part.substr(1), &options);
      if (!added.ok()) return added.error();
    } else if (!part.empty()) {
      options.push_back(ToOption(part, ""));
    }
  }
  return options;
}

std::string AsText(const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options) {
    if (!text.empty()) text += ',';
    text += option.value.empty() ? option.key : fmt::format("{}={}", option.key, Escaped(option.value));
  }
  return text;
}

}  // namespace heaprec::agent

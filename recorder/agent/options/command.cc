#include "recorder/agent/options/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/option_text.h"
#include "base/output_path.h"
#include "base/writes.h"

namespace heaprec::agent {
namespace {

struct Part {
  std::string_view key, value;
};

Part Separate(std::string_view part) {
  const size_t separator = std::min(part.find_first_of("=:"), part.size());
  return {part.substr(0, separator), part.substr(std::min(separator + 1, part.size()))};
}

constexpr std::pair<std::string_view, CommandKind> kCommands[] = {{"start", CommandKind::kStart},
                                                                  {"stop", CommandKind::kStop},
                                                                  {"flush", CommandKind::kFlush},
                                                                  {"status", CommandKind::kStatus}};

// Returns true if the part is not an option of a recording: a command's name (only as the first part), or the reply's
// file.
bool Take(Part part, bool first, Command* command) {
  if (part.key == "reply") return command->reply_file = part.value, true;
  for (const auto& [name, kind] : kCommands) {
    const bool is_reply = kind == CommandKind::kStatus;  // status=FILE
    if (!first || part.key != name || (!part.value.empty() && !is_reply)) continue;
    command->kind = kind;
    if (!part.value.empty()) command->reply_file = part.value;
    return true;
  }
  return false;
}

}  // namespace

Result<Command> ParseCommand(std::string_view text) {
  Command command;
  bool first = true;
  while (!text.empty()) {
    const std::string_view part = TakePart(&text);
    const std::string plain = Unescaped(part);
    if (!Take(Separate(plain), first, &command) && !part.empty()) {
      if (!command.options.empty()) command.options += ',';
      command.options += part;
    }
    first = false;
  }
  if (command.kind != CommandKind::kStart && !command.options.empty()) {
    const auto name = std::ranges::find(kCommands, command.kind, &std::pair<std::string_view, CommandKind>::second);
    return Error{fmt::format("{} takes no options, but `{}` was given", name->first, command.options)};
  }
  return command;
}

void WriteReply(const std::string& file, ReplyStatus status, std::string_view sentence) {
  static constexpr std::array<const char*, 4> kWords{"ok", "error", "unwritten", "starting"};
  if (file.empty()) return;
  const std::string path = OutputPath(file, static_cast<uint32_t>(getpid()), 0).Name(0);
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return;
  const std::string text = fmt::format("{}\n{}\n", kWords[static_cast<size_t>(status)], sentence);
  const WriteSignals blocked;
  const bool is_whole = write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(descriptor);
  if (is_whole || unlink(path.c_str()) != 0) return;
  [[maybe_unused]] const int linked = symlink(text.c_str(), path.c_str());
}

}  // namespace heaprec::agent

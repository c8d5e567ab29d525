#include "tools/control/replies.h"

#include <algorithm>

namespace heaprec::tools {

std::optional<Answer> ParseAnswer(const std::string& text) {
  const size_t line = text.find('\n');
  if (line == std::string::npos) return std::nullopt;
  const size_t end = std::min(text.find('\n', line + 1), text.size());
  return Answer{text.substr(0, line) == "ok", text.substr(line + 1, end - line - 1)};
}

format::Result<std::string> JudgeReply(const std::string& reply) {
  const size_t line = std::min(reply.find('\n'), reply.size());
  std::string words = reply.substr(std::min(line + 1, reply.size()));
  while (!words.empty() && words.back() == '\n') words.pop_back();
  std::replace(words.begin(), words.end(), '\n', ' ');
  if (reply.substr(0, line) == "0" && words == "return code: 0") return std::string("done");
  if (words.find("EnableDynamicAgentLoading") != std::string::npos) {
    return format::Error{"refuses agents: it was started with -XX:-EnableDynamicAgentLoading"};
  }
  return format::Error{"the JVM says: " + (words.empty() ? "status " + reply.substr(0, line) : words)};
}

}  // namespace heaprec::tools

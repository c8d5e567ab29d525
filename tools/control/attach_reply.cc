#include "tools/control/attach_reply.h"

#include <algorithm>
#include <utility>

namespace heaprec::tools {

std::optional<AgentReply> ParseAnswer(const std::string& text) {
  const size_t line = text.find('\n');
  if (line == std::string::npos) return std::nullopt;
  std::string sentence = text.substr(line + 1);
  if (sentence.ends_with('\n')) sentence.pop_back();
  const std::string word = text.substr(0, line);
  const bool is_unwritten = word == "unwritten";
  return AgentReply{is_unwritten || word == "ok", std::move(sentence), is_unwritten, word == "starting"};
}

Result<AgentReply> ParseJvmReply(const std::string& reply) {
  const size_t line = std::min(reply.find('\n'), reply.size());
  std::string words = reply.substr(std::min(line + 1, reply.size()));
  while (!words.empty() && words.back() == '\n') words.pop_back();
  std::replace(words.begin(), words.end(), '\n', ' ');
  if (reply.substr(0, line) == "0" && words == "return code: 0") return AgentReply{.ok = true, .sentence = "done"};
  if (words.find("EnableDynamicAgentLoading") != std::string::npos) {
    return Error{"the JVM refuses agents: it was started with -XX:-EnableDynamicAgentLoading; restart it without"};
  }
  return Error{"the JVM reported: " + (words.empty() ? "status " + reply.substr(0, line) : words)};
}

}  // namespace heaprec::tools

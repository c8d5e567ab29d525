#include "tools/control/agent_replies.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace heaprec::tools {
namespace {

constexpr size_t kMaxAnswer = 16 << 10;

// An agent that cannot write content stores its reply as the target of a link.
std::string ReadAnswer(const PrivateFolder& folder, const std::string& name) {
  const Descriptor file = folder.Open(name);
  if (!file.is_open()) return folder.LinkTarget(name);
  std::string text(kMaxAnswer, '\0');
  const ssize_t got = read(file.number(), text.data(), text.size());
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

}  // namespace

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

Result<std::unique_ptr<AgentReplies>> AgentReplies::Make(const Process& process, const Descriptor& tmp) {
  auto folder = PrivateFolder::Make(process, tmp, "/tmp");
  if (!folder.ok()) return Error{fmt::format("/tmp of the JVM: {}", folder.error().message)};
  return std::make_unique<AgentReplies>(std::move(*folder));
}

std::vector<AgentReply> AgentReplies::Read() const {
  std::vector<AgentReply> answers;
  for (const std::string& name : folder_->Names()) {
    if (auto answer = ParseAnswer(ReadAnswer(*folder_, name))) answers.push_back(std::move(*answer));
  }
  return answers;
}

}  // namespace heaprec::tools

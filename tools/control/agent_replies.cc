#include "tools/control/agent_replies.h"

#include <fmt/format.h>
#include <unistd.h>

namespace heaprec::tools {
namespace {

constexpr size_t kMaxAnswer = 16 << 10;

// An agent that can write no content leaves its answer as the target of a link.
std::string ReadAnswer(const PrivateFolder& folder, const std::string& name) {
  const Descriptor file = folder.Open(name);
  if (!file.is_open()) return folder.LinkTarget(name);
  std::string text(kMaxAnswer, '\0');
  const ssize_t got = read(file.number(), text.data(), text.size());
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

}  // namespace

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

#include "tools/control/attach.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/result.h"
#include "tools/control/private_folder.h"
#include "tools/control/process.h"
#include "tools/input/confined_open.h"
#include "tools/text/interrupt.h"

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

namespace {
using Clock = std::chrono::steady_clock;

constexpr useconds_t kPollUs = 20'000;
constexpr size_t kMaxArgument = 1024;  // of the JVM's operation; the same in JDK 8 to 25
constexpr size_t kMaxReply = 1 << 20;
constexpr int kOldest = 11;
constexpr const char* kStopped = "the JVM is stopped (SIGSTOP or a debugger); continue it and retry";
constexpr const char* kBadLink =
    "/tmp of the JVM is a symbolic link that cannot be followed inside its container; heaprec follows such links "
    "only with openat2 (Linux 5.6 or later)";
constexpr const char* kStarting = "the JVM is still starting; retry, or raise --timeout";
constexpr const char* kEnded = "the JVM exited before the agent answered";

class Attachment {
 public:
  Attachment(const JavaProcess& java, const AttachRequest& request) : process_(java.process), request_(request) {}

  Result<AgentReply> Run() {
    ASSIGN_OR_RETURN(auto handle, ProcessHandle::Open(process_));
    handle_.emplace(std::move(handle));
    tmp_ = OpenBelow(process_.root(), "/tmp", O_PATH | O_DIRECTORY);
    if (!tmp_.is_open()) return errno == ELOOP ? Fail(kBadLink) : FailWithErrno("/tmp of the JVM");
    // The opened root belongs to the process with this number, which must still be the same.
    if (!handle_->HoldsNumber()) return Fail(kEnded);
    const auto deadline = Clock::now() + std::chrono::milliseconds(request_.timeout_ms);
    for (;;) {
      auto answer = Try();
      if (!answer.ok() || !answer->is_starting) return answer;
      if (IsInterrupted() && !was_interrupted_) return Fail("interrupted while the JVM was starting");
      if (Clock::now() >= deadline) return Fail(kStarting);
      usleep(kPollUs);
    }
  }

 private:
  Result<AgentReply> Try() {
    auto answers = AgentReplies::Make(process_, tmp_);
    if (!answers.ok()) return Fail(answers.error().message);
    const std::string options = request_.options + "," + (*answers)->option();
    if (std::max(options.size(), request_.agent.size()) >= kMaxArgument) {
      return Fail(fmt::format("the agent options are too long: {} characters, maximum {}; use --options FILE",
                              options.size(), kMaxArgument));
    }
    ASSIGN_OR_RETURN(auto socket, Open());
    ASSIGN_OR_RETURN(auto reply, Exchange(socket.number(), options));
    for (const AgentReply& answer : (*answers)->Read()) {
      if (answer.ok || answer.is_starting) return answer;
      return Fail("the agent reported: " + answer.sentence);
    }
    const auto judged = ParseJvmReply(reply);
    return judged.ok() ? judged : Result<AgentReply>(Fail(judged.error().message));
  }

  Error Fail(const std::string& why) const { return Error{fmt::format("PID {}: {}", process_.pid, why)}; }
  Error FailWithErrno(const std::string& what) const { return Fail(what + ": " + std::strerror(errno)); }

  // The name of a file in the JVM's /tmp, for openat with tmp_: its path may lead to another file by then.
  std::string InTmp(const char* name) const { return name + std::to_string(process_.inner_pid); }

  // Connects to the JVM's socket; asks the JVM to open it if necessary.
  Result<Descriptor> Open() {
    if (auto socket = Connect()) return std::move(*socket);
    const std::string trigger = InTmp(".attach_pid");
    if (!Create(trigger)) {
      return errno == EEXIST ? AwaitSocket() : Result<Descriptor>(FailWithErrno("/tmp/" + trigger + " of the JVM"));
    }
    auto socket = AwaitSocket();
    const ThreadUser user(process_);
    if (user.is_active()) unlinkat(tmp_.number(), trigger.c_str(), 0);
    return socket;
  }

  // Creates the file as the JVM's user, who must own it. O_EXCL: an existing file, which may be a trap or another
  // attacher's, is not touched.
  bool Create(const std::string& name) const {
    const ThreadUser user(process_);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    return user.is_active() && Descriptor(openat(tmp_.number(), name.c_str(), kFlags, 0600)).is_open();
  }

  Result<Descriptor> AwaitSocket() {
    const auto begin = Clock::now(), deadline = begin + std::chrono::milliseconds(request_.timeout_ms);
    // A JVM that has just started may miss the first signal, or remove the socket that it opened for it. Once it
    // listens, the signal makes it print its threads, so it is sent at most twice.
    const auto again = begin + std::chrono::milliseconds(request_.timeout_ms) / 2;
    int asked = 0;
    while (Clock::now() < deadline) {
      if (IsInterrupted() && !was_interrupted_)
        return Fail("interrupted before the JVM opened its attach socket; the agent was not loaded");
      // Without a handler SIGQUIT would end the process, so one that is starting gets it later.
      if (asked > 0) {
        if (auto socket = Connect()) return std::move(*socket);
      }
      if (asked == 0 || (asked == 1 && Clock::now() >= again)) asked += Ask() ? 1 : 0;
      usleep(kPollUs);
    }
    return WhyNoAnswer(asked > 0);
  }

  Error WhyNoAnswer(bool asked) const {
    const auto now = LookAt(process_.pid);
    if (!now.ok() || now->start_ticks != process_.start_ticks) return Fail(kEnded);
    if (now->is_stopped()) return Fail(kStopped);
    if (!asked) return Fail("the JVM does not handle SIGQUIT yet (starting or hung); retry, or raise --timeout");
    return Fail(
        fmt::format("no answer within {:g} s: the JVM is busy or hung, or runs with -XX:+DisableAttachMechanism; "
                    "retry, or raise --timeout",
                    request_.timeout_ms * 1e-3));
  }

  // Sends SIGQUIT once the JVM handles it.
  bool Ask() const {
    const auto now = LookAt(process_.pid);
    return now.ok() && now->start_ticks == process_.start_ticks && now->is_jvm() && now->catches_quit &&
           handle_->Signal(SIGQUIT);
  }

  // Connects only if it is a socket and the other end is this very process, because any user can write to /tmp.
  std::optional<Descriptor> Connect() const {
    const Descriptor place(openat(tmp_.number(), InTmp(".java_pid").c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!place.is_open() || fstat(place.number(), &status) != 0 || !S_ISSOCK(status.st_mode)) return std::nullopt;
    const std::string path = fmt::format("/proc/self/fd/{}", place.number());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) return std::nullopt;
    // The socket may belong to another process, with a full queue: do not wait for that.
    const timeval patience{1, 0};
    setsockopt(socket.number(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    {
      // The JVM accepts its own user, and user 0. In a user namespace the machine's root may have no number.
      const ThreadUser user(process_, ThreadUser::Scope::kSockets);
      if (connect(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return std::nullopt;
    }
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
    return peer.pid == process_.pid && handle_->HoldsNumber() ? std::optional<Descriptor>(std::move(socket))
                                                              : std::nullopt;
  }

  // Sends version, command and three arguments, each terminated by a zero. Returns everything until the JVM closes.
  Result<std::string> Exchange(int socket, const std::string& options) const {
    std::string text;
    for (const std::string_view word :
         {std::string_view("1"), std::string_view("load"), std::string_view(request_.agent), std::string_view("true"),
          std::string_view(options)}) {
      text.append(word).push_back('\0');
    }
    for (size_t done = 0; done < text.size();) {
      const ssize_t sent = send(socket, text.data() + done, text.size() - done, MSG_NOSIGNAL);
      if (sent < 0 && errno != EINTR) return FailWithErrno("the attach socket of the JVM");
      if (sent > 0) done += static_cast<size_t>(sent);
    }
    return Receive(socket);
  }

  // Receives everything within the timeout. A signal waits, too: the JVM may have loaded the agent, and the recording
  // must be ended properly.
  Result<std::string> Receive(int socket) const {
    const auto deadline = Clock::now() + std::chrono::milliseconds(request_.timeout_ms);
    std::string reply;
    while (reply.size() < kMaxReply) {
      pollfd wait{socket, POLLIN, 0};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      const int ready = left > 0 ? poll(&wait, 1, static_cast<int>(left)) : 0;
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0) return WhyNoAnswer(/*asked=*/true);
      char piece[4096];
      const ssize_t got = read(socket, piece, sizeof piece);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return FailWithErrno("the attach socket of the JVM");
      if (got == 0) break;
      reply.append(piece, static_cast<size_t>(got));
    }
    return reply;
  }

  const Process& process_;
  const AttachRequest& request_;
  std::optional<ProcessHandle> handle_;
  Descriptor tmp_;  // /tmp of the process
  // The attach itself may be the reaction to a signal that ends the recording.
  const bool was_interrupted_ = IsInterrupted();
};

}  // namespace

Result<AgentReply> Attach(const JavaProcess& java, const AttachRequest& request) {
  const auto fail = [&](const std::string& why) { return Error{fmt::format("PID {}: {}", java.process.pid, why)}; };
  const int version = java.feature_version();
  if (version != 0 && version < kOldest) {
    return fail(fmt::format("JDK {} is too old; heaprec needs JDK {} or later", java.version, kOldest));
  }
  if (!java.can_attach)
    return fail("the JVM refuses to attach: it was started with -XX:+DisableAttachMechanism; restart it without");
  if (java.process.is_stopped()) return fail(kStopped);
  return Attachment(java, request).Run();
}

Result<AgentReply> AskToFlush(const JavaProcess& java) {
  ASSIGN_OR_RETURN(const auto agent, AgentFor(java.process, java.process.agent));
  constexpr int kLongestMs = 60'000;  // paths.pause, and reading what was found
  return Attach(java, {.agent = agent, .options = "flush", .timeout_ms = kLongestMs});
}

Result<std::string> AgentFor(const Process& process, const std::string& ours) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (!process.agent.empty()) {
    if (!process.agent.ends_with(kDeleted)) return process.agent;
    const std::string path = process.agent.substr(0, process.agent.size() - kDeleted.size());
    // Removed after loading, because the loader knows it by its name.
    if (IsInPrivateFolder(path)) return path;
    return Error{fmt::format("PID {}: the loaded agent {} was replaced on disk; restart the JVM to use the new file",
                             process.pid, path)};
  }
  if (!std::filesystem::path(ours).filename().string().starts_with("libheaprec")) {
    return Error{fmt::format(
        "{}: the agent's file name must match libheaprec*.so; otherwise heaprec cannot find it later", ours)};
  }
  if (OpenRegularBelow(process.root(), ours).is_open()) return ours;
  return Error{
      fmt::format("PID {}: cannot open {} in its container ({}); copy libheaprec.so there and give its path with --lib",
                  process.pid, ours, std::strerror(errno))};
}

}  // namespace heaprec::tools

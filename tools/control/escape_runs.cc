#include "tools/control/escape_runs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "tools/control/agent_options.h"
#include "tools/control/child.h"
#include "tools/control/java_command.h"
#include "tools/options/suggest.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

// The interpreter is as it is after the first calls have loaded what they need.
constexpr uint64_t kInterpretedCalls = 100;
// Records nothing: the agent waits to be asked for a probe.
constexpr const char* kIdle = "delay=1000h";

// What the JVM of a mode writes; it is nowhere in a file system.
class Sheet {
 public:
  Sheet() : descriptor_(memfd_create("heaprec-escape", 0)) {
    // Containers may refuse it.
    if (descriptor_ < 0) descriptor_ = open("/tmp", O_TMPFILE | O_RDWR, 0600);
  }
  ~Sheet() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;

  bool ok() const { return descriptor_ >= 0; }
  std::string PathForChild() const { return fmt::format("/proc/self/fd/{}", descriptor_); }
  std::string Read() const {
    std::string text;
    char piece[1 << 12];
    ssize_t got = 0;
    while ((got = pread(descriptor_, piece, sizeof piece, static_cast<off_t>(text.size()))) > 0) {
      text.append(piece, static_cast<size_t>(got));
    }
    return text;
  }

 private:
  int descriptor_;
};

// Null: the JVM failed; the error has been printed.
std::optional<CallOutcomes> RunMode(const EscapeMode& mode, const EscapeRuns& runs,
                                    const std::vector<std::string>& methods, const std::vector<std::string>& java,
                                    const std::string& agent) {
  const Sheet sheet;
  if (!sheet.ok()) {
    PrintError(fmt::format("escape: cannot create a temporary file: {}", std::strerror(errno)));
    return std::nullopt;
  }
  std::vector<std::string> command = java;
  command.insert(command.end(), mode.flags.begin(), mode.flags.end());
  const uint64_t calls = mode.compiles ? runs.calls : std::min(runs.calls, kInterpretedCalls);
  command.insert(command.end(), {fmt::format("-agentpath:{}={}", agent, kIdle), "heaprec.Escape", sheet.PathForChild(),
                                 std::to_string(calls), std::to_string(runs.probes)});
  command.insert(command.end(), methods.begin(), methods.end());
  const ChildResult child = RunChild(command, {});
  auto outcomes = ParseOutcomes(sheet.Read());
  if (child.code == 0 && outcomes.ok() && !outcomes->empty()) return *outcomes;
  const std::string why = !child.error.empty() ? child.error
                          : outcomes.ok()      ? fmt::format("java ended with exit code {}", child.code)
                                               : outcomes.error().message;
  PrintError(fmt::format("escape: {}: {}", fmt::join(mode.flags, " "), why));
  return std::nullopt;
}

void AddSuggestion(const std::string& method, CallOutcome* outcome) {
  const std::string nearest = Nearest(method.substr(method.rfind('.') + 1), outcome->usable);
  if (!nearest.empty()) outcome->error += fmt::format("; did you mean `{}`?", nearest);
}

}  // namespace

ExitCode EscapeRuns::Run(std::vector<CallOutcomes>* modes) const {
  const auto refuse = [](const std::string& why) { return Fail(ExitCode::kUsage, "escape: " + why); };
  const auto agent = FindAgent(agent_file), jar = FindJar(jar_file);
  if (!agent.ok()) return refuse(agent.error().message);
  if (!jar.ok()) return refuse(jar.error().message);
  const auto java = WithClasses(command, *jar);
  if (!java.ok()) return refuse(java.error().message);
  std::vector<std::string> callable = methods;
  for (const EscapeMode& mode : EscapeModes()) {
    std::optional<CallOutcomes> outcomes =
        callable.empty() ? modes->front() : RunMode(mode, *this, callable, *java, *agent);
    if (!outcomes) return ExitCode::kCannotAttach;
    for (const std::string& method : callable) {
      if (!outcomes->contains(method)) (*outcomes)[method].error = "the JVM reported no result for it";
    }
    if (!modes->empty()) outcomes->insert(modes->front().begin(), modes->front().end());
    modes->push_back(*std::move(outcomes));
    // What cannot be called in the first mode can in no other.
    if (modes->size() == 1) {
      for (auto& [method, outcome] : modes->front()) AddSuggestion(method, &outcome);
      std::erase_if(callable, [&](const auto& one) { return !modes->front().at(one).error.empty(); });
    }
  }
  return ExitCode::kOk;
}

}  // namespace heaprec::tools

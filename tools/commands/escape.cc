// heaprec escape: what a call of a method allocates in the interpreter, after C1, and after C2 with and without escape
// analysis. Each mode is a JVM of its own, in which java/heaprec/Escape.java calls and probes the methods.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "tools/control/agent_options.h"
#include "tools/control/child.h"
#include "tools/control/java_command.h"
#include "tools/options/command.h"
#include "tools/query/allocations/escape_result.h"
#include "tools/render/print.h"
#include "tools/report/allocations/escape_report.h"
#include "tools/text/messages.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

// The interpreter is as it is after the first calls have loaded what they need.
constexpr uint64_t kInterpretedCalls = 100;
// Records nothing: the agent waits to be asked for a probe.
constexpr const char* kIdle = "delay=1000h";

struct EscapeOptions {
  std::vector<std::string> methods;
  uint64_t calls = 30'000, probes = 200;
  std::string agent_file, jar_file;
  render::OutputOptions output;
};

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

// Null: the JVM failed, which has been said.
std::optional<CallOutcomes> Run(const EscapeMode& mode, const EscapeOptions& options,
                                const std::vector<std::string>& methods, const std::vector<std::string>& java,
                                const std::string& agent) {
  const Sheet sheet;
  if (!sheet.ok()) {
    PrintError(fmt::format("escape: cannot create a temporary file: {}", std::strerror(errno)));
    return std::nullopt;
  }
  std::vector<std::string> command = java;
  command.insert(command.end(), mode.flags.begin(), mode.flags.end());
  const uint64_t calls = mode.compiles ? options.calls : std::min(options.calls, kInterpretedCalls);
  command.insert(command.end(), {fmt::format("-agentpath:{}={}", agent, kIdle), "heaprec.Escape", sheet.PathForChild(),
                                 std::to_string(calls), std::to_string(options.probes)});
  command.insert(command.end(), methods.begin(), methods.end());
  std::string why;
  const int code = RunChild(command, {}, &why);
  auto outcomes = ParseOutcomes(sheet.Read());
  if (code == 0 && outcomes.ok() && !outcomes->empty()) return *outcomes;
  if (why.empty()) why = outcomes.ok() ? fmt::format("java ended with exit code {}", code) : outcomes.error().message;
  PrintError(fmt::format("escape: {}: {}", fmt::join(mode.flags, " "), why));
  return std::nullopt;
}

// None can be called.
ExitCode PrintErrors(const std::vector<std::string>& methods, const CallOutcomes& outcomes) {
  for (const std::string& method : methods) {
    PrintError(ToUtf8(fmt::format("escape: {}: {}", method, outcomes.at(method).error)));
  }
  return ExitCode::kCheckFailed;
}

ExitCode Escape(const EscapeOptions& options, const std::vector<std::string>& command) {
  const auto refuse = [](const std::string& why) { return Fail(ExitCode::kUsage, "escape: " + why); };
  if (command.empty()) return refuse("no java command given; usage: heaprec escape METHOD... -- java -cp classes");
  const auto agent = FindAgent(options.agent_file), jar = FindJar(options.jar_file);
  if (!agent.ok()) return refuse(agent.error().message);
  if (!jar.ok()) return refuse(jar.error().message);
  const auto java = WithClasses(command, *jar);
  if (!java.ok()) return refuse(java.error().message);
  std::vector<CallOutcomes> modes;
  std::vector<std::string> methods = options.methods;
  for (const EscapeMode& mode : EscapeModes()) {
    std::optional<CallOutcomes> outcomes = methods.empty() ? modes.front() : Run(mode, options, methods, *java, *agent);
    if (!outcomes) return ExitCode::kCannotAttach;
    for (const std::string& method : methods) {
      if (!outcomes->contains(method)) (*outcomes)[method].error = "the JVM reported no result for it";
    }
    if (!modes.empty()) outcomes->insert(modes.front().begin(), modes.front().end());
    modes.push_back(*std::move(outcomes));
    // What cannot be called in the first mode can in no other.
    if (modes.size() == 1)
      std::erase_if(methods, [&](const auto& one) { return !modes.front().at(one).error.empty(); });
  }
  if (methods.empty() && options.output.form() != render::Form::kJson)
    return PrintErrors(options.methods, modes.front());
  const bool has_failed = std::ranges::any_of(modes, [](const CallOutcomes& mode) {
    return std::ranges::any_of(mode, [](const auto& one) { return !one.second.error.empty(); });
  });
  return Print(EscapeReport(options.methods, modes), options.output,
               has_failed ? ExitCode::kCheckFailed : ExitCode::kOk);
}

}  // namespace

Command EscapeCommand() {
  auto options = std::make_shared<EscapeOptions>();
  Command command("escape", "Measure one method call: interpreter, C1, C2");
  command
      .AddOption("METHOD", options->methods,
                 "package.Class.method without parameters; for an instance method the class needs a constructor "
                 "without parameters")
      .Required();
  command
      .AddOption("--calls", options->calls,
                 "Warm-up calls before each round of probes, so that the JVM compiles the method (default: 30000)")
      .InRange(1, 1'000'000'000);
  command
      .AddOption("--probes", options->probes,
                 "Probed calls per round; rounds repeat until three in a row agree (default: 200)")
      .InRange(1, 1'000'000);
  options->output.AddTo(command);
  command
      .AddOption("--lib", options->agent_file,
                 "The agent, libheaprec.so (default: $HEAPREC_LIB, else searched near heaprec)")
      .Value("PATH");
  command.AddOption("--jar", options->jar_file, "heaprec.jar (default: $HEAPREC_JAR, else searched near heaprec)")
      .Value("PATH");
  command.operand = "java -cp CLASSES ...";
  command.footer =
      R"(Counts every object of the probed calls, without sampling or instrumentation.
Output of the method goes to stderr.

Examples:
  heaprec escape Demo.boxing Demo.iterator -- java -cp classes
  heaprec escape com.example.Parser.next -- java -cp app.jar -XX:+UseParallelGC)";
  command.run = [options](const Invocation& call) { return Escape(*options, call.rest); };
  return command;
}

}  // namespace heaprec::tools

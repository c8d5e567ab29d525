// heaprec escape: measures what one call of a method allocates in the interpreter, after C1, and after C2 with and
// without escape analysis.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/control/agent_options.h"
#include "tools/control/child.h"
#include "tools/control/java_command.h"
#include "tools/control/process.h"
#include "tools/input/confined_open.h"
#include "tools/options/command.h"
#include "tools/query/allocations/escape_result.h"
#include "tools/render/print.h"
#include "tools/report/estimates/reports.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

struct EscapeOptions {
  std::vector<std::string> methods;  // package.Class.method
  std::vector<std::string> command;  // java and its options
  uint64_t calls = 30'000, probes = 200;
  std::string agent_file, jar_file;
  render::OutputOptions output;
};

// The first calls load what they need; then the interpreter's allocations are typical.
constexpr uint64_t kInterpretedCalls = 100;
// Records nothing: the agent waits for a probe.
constexpr const char* kIdle = "delay=1000h";

// The file into which a mode's JVM writes; it has no name.
Descriptor OpenSheet() {
  Descriptor sheet(memfd_create("heaprec-escape", 0));
  // Containers may forbid memfd_create.
  return sheet.is_open() ? std::move(sheet) : Descriptor(open("/tmp", O_TMPFILE | O_RDWR, 0600));
}

// Returns null if the JVM failed; the error has been printed.
std::optional<CallOutcomes> RunMode(const EscapeMode& mode, const EscapeOptions& options,
                                    const std::vector<std::string>& methods, const std::vector<std::string>& java,
                                    const std::string& agent) {
  const Descriptor sheet = OpenSheet();
  if (!sheet.is_open()) {
    PrintError(fmt::format("escape: cannot create a temporary file: {}", std::strerror(errno)));
    return std::nullopt;
  }
  const std::string path = fmt::format("/proc/self/fd/{}", sheet.number());  // the child has the same number
  std::vector<std::string> command = java;
  command.insert(command.end(), mode.flags.begin(), mode.flags.end());
  const uint64_t calls = mode.compiles ? options.calls : std::min(options.calls, kInterpretedCalls);
  command.insert(command.end(), {fmt::format("-agentpath:{}={}", agent, kIdle), "heaprec.Escape", path,
                                 std::to_string(calls), std::to_string(options.probes)});
  command.insert(command.end(), methods.begin(), methods.end());
  const ChildResult child = RunChild(command, {});
  auto outcomes = ParseOutcomes(ReadSmallFile(path, SIZE_MAX));
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

// Calls the methods in a separate JVM per mode of the compiler; java/heaprec/Escape.java counts their allocations.
// `modes`: as EscapeModes(). A method that cannot be called in the first mode has its error in all modes.
ExitCode RunModes(const EscapeOptions& options, std::vector<CallOutcomes>* modes) {
  const auto refuse = [](const std::string& why) { return Fail(ExitCode::kUsage, "escape: " + why); };
  const auto agent = FindAgent(options.agent_file), jar = FindJar(options.jar_file);
  if (!agent.ok()) return refuse(agent.error().message);
  if (!jar.ok()) return refuse(jar.error().message);
  const auto java = WithClasses(options.command, *jar);
  if (!java.ok()) return refuse(java.error().message);
  std::vector<std::string> callable = options.methods;
  for (const EscapeMode& mode : EscapeModes()) {
    std::optional<CallOutcomes> outcomes =
        callable.empty() ? modes->front() : RunMode(mode, options, callable, *java, *agent);
    if (!outcomes) return ExitCode::kCannotAttach;
    for (const std::string& method : callable) {
      if (!outcomes->contains(method)) (*outcomes)[method].error = "the JVM reported no result for it";
    }
    if (!modes->empty()) outcomes->insert(modes->front().begin(), modes->front().end());
    modes->push_back(*std::move(outcomes));
    // A method that cannot be called in the first mode cannot be called in any.
    if (modes->size() == 1) {
      for (auto& [method, outcome] : modes->front()) AddSuggestion(method, &outcome);
      std::erase_if(callable, [&](const auto& one) { return !modes->front().at(one).error.empty(); });
    }
  }
  return ExitCode::kOk;
}

ExitCode Escape(const EscapeOptions& options) {
  if (options.command.empty()) {
    return Fail(ExitCode::kUsage, "escape: no java command given; usage: heaprec escape METHOD... -- java -cp classes");
  }
  std::vector<CallOutcomes> modes;
  const ExitCode code = RunModes(options, &modes);
  if (code != ExitCode::kOk) return code;
  const auto has_failed = [](const auto& outcome) { return !outcome.second.error.empty(); };
  const auto is_unusable = [](const auto& outcome) { return outcome.second.is_unusable; };
  const auto in_any_mode = [&](const auto& is) {
    return std::ranges::any_of(modes, [&](const CallOutcomes& mode) { return std::ranges::any_of(mode, is); });
  };
  const ExitCode failure = in_any_mode(is_unusable)  ? ExitCode::kUsage
                           : in_any_mode(has_failed) ? ExitCode::kCheckFailed
                                                     : ExitCode::kOk;
  if (std::ranges::all_of(modes.front(), has_failed) && options.output.form() != render::Form::kJson) {
    for (const std::string& method : options.methods) {
      const CallOutcome& outcome = modes.front().at(method);
      const std::string where = outcome.is_unusable ? "" : method + ": ";  // otherwise the error contains the name
      PrintError(ToUtf8(fmt::format("escape: {}{}", where, outcome.error)));
    }
    return failure;
  }
  return Print(EscapeReport(options.methods, modes), options.output, failure);
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
      .Value("N")
      .InRange(1, 1'000'000'000);
  command
      .AddOption("--probes", options->probes,
                 "Probed calls per round; rounds repeat until three in a row agree (default: 200)")
      .Value("N")
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
  command.run = [options](const Invocation& call) {
    options->command = call.rest;
    return Escape(*options);
  };
  return command;
}

}  // namespace heaprec::tools

// heaprec escape: what a call of a method allocates in the interpreter, after C1, and after C2 with and without escape
// analysis.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tools/control/escape_runs.h"
#include "tools/options/command.h"
#include "tools/render/print.h"
#include "tools/report/allocations/reports.h"
#include "tools/text/messages.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

struct EscapeOptions {
  EscapeRuns runs;
  render::OutputOptions output;
};

ExitCode Escape(const EscapeOptions& options) {
  if (options.runs.command.empty()) {
    return Fail(ExitCode::kUsage, "escape: no java command given; usage: heaprec escape METHOD... -- java -cp classes");
  }
  std::vector<CallOutcomes> modes;
  const ExitCode code = options.runs.Run(&modes);
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
    for (const std::string& method : options.runs.methods) {
      const CallOutcome& outcome = modes.front().at(method);
      const std::string where = outcome.is_unusable ? "" : method + ": ";  // else the error names it
      PrintError(ToUtf8(fmt::format("escape: {}{}", where, outcome.error)));
    }
    return failure;
  }
  return Print(EscapeReport(options.runs.methods, modes), options.output, failure);
}

}  // namespace

Command EscapeCommand() {
  auto options = std::make_shared<EscapeOptions>();
  Command command("escape", "Measure one method call: interpreter, C1, C2");
  command
      .AddOption("METHOD", options->runs.methods,
                 "package.Class.method without parameters; for an instance method the class needs a constructor "
                 "without parameters")
      .Required();
  command
      .AddOption("--calls", options->runs.calls,
                 "Warm-up calls before each round of probes, so that the JVM compiles the method (default: 30000)")
      .InRange(1, 1'000'000'000);
  command
      .AddOption("--probes", options->runs.probes,
                 "Probed calls per round; rounds repeat until three in a row agree (default: 200)")
      .InRange(1, 1'000'000);
  options->output.AddTo(command);
  command
      .AddOption("--lib", options->runs.agent_file,
                 "The agent, libheaprec.so (default: $HEAPREC_LIB, else searched near heaprec)")
      .Value("PATH");
  command.AddOption("--jar", options->runs.jar_file, "heaprec.jar (default: $HEAPREC_JAR, else searched near heaprec)")
      .Value("PATH");
  command.operand = "java -cp CLASSES ...";
  command.footer =
      R"(Counts every object of the probed calls, without sampling or instrumentation.
Output of the method goes to stderr.

Examples:
  heaprec escape Demo.boxing Demo.iterator -- java -cp classes
  heaprec escape com.example.Parser.next -- java -cp app.jar -XX:+UseParallelGC)";
  command.run = [options](const Invocation& call) {
    options->runs.command = call.rest;
    return Escape(*options);
  };
  return command;
}

}  // namespace heaprec::tools

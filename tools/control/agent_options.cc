#include "tools/control/agent_options.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <initializer_list>

#include "base/option_text.h"
#include "base/time.h"
#include "recorder/agent/options/options.h"
#include "tools/options/command.h"

namespace heaprec::tools {
namespace {
namespace fs = std::filesystem;

// Finds a file that is installed with heaprec: at the path that `option` or `variable` names, otherwise in one of
// `places`, relative to this program's folder. `target`: the Bazel target that builds it.
Result<std::string> FindPart(const std::string& asked_for, const char* option, const char* variable,
                             std::initializer_list<const char*> places, const std::string& file, const char* target) {
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): one thread
  const std::string named = !asked_for.empty() ? asked_for : value != nullptr ? value : "";
  std::error_code error;
  if (!named.empty()) {
    if (fs::is_regular_file(named, error)) return fs::canonical(named, error).string();
    return Error{
        fmt::format("{}: no such file (given by {})", named, asked_for.empty() ? "$" + std::string(variable) : option)};
  }
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : places) {
    const fs::path candidate = here / place / file;
    if (fs::is_regular_file(candidate, error)) return fs::canonical(candidate, error).string();
  }
  return Error{fmt::format("cannot find {} near {}; give its path with {} or ${}, or build it with 'bazel build {}'",
                           file, here.string(), option, variable, target)};
}

}  // namespace

void AgentOptions::AddTo(Command& command) {
  command
      .AddOption("-o,--output", output,
                 "Output file (default: heaprec-%p.hrec); %p = PID, %t = time, %n = number; an existing file is never "
                 "overwritten")
      .Value("FILE");
  command.AddOption("--rate", rate, "Maximum samples per second, such as 300, 6/min or 10/h (default: 150)")
      .Value("RATE");
  command.AddDuration("--duration", duration_ns,
                      "Stop after this time, such as 500ms, 30s or 5m (default: when the JVM exits)");
  command.AddDuration("--delay", delay_ns, "Wait this long before recording, such as 30s");
  command.AddFlag("--precise", precise,
                  "Count more objects than the usual 4,000 per second, for up to 1 % of the CPU time that the program "
                  "uses: narrower 95 % intervals");
  command
      .AddOption("--max-samples", max_samples,
                 "Maximum samples in the recording; once reached, later samples get larger weights")
      .Value("N");
  command
      .AddOption("--service", service,
                 "Service name for OpenTelemetry exports (default: $OTEL_SERVICE_NAME of the process)")
      .Value("NAME");
  command.AddOption("--options", file, "File with agent options, one key=value per line").Value("FILE");
  command.AddOption("--set", more, "Agent options, separated by commas (repeatable)").Value("KEY=VALUE");
  command.AddOption("--lib", agent_file, "The agent, libheaprec.so (default: $HEAPREC_LIB, else searched near heaprec)")
      .Value("PATH");
}

std::string AgentOptions::Text(bool as_they_are) const {
  const auto place = [&](const std::string& path) { return as_they_are ? path : fs::absolute(path).string(); };
  std::vector<std::string> parts;
  if (!file.empty()) parts.push_back("@" + place(file));
  if (!output.empty()) parts.push_back("file=" + place(output));
  const auto text_of = [](const std::optional<uint64_t>& ns) { return ns ? DurationText(*ns) : ""; };
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, std::string>>{{"rate", rate},
                                                                  {"duration", text_of(duration_ns)},
                                                                  {"delay", text_of(delay_ns)},
                                                                  {"maxsamples", max_samples},
                                                                  {"service", service},
                                                                  {"points", precise ? "max" : ""}}) {
    if (!value.empty()) parts.push_back(fmt::format("{}={}", key, value));
  }
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + Escaped(part);
  for (const std::string& several : more) text += (text.empty() ? "" : ",") + several;
  return text;
}

Status CheckAgentOptions(const std::string& text) {
  const auto valid = agent::ParseOptions(text);
  if (valid.ok()) return {};
  const auto given = agent::SplitOptions(text);
  const std::vector<std::string> names = agent::OptionNames();
  for (const agent::Option& option : given.ok() ? *given : std::vector<agent::Option>()) {
    const std::string unknown = fmt::format("{}unknown agent option '{}'", option.where, option.key);
    const std::string suggestion = WithSuggestion(unknown, option.key, names);
    if (suggestion != unknown) return Error{suggestion};
  }
  return valid.error();
}

Result<std::string> AgentArgument(const std::string& library, const std::string& text) {
  if (library.find('=') != std::string::npos) {
    return Error{
        fmt::format("{}: a JVM takes no agent from a path that contains '='; copy the library to another folder "
                    "and name it with --lib or $HEAPREC_LIB",
                    library)};
  }
  return fmt::format("-agentpath:{}={}", library, text);
}

// Next to bin/heaprec in an installation, next to tools/heaprec in a build.
Result<std::string> FindAgent(const std::string& asked_for) {
  return FindPart(asked_for, "--lib", "HEAPREC_LIB", {".", "../recorder", "../lib", "../lib/heaprec", "../lib64"},
                  "libheaprec.so", "//recorder:libheaprec.so");
}

Result<std::string> FindJar(const std::string& asked_for) {
  return FindPart(asked_for, "--jar", "HEAPREC_JAR", {".", "../java", "../lib", "../lib/heaprec", "../share/java"},
                  "heaprec.jar", "//java:jar");
}

}  // namespace heaprec::tools

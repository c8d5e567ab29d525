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
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/control/agent_options.h"
#include "tools/control/child.h"
#include "tools/control/class_path.h"
#include "tools/options/command.h"
#include "tools/query/escape_result.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/table.h"
#include "tools/text/terminal.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

// The interpreter is as it is after the first calls have loaded what they need.
constexpr uint64_t kInterpretedCalls = 100;
// Records nothing: the agent waits to be asked for a probe.
constexpr const char* kIdle = "delay=1000h";

struct EscapeOptions {
  std::vector<std::string> methods;
  uint64_t calls = 30'000, probes = 200;
  std::string agent_file, jar_file;
  bool json = false;
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
    Complain(fmt::format("escape: cannot create a temporary file: {}", std::strerror(errno)));
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
  Complain(fmt::format("escape: {}: {}", fmt::join(mode.flags, " "), why));
  return std::nullopt;
}

json AsJson(const std::vector<std::string>& methods, const std::vector<CallOutcomes>& modes) {
  json document = {{"methods", json::array()}};
  for (const std::string& method : methods) {
    json of_method = {{"method", method}, {"modes", json::array()}};
    for (size_t i = 0; i < modes.size(); ++i) {
      const EscapeMode& mode = EscapeModes()[i];
      const CallOutcome& outcome = modes[i].at(method);
      json of_mode = {{"mode", mode.name}, {"flags", mode.flags}};
      if (!outcome.error.empty()) {
        of_mode["error"] = ToUtf8(outcome.error);
      } else {
        of_mode.update({{"calls_before", outcome.calls_before},
                        {"calls", outcome.calls},
                        {"typical_calls", outcome.typical},
                        {"mean_bytes", static_cast<double>(outcome.bytes_of_all) / static_cast<double>(outcome.calls)},
                        {"whole", outcome.is_whole},
                        {"stable", outcome.is_stable},
                        {"bytes", outcome.Bytes()},
                        {"objects", outcome.Objects()},
                        {"classes", json::array()}});
        for (const AllocatedClass& one : outcome.classes) {
          of_mode["classes"].push_back({{"class", ToUtf8(one.name)}, {"objects", one.objects}, {"bytes", one.bytes}});
        }
      }
      of_method["modes"].push_back(of_mode);
    }
    document["methods"].push_back(of_method);
  }
  return document;
}

Cell CellOf(uint64_t bytes, uint64_t objects) {
  if (objects == 0) return {"0", ""};
  return {Grouped(bytes), fmt::format("in {}", Grouped(objects))};
}

// The classes of any mode, each once, in the order in which they come.
std::vector<std::string> ClassesOf(const std::string& method, const std::vector<CallOutcomes>& modes) {
  std::vector<std::string> names;
  for (const CallOutcomes& mode : modes) {
    for (const AllocatedClass& one : mode.at(method).classes) {
      if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
    }
  }
  return names;
}

void AddMethod(const std::string& method, const std::vector<CallOutcomes>& modes, Table* table) {
  std::vector<Cell> all;
  for (const CallOutcomes& mode : modes) {
    const CallOutcome& outcome = mode.at(method);
    all.push_back(outcome.error.empty() ? CellOf(outcome.Bytes(), outcome.Objects()) : Cell{"-", ""});
  }
  table->Add(all, method);
  for (const std::string& name : ClassesOf(method, modes)) {
    std::vector<Cell> cells;
    for (const CallOutcomes& mode : modes) {
      const std::vector<AllocatedClass>& classes = mode.at(method).classes;
      const auto found = std::ranges::find(classes, name, &AllocatedClass::name);
      cells.push_back(found == classes.end() ? Cell{"0", ""} : CellOf(found->bytes, found->objects));
    }
    table->Add(cells, ToUtf8(name), "  ");
  }
}

// What the table cannot say of a method.
void Remark(const std::string& method, const EscapeMode& mode, const CallOutcome& outcome, Text* into) {
  const auto say = [&](const std::string& what) {
    Append(*into, fmt::format("{}, {}: ", method, mode.title));
    AppendPrintable(*into, ToUtf8(what));
    Append(*into, "\n");
  };
  if (!outcome.error.empty()) return say(outcome.error);
  if (!outcome.is_stable) {
    say(fmt::format("three consecutive rounds of probes never agreed; this is the last round, after {} calls",
                    Grouped(outcome.calls_before)));
  }
  if (!outcome.is_whole) say("more objects than a probe lists; these are the first");
  if (mode.compiles && outcome.calls_before < 10'000) {
    say(fmt::format("20 s allowed but {} calls: it may not be compiled", Grouped(outcome.calls_before)));
  }
  if (10 * outcome.typical < 9 * outcome.calls) {
    say(fmt::format("{} of {} calls allocate this; {:.1f} bytes on average", Grouped(outcome.typical),
                    Grouped(outcome.calls),
                    static_cast<double>(outcome.bytes_of_all) / static_cast<double>(outcome.calls)));
  }
}

void AppendText(const std::vector<std::string>& methods, const std::vector<CallOutcomes>& modes,
                const Terminal& terminal, Text* into) {
  std::vector<Column> columns;
  for (const EscapeMode& mode : EscapeModes()) columns.push_back({mode.title, Column::kStays, 1});
  Table table(columns, "method, class");
  for (const std::string& method : methods) AddMethod(method, modes, &table);
  Append(*into, "bytes that a call allocates, and in how many objects\n");
  table.AppendTo(terminal, into);
  for (const std::string& method : methods) {
    const std::string& error = modes.front().at(method).error;
    if (!error.empty()) {
      AppendPrintable(*into, ToUtf8(fmt::format("{}: {}", method, error)));
      Append(*into, "\n");
      continue;
    }
    for (size_t i = 0; i < modes.size(); ++i) Remark(method, EscapeModes()[i], modes[i].at(method), into);
  }
  Append(*into,
         terminal.Dim("C2 without: -XX:-DoEscapeAnalysis; what C2 has less than it escape analysis removes") + "\n");
}

// None can be called.
ExitCode ComplainOfAll(const std::vector<std::string>& methods, const CallOutcomes& outcomes) {
  for (const std::string& method : methods) {
    Complain(ToUtf8(fmt::format("escape: {}: {}", method, outcomes.at(method).error)));
  }
  return ExitCode::kCheckFailed;
}

ExitCode Escape(const EscapeOptions& options, const std::vector<std::string>& command) {
  const auto refuse = [](const std::string& why) {
    Complain("escape: " + why);
    return ExitCode::kUsage;
  };
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
  if (methods.empty() && !options.json) return ComplainOfAll(options.methods, modes.front());
  Output output(STDOUT_FILENO);
  if (options.json) {
    output.Append(AsJson(options.methods, modes).dump(2) + "\n");
  } else {
    AppendText(options.methods, modes, Terminal::Of(STDOUT_FILENO), &output.text());
  }
  output.Flush();
  const bool has_failed = std::ranges::any_of(modes, [](const CallOutcomes& mode) {
    return std::ranges::any_of(mode, [](const auto& one) { return !one.second.error.empty(); });
  });
  const ExitCode code = output.Report("standard output");
  return code == ExitCode::kOk && has_failed ? ExitCode::kCheckFailed : code;
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
  command.AddFlag("--json", options->json, "Print JSON");
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

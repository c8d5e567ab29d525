// heaprec list, heaprec status: the JVMs of this user, and what is recorded in one. Nothing is loaded, nothing stopped.
#include <memory>

#include "tools/options/command.h"
#include "tools/render/print.h"
#include "tools/report/jvm_report.h"
#include "tools/text/messages.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

ExitCode List(const render::OutputOptions& output) {
  std::vector<JvmState> jvms;
  for (JavaProcess& java : AllJavaProcesses()) {
    auto live = FindLiveRecording(java.process);
    jvms.push_back({std::move(java), std::move(live)});
  }
  return Print(ListReport(jvms), output);
}

ExitCode Status(const std::string& jvm, const render::OutputOptions& output) {
  const auto java = Find(jvm);
  if (!java.ok()) {
    PrintError(ToUtf8(java.error().message));
    return ExitCode::kCannotAttach;
  }
  return Print(StatusReport({*java, FindLiveRecording(java->process)}), output);
}

}  // namespace

Command ListCommand() {
  auto output = std::make_shared<render::OutputOptions>();
  Command command("list", "List JVMs and their recordings");
  output->AddTo(command);
  command.footer = R"(Shows only JVMs of this user; run as root to see all.

Examples:
  heaprec list
  heaprec list --json | jq -r '.jvms[] | select(.recording) | .pid')";
  command.run = [output](const auto&) { return List(*output); };
  return command;
}

Command StatusCommand() {
  struct Options {
    std::string jvm;
    render::OutputOptions output;
  };
  auto options = std::make_shared<Options>();
  Command command("status", "Show whether a JVM is being recorded, and how");
  command.AddOption("JVM", options->jvm, "PID, main class or jar of the JVM").Required();
  options->output.AddTo(command);
  command.footer = R"(Examples:
  heaprec status 12345
  heaprec status --json com.example.Main | jq .recording.file)";
  command.run = [options](const auto&) { return Status(options->jvm, options->output); };
  return command;
}

}  // namespace heaprec::tools

// heaprec list, heaprec status: list the JVMs of this user, and show what is recorded in one. They load nothing and
// stop nothing.
#include <memory>
#include <string>
#include <vector>

#include "tools/options/command.h"
#include "tools/render/print.h"
#include "tools/report/recording/reports.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
namespace {

std::vector<JvmState> AllJvms() {
  std::vector<JvmState> jvms;
  for (JavaProcess& java : AllJavaProcesses()) {
    auto live = FindLiveRecording(java.process);
    jvms.push_back({std::move(java), std::move(live)});
  }
  return jvms;
}

ExitCode List(const render::OutputOptions& output) { return Print(ListReport(AllJvms()), output); }

struct StatusOptions {
  std::string jvm, file = "-";
  bool force = false;
  render::OutputOptions output;
  bool is_prometheus() const { return output.format == "prometheus" && !output.json; }
};

ExitCode Status(const StatusOptions& options) {
  if (options.jvm.empty()) {
    if (!options.is_prometheus()) return Fail(ExitCode::kUsage, "status needs a JVM; heaprec list shows all");
    return WriteFile(options.file, options.force, PrometheusText(AllJvms()));
  }
  const auto java = Find(options.jvm);
  if (!java.ok()) return Fail(ExitCode::kCannotAttach, java.error().message);
  std::vector<JvmState> jvms;
  jvms.push_back({*java, FindLiveRecording(java->process)});
  if (options.is_prometheus()) return WriteFile(options.file, options.force, PrometheusText(jvms));
  if (options.file != "-") return Fail(ExitCode::kUsage, "-o is for --format prometheus");
  return Print(StatusReport(jvms.front()), options.output);
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
  auto options = std::make_shared<StatusOptions>();
  Command command("status", "Show whether a JVM is being recorded, and how");
  command.AddOption("JVM", options->jvm, "PID, main class or jar of the JVM (prometheus: default: all recorded JVMs)");
  options->output.AddTo(command, {"prometheus"});
  command.AddOption("-o,--output", options->file, "prometheus: file to write atomically, for node_exporter")
      .Value("FILE");
  command.AddFlag("-f,--force", options->force, "Overwrite the output file if it exists");
  command.footer = R"(Examples:
  heaprec status 12345
  heaprec status --json com.example.Main | jq .recording.file
  heaprec status --format prometheus -f -o /var/lib/node_exporter/heaprec.prom)";
  command.run = [options](const auto&) { return Status(*options); };
  return command;
}

}  // namespace heaprec::tools

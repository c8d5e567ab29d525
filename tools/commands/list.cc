// heaprec list, heaprec status: the JVMs of this user, and what is recorded in one. Nothing is loaded, nothing stopped.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tools/control/java_process.h"
#include "tools/control/live_recording.h"
#include "tools/input/loss_summary.h"
#include "tools/options/command.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

ExitCode Write(const std::string& text) {
  Output output(STDOUT_FILENO);
  output.Append(text);
  output.Flush();
  return output.Report("standard output");
}

json AsJson(const JavaProcess& java, const std::optional<LiveRecording>& live) {
  json object = {{"pid", java.process.pid},
                 {"main", ToUtf8(java.main)},
                 {"version", ToUtf8(java.version)},
                 {"user", UserName(java.process.uid)},
                 {"agent", ToUtf8(java.process.agent)},
                 {"waiting", !live && java.process.is_waiting},
                 {"recording", nullptr}};
  if (!live) return object;
  const format::Books& books = live->books;
  object["recording"] = HeaderAsJson(live->recording->header());
  object["recording"].update({{"file", ToUtf8(live->path)},
                              {"bytes", live->bytes},
                              {"written", books.written},
                              {"committed", books.committed},
                              {"second_stage", books.second_stage},
                              {"stacks_walked", books.stacks_walked},
                              {"stacks_asked", books.stacks_asked},
                              {"stacks_differed", books.stacks_differed},
                              {"allocated_bytes", books.candidate_bytes},
                              {"lost_samples", live->writing.lost_samples},
                              {"unwritten_seconds", live->writing.silent_seconds},
                              {"write_error", live->writing.error}});
  return object;
}

std::string Shown(const std::string& text) {
  Text printable;
  AppendPrintable(printable, ToUtf8(text.empty() ? "?" : text));
  return fmt::to_string(printable);
}

std::string StateOf(const JavaProcess& java, const std::optional<LiveRecording>& live) {
  if (live) return "recording " + Shown(live->path);
  if (java.process.is_waiting) return "waiting for its delay";
  return java.process.agent.empty() ? "" : "not recording";
}

ExitCode List(bool as_json) {
  json document = json::array();
  std::string text = fmt::format("{:>8}  {:<12}  {:<40}  {}\n", "pid", "jdk", "main", "heaprec");
  for (const JavaProcess& java : AllJavaProcesses()) {
    const auto live = FindLiveRecording(java.process);
    document.push_back(AsJson(java, live));
    text += fmt::format("{:>8}  {:<12}  {:<40}  {}", java.process.pid, Shown(java.version), Shown(java.main),
                        StateOf(java, live));
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return Write(as_json ? document.dump(2) + "\n" : text);
}

// A line of its own where something is wrong.
std::string WritingText(const WriteStatus& writing) {
  std::string text;
  if (writing.silent_seconds > 0) {
    text = fmt::format("nothing for {:.1f} s{}{}", writing.silent_seconds, writing.error.empty() ? "" : ": ",
                       writing.error);
  }
  if (writing.lost_samples > 0) {
    text += fmt::format("{}{} samples could not be written and are lost", text.empty() ? "" : "; ",
                        Grouped(writing.lost_samples));
  }
  return text.empty() ? "" : "written:    " + text + "\n";
}

// The lines that a recording adds to the status.
std::string RecordingText(const LiveRecording& live) {
  const format::FileHeader& header = live.recording->header();
  const format::Books& books = live.books;
  Text start;
  ClockText(header.start_epoch_ns).AppendLocal(start, 0);
  return fmt::format("start:      {}\nrate:       {:g}/s\nsource:     {} ({})\nevents:     {} written, {} under way\n",
                     fmt::to_string(start), header.rate_per_second, Shown(header.source), Shown(header.source_reason),
                     Grouped(books.written),
                     Grouped(books.committed - std::min(books.committed, books.written + books.second_stage))) +
         fmt::format("stacks:     {} walked, {} asked of the JVM\n", Grouped(books.stacks_walked),
                     Grouped(books.stacks_asked)) +
         fmt::format("allocated:  {}\nfile:       {} bytes\noptions:    {}\n",
                     Bytes(static_cast<double>(books.candidate_bytes)), Grouped(live.bytes),
                     Shown(header.agent_options)) +
         WritingText(live.writing);
}

ExitCode Status(const std::string& jvm, bool as_json) {
  const auto java = Find(jvm);
  if (!java.ok()) {
    Complain(ToUtf8(java.error().message));
    return ExitCode::kCannotAttach;
  }
  const auto live = FindLiveRecording(java->process);
  if (as_json) return Write(AsJson(*java, live).dump(2) + "\n");
  const std::string state = StateOf(*java, live);
  std::string text = fmt::format("jvm:        {} {}, JDK {}\nheaprec:    {}\n", java->process.pid, Shown(java->main),
                                 Shown(java->version), state.empty() ? "not loaded" : state);
  if (live) text += RecordingText(*live);
  return Write(text);
}

}  // namespace

Command ListCommand() {
  auto as_json = std::make_shared<bool>(false);
  Command command("list", "List JVMs and their recordings");
  command.AddFlag("--json", *as_json, "Print JSON, with the details of 'heaprec status' for each JVM");
  command.footer = R"(Shows only JVMs of this user; run as root to see all.

Examples:
  heaprec list
  heaprec list --json | jq -r '.[] | select(.recording) | .pid')";
  command.run = [as_json](const auto&) { return List(*as_json); };
  return command;
}

Command StatusCommand() {
  struct Options {
    std::string jvm;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  Command command("status", "Show whether a JVM is being recorded, and how");
  command.AddOption("JVM", options->jvm, "PID, main class or jar of the JVM").Required();
  command.AddFlag("--json", options->json, "Print JSON");
  command.footer = R"(Examples:
  heaprec status 12345
  heaprec status --json com.example.Main | jq .recording.file)";
  command.run = [options](const auto&) { return Status(options->jvm, options->json); };
  return command;
}

}  // namespace heaprec::tools

// heaprec record: starts a command with the agent in it.
#include <memory>

#include "tools/control/recorded_command.h"
#include "tools/options/command.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

ExitCode Record(const RecordOptions& options) {
  if (options.command.empty())
    return Fail(ExitCode::kUsage, "record: no command given; usage: heaprec record [OPTIONS] -- java ...");
  const auto command = RecordedCommand::Prepare(options);
  return command.ok() ? command->Run() : Fail(ExitCode::kUsage, command.error().message);
}

}  // namespace

Command RecordCommand() {
  auto options = std::make_shared<RecordOptions>();
  Command command("record", "Run a command and record its allocations");
  options->agent.AddTo(command);
  command.AddFlag("--child-jvms", options->child_jvms,
                  "Record every JVM that the command starts, through JAVA_TOOL_OPTIONS, of which each prints a line on "
                  "stderr. Keep %p in FILE");
  command
      .AddOption(
          "--native", options->native,
          "Also record native memory (without a JVM: only that). sampled: sample blocks and track them until they "
          "are freed; exact: count every block with libheaprec-native.so")
      .OneOf({kSampled, kExact})
      .Value("HOW");
  command.AddFlag("-q,--quiet", options->quiet, "Do not print a summary line at the end");
  command.operand = "COMMAND...";
  command.takes_command = true;
  command.footer =
      R"(The exit code is the command's (128 + N after signal N, 127: no such command),
or 6 if it succeeds but was not recorded as a whole. Signals are forwarded. A
child that is forked without exec is not recorded: run servers in the
foreground.

Examples:
  heaprec record -- java -jar app.jar
  heaprec record -o app.hrec --rate 300 -- java -cp classes Main
  heaprec record --native=exact -o app.hrec -- java -jar app.jar
  heaprec record --native=sampled --rate 300 -o server.hrec -- ./server --port 80
  heaprec record --child-jvms -o app-%p.hrec -- mvn -q test)";
  command.run = [options](const Invocation& call) {
    options->command = call.rest;
    return Record(*options);
  };
  return command;
}

}  // namespace heaprec::tools

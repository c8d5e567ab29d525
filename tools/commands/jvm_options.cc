#include "tools/commands/jvm_options.h"

#include <fmt/format.h>

#include "tools/render/renderers.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"

namespace heaprec::tools {

void JvmOptions::AddTo(Command& command) {
  command
      .AddOption("JVM", jvm, "PID, main class or jar of the JVM (a part of the name is enough if only one JVM matches)")
      .Required();
  command.AddDuration("--timeout", timeout_ns, "Time to wait for the JVM (default: 10s)", 100'000'000,
                      3'600'000'000'000);
  command.AddFlag("--json", json, "Print the result as JSON");
  command.AddFlag("-q,--quiet", quiet, "Print errors only");
}

ExitCode JvmOptions::Tell(pid_t pid, const AgentReply& reply) const {
  const std::string sentence = ToUtf8(reply.sentence), line = fmt::format("PID {}: {}", pid, sentence);
  const ExitCode code = reply.is_unwritten ? ExitCode::kCannotWrite : ExitCode::kOk;
  if (reply.is_unwritten && !json) return Fail(code, line);
  if (quiet) return code;
  const render::Object summary{{"pid", pid}, {"answer", sentence}, {"unwritten", reply.is_unwritten}};
  Text text;
  json ? Append(text, render::JsonText(summary)) : AppendPrintable(text, line);
  text.push_back('\n');
  const ExitCode told = WriteFile("-", true, {text.data(), text.size()});
  return told != ExitCode::kOk ? told : code;
}

}  // namespace heaprec::tools

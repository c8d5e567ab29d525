// heaprec redact: a recording whose names are keyed hashes, to be given away.
#include <memory>

#include "tools/commands/rewrite_command.h"
#include "tools/options/command.h"
#include "tools/rewrite/recording_editor.h"
#include "tools/rewrite/redaction.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
namespace {

struct RedactOptions {
  RewriteOptions rewrite;
  std::string key, mapping;
  std::vector<std::string> patterns;
};

Result<RewriteSummary> Write(const Recordings& recordings, Redaction* redaction, Output* output) {
  RewriteSummary edited;
  for (const auto& recording : recordings) {
    const auto written =
        Rewrite(recording.get(), redaction->Header(recording->header()), redaction, format::kEndRecovered, output);
    if (!written.ok()) return written.error();
    ++edited.recordings;
    edited.samples += written->events;
  }
  return edited;
}

ExitCode Redact(const RedactOptions& options) {
  auto redaction = Redaction::Parse(options.key, options.patterns);
  if (!redaction.ok()) return Fail(ExitCode::kUsage, redaction.error().message);
  std::unique_ptr<OutputFile> mapping;
  if (!options.mapping.empty()) {
    auto opened = OutputFile::Open(options.mapping, options.rewrite.force);
    if (!opened.ok()) return Fail(ExitCode::kCannotWrite, opened.error().message);
    mapping = std::move(*opened);
  }
  const ExitCode done = Edit(options.rewrite, [&redaction](const Recordings& recordings, Output* output) {
    return Write(recordings, &*redaction, output);
  });
  if (mapping == nullptr || (done != ExitCode::kOk && done != ExitCode::kDamaged)) return done;
  Output output(mapping->descriptor());
  redaction->AppendMapping(&output);
  return mapping->Finish(&output).value_or(done);
}

}  // namespace

Command RedactCommand() {
  auto options = std::make_shared<RedactOptions>();
  Command command("redact", "Replace names with keyed hashes");
  options->rewrite.AddTo(command, /*several=*/false);
  command
      .AddOption("--key", options->key,
                 "Key file of at least 16 bytes; the same key gives the same hashes (default: a random key)")
      .Value("FILE");
  command
      .AddOption("--pattern", options->patterns,
                 "Replace only names that match this regular expression (RE2; repeatable)")
      .Value("REGEX");
  command.AddOption("--mapping", options->mapping, "Write a table of names and their hashes to FILE").Value("FILE");
  command.footer =
      R"(Without --key the key is random and is not saved. Names in java.* and jdk.* are
kept unless a --pattern matches them.

Examples:
  heaprec redact --key ~/.heaprec.key -o away.hrec app.hrec
  heaprec redact --pattern '^com\.acme\.' --mapping names.tsv -o away.hrec app.hrec)";
  command.run = [options](const auto&) { return Redact(*options); };
  return command;
}

}  // namespace heaprec::tools

// heaprec redact: a recording whose names are keyed hashes, to be given away.
#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <fstream>
#include <iterator>
#include <memory>

#include "tools/commands/rewrite_command.h"
#include "tools/options/command.h"
#include "tools/rewrite/redaction.h"
#include "tools/text/messages.h"
#include "tools/text/output_file.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

constexpr size_t kMinKeyBytes = 16;

struct RedactOptions {
  RewriteOptions rewrite;
  std::string key, mapping;
  std::vector<std::string> patterns;
};

format::Result<std::string> KeyOf(const RedactOptions& options) {
  if (options.key.empty()) {
    std::array<char, 32> random{};
    if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
      return format::Error{"cannot get random bytes for a key: give a key file with --key"};
    }
    return std::string(random.data(), random.size());
  }
  std::ifstream file(options.key, std::ios::binary);
  std::string key((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return format::Error{fmt::format("{}: cannot read the key", options.key)};
  if (key.size() < kMinKeyBytes) {
    return format::Error{
        fmt::format("{}: the key is too short; at least {} bytes are needed", options.key, kMinKeyBytes)};
  }
  return key;
}

format::Result<std::vector<FramePattern>> PatternsOf(const RedactOptions& options) {
  std::vector<FramePattern> patterns;
  for (const std::string& text : options.patterns) {
    auto pattern = FramePattern::Parse("--pattern", text);
    if (!pattern.ok()) return pattern.error();
    patterns.push_back(std::move(*pattern));
  }
  return patterns;
}

format::Result<RewriteSummary> Write(const Recordings& recordings, Redaction* redaction, Output* output) {
  RewriteSummary edited;
  for (const auto& recording : recordings) {
    RecordingEditor editor(redaction->Header(recording->header()), output, redaction);
    while (const auto block = recording->Next()) {
      auto added = editor.Add(*block);
      if (!added.ok()) return added.error();
    }
    auto finished = editor.Finish(recording->counters_since_start(), recording->ending());
    if (!finished.ok()) return finished.error();
    ++edited.recordings;
    edited.samples += editor.samples();
  }
  return edited;
}

ExitCode WriteMapping(const Redaction& redaction, OutputFile* file) {
  Output output(file->descriptor());
  output.Append("kind\tname\thash\n");
  for (const auto& [name, hash] : redaction.mapping()) {
    Text text;
    fmt::format_to(fmt::appender(text), "{}\t", name.first);
    AppendPrintable(text, name.second);
    fmt::format_to(fmt::appender(text), "\t{}\n", hash);
    output.Append({text.data(), text.size()});
    output.Tick();
  }
  return file->Finish(&output).value_or(ExitCode::kOk);
}

ExitCode Redact(const RedactOptions& options) {
  const auto key = KeyOf(options);
  const auto patterns = PatternsOf(options);
  if (!key.ok() || !patterns.ok())
    return Fail(ExitCode::kUsage, !key.ok() ? key.error().message : patterns.error().message);
  Redaction redaction(*key, *patterns);
  std::unique_ptr<OutputFile> mapping;
  if (!options.mapping.empty()) {
    auto opened = OutputFile::Open(options.mapping, options.rewrite.force);
    if (!opened.ok()) return Fail(ExitCode::kCannotWrite, opened.error().message);
    mapping = std::move(*opened);
  }
  const ExitCode done = Edit(options.rewrite, [&redaction](const Recordings& recordings, Output* output) {
    return Write(recordings, &redaction, output);
  });
  if (mapping == nullptr || (done != ExitCode::kOk && done != ExitCode::kDamaged)) return done;
  const ExitCode mapped = WriteMapping(redaction, mapping.get());
  return mapped != ExitCode::kOk ? mapped : done;
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

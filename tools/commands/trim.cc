// heaprec trim: extracts a time range.
// heaprec merge: combines recordings into one file.
// heaprec redact: replaces names with keyed hashes, so that a recording can be shared.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "format/reader/recordings_in_file.h"
#include "tools/commands/rewrite_command.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"
#include "tools/rewrite/recording_editor.h"
#include "tools/rewrite/redaction.h"
#include "tools/rewrite/time_slice.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

struct TrimOptions {
  RewriteOptions rewrite;
  std::string from, to;
};

struct Span {
  std::optional<TimePoint> from, to;
};

// Returns the time since the recording's start.
uint64_t At(const std::optional<TimePoint>& time, const Recording& recording, uint64_t otherwise) {
  if (!time) return otherwise;
  const uint64_t end_ns = time->needs_end() ? EndOf(recording) : 0;
  return static_cast<uint64_t>(std::max<int64_t>(time->InRecording(recording.header().start_epoch_ns, end_ns), 0));
}

Result<RewriteSummary> WriteTrimmed(const Recordings& recordings, const Span& span, Output* output) {
  RewriteSummary edited;
  bool has_data = !span.from && !span.to;
  std::string spans;
  for (const auto& recording : recordings) {
    const uint64_t asked_from = At(span.from, *recording, 0), asked_to = At(span.to, *recording, UINT64_MAX);
    if (asked_from >= asked_to) return Error{"--from must be before --to"};
    const auto [from, to] = ExtendToRows(*recording, asked_from, asked_to);
    TimeSlice cut(recording->header(), from, to);
    RecordingEditor editor(cut.header(), output);
    Status added;
    Walk(recording.get(), [&](const format::Block& block) {
      for (const format::Block& part : cut.Of(block)) {
        added = editor.Add(part, /*after_damage=*/false);  // `cut` counts only blocks that it has returned
        if (!added.ok()) return false;
      }
      return true;
    });
    if (!added.ok()) return added.error();
    const format::EndMarker ending = cut.EndingOf(recording->EndingOfCopy(cut.end_ns()));
    auto finished = editor.Finish(cut.counters(), ending, recording->skipped_bytes_for_copy());
    if (!finished.ok()) return finished.error();
    ++edited.recordings;
    edited.samples += editor.samples();
    if (from < asked_from || std::min(to, cut.end_ns()) > asked_to) {
      edited.note +=
          fmt::format("; extended to whole blocks: {} to {}", Duration(from), Duration(std::min(to, cut.end_ns())));
    }
    has_data = has_data || (from < cut.end_ns() && to > cut.begin_ns());
    spans += fmt::format("{}{} has data from {} to {}", spans.empty() ? "" : "; ", recording->source().name(),
                         Duration(cut.begin_ns()), Duration(cut.end_ns()));
  }
  if (!has_data) return Error{"no data in this range: " + spans + "; choose --from and --to within it"};
  return edited;
}

ExitCode Trim(const TrimOptions& options) {
  const auto from = TimeOption("--from", options.from), to = TimeOption("--to", options.to);
  if (!from.ok()) return Fail(ExitCode::kUsage, from.error().message);
  if (!to.ok()) return Fail(ExitCode::kUsage, to.error().message);
  const Span span{*from, *to};
  return Edit(options.rewrite,
              [&span](const Recordings& recordings, Output* output) { return WriteTrimmed(recordings, span, output); });
}

// Places parts of one recording next to each other.
Result<RewriteSummary> WriteMerged(const Recordings& recordings, Output* output) {
  std::vector<std::vector<Recording*>> by_id;
  for (const auto& recording : recordings) {
    const format::RecordingId& id = recording->header().recording_id;
    const auto known =
        std::ranges::find_if(by_id, [&](const auto& parts) { return parts.front()->header().recording_id == id; });
    (known != by_id.end() ? *known : by_id.emplace_back()).push_back(recording.get());
  }
  if (by_id.size() > format::kMaxRecordings) {
    return Error{fmt::format("{} recordings; the maximum per file is {}", Grouped(by_id.size()),
                             Grouped(format::kMaxRecordings))};
  }
  RewriteSummary edited;
  for (const auto& of_one : by_id) {
    const auto samples = MergeParts(of_one, output);
    if (!samples.ok()) return samples.error();
    ++edited.recordings;
    edited.samples += *samples;
  }
  return edited;
}

struct RedactOptions {
  RewriteOptions rewrite;
  std::string key, mapping;
  std::vector<std::string> patterns;
};

Result<RewriteSummary> WriteRedacted(const Recordings& recordings, Redaction* redaction, Output* output) {
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
    return WriteRedacted(recordings, &*redaction, output);
  });
  if (mapping == nullptr || (done != ExitCode::kOk && done != ExitCode::kDamaged)) return done;
  redaction->AppendMapping(&mapping->output());
  return mapping->Finish().value_or(done);
}

}  // namespace

Command TrimCommand() {
  auto options = std::make_shared<TrimOptions>();
  Command command("trim", "Extract a time range");
  options->rewrite.AddTo(command, /*several=*/false);
  command
      .AddOption("--from", options->from,
                 "Start of the range: an offset (10s, 1m30s), ISO 8601 or epoch ns (default: the start)")
      .Value("TIME");
  command.AddOption("--to", options->to, "End of the range (default: the end)").Value("TIME");
  command.footer = R"(Examples:
  heaprec trim --from 10s --to 1m30s -o part.hrec app.hrec
  heaprec trim --from 2026-01-31T12:00:00Z -o - app.hrec | heaprec summary -)";
  command.run = [options](const auto&) { return Trim(*options); };
  return command;
}

Command MergeCommand() {
  auto options = std::make_shared<RewriteOptions>();
  Command command("merge", "Combine recordings into one file");
  command.joins_parts = false;
  options->AddTo(command, /*several=*/true);
  command.footer = R"(Recordings with different ids stay separate in the file; parts of one recording
are joined.

Examples:
  heaprec merge -o all.hrec node-1.hrec node-2.hrec
  heaprec merge -o app.hrec part-*.hrec)";
  command.run = [options](const auto&) { return Edit(*options, WriteMerged); };
  return command;
}

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

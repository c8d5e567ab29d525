// heaprec trim: a span of a recording, as a recording of its own.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "tools/commands/rewrite_command.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"
#include "tools/rewrite/recording_editor.h"
#include "tools/rewrite/time_slice.h"
#include "tools/text/messages.h"
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

// In the recording, from its start on.
uint64_t At(const std::optional<TimePoint>& time, const Recording& recording, uint64_t otherwise) {
  if (!time) return otherwise;
  const uint64_t end_ns = time->needs_end() ? EndOf(recording) : 0;
  return static_cast<uint64_t>(std::max<int64_t>(time->InRecording(recording.header().start_epoch_ns, end_ns), 0));
}

Result<RewriteSummary> Write(const Recordings& recordings, const Span& span, Output* output) {
  RewriteSummary edited;
  bool has_data = !span.from && !span.to;
  std::string spans;
  for (const auto& recording : recordings) {
    const uint64_t asked_from = At(span.from, *recording, 0), asked_to = At(span.to, *recording, UINT64_MAX);
    if (asked_from >= asked_to) return Error{"--from must be before --to"};
    const auto [from, to] = ExtendToRows(*recording, asked_from, asked_to);
    TimeSlice cut(recording->header(), from, to);
    RecordingEditor editor(cut.header(), output);
    while (const auto block = recording->Next()) {
      for (const format::Block& part : cut.Of(*block)) {
        auto added = editor.Add(part, /*after_damage=*/false);  // `cut` counts only what it has returned
        if (!added.ok()) return added.error();
      }
    }
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
              [&span](const Recordings& recordings, Output* output) { return Write(recordings, span, output); });
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

}  // namespace heaprec::tools

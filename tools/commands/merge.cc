// heaprec merge: several recordings, or parts of one, in one file.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "format/reader/recordings_in_file.h"
#include "tools/commands/rewrite_command.h"
#include "tools/options/command.h"
#include "tools/rewrite/merged_parts.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// Parts of one recording stand together.
Result<RewriteSummary> Write(const Recordings& recordings, Output* output) {
  std::vector<std::vector<Recording*>> by_id;
  for (const auto& recording : recordings) {
    const format::RecordingId& id = recording->header().recording_id;
    const auto known =
        std::ranges::find_if(by_id, [&](const auto& parts) { return parts.front()->header().recording_id == id; });
    (known != by_id.end() ? *known : by_id.emplace_back()).push_back(recording.get());
  }
  if (by_id.size() > format::kMaxRecordings) {
    return Error{
        fmt::format("{} recordings; a file holds {} at most", Grouped(by_id.size()), Grouped(format::kMaxRecordings))};
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

}  // namespace

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
  command.run = [options](const auto&) { return Edit(*options, Write); };
  return command;
}

}  // namespace heaprec::tools

// heaprec merge: several recordings, or parts of one, in one file.
#include <algorithm>
#include <memory>
#include <tuple>

#include "tools/commands/rewrite_command.h"
#include "tools/options/command.h"
#include "tools/rewrite/recording_editor.h"

namespace heaprec::tools {
namespace {

// Parts of one recording stand together, in the order of their chunks; chunks that were written already are left out.
format::Result<RewriteSummary> Write(const Recordings& recordings, Output* output) {
  RewriteSummary edited;
  std::vector<bool> done(recordings.size());
  for (size_t first = 0; first < recordings.size(); ++first) {
    if (done[first]) continue;
    const format::RecordingId& id = recordings[first]->header().recording_id;
    // The first block of each part tells where it belongs.
    std::vector<std::pair<Recording*, std::optional<format::Block>>> parts;
    for (size_t i = first; i < recordings.size(); ++i) {
      if (done[i] || recordings[i]->header().recording_id != id) continue;
      done[i] = true;
      parts.emplace_back(recordings[i].get(), recordings[i]->Next());
    }
    std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
      const auto chunk_of = [](const auto& part) { return part.second ? part.second->chunk : UINT32_MAX; };
      return chunk_of(a) < chunk_of(b);
    });
    format::FileHeader merged = parts.front().first->header();
    merged.ring_path.clear();  // what it holds is written
    RecordingEditor editor(merged, output);
    uint64_t next_chunk = 0;  // all before are written
    const Recording* last = parts.front().first;
    for (auto& [part, block] : parts) {
      uint64_t end_chunk = next_chunk;
      for (; block; block = part->Next()) {
        if (block->chunk < next_chunk) continue;
        end_chunk = uint64_t{block->chunk} + 1;
        auto added = editor.Add(*block);
        if (!added.ok()) return added.error();
      }
      if (end_chunk > next_chunk || part->ending()) last = part;
      next_chunk = end_chunk;
    }
    auto finished = editor.Finish(last->counters_since_start(), last->ending());
    if (!finished.ok()) return finished.error();
    ++edited.recordings;
    edited.samples += editor.samples();
  }
  return edited;
}

}  // namespace

Command MergeCommand() {
  auto options = std::make_shared<RewriteOptions>();
  Command command("merge", "Combine recordings into one file");
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

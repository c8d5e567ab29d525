#include "tools/rewrite/recording_copier.h"

#include <algorithm>
#include <ctime>

#include "tools/rewrite/recording_editor.h"

namespace heaprec::tools {
namespace {

uint64_t NowNs(const format::FileHeader& header) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t ns = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  return ns > header.start_monotonic_ns ? ns - header.start_monotonic_ns : 0;
}

}  // namespace

format::Result<Rewritten> Rewrite(Recording* recording, const std::string& reason, Output* output) {
  RecordingEditor editor(recording->header(), output);
  uint64_t end_ns = 0;
  while (const auto block = recording->Next()) {
    end_ns = std::max(end_ns, block->end_ns);
    if (const auto added = editor.Add(*block, recording->misses_bytes()); !added.ok()) return added.error();
    if (output->failed()) break;
  }
  format::EndMarker ending{end_ns, recording->has_nothing() ? format::kEndNothingRecovered : reason};
  // The counters include intervals whose samples come later; nothing is lost.
  if (recording->running()) ending = {std::max(end_ns, NowNs(recording->header())), format::kEndDump};
  if (recording->ending()) ending = *recording->ending();
  const auto finished = editor.Finish(recording->counters_since_start(), ending, recording->skipped_bytes_for_copy());
  if (!finished.ok()) return finished.error();
  return Rewritten{recording->events(), editor.missing_events()};
}

}  // namespace heaprec::tools

#include "tools/rewrite/recording_copier.h"

#include <algorithm>

#include "tools/rewrite/recording_editor.h"

namespace heaprec::tools {

format::Result<Rewritten> Rewrite(Recording* recording, const std::string& reason, Output* output) {
  format::FileHeader header = recording->header();
  header.ring_path.clear();  // what it holds is written
  RecordingEditor editor(header, output);
  uint64_t end_ns = 0;
  while (const auto block = recording->Next()) {
    end_ns = std::max(end_ns, block->end_ns);
    if (const auto added = editor.Add(*block, recording->misses_bytes()); !added.ok()) return added.error();
    if (output->failed()) break;
  }
  const format::EndMarker ending = EndingOfCopy(*recording, end_ns, reason);
  const auto finished = editor.Finish(recording->counters_since_start(), ending, recording->skipped_bytes_for_copy());
  if (!finished.ok()) return finished.error();
  return Rewritten{recording->events(), editor.missing_events()};
}

}  // namespace heaprec::tools

#include "tools/rewrite/recording_copier.h"

#include "tools/rewrite/recording_editor.h"

namespace heaprec::tools {

Result<Rewritten> Rewrite(Recording* recording, const std::string& reason, Output* output) {
  return Rewrite(recording, recording->header(), nullptr, reason, output);
}

Result<Rewritten> Rewrite(Recording* recording, format::FileHeader header, NameMapper* names, const std::string& reason,
                          Output* output) {
  header.ring_path.clear();  // what it holds is written
  RecordingEditor editor(header, output, names);
  while (const auto block = recording->Next()) {
    if (const auto added = editor.Add(*block, recording->misses_bytes()); !added.ok()) return added.error();
    if (output->failed()) break;
  }
  const auto finished =
      editor.Finish(recording->counters_since_start(), recording->EndingOfCopy(editor.end_ns(), reason),
                    recording->skipped_bytes_for_copy());
  if (!finished.ok()) return finished.error();
  return Rewritten{editor.samples(), editor.missing_events()};
}

}  // namespace heaprec::tools

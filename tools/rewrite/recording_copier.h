// Writes a recording anew from the blocks of another: block for block, in chunks of its own, names under new indices.
//
// Books:    as the blocks have them, but events that the counters say were written and that no block has (it was
// damaged)
//           are taken from `written` and counted as LossReason::kWriteFailed, so that the new file's shared counters is
//           true of it.
// Threads:  one.
// Failure:  a sentence for the user.
// Format:   docs/format/recording.md
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "format/chunk_writer.h"
#include "format/reader.h"
#include "format/result.h"
#include "tools/input/recording.h"
#include "tools/text/output.h"

namespace heaprec::tools {

class RecordingCopier {
 public:
  // Both outlive this.
  RecordingCopier(const format::FileHeader& header, Output* output);
  RecordingCopier(const RecordingCopier&) = delete;
  RecordingCopier& operator=(const RecordingCopier&) = delete;

  format::Result<bool> Add(const format::Block& block);
  // `counters`: at the end, as the blocks count them.
  format::Result<bool> End(const format::PerStream<format::StreamCounters>& counters, const format::EndMarker& ending);

  // Events that no block has though the counters say that they were written.
  uint64_t missing() const;

 private:
  // What became of events in blocks that are not there.
  struct Missing {
    uint64_t events = 0;
    double weight = 0;
  };
  void AddRows(const format::Block& block);
  void Name(const format::Dictionaries& names, format::Sample* sample);
  format::CensusRow Named(const format::Dictionaries& names, format::CensusRow row);
  format::Index Stack(const format::Dictionaries& names, format::Index leaf);
  void NoteMissing(const format::Block& block, format::Stream stream);
  format::PerStream<format::StreamCounters> TrueCounters(format::PerStream<format::StreamCounters> counters) const;
  void StartChunk();
  format::Result<bool> Write(const format::Result<format::ByteBuffer>& bytes);
  void Append(const format::ByteBuffer& bytes);

  const format::FileHeader& header_;
  Output& output_;
  std::unique_ptr<format::ChunkWriter> chunk_;
  uint32_t next_chunk_ = 0;
  uint32_t source_chunk_ = 0;
  uint64_t end_ns_ = 0;
  std::vector<uint64_t> positions_;
  format::PerStream<format::StreamCounters> before_;  // of the block before; at first, before the file
  format::PerStream<Missing> missing_;
};

// All of `recording`, which is at its start, with what only its ring holds, and its ending; if it has none, one of
// `reason`.
struct Rewritten {
  uint64_t events = 0;
  uint64_t missing = 0;  // RecordingCopier::missing
};
format::Result<Rewritten> Rewrite(Recording* recording, const std::string& reason, Output* output);

}  // namespace heaprec::tools

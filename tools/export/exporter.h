// Converts recordings to a file in another tool's format.
//
// The command reads the recordings and calls Begin, Add for each block, AddDoubt, and End, for each recording; then
// Finish. Some exporters write as blocks arrive, some at the end. Their memory is bounded by the dictionaries, not by
// the events.
//
// Failure:  the output reports its own write errors; Finish returns other errors.
// New ones: docs/guide/export-import-sql.md#export, one line in formats.cc.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/reader/reader.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/query/filter/time_point.h"
#include "tools/query/samples/calibration.h"
#include "tools/text/output.h"

namespace heaprec::tools {

// Options of all formats.
struct ExportSettings {
  bool several = false;                                // recordings follow each other
  std::vector<format::Stream> streams;                 // those that pass
  bool allocations = true, exceptions = false;         // of them: any that weighs bytes; throws
  bool live = false;                                   // a recording tracked samples of them until they were gone
  bool live_filter = false;                            // export live samples in place of all, with LiveDetail
  std::optional<TimePoint> live_at;                    // time at which samples must be live; nullopt: the end
  std::string weights;                                 // collapsed: bytes, objects or samples; empty: chosen by kind
  std::function<bool(std::string_view method)> hides;  // frames to leave out of the stacks; empty: none
  std::string service;                                 // otlp: name of the service; empty: as recorded
  bool raw = false;                                    // formats with one weight: the raw one, not the calibrated one
  bool no_rows = false;                                // of those that take rows: weights are not calibrated to them
  bool lines = false;                                  // collapsed, speedscope: a frame is a line, not a method
};

// Which weights a file with one weight per sample has, as written in the file.
inline std::string_view WeightsName(const ExportSettings& settings) { return settings.raw ? "raw" : "calibrated"; }

// Details of a live sample.
struct LiveDetail {
  uint64_t at_ns = 0;                // since the start of the recording: when that was asked
  uint64_t age_ns = 0;               // by then
  std::optional<uint64_t> survived;  // collections, by then; nullopt: not known
};

// A block, and its samples that pass the filters. Valid during the call.
struct FilteredBlock {
  const format::Block& block;
  const std::vector<const format::Sample*>& samples;  // ascending in time
  Names& names;                                       // which have entered it
  Calibration& calibration;                           // likewise; raw weights with --raw, and of what is alive
  const std::vector<const format::CheckpointSample*>&
      live_checkpoint;                             // of block.live_checkpoint, those that pass the filters
  const std::vector<LiveDetail>* alive = nullptr;  // of each of `samples`, where they are what is alive
  // Calibration::RowsOf: of sites without samples, in formats that take rows; all, in those that have them apart.
  std::span<const format::Row* const> rows{};
};

// What of a recording's time passes the filters: from, to (ns since its start).
using AskedRange = std::pair<uint64_t, uint64_t>;

class Exporter {
 public:
  virtual ~Exporter() = default;
  virtual void Begin(const Recording& recording) = 0;
  virtual void Add(const FilteredBlock& block) = 0;
  // Receives a reason why the recording is not trustworthy, as `summary` prints it.
  virtual void AddDoubt(const std::string&) {}
  // The recording was read to its end, or as far as was asked for.
  virtual void End(const Recording&, AskedRange) {}
  virtual std::optional<Error> Finish() { return std::nullopt; }
};

// Makes what writes one format to `output`, which must outlive it.
using MakeExporter = std::unique_ptr<Exporter>(const ExportSettings& settings, Output* output);
MakeExporter MakeCollapsed, MakeCsv, MakeJfr, MakeJsonl, MakeOtlp, MakePprof, MakeSpeedscope, MakeSqlite;

// Where the numbers of an export come from and what they lack, as lines for formats that have room for remarks. Call it
// after the recording was read. `streams`: those that were exported.
std::vector<std::string> Provenance(const Recording& recording, const std::vector<format::Stream>& streams);

// The time that the file covers: from its start to its end, or to the last block.
struct Span {
  uint64_t begin_ns = 0, end_ns = 0;
};
Span SpanOf(const Recording& recording, uint64_t last_block_ns);

}  // namespace heaprec::tools

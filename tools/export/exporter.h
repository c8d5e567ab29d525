// Converts recordings to a file in another tool's format: what an exporter is, and the walk that feeds it.
//
// For each recording, the command calls Begin, Add for each block, AddDoubt, and End; finally Finish. Some exporters
// write as blocks arrive, some at the end. Their memory is bounded by the dictionaries, not by the events.
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
#include "tools/query/filter/event_filter.h"
#include "tools/query/filter/time_point.h"
#include "tools/query/samples/calibration.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {

// Options of all formats.
struct ExportSettings {
  bool several = false;                                // there are several recordings
  std::vector<format::Stream> streams;                 // streams to export
  bool allocations = true, exceptions = false;         // among them: streams measured in bytes; exceptions
  bool live = false;                                   // a recording tracked their samples
  bool live_filter = false;                            // export live samples instead of all, with LiveDetail
  std::optional<TimePoint> live_at;                    // time at which samples must be live; nullopt: the end
  uint64_t live_survived = 0;                          // minimum number of collections that live objects survived
  std::string weights;                                 // collapsed: bytes, objects or samples; empty: chosen by kind
  std::function<bool(std::string_view method)> hides;  // frames to omit from stacks; empty: none
  std::string service;                                 // otlp: name of the service; empty: as recorded
  bool raw = false;                                    // formats with one weight: the raw one, not the calibrated one
  bool no_rows = false;                                // for formats with rows: do not calibrate weights to rows
  // collapsed, speedscope: frames differ by line, not only by method
  bool lines = false;
};

// The kind of weights in a file with one weight per sample, as written in the file.
inline std::string_view WeightsName(const ExportSettings& settings) { return settings.raw ? "raw" : "calibrated"; }

// Details of a live sample.
struct LiveDetail {
  uint64_t at_ns = 0;                // time of the listing, since the start of the recording
  uint64_t age_ns = 0;               // age at that time
  std::optional<uint64_t> survived;  // collections survived until then; nullopt: unknown
  // What held it when the heap was last searched, as stack and thread of a row of kPath; kNone: not known.
  format::Index path = format::kNone, path_thread = format::kNone;
};

// A block, and its samples that pass the filters. Valid during the call.
struct FilteredBlock {
  const format::Block& block;
  const std::vector<const format::Sample*>& samples;  // ascending in time
  Names& names;                                       // has entered the block
  // has entered the block; raw weights with --raw, and for live objects
  Calibration& calibration;
  const std::vector<const format::CheckpointSample*>&
      live_checkpoint;                             // samples of block.live_checkpoint that pass the filters
  const std::vector<LiveDetail>* alive = nullptr;  // details per sample, if `samples` are live objects; otherwise null
  // Result of Calibration::RowsOf: rows of sites without samples, for formats that use them; all rows, for formats with
  // a table of rows.
  std::span<const format::Row* const> rows{};
};

// The part of a recording's time that passes the filters: from, to (ns since its start).
using AskedRange = std::pair<uint64_t, uint64_t>;

class Exporter {
 public:
  virtual ~Exporter() = default;
  virtual void Begin(const Recording& recording) = 0;
  virtual void Add(const FilteredBlock& block) = 0;
  // Receives a reason why the recording is not trustworthy, as `summary` prints it.
  virtual void AddDoubt(const std::string&) {}
  // Called when the recording was read to its end, or to the end of the requested time.
  virtual void End(const Recording&, AskedRange) {}
  virtual Status Finish() { return {}; }
};

// Creates the exporter of one format, which writes to `output`. `output` must outlive it.
using MakeExporter = std::unique_ptr<Exporter>(const ExportSettings& settings, Output* output);
MakeExporter MakeCollapsed, MakeCsv, MakeJfr, MakeJsonl, MakeOtlp, MakePprof, MakeSpeedscope, MakeSqlite;

// Returns the origin of an export's numbers and what they lack, as lines for formats with remarks. Call after the
// recording was read. `streams`: exported streams.
std::vector<std::string> Provenance(const Recording& recording, const std::vector<format::Stream>& streams);

// The time that the file covers: from its start to its end, or to its last block.
struct Span {
  uint64_t begin_ns = 0, end_ns = 0;
};
Span SpanOf(const Recording& recording, uint64_t last_block_ns);

// Passes the events of recordings through filters to an exporter.

// Returns `asked`, completed from the recordings and the filter.
ExportSettings SettingsFor(ExportSettings asked, const Recordings& recordings, const Filter& filter);

// What was exported from one recording.
struct ExportedRecording {
  uint64_t events = 0;
  uint64_t points = 0;               // points of the rows to which samples were calibrated
  std::vector<std::string> reasons;  // why its numbers are not trustworthy, as `summary` prints them
};

struct ExportRequest {
  const Filter& filter;
  CalibratedTo calibrated_to = CalibratedTo::kCounts;              // all except kNothing read each recording once more
  Progress::StdoutUse stdout_use = Progress::StdoutUse::kNothing;  // whether the exporter writes to stdout
  std::function<bool()> stop = [] { return false; };               // true: ends early, and does not assess trust
  std::optional<TimePoint> live_at{};                              // time at which objects must be live
};

// Reads all recordings into `exporter`; the caller calls its Finish. Reports on stderr if no recording has data for the
// requested times.
std::vector<ExportedRecording> ExportAll(const Recordings& recordings, const ExportRequest& request,
                                         Exporter* exporter);

// Prints damage and reasons why sums are not trustworthy on stderr and, on a terminal, losses. `exported`: result of
// ExportAll.
ExitCode Close(const Recordings& recordings, const std::vector<ExportedRecording>& exported);

}  // namespace heaprec::tools

#include "tools/export/exporter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "format/model/version.h"
#include "tools/analysis/health/trust.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/loss_summary.h"
#include "tools/input/stream_traits.h"
#include "tools/query/scan/scan_summary.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

void AddLosses(const format::StreamCounters& counters, format::Stream stream, std::vector<std::string>* lines) {
  const bool bytes = !format::CountsEvents(stream);
  for (const Loss& loss : LossesOf(counters)) {
    if (loss.points == 0) continue;
    const std::string weight = bytes ? Bytes(loss.weight) : fmt::format("{:.4g} throws", loss.weight);
    lines->push_back(fmt::format("lost, {}: {} points, which represent {}", loss.reason, Grouped(loss.points), weight));
  }
}

// "allocations: source hooks, 500 samples/s". The header of a JVM has the source for its heap; the other streams come
// from the agent itself.
std::string SourceLine(const format::FileHeader& header, format::Stream stream) {
  const bool is_of_agent = HasHeap(header) && stream != format::Stream::kAllocations && !IsImported(header.source);
  const double rate = header.CapOf(stream).rate_per_second;
  return fmt::format("{}: source {}{}", TraitsOf(stream).name, is_of_agent ? "agent" : ToUtf8(header.source),
                     rate > 0 ? fmt::format(", {:g} samples/s", rate) : "");
}

}  // namespace

std::vector<std::string> Provenance(const Recording& recording, const std::vector<format::Stream>& streams) {
  const format::FileHeader& header = recording.header();
  std::vector<std::string> lines{
      fmt::format("heaprec {}: recording {} of {} {}", kVersion, IdText(header), ToUtf8(header.jvm_name),
                  ToUtf8(header.jvm_version)),
      LossLine(recording, recording.events()).substr(2),
  };
  for (const format::Stream stream : streams) lines.push_back(SourceLine(header, stream));
  if (recording.counters().candidate_bytes > 0 && streams.front() == format::Stream::kAllocations) {
    lines.push_back(fmt::format("counted by the JVM: {} bytes allocated", recording.counters().candidate_bytes));
  }
  for (const format::Stream stream : streams) AddLosses(recording.counters(stream), stream, &lines);
  if (recording.misses_bytes()) lines.push_back("damaged bytes of the recording were skipped");
  return lines;
}

Span SpanOf(const Recording& recording, uint64_t last_block_ns) {
  const uint64_t begin_ns = recording.header().start.begin_ns;
  const uint64_t end_ns = recording.ending() ? recording.ending()->time_ns : last_block_ns;
  return {begin_ns, std::max(begin_ns, end_ns)};
}

namespace {

// Assesses the trustworthiness of each stream that the filter selects.
class Trusts {
 public:
  Trusts(const format::FileHeader& header, const Filter& filter) {
    for (const format::Stream stream : format::kAllStreams) {
      if (filter.TakesAny(stream)) of_.emplace_back(header, stream);
    }
  }
  void Add(const format::Block& block) {
    for (StreamTrust& one : of_) one.Add(block);
  }
  // Returns each reason once.
  std::vector<std::string> Reasons(const Recording& recording) {
    std::vector<std::string> reasons;
    for (StreamTrust& one : of_) {
      for (std::string& reason : one.Reasons(recording)) {
        if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(std::move(reason));
      }
    }
    return reasons;
  }

 private:
  std::deque<StreamTrust> of_;
};

class Export {
 public:
  Export(const ExportRequest& request, Exporter* exporter)
      : request_(request), exporter_(*exporter), most_(request.filter.limit()) {}

  ExportedRecording Read(Recording& recording);
  // Reports data that the filter requests and no recording has.
  void ReportMissing(const Recordings& recordings) {
    asked_.Report();
    asked_instant_.Report(kAtInstant);
    std::vector<std::string> paths;
    for (const auto& recording : recordings) paths.push_back(recording->source().name());
    if (most_ == request_.filter.limit() && most_ > 0) ReportUnmatched(request_.filter.asked(), paths);
  }

 private:
  const ExportRequest& request_;
  Exporter& exporter_;
  uint64_t most_;  // maximum number of events
  AskedTime asked_, asked_instant_;
};

ExportedRecording Export::Read(Recording& recording) {
  Filter filter = request_.filter;
  filter.Start(recording);
  Calibration calibration = Calibration::Of(recording, filter, request_.calibrated_to);
  Trusts trusts(recording.header(), filter);
  uint64_t events = 0, last_ns = 0;
  std::vector<const format::Sample*> samples;
  std::vector<const format::CheckpointSample*> live_checkpoint;
  exporter_.Begin(recording);
  const auto goes_on = [&] { return events < most_ && !request_.stop(); };
  const auto add = [&](const format::Block& block, Names& names) {
    trusts.Add(block);
    last_ns = std::max(last_ns, block.end_ns);
    calibration.Enter(block);
    samples.clear();
    for (const format::Sample& sample : block.samples) {
      if (events + samples.size() == most_) break;
      if (filter.Keeps(sample)) samples.push_back(&sample);
    }
    live_checkpoint.clear();
    for (const format::CheckpointSample& one : block.live_checkpoint) {
      if (filter.Keeps(one.sample)) live_checkpoint.push_back(&one);
    }
    const std::vector<const format::Row*> rows = calibration.RowsOf(&filter);
    exporter_.Add({block, samples, names, calibration, live_checkpoint, nullptr, rows});
    events += samples.size();
    return goes_on();
  };
  const bool is_whole = goes_on() && Walk(&recording, nullptr, &filter, add, request_.stdout_use);
  most_ -= events;
  if (request_.live_at) asked_instant_.AddInstant(recording, *request_.live_at, last_ns);
  std::vector<std::string> reasons;
  if (is_whole) reasons = trusts.Reasons(recording);
  if (!is_whole) exporter_.AddDoubt("only a part was exported");
  for (const std::string& reason : reasons) exporter_.AddDoubt(reason);
  exporter_.End(recording, asked_.Add(recording, filter, last_ns));
  return {events, calibration.points(), std::move(reasons)};
}

}  // namespace

ExportSettings SettingsFor(ExportSettings asked, const Recordings& recordings, const Filter& filter) {
  using format::Stream;
  asked.several = recordings.size() > 1;
  asked.allocations = false;
  for (const Stream stream : format::kAllStreams) {
    if (!filter.TakesAny(stream)) continue;
    asked.streams.push_back(stream);
    (format::CountsEvents(stream) ? asked.exceptions : asked.allocations) = true;
    asked.live |=
        std::ranges::any_of(recordings, [&](const auto& one) { return one->header().MaxTracked(stream) > 0; });
  }
  asked.raw = asked.raw || asked.live_filter;
  return asked;
}

std::vector<ExportedRecording> ExportAll(const Recordings& recordings, const ExportRequest& request,
                                         Exporter* exporter) {
  Export run(request, exporter);
  std::vector<ExportedRecording> exported;
  for (const auto& recording : recordings) exported.push_back(run.Read(*recording));
  run.ReportMissing(recordings);
  return exported;
}

ExitCode Close(const Recordings& recordings, const std::vector<ExportedRecording>& exported) {
  ExitCode read = ExitCode::kOk;
  for (size_t i = 0; i < recordings.size(); ++i) {
    const std::string to = exported[i].points > 0 ? "; calibrated to " + CountOf(exported[i].points, "point") : "";
    if (isatty(STDERR_FILENO) == 1) PrintError(LossLine(*recordings[i], exported[i].events).substr(2) + to);
    const ExitCode one = ReportDamage(*recordings[i]);
    const std::vector<std::string>& reasons = exported[i].reasons;
    if (!reasons.empty()) PrintError(recordings[i]->source().name() + ": trustworthy: " + TrustText(reasons));
    if (one != ExitCode::kOk) read = one;
  }
  return read;
}

}  // namespace heaprec::tools

#include "tools/export/exporter.h"

#include <fmt/format.h>

#include <algorithm>

#include "format/model/version.h"
#include "tools/input/loss_summary.h"
#include "tools/input/recording_kind.h"
#include "tools/input/stream_traits.h"
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

}  // namespace heaprec::tools

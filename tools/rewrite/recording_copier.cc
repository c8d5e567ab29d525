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

// What was counted in the unit of the stream's weights.
uint64_t CountedOf(const format::StreamCounters& counters, format::Stream stream) {
  return format::CountsEvents(stream) ? counters.candidates : counters.candidate_bytes;
}

// What became of events in blocks that are not there.
class MissingEvents {
 public:
  explicit MissingEvents(const format::PerStream<format::StreamCounters>& before) : before_(before) {}

  void Note(const format::Block& block) {
    for (const format::Stream stream : format::kAllStreams) Note(block, stream);
    before_ = block.counters;
  }

  uint64_t events() const {
    uint64_t events = 0;
    for (const Missing& missing : missing_.of) events += missing.events;
    return events;
  }

  format::PerStream<format::StreamCounters> Corrected(format::PerStream<format::StreamCounters> counters) const {
    constexpr auto kFailed = static_cast<size_t>(format::LossReason::kWriteFailed);
    for (const format::Stream stream : format::kAllStreams) {
      counters[stream].written -= std::min(counters[stream].written, missing_[stream].events);
      counters[stream].lost[kFailed] += missing_[stream].events;
      counters[stream].lost_weight[kFailed] += missing_[stream].weight;
    }
    return counters;
  }

 private:
  struct Missing {
    uint64_t events = 0;
    double weight = 0;
  };

  // The weight of what is missing is what was counted meanwhile, and is neither in this block nor lost by another name:
  // near enough for a loss.
  void Note(const format::Block& block, format::Stream stream) {
    const format::StreamCounters& now = block.counters[stream];
    const format::StreamCounters& before = before_[stream];
    uint64_t here = 0;
    double weight = 0;
    for (const format::Sample& sample : block.samples) {
      if (sample.stream() != stream) continue;
      ++here;
      weight += sample.weight;
    }
    if (now.written < before.written + here) return;
    const uint64_t events = now.written - before.written - here;
    if (events == 0) return;
    missing_[stream].events += events;
    const uint64_t counted = CountedOf(now, stream) - std::min(CountedOf(now, stream), CountedOf(before, stream));
    const double known = weight + now.Since(before).AllLostWeight();
    missing_[stream].weight += std::max(static_cast<double>(counted) - known, 0.0);
  }

  format::PerStream<format::StreamCounters> before_;  // of the block before; at first, before the file
  format::PerStream<Missing> missing_;
};

}  // namespace

format::Result<Rewritten> Rewrite(Recording* recording, const std::string& reason, Output* output) {
  RecordingEditor editor(recording->header(), output);
  MissingEvents missing(recording->header().start.counters);
  uint64_t end_ns = 0;
  while (auto block = recording->Next()) {
    end_ns = std::max(end_ns, block->end_ns);
    missing.Note(*block);
    block->counters = missing.Corrected(block->counters);
    if (const auto added = editor.Add(*block); !added.ok()) return added.error();
    if (output->failed()) break;
  }
  format::EndMarker ending{end_ns, recording->has_nothing() ? format::kEndNothingRecovered : reason};
  // The counters include intervals whose samples come later; nothing is lost.
  if (recording->running()) ending = {std::max(end_ns, NowNs(recording->header())), format::kEndDump};
  if (recording->ending()) ending = *recording->ending();
  const auto finished = editor.Finish(missing.Corrected(recording->counters_since_start()), ending);
  if (!finished.ok()) return finished.error();
  return Rewritten{recording->events(), missing.events()};
}

}  // namespace heaprec::tools

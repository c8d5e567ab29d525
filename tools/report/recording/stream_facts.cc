#include "tools/report/recording/stream_facts.h"

namespace heaprec::tools {

using namespace render;

namespace {

// "dropped_by_jvm 1 (52.7 KiB)"; "0".
render::Line Lost(const format::StreamCounters& counters, format::Stream stream) {
  render::Line line = Fact("  lost", "", {}, Detail::kWide);
  const bool counts_events = format::CountsEvents(stream);
  for (size_t at = 0; at < format::kLosses; ++at) {
    const auto reason = static_cast<format::LossReason>(at);
    if (counters.lost[at] == 0 || !format::IsLoss(reason)) continue;
    if (!line.text.empty()) line.text += ", ";
    line.text += format::LossReasonName(reason);
    line.text += counts_events ? " {} ({} throws)" : " {} ({})";
    line.fields.push_back({"", counters.lost[at], Unit::kInteger});
    line.fields.push_back({"", counters.lost_weight[at], counts_events ? Unit::kNumber : Unit::kBytes});
  }
  if (line.text.empty()) line.text += "0";
  return line;
}

void AddStacks(const format::StreamCounters& counters, std::vector<render::Line>* lines) {
  if (counters.stack_chunks() > 0) {
    lines->push_back(
        Fact("  stack chunks",
             "{} object(s) of {} for stacks of virtual threads: counted, never sampled, and not among the "
             "bytes above",
             {{"", counters.stack_chunks(), Unit::kInteger}, {"", counters.stack_chunk_bytes(), Unit::kBytes}},
             Detail::kWide));
  }
  lines->push_back(Fact("  stacks", "{} walked, {} from JVMTI, {} walk(s) differed from JVMTI's",
                        {{"", counters.stacks_walked, Unit::kInteger},
                         {"", counters.stacks_from_jvmti, Unit::kInteger},
                         {"", counters.stack_mismatches, Unit::kInteger}},
                        Detail::kWide));
}

}  // namespace

std::vector<render::Line> StreamFacts(const Recording& recording, const StreamTraits& traits,
                                      const StreamTotals& totals) {
  const format::Stream stream = traits.stream;
  const format::StreamCounters& counters = recording.counters(stream);
  const format::StreamCap cap = recording.header().CapOf(stream);
  const std::string path = traits.json_path;
  std::vector<render::Line> lines;
  lines.push_back(Fact("  busiest", "{} sample(s) in an interval of {}, limit {}",
                       {{path + "max_in_interval", totals.most_in_interval, Unit::kInteger},
                        {"", static_cast<double>(cap.interval_ns) * 1e-9, Unit::kSeconds},
                        {"", uint64_t{cap.interval_cap}, Unit::kInteger}},
                       Detail::kWide));
  lines.push_back(Fact("  intervals", "{}, {} of them reduced to the limit; {} window(s)",
                       {{path + "intervals", totals.intervals, Unit::kInteger},
                        {path + "intervals_thinned", totals.intervals_thinned, Unit::kInteger},
                        {path + "windows", totals.windows, Unit::kInteger}},
                       Detail::kWide));
  lines.push_back(Fact("  points", "{}: {} committed, {} thinned at delivery; {} dropped in the second stage",
                       {{"", counters.points, Unit::kInteger},
                        {"", counters.committed, Unit::kInteger},
                        {"", counters.thinned, Unit::kInteger},
                        {"", counters.second_stage, Unit::kInteger}},
                       Detail::kWide));
  lines.push_back(Lost(counters, stream));
  if (stream != format::Stream::kAllocations) return lines;
  AddStacks(counters, &lines);
  lines.push_back(Fact("  salvaged", "{} sample(s) from the ring", {{"", recording.salvage().events, Unit::kInteger}},
                       Detail::kWide));
  return lines;
}

}  // namespace heaprec::tools

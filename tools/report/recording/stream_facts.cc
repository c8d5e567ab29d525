#include "tools/input/loss_summary.h"
#include "tools/report/recording/reports.h"

namespace heaprec::tools {

using namespace render;

namespace {

// "missed 1 (52.7 KiB)"; "0".
Line Lost(const format::StreamCounters& counters, format::Stream stream) {
  Line line = Fact("  lost", "", {}, Detail::kWide);
  const bool counts_events = format::CountsEvents(stream);
  for (const Loss& loss : LossesOf(counters)) {
    if (loss.points == 0) continue;
    if (!line.text.empty()) line.text += ", ";
    line.Continue(loss.reason + std::string(counts_events ? " {} ({} throws)" : " {} ({})"),
                  {{"", loss.points, Unit::kInteger}, {"", loss.weight, counts_events ? Unit::kNumber : Unit::kBytes}});
  }
  if (line.text.empty()) line.text = "0";
  return line;
}

void AddStacks(const format::StreamCounters& counters, std::vector<Line>* lines) {
  if (counters.stack_chunks() > 0) {
    lines->push_back(
        Fact("  stack chunks",
             "{} object(s) of {} for stacks of virtual threads: counted, never sampled, and not among the "
             "bytes above",
             {{"", counters.stack_chunks(), Unit::kInteger}, {"", counters.stack_chunk_bytes(), Unit::kBytes}},
             Detail::kWide));
  }
  lines->push_back(Fact("  stacks", "{} walked, {} from JVMTI, {} walk(s) differed from JVMTI's; {} sample(s) without",
                        {{"", counters.stacks_walked, Unit::kInteger},
                         {"", counters.stacks_from_jvmti, Unit::kInteger},
                         {"", counters.stack_mismatches, Unit::kInteger},
                         {"", counters.lost[static_cast<size_t>(format::LossReason::kNoStack)], Unit::kInteger}},
                        Detail::kWide));
}

}  // namespace

std::vector<Line> StreamFacts(const Recording& recording, const StreamTraits& traits, const StreamTotals& totals) {
  const format::Stream stream = traits.stream;
  const format::StreamCounters& counters = recording.counters(stream);
  const format::StreamCap cap = recording.header().CapOf(stream);
  const std::string path = traits.json_path;
  std::vector<Line> lines;
  const RecorderCounts known(recording.header());
  const auto when_known = [&known](const char* text, const char* unknown) {
    return known.are_known() ? text : unknown;
  };
  lines.push_back(Fact(
      "  busiest",
      when_known("{} sample(s) in an interval of {}, limit {}", "{} sample(s) in an interval of {}; limit unknown"),
      {{path + "max_in_interval", totals.most_in_interval, Unit::kInteger},
       {"", static_cast<double>(cap.interval_ns) * 1e-9, Unit::kSeconds},
       {"", known(uint64_t{cap.interval_cap}), Unit::kInteger}},
      Detail::kWide));
  lines.push_back(Fact("  intervals", when_known("{}, {} of them reduced to the limit; {} window(s)", "{}"),
                       {{path + "intervals", known(totals.intervals), Unit::kInteger},
                        {path + "intervals_thinned", known(totals.intervals_thinned), Unit::kInteger},
                        {path + "windows", known(totals.windows), Unit::kInteger}},
                       Detail::kWide));
  lines.push_back(Fact("  points",
                       when_known("{}: {} committed, {} thinned at delivery; {} dropped in the second stage", "{}"),
                       {{"", known(counters.points), Unit::kInteger},
                        {"", known(counters.committed), Unit::kInteger},
                        {"", known(counters.thinned), Unit::kInteger},
                        {"", known(counters.second_stage), Unit::kInteger}},
                       Detail::kWide));
  lines.push_back(known.are_known() ? Lost(counters, stream) : Fact("  lost", {"", Value()}, Detail::kWide));
  if (stream != format::Stream::kAllocations) return lines;
  if (known.are_known()) {
    AddStacks(counters, &lines);
  } else {
    lines.push_back(Fact("  stacks", {"", Value()}, Detail::kWide));
  }
  lines.push_back(Fact("  salvaged", "{} sample(s) from the ring", {{"", recording.salvage().events, Unit::kInteger}},
                       Detail::kWide));
  return lines;
}

}  // namespace heaprec::tools

#include "tools/input/loss_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/input/stream_traits.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using namespace render;

// Skipped or repaired ranges.
List Ranges(const Recording& recording, bool repaired) {
  List ranges;
  for (const format::SkippedRange& range : recording.skipped()) {
    if (range.repaired != repaired) continue;
    ranges.push_back(Object{{"begin", range.begin}, {"end", range.end}, {"why", range.why}, {"at_end", range.at_end}});
  }
  return ranges;
}

// `unit`: of the weights.
Object CountersOf(const format::StreamCounters& counters, const char* unit, const RecorderCounts& known) {
  Object lost;
  for (const Loss& loss : LossesOf(counters))
    lost.push_back({loss.reason, Object{{"points", known(loss.points)}, {unit, known(loss.weight)}}});
  return {{"candidates", known(counters.candidates)},
          {"points", known(counters.points)},
          {"committed", known(counters.committed)},
          {"written", counters.written},
          {"thinned", known(counters.thinned)},
          {"second_stage", known(counters.second_stage)},
          {"lost", std::move(lost)}};
}

Object TrackedCounters(const format::StreamCounters& counters, const RecorderCounts& known) {
  Object object = CountersOf(counters, "bytes", known);
  object.push_back({"candidate_bytes", known(counters.candidate_bytes)});
  object.push_back({"untracked", known(counters.untracked)});
  return object;
}

Object SalvageOf(const SalvageReport& salvage) {
  return {{"ring_found", salvage.ring_found}, {"buffered", salvage.held},   {"samples", salvage.events},
          {"unnamed", salvage.unnamed},       {"invalid", salvage.invalid}, {"errors", salvage.errors}};
}

Object CapOf(const format::StreamCap& cap, const RecorderCounts& known) {
  return {{"rate_per_second", known(cap.rate_per_second)},
          {"interval_ns", known(cap.interval_ns)},
          {"interval_cap", known(uint64_t{cap.interval_cap})}};
}

}  // namespace

bool CountsLosses(const format::FileHeader& header) {
  return std::ranges::any_of(format::kAllStreams,
                             [&](format::Stream stream) { return header.CapOf(stream).rate_per_second > 0; });
}

bool LostItsRing(const Recording& recording) {
  return !recording.header().ring_path.empty() && !recording.salvage().ring_found && !recording.ending() &&
         !recording.running();
}

// A sample waits for the end of its interval, and a block for the drain's next tick.
std::string LostEnd(const Recording& recording) {
  if (recording.unwritten_ns() > 0)
    return fmt::format("the samples of its last {} are lost", Duration(recording.unwritten_ns()));
  uint64_t interval_ns = 0;
  for (const format::Stream stream : format::kAllStreams)
    interval_ns = std::max(interval_ns, recording.header().CapOf(stream).interval_ns);
  const double seconds = 2e-9 * static_cast<double>(interval_ns);
  return fmt::format("up to {} seconds of samples are lost", seconds == 2 ? "two" : fmt::format("{:g}", seconds));
}

std::string KilledPoints(const Recording& recording, format::Stream stream) {
  const uint64_t points = recording.counters(stream).lost[static_cast<size_t>(format::LossReason::kKilled)];
  if (points == 0) return "";
  return fmt::format("the {} lost {}", recording.misses_bytes() ? "kill or the damage" : "kill",
                     CountOf(points, "sample point"));
}

// Samples without a stack are in the recording, so they are not losses.
std::vector<Loss> LossesOf(const format::StreamCounters& counters) {
  std::vector<Loss> losses;
  for (size_t i = 0; i < format::kLosses; ++i) {
    const auto reason = static_cast<format::LossReason>(i);
    if (!format::IsLoss(reason) || reason == format::LossReason::kNoStack) continue;
    losses.push_back({format::LossReasonName(reason), counters.lost[i], counters.lost_weight[i]});
  }
  return losses;
}

void LossTotals::Add(const Recording& recording) {
  ++recordings;
  events += recording.events();
  salvaged += recording.salvage().events;
  counts_losses |= CountsLosses(recording.header());
  for (const format::Stream stream : format::kAllStreams) {
    const format::StreamCounters& counters = recording.counters(stream);
    thinned += counters.thinned + counters.second_stage;
    lost += counters.AllLost();
  }
}

std::string LossTotals::Line(uint64_t shown) const {
  const uint64_t read = points > 0 ? points : events;
  std::string line = "# ";
  if (shown != read) line += Grouped(shown) + " of ";
  line += CountOf(read, points > 0 ? "point" : "sample");
  const uint64_t all = events + thinned + lost;
  if (points > 0) {
    line += fmt::format(" ({} kept as samples)", Grouped(events));
  } else if (calibrated_to > 0) {
    line += fmt::format(", calibrated to {}", CountOf(calibrated_to, "point"));
  } else if (!counts_losses && recordings > 0) {
    line += ", losses unknown";
  } else if (thinned > 0) {
    line += fmt::format(" kept of {} (rate limit; sums stay unbiased)", Grouped(all));
  }
  if (const double share = static_cast<double>(lost) / static_cast<double>(std::max<uint64_t>(all, 1));
      share > kFewLost)
    line += fmt::format("; {} lost ({})", Grouped(lost), ShortPercent(share));
  if (salvaged > 0) line += fmt::format("; {} salvaged from the ring", Grouped(salvaged));
  return line;
}

std::string LossLine(const Recording& recording, uint64_t shown) {
  LossTotals totals;
  totals.Add(recording);
  return totals.Line(shown);
}

Object LossesValue(const Recording& recording) {
  const format::StreamCounters& counters = recording.counters();
  const RecorderCounts known(recording.header());
  Object losses = CountersOf(counters, "bytes", known);
  const Object more{
      {"candidate_bytes", known(counters.candidate_bytes)},
      {"stacks", Object{{"walked", known(counters.stacks_walked)},
                        {"from_jvmti", known(counters.stacks_from_jvmti)},
                        {"mismatches", known(counters.stack_mismatches)},
                        {"none", known(counters.lost[static_cast<size_t>(format::LossReason::kNoStack)])}}},
      {"untracked", known(counters.untracked)},
      {"exceptions", CountersOf(recording.counters(format::Stream::kExceptions), "events", known)},
      {"malloc", TrackedCounters(recording.counters(format::Stream::kNative), known)},
      {"mmap", TrackedCounters(recording.counters(format::Stream::kMapping), known)},
      {"salvage", SalvageOf(recording.salvage())},
      {"skipped", Ranges(recording, false)},
      {"repaired", Ranges(recording, true)}};
  losses.insert(losses.end(), more.begin(), more.end());
  const uint64_t unseen = recording.counters(format::Stream::kNative).unseen_allocators;
  if (unseen > 0) losses.push_back({"unseen_allocators", unseen});
  if (counters.stack_chunks() > 0) {
    losses.push_back(
        {"stack_chunks", Object{{"objects", counters.stack_chunks()}, {"bytes", counters.stack_chunk_bytes()}}});
  }
  return losses;
}

std::string IdText(const format::FileHeader& header) {
  return fmt::format("{:02x}", fmt::join(header.recording_id, ""));
}

std::string WhichText(const format::FileHeader& header, size_t index, size_t count) {
  const std::string version = header.jvm_version.empty() ? "" : " " + ToUtf8(header.jvm_version);
  return fmt::format("{} of {}: {}, pid {}, {}{}, {}", index + 1, count, IdText(header), header.pid,
                     ToUtf8(header.jvm_name), version, ClockText::Iso(header.start_epoch_ns));
}

Object HeaderValue(const format::FileHeader& header) {
  const RecorderCounts known(header);
  Object exceptions = CapOf(header.exceptions, known);
  Object native = CapOf(header.native, known);
  Object mapped = CapOf(header.mapped, known);
  exceptions.push_back({"unavailable_reason", ToUtf8(header.exceptions_unavailable_reason)});
  native.push_back({"max_tracked_blocks", known(uint64_t{header.max_tracked_blocks})});
  native.push_back({"unavailable_reason", ToUtf8(header.native_unavailable_reason)});
  if (!header.native_not_seen.empty()) native.push_back({"not_seen", ToUtf8(header.native_not_seen)});
  mapped.push_back({"max_tracked_mappings", known(uint64_t{header.max_tracked_mappings})});
  return {{"recording_id", IdText(header)},
          {"start_time", ClockText::Iso(header.start_epoch_ns)},
          {"start_ns", header.start_epoch_ns},
          {"pid", uint64_t{header.pid}},
          {"program", ToUtf8(ProgramOf(header))},
          {"jvm_name", ProgramOf(header).empty() ? ToUtf8(header.jvm_name) : ""},
          {"jvm_version", ToUtf8(header.jvm_version)},
          {"gc", known(ToUtf8(header.gc_name))},
          {"agent_version", known(ToUtf8(header.agent_version))},
          {"agent_options", known(ToUtf8(header.agent_options))},
          {"source", ToUtf8(header.source)},
          {"source_reason", ToUtf8(header.source_reason)},
          {"rate_per_second", known(header.rate_per_second)},
          {"interval_ns", known(header.interval_ns)},
          {"interval_cap", known(uint64_t{header.interval_cap})},
          {"max_tracked_objects", known(uint64_t{header.max_tracked_objects})},
          {"exceptions", std::move(exceptions)},
          {"malloc", std::move(native)},
          {"mmap", std::move(mapped)}};
}

ExitCode ReportDamage(const Recording& recording) {
  if (recording.others() > 0) {
    PrintError(
        fmt::format("{}: contains {} recordings; this command reads the first (print, summary and merge read all)",
                    recording.source().name(), recording.others() + 1));
  }
  for (const format::SkippedRange& range : recording.skipped()) {
    if (range.at_end && recording.running()) continue;  // still being written
    PrintError(fmt::format("{}: offset {}: {} ({} {}{})", recording.source().name(), range.begin, range.why,
                           CountOf(range.end - range.begin, "byte"), range.repaired ? "repaired" : "skipped",
                           range.at_end ? " at the end" : ""));
  }
  return recording.damaged() ? ExitCode::kDamaged : ExitCode::kOk;
}

}  // namespace heaprec::tools

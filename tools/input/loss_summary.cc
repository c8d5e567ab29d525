#include "tools/input/loss_summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "tools/input/program_recording.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

std::string Hex(const format::RecordingId& id) {
  std::string hex;
  for (const uint8_t byte : id) hex += fmt::format("{:02x}", byte);
  return hex;
}

std::string Iso(uint64_t epoch_ns) {
  Text text;
  ClockText(epoch_ns).AppendIso(text, 0);
  return fmt::to_string(text);
}

json SkippedAsJson(const Recording& recording) {
  json skipped = json::array();
  for (const format::SkippedRange& range : recording.skipped()) {
    if (range.repaired) continue;
    skipped.push_back({{"begin", range.begin}, {"end", range.end}, {"why", range.why}, {"at_end", range.at_end}});
  }
  return skipped;
}

json RepairedAsJson(const Recording& recording) {
  json repaired = json::array();
  for (const format::SkippedRange& range : recording.skipped()) {
    if (range.repaired) repaired.push_back({{"begin", range.begin}, {"end", range.end}, {"why", range.why}});
  }
  return repaired;
}

// `unit`: of the weights.
json BooksAsJson(const format::Books& books, const char* unit) {
  json lost = json::object();
  for (size_t reason = 0; reason < format::kLosses; ++reason) {
    if (!format::IsLoss(static_cast<format::Loss>(reason))) continue;
    lost[format::LossName(static_cast<format::Loss>(reason))] = {{"points", books.lost[reason]},
                                                                 {unit, books.lost_weight[reason]}};
  }
  return {{"candidates", books.candidates},
          {"points", books.points},
          {"committed", books.committed},
          {"written", books.written},
          {"thinned", books.thinned},
          {"second_stage", books.second_stage},
          {"lost", lost}};
}

json FollowedBooksAsJson(const format::Books& books) {
  json counted = BooksAsJson(books, "bytes");
  counted["candidate_bytes"] = books.candidate_bytes;
  counted["not_followed"] = books.not_followed;
  if (books.stack_chunks() > 0) {
    counted["stack_chunks"] = {{"objects", books.stack_chunks()}, {"bytes", books.stack_chunk_bytes()}};
  }
  return counted;
}

json SalvageAsJson(const SalvageReport& salvage) {
  return {{"ring_found", salvage.ring_found}, {"held", salvage.held},       {"events", salvage.events},
          {"unnamed", salvage.unnamed},       {"invalid", salvage.invalid}, {"errors", salvage.errors}};
}

}  // namespace

std::string LossLine(const Recording& recording, uint64_t shown) {
  uint64_t thinned = 0;
  uint64_t lost = 0;
  for (const format::Stream stream : format::kAllStreams) {
    const format::Books& books = recording.books(stream);
    thinned += books.thinned + books.second_stage;
    lost += books.AllLost();
  }
  std::string line = "# ";
  if (shown != recording.events()) line += Grouped(shown) + " of ";
  line += fmt::format("{} events, {} thinned, {} lost", Grouped(recording.events()), Grouped(thinned), Grouped(lost));
  if (recording.salvage().events > 0) {
    line += fmt::format("; {} salvaged from the ring", Grouped(recording.salvage().events));
  }
  return line;
}

json LossesAsJson(const Recording& recording) {
  json losses = BooksAsJson(recording.books(), "bytes");
  losses["candidate_bytes"] = recording.books().candidate_bytes;
  losses["stacks"] = {{"walked", recording.books().stacks_walked},
                      {"asked", recording.books().stacks_asked},
                      {"differed", recording.books().stacks_differed}};
  losses["not_followed"] = recording.books().not_followed;
  losses["exceptions"] = BooksAsJson(recording.books(format::Stream::kExceptions), "events");
  losses["native"] = FollowedBooksAsJson(recording.books(format::Stream::kNative));
  losses["mapped"] = FollowedBooksAsJson(recording.books(format::Stream::kMapped));
  losses["salvage"] = SalvageAsJson(recording.salvage());
  losses["skipped"] = SkippedAsJson(recording);
  losses["repaired"] = RepairedAsJson(recording);
  return losses;
}

std::string IdText(const format::FileHeader& header) { return Hex(header.recording_id); }

std::string WhichText(const format::FileHeader& header, size_t index, size_t count) {
  const std::string version = header.jvm_version.empty() ? "" : " " + ToUtf8(header.jvm_version);
  return fmt::format("{} of {}: {}, pid {}, {}{}, {}", index + 1, count, IdText(header), header.pid,
                     ToUtf8(header.jvm_name), version, Iso(header.start_epoch_ns));
}

json NativeAsJson(const format::FileHeader& header) {
  json native{{"rate_per_second", header.native.rate_per_second},
              {"interval_ns", header.native.interval_ns},
              {"interval_cap", header.native.interval_cap},
              {"bound", header.native_bound},
              {"refused", ToUtf8(header.native_refused)}};
  if (!header.native_not_seen.empty()) native["not_seen"] = ToUtf8(header.native_not_seen);
  return native;
}

json HeaderAsJson(const format::FileHeader& header) {
  return {{"recording_id", Hex(header.recording_id)},
          {"start_time", Iso(header.start_epoch_ns)},
          {"start_ns", header.start_epoch_ns},
          {"pid", header.pid},
          {"program", ToUtf8(ProgramOf(header))},
          {"jvm_name", ProgramOf(header).empty() ? ToUtf8(header.jvm_name) : ""},
          {"jvm_version", ToUtf8(header.jvm_version)},
          {"gc", ToUtf8(header.gc_name)},
          {"agent_version", ToUtf8(header.agent_version)},
          {"agent_options", ToUtf8(header.agent_options)},
          {"source", ToUtf8(header.source)},
          {"source_reason", ToUtf8(header.source_reason)},
          {"rate_per_second", header.rate_per_second},
          {"interval_ns", header.interval_ns},
          {"interval_cap", header.interval_cap},
          {"live_bound", header.live_bound},
          {"exceptions",
           {{"rate_per_second", header.exceptions.rate_per_second},
            {"interval_ns", header.exceptions.interval_ns},
            {"interval_cap", header.exceptions.interval_cap},
            {"refused", ToUtf8(header.exceptions_refused)}}},
          {"native", NativeAsJson(header)},
          {"mapped",
           {{"rate_per_second", header.mapped.rate_per_second},
            {"interval_ns", header.mapped.interval_ns},
            {"interval_cap", header.mapped.interval_cap},
            {"bound", header.mapped_bound}}}};
}

ExitCode ReportDamage(const Recording& recording) {
  if (recording.others() > 0) {
    Complain(fmt::format("{}: contains {} recordings; this command reads the first (print, summary and merge read all)",
                         recording.source().name(), recording.others() + 1));
  }
  for (const format::SkippedRange& range : recording.skipped()) {
    if (range.at_end && recording.running()) continue;  // being written
    Complain(fmt::format("{}: offset {}: {} ({} byte{} {}{})", recording.source().name(), range.begin, range.why,
                         Grouped(range.end - range.begin), range.end - range.begin == 1 ? "" : "s",
                         range.repaired ? "repaired" : "skipped", range.at_end ? " at the end" : ""));
  }
  return recording.damaged() ? ExitCode::kDamaged : ExitCode::kOk;
}

}  // namespace heaprec::tools

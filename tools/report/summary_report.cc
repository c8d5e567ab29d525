#include "tools/report/summary_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "tools/analysis/health/unavailable.h"
#include "tools/input/kind_names.h"
#include "tools/input/loss_summary.h"
#include "tools/input/program_recording.h"
#include "tools/report/estimate_format.h"
#include "tools/report/exception_format.h"
#include "tools/report/gc_summary_format.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

// "19.2 GiB in 80,000,000 objects, all counted"; empty: there is none, and none was asked for.
std::string CensusText(const CensusInAll& census, const format::FileHeader& header) {
  if (!header.census_refused.empty()) return "none: " + ToUtf8(header.census_refused);
  if (header.census == format::CensusMode::kOff) return {};
  const format::CensusBooks& books = census.books();
  std::string text =
      fmt::format("{} in {} objects, by {} walks of {} TLABs and {} objects outside", BytesText(census.Bytes()),
                  CountText(census.Objects()), Grouped(books.walks), Grouped(books.tlabs), Grouped(books.outside));
  const uint64_t missing = census.MissingBytes();
  if (missing > 0) text += fmt::format("; {} are missing", Bytes(static_cast<double>(missing)));
  return text;
}

// null: there is none.
nlohmann::json CensusAsJson(const CensusInAll& census, const format::FileHeader& header) {
  if (header.census == format::CensusMode::kOff) return nullptr;
  return {{"bytes", AsJson(census.Bytes())},
          {"objects", AsJson(census.Objects())},
          {"walks", census.books().walks},
          {"missing_bytes", census.MissingBytes()}};
}

class TextForm {
 public:
  TextForm(const Recording& recording, const Facts& facts)
      : recording_(recording), header_(recording.header()), tally_(facts.tally), volume_(facts.volume), facts_(facts) {}

  // `tables`: lines of their own.
  std::string Render(const Trust& trust, std::string_view tables) {
    Origin();
    if (HasHeap(header_)) {
      Heap(tables);
    } else {
      File();
      Rate(header_.CapOf(MainStream(header_)).rate_per_second);
    }
    if (header_.exceptions.interval_ns > 0) Exceptions();
    if (header_.native.interval_ns > 0) Native();
    if (header_.mapped.interval_ns > 0) Mapped();
    if (!HasHeap(header_)) Salvaged();
    for (const Remark& note : trust.notes) Line("note", note.text);
    if (const std::string refusal = RefusalOfNative(header_); !refusal.empty()) Line("note", refusal);
    Append(text_, "trustworthy: " + TrustText(TextsOf(trust.reasons)) + "\n");
    return fmt::to_string(text_);
  }

 private:
  void Line(std::string_view name, std::string_view value) {
    fmt::format_to(fmt::appender(text_), "{:<16}", fmt::format("{}:", name));
    AppendPrintable(text_, value);
    text_.push_back('\n');
  }

  void Origin() {
    Line("recording", recording_.source().name());
    if (const std::string program = ProgramOf(header_); !program.empty()) {
      Line("program", fmt::format("{}, pid {}", ToUtf8(program), header_.pid));
    } else {
      Line("jvm", fmt::format("{} {}, pid {}", ToUtf8(header_.jvm_name), ToUtf8(header_.jvm_version), header_.pid));
      Line("gc", ToUtf8(header_.gc_name));
    }
    Line("agent", fmt::format("{}, options: {}", ToUtf8(header_.agent_version), ToUtf8(header_.agent_options)));
    Line("source", fmt::format("{} ({})", ToUtf8(header_.source), ToUtf8(header_.source_reason)));
    Text start;
    ClockText(header_.start_epoch_ns).AppendLocal(start, 0);
    Line("start", fmt::to_string(start));
    Line("duration", fmt::format("{}, {}", Duration(facts_.duration_ns), facts_.ended));
  }

  void Heap(std::string_view tables) {
    Events();
    Allocated();
    text_.append(tables);
    for (const auto& [name, value] : CourseLines(facts_.heap)) Line(name, value);
    if (facts_.live) Live(*facts_.live);
    if (const std::string census = CensusText(facts_.census, header_); !census.empty()) {
      Line("census", census + facts_.by_census.Text());
    }
    Throttle();
    Losses();
  }

  void File() {
    Line("file",
         fmt::format("{} bytes, {:.1f} bytes per event", Grouped(recording_.bytes_read()), facts_.bytes_per_event));
  }

  void Rate(double target) {
    Line("rate", fmt::format("target {:g}/s, mean {:.1f}/s, fill {:.2f}", target, facts_.mean_rate, facts_.fill));
  }

  void Events() {
    Line("events", Grouped(tally_.events()));
    for (const format::Kind kind : format::kAllocationKinds) {
      const auto at = static_cast<size_t>(kind);
      const Volume::OfKind& of = volume_.kinds[at];
      Line(fmt::format("  {}", KindName(kind)),
           fmt::format("{}, standing for {} in {}", Grouped(tally_.kinds[at].events), BytesText(of.bytes),
                       CountText(of.objects, "objects")));
    }
    Line("objects", CountText(volume_.objects));
    File();
  }

  void Allocated() {
    const uint64_t counted = recording_.books().candidate_bytes;
    Line("allocated", fmt::format("{} ({} bytes) counted", Bytes(static_cast<double>(counted)), Grouped(counted)));
    Line("  estimated", fmt::format("{}{} from the samples alone", BytesText(volume_.raw_bytes), OffText(counted)));
    Line("  calibration", volume_.calibrated ? fmt::format("{:.4f}, in the bytes and objects above", volume_.factor)
                          : counted > 0      ? std::string("none: no interval is complete")
                                             : std::string("none: no bytes were counted"));
  }

  std::string OffText(uint64_t counted) const {
    if (counted == 0) return {};
    return fmt::format(", {:+.2f} %,", 100 * (volume_.raw_bytes.value / static_cast<double>(counted) - 1));
  }

  void Live(const AliveInAll& live) {
    std::string text = fmt::format("{} in {} alive at the end, by {} samples", BytesText(live.bytes),
                                   CountText(live.objects, "objects"), Grouped(live.samples));
    Line("live", text);
    text = fmt::format("up to {} objects at a time", Grouped(header_.live_bound));
    if (live.not_followed > 0) {
      text += fmt::format("; for want of room {} samples were not: others stand for them", Grouped(live.not_followed));
    }
    Line("  followed", text);
  }

  void Throttle() {
    Rate(header_.rate_per_second);
    Line("busiest", fmt::format("{} events in one interval of {:g} s, cap {}", Grouped(tally_.most_in_interval),
                                static_cast<double>(header_.interval_ns) * 1e-9, Grouped(header_.interval_cap)));
    Line("windows", Grouped(tally_.windows));
    Line("intervals", fmt::format("{}, of which {} were thinned to the cap", Grouped(tally_.intervals),
                                  Grouped(tally_.intervals_thinned)));
  }

  void Losses() {
    const format::Books& books = recording_.books();
    Line("points",
         fmt::format("{}: {} committed, {} thinned at the hit; {} thinned in the second stage", Grouped(books.points),
                     Grouped(books.committed), Grouped(books.thinned), Grouped(books.second_stage)));
    Line("lost", LostText(books, format::Stream::kAllocations));
    if (books.stack_chunks() > 0) {
      Line("stack chunks",
           fmt::format("{} objects of {} for stacks of virtual threads: counted, never sampled, and not "
                       "among the bytes above",
                       Grouped(books.stack_chunks()), Bytes(books.stack_chunk_bytes())));
    }
    Line("stacks",
         fmt::format("{} walked, {} asked of the JVM, {} walked otherwise than the JVM says",
                     Grouped(books.stacks_walked), Grouped(books.stacks_asked), Grouped(books.stacks_differed)));
    Salvaged();
  }

  void Salvaged() {
    const SalvageReport& salvage = recording_.salvage();
    Line("salvaged", salvage.ring_found ? fmt::format("{} events from the ring", Grouped(salvage.events)) : "0 events");
    for (const format::SkippedRange& range : recording_.skipped()) {
      Line(range.repaired ? "repaired" : "skipped",
           fmt::format("bytes {} to {}{}: {}", range.begin, range.end, range.at_end ? " (the end)" : "", range.why));
    }
  }

  void Exceptions() {
    for (const auto& [name, value] : ThrownLines(facts_.thrown, kMostGroups)) Line(name, value);
    const format::Books& books = recording_.books(format::Stream::kExceptions);
    Line("  busiest",
         fmt::format("{} samples in one interval of {:g} s, cap {}", Grouped(facts_.thrown_tally.most_in_interval),
                     static_cast<double>(header_.exceptions.interval_ns) * 1e-9,
                     Grouped(header_.exceptions.interval_cap)));
    Line("  points", fmt::format("{}: {} committed; {} thinned in the second stage", Grouped(books.points),
                                 Grouped(books.committed), Grouped(books.second_stage)));
    Line("  lost", LostText(books, format::Stream::kExceptions));
  }

  void Native() {
    const format::Books& books = recording_.books(format::Stream::kNative);
    Line("native", fmt::format("{} in {} calls of malloc and its family, counted; {} samples: heaprec native",
                               Bytes(static_cast<double>(books.candidate_bytes)), Grouped(books.candidates),
                               Grouped(facts_.native_tally.events())));
    Followed(books, format::Stream::kNative, facts_.native_tally);
  }

  void Mapped() {
    const format::Books& books = recording_.books(format::Stream::kMapped);
    Line("mapped", fmt::format("{} in {} mappings, counted; {} samples: heaprec native",
                               Bytes(static_cast<double>(books.candidate_bytes)), Grouped(books.candidates),
                               Grouped(facts_.mapped_tally.events())));
    Followed(books, format::Stream::kMapped, facts_.mapped_tally);
  }

  void Followed(const format::Books& books, format::Stream stream, const Tally& tally) {
    const format::StreamCap cap = header_.CapOf(stream);
    Line("  busiest", fmt::format("{} samples in one interval of {:g} s, cap {}", Grouped(tally.most_in_interval),
                                  static_cast<double>(cap.interval_ns) * 1e-9, Grouped(cap.interval_cap)));
    Line("  points", fmt::format("{}: {} committed; {} thinned in the second stage", Grouped(books.points),
                                 Grouped(books.committed), Grouped(books.second_stage)));
    Line("  lost", LostText(books, stream));
  }

  static std::string LostText(const format::Books& books, format::Stream stream) {
    std::string text;
    for (size_t reason = 0; reason < format::kLosses; ++reason) {
      if (books.lost[reason] == 0 || !format::IsLoss(static_cast<format::Loss>(reason))) continue;
      const double weight = books.lost_weight[reason];
      text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", format::LossName(static_cast<format::Loss>(reason)),
                          Grouped(books.lost[reason]),
                          format::CountsEvents(stream) ? fmt::format("{:.4g} throws", weight) : Bytes(weight));
    }
    return text.empty() ? "0" : text;
  }

  const Recording& recording_;
  const format::FileHeader& header_;
  const Tally& tally_;
  const Volume& volume_;
  const Facts& facts_;
  Text text_;
};

nlohmann::json KindsAsJson(const Tally& tally, const Volume& volume) {
  nlohmann::json kinds = nlohmann::json::object();
  for (const format::Kind kind : format::kAllocationKinds) {
    const KindTally& of = tally.kinds[static_cast<size_t>(kind)];
    const Volume::OfKind& estimate = volume.kinds[static_cast<size_t>(kind)];
    kinds[KindName(kind)] = {
        {"events", of.events},
        {"weight_bytes", of.bytes},
        {"weight_objects", IsUnknown(estimate.objects) ? nlohmann::json() : nlohmann::json(of.objects)},
        {"bytes", AsJson(estimate.bytes)},
        {"objects", AsJson(estimate.objects)},
        {"share", AsJson(estimate.share)},
    };
  }
  return kinds;
}

nlohmann::json VolumeAsJson(const Volume& volume) {
  return {
      {"calibrated", volume.calibrated},   {"calibration", volume.factor},
      {"bytes", AsJson(volume.bytes)},     {"bytes_uncalibrated", AsJson(volume.raw_bytes)},
      {"objects", AsJson(volume.objects)},
  };
}

nlohmann::json LiveAsJson(const std::optional<AliveInAll>& live) {
  if (!live) return nullptr;
  return {{"bytes", AsJson(live->bytes)},
          {"objects", AsJson(live->objects)},
          {"samples", live->samples},
          {"not_followed", live->not_followed}};
}

nlohmann::json ThrownAsJson(const Facts& facts) {
  nlohmann::json thrown = AsJson(facts.thrown);
  thrown["most_in_interval"] = facts.thrown_tally.most_in_interval;
  thrown["intervals"] = facts.thrown_tally.intervals;
  thrown["windows"] = facts.thrown_tally.windows;
  return thrown;
}

nlohmann::json NativeAsJson(const Recording& recording, const Tally& tally) {
  if (recording.header().native.interval_ns == 0) return nullptr;
  const format::Books& books = recording.books(format::Stream::kNative);
  return {{"allocated_bytes", books.candidate_bytes},   {"calls", books.candidates},    {"events", tally.events()},
          {"most_in_interval", tally.most_in_interval}, {"intervals", tally.intervals}, {"windows", tally.windows}};
}

}  // namespace

std::string SummaryText(const Recording& recording, const Facts& facts, const Trust& trust, std::string_view tables) {
  return TextForm(recording, facts).Render(trust, tables);
}

std::string SummaryJson(const Recording& recording, const Facts& facts, const Trust& trust,
                        const nlohmann::json& tables) {
  const Tally& tally = facts.tally;
  nlohmann::json document = {
      {"recording", HeaderAsJson(recording.header())},
      {"duration_ns", facts.duration_ns},
      {"ended", facts.ended},
      {"running", recording.running()},
      {"events", tally.events()},
      {"kinds", KindsAsJson(tally, facts.volume)},
      {"estimates", VolumeAsJson(facts.volume)},
      {"exceptions", ThrownAsJson(facts)},
      {"native", NativeAsJson(recording, facts.native_tally)},
      {"heap", AsJson(facts.heap)},
      {"live", LiveAsJson(facts.live)},
      {"census", CensusAsJson(facts.census, recording.header())},
      {"sharpened", facts.by_census.AsJson()},
      {"allocated_bytes", recording.books().candidate_bytes},
      {"estimated_bytes", tally.bytes()},
      {"estimated_objects", IsUnknown(facts.volume.objects) ? nlohmann::json() : nlohmann::json(tally.objects())},
      {"file_bytes", recording.bytes_read()},
      {"bytes_per_event", facts.bytes_per_event},
      {"mean_rate", facts.mean_rate},
      {"fill", facts.fill},
      {"most_in_interval", tally.most_in_interval},
      {"windows", tally.windows},
      {"intervals", tally.intervals},
      {"intervals_thinned", tally.intervals_thinned},
      {"losses", LossesAsJson(recording)},
      {"trustworthy", trust.reasons.empty()},
      {"reasons", TextsOf(trust.reasons)},
      {"notes", TextsOf(trust.notes)},
  };
  document.update(tables);
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace heaprec::tools

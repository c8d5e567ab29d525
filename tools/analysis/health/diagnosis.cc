#include "tools/analysis/health/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/analysis/health/trust.h"
#include "tools/analysis/health/verification.h"
#include "tools/analysis/totals/stream_totals.h"
#include "tools/analysis/totals/totals.h"
#include "tools/input/loss_summary.h"
#include "tools/input/recording_kind.h"
#include "tools/input/stream_traits.h"
#include "tools/input/walk.h"
#include "tools/input/writer_process.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

void Count(const format::Sample& sample, Completeness::Part* into) {
  ++into->samples;
  into->bytes += sample.weight_bytes();
}

using format::Stream;

// The share of incomplete samples from which on a warning is shown.
constexpr double kWarnShare = 0.01;
constexpr double kWarnTruncated = 0.2;  // deep stacks are usual in some frameworks, and their leaves are correct
// Half of the 95 % interval of the total, divided by the total.
constexpr double kVague = 0.1;
constexpr double kLowRateUsed = 0.5;
constexpr double kClockSeconds = 1;

const char* IdOf(TrustTopic about) {
  constexpr std::array kIds{
      "end", "damage", "source", "stacks",    "total", "maxsamples", "losses", "counters", "uncounted_threads",
      "cap", "ring",   "names",  "exceptions"};
  return kIds.at(static_cast<size_t>(about));
}

std::string Percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

// Everything known about a recording that has been read.
struct DiagnosisInput {
  const Recording& recording;
  const format::PerStream<StreamTotals>& totals;
  const AllocationTotals& volume;
  const Verification& verification;
  const Completeness& completeness;
  // How far the wall clock has moved relative to the monotonic one since the start; nullopt: unknown.
  std::optional<double> clock_moved_seconds;
};

class Examination {
 public:
  explicit Examination(const DiagnosisInput& of)
      : of_(of), recording_(of.recording), header_(recording_.header()), counters_(recording_.counters()) {}

  std::vector<Finding> Run() {
    TakeTrust();
    TakeVerification();
    if (const std::string refusal = RefusalOfNative(header_); !refusal.empty())
      AddFinding("native", Level::kNote, refusal);
    Total();
    for (const Stream stream : format::kAllStreams) Losses(stream);
    if (!CountsLosses(header_)) {
      AddFinding("losses", Level::kNote, "unknown: an import has no loss counters", std::nullopt, "losses_unknown");
    } else if (!any_loss_) {
      AddFinding("losses", Level::kOk, "nothing was lost", 0);
    }
    Samples();
    Throttle();
    Source();
    Times();
    std::ranges::stable_sort(findings_, std::ranges::greater(), &Finding::level);
    return std::move(findings_);
  }

 private:
  // `advice`: the id of its advice, if it differs from `id`.
  void AddFinding(const char* id, Level level, std::string what, std::optional<double> value = std::nullopt,
                  std::string_view advice = {}) {
    const Advice words = level == Level::kOk ? Advice() : AdviceFor(advice.empty() ? id : advice);
    findings_.push_back({id, level, std::move(what), value, std::string(words.impact), std::string(words.action)});
  }
  bool HasFinding(std::string_view id) const {
    return std::ranges::any_of(findings_, [id](const Finding& symptom) { return symptom.id == id; });
  }

  void TakeTrust() {
    const TrustReport trust = AssessTrust(recording_, of_.totals, of_.volume);
    for (const TrustReason& reason : trust.reasons) {
      AddFinding(IdOf(reason.about), Level::kProblem, reason.text, std::nullopt,
                 reason.about == TrustTopic::kSource  ? "source_imported"
                 : reason.about == TrustTopic::kTotal ? AdviceForTotal()
                                                      : "");
    }
    for (const TrustReason& note : trust.notes) {
      AddFinding(IdOf(note.about), Level::kNote, note.text, std::nullopt,
                 note.about == TrustTopic::kEnd      ? AdviceForEnd()
                 : note.about == TrustTopic::kDamage ? "damage_repaired"
                                                     : "");
    }
    if (!HasFinding("end")) AddFinding("end", Level::kOk, "complete: " + ToUtf8(recording_.ending()->reason));
    if (!HasFinding("damage")) AddFinding("damage", Level::kOk, "no damaged bytes");
  }

  std::string_view AdviceForTotal() const {
    if (of_.totals[Stream::kAllocations].events() == 0) return "no_samples";
    return header_.Has(format::SourceFact::kAllocatesInline) ? "total_inline" : "total";
  }
  std::string_view AdviceForEnd() const {
    if (recording_.running()) return "end_running";
    return recording_.salvage().ring_found ? "end_salvaged" : "end";
  }

  void TakeVerification() {
    const auto& findings = of_.verification.findings();
    if (findings.empty())
      return AddFinding("consistency", Level::kOk,
                        CountsLosses(header_)
                            ? "all blocks are consistent with each other and with the recorder's counters"
                            : "all blocks are consistent with each other",
                        0);
    const uint64_t count = findings.size() + of_.verification.more_findings();
    AddFinding("consistency", Level::kProblem,
               fmt::format("{} contradictions; the first, at offset {}: {}", Grouped(count), findings[0].offset,
                           findings[0].what),
               static_cast<double>(count));
  }

  void Total() {
    if (HasFinding("total") || !HasHeap(header_)) return;
    const auto counted = static_cast<double>(counters_.candidate_bytes);
    const double estimated = of_.volume.raw_bytes.value;
    if (!(counted > 0)) {
      return AddFinding("total", Level::kNote, fmt::format("{} estimated; nothing was counted", Bytes(estimated)),
                        std::nullopt, "uncounted");
    }
    const double off = estimated / counted - 1;
    AddFinding("total", Level::kOk,
               fmt::format("{} estimated, {} counted: {:+.2f} %, within sampling error", Bytes(estimated),
                           Bytes(counted), 100 * off),
               off);
  }

  void Losses(Stream stream) {
    const format::StreamCounters& counters = recording_.counters(stream);
    const bool bytes = !format::CountsEvents(stream);
    const double all = static_cast<double>(bytes ? counters.candidate_bytes : counters.candidates);
    const double seen = bytes ? of_.totals[stream].bytes() : of_.totals[stream].objects();
    for (const auto& [reason, points, weight] : LossesOf(counters)) {
      if (points == 0) continue;
      const double whole = std::max(all, seen + counters.AllLostWeight());
      const double share = whole > 0 ? weight / whole : 1;
      AddFinding(fmt::format("loss_{}", reason).c_str(), share > kWarnShare / 10 ? Level::kWarning : Level::kOk,
                 fmt::format("{}{}: {}, {} of the {}", TraitsOf(stream).prefix, reason, CountOf(points, "point"),
                             Percent(share), bytes ? "bytes" : "throws"),
                 share);
      any_loss_ = true;
    }
  }

  // Reports samples that lack information.
  void Part(const char* id, const Completeness::Part& part, const char* what, double warn) {
    if (part.samples == 0) return AddFinding(id, Level::kOk, fmt::format("no sample {}", what), 0);
    const double share = of_.completeness.ShareOf(part);
    AddFinding(id, share >= warn ? Level::kWarning : Level::kNote,
               fmt::format("{}, {} of the bytes, {}", CountOf(part.samples, "sample"), Percent(share), what), share);
  }

  void Samples() {
    const Completeness& samples = of_.completeness;
    Part("truncated", samples.truncated, "with a truncated stack", kWarnTruncated);
    Part("unknown_frames", samples.unknown_frame, "with an unresolved frame", kWarnShare);
    Part("no_stack", samples.no_stack, "without a stack", kWarnShare);
    Part("unknown_classes", samples.unknown_class, "of an unresolved class", kWarnShare);
    Part("no_thread", samples.no_thread, "without a thread", kWarnShare);
    if (HasFinding("names")) return;
    if (samples.lost_names == 0) return AddFinding("names", Level::kOk, "no names are lost", 0);
    AddFinding("names", Level::kWarning,
               fmt::format("{} names were lost with damaged bytes", Grouped(samples.lost_names)),
               static_cast<double>(samples.lost_names));
  }

  void Throttle() {
    const StreamTotals& totals = of_.totals[Stream::kAllocations];
    const Estimate& total = of_.volume.raw_bytes;
    if (total.value > 0 && std::isfinite(total.high)) {
      const double half = (total.high - total.low) / 2 / total.value;
      AddFinding("precision", half > kVague ? Level::kNote : Level::kOk,
                 fmt::format("{}; samples alone determine the total to within {} (95 %)",
                             CountOf(totals.events(), "sample"), Percent(half)),
                 half);
    }
    if (totals.intervals == 0) return;
    const double thinned = static_cast<double>(totals.intervals_thinned) / static_cast<double>(totals.intervals);
    AddFinding("rate_limited", totals.intervals_thinned > 0 ? Level::kNote : Level::kOk,
               fmt::format("{} of {} intervals had more points than their cap of {}", Grouped(totals.intervals_thinned),
                           Grouped(totals.intervals), Grouped(header_.interval_cap)),
               thinned);
    const double seconds = static_cast<double>(totals.intervals) * static_cast<double>(header_.interval_ns) * 1e-9;
    if (!(header_.rate_per_second > 0) || !(seconds > 0)) return;
    const double used = static_cast<double>(totals.events()) / seconds / header_.rate_per_second;
    AddFinding("rate_used", used < kLowRateUsed ? Level::kNote : Level::kOk,
               fmt::format("{} of the samples that a rate of {:g}/s allows", Percent(used), header_.rate_per_second),
               used);
  }

  void Source() {
    if (!HasFinding("source")) {
      AddFinding("source", Level::kOk, fmt::format("{} ({})", ToUtf8(header_.source), ToUtf8(header_.source_reason)));
    }
    if (!HasFinding("stacks") && CountsLosses(header_)) {
      AddFinding(
          "stacks", Level::kOk,
          fmt::format("{} walked by the agent, {} from GetStackTrace, {} mismatches", Grouped(counters_.stacks_walked),
                      Grouped(counters_.stacks_from_jvmti), Grouped(counters_.stack_mismatches)),
          static_cast<double>(counters_.stack_mismatches));
    }
    if (HasFinding("ring") || !CountsLosses(header_)) return;
    if (header_.ring_path.empty())
      return AddFinding("ring", Level::kNote, "there was no shared ring", std::nullopt, "no_ring");
    AddFinding("ring", Level::kOk,
               recording_.salvage().ring_found ? CountOf(recording_.salvage().events, "sample") + " came from the ring"
                                               : "nothing was salvaged");
  }

  void Times() {
    const auto& moved = of_.clock_moved_seconds;
    if (!moved) {
      AddFinding("clock", Level::kOk, "times come from one monotonic clock; the wall clock is known at the start only");
    } else if (std::abs(*moved) < kClockSeconds) {
      AddFinding("clock", Level::kOk, "the wall clock has not been set since the start", moved);
    } else {
      AddFinding("clock", Level::kNote, fmt::format("the wall clock has been set by {:+.3f} s since the start", *moved),
                 moved);
    }
    if (IsLaterPart(header_)) {
      AddFinding(
          "missing_start", Level::kNote,
          fmt::format("the first {} of the recording are in other files, or dropped", Duration(header_.start.begin_ns)),
          static_cast<double>(header_.start.begin_ns) * 1e-9);
    }
  }

  const DiagnosisInput& of_;
  const Recording& recording_;
  const format::FileHeader& header_;
  const format::StreamCounters& counters_;
  bool any_loss_ = false;
  std::vector<Finding> findings_;
};

}  // namespace

void Completeness::Add(const format::Block& block) {
  const format::Dictionaries& now = *block.dictionaries;
  if (dictionaries_ == nullptr || block.chunk != chunk_ || now.stacks.size() < flags_.size()) {
    flags_.clear();
    lost_in_chunk_ = 0;
  }
  dictionaries_ = block.dictionaries;
  chunk_ = block.chunk;
  flags_.resize(now.stacks.size());
  // block.lost_names counts from the start of the chunk.
  lost_names += block.lost_names - std::min(block.lost_names, lost_in_chunk_);
  lost_in_chunk_ = block.lost_names;
  for (const format::Sample& sample : block.samples) {
    if (sample.stream() != format::Stream::kAllocations) continue;
    Count(sample, &all_);
    if (sample.thread >= now.threads.size()) Count(sample, &no_thread);
    if (sample.class_id >= now.classes.size() || now.classes[sample.class_id] == format::kLost) {
      Count(sample, &unknown_class);
    }
    if (sample.stack >= flags_.size()) {
      Count(sample, &no_stack);
      continue;
    }
    const uint8_t flags = FlagsOf(sample.stack);
    if ((flags & kTruncated) != 0) Count(sample, &truncated);
    if ((flags & kUnknown) != 0) Count(sample, &unknown_frame);
  }
}

// A stack has the flags of its caller's stack and those of its own frame.
uint8_t Completeness::FlagsOf(format::Index stack) {
  path_.clear();
  uint8_t flags = kLooked;
  for (;;) {
    if (flags_[stack] != 0) {
      flags |= flags_[stack];
      break;
    }
    path_.push_back(stack);
    const format::StackNode& node = dictionaries_->stacks[stack];
    if (node.parent == format::kNone || node.parent >= stack) {
      if (node.truncated) flags |= kTruncated;
      break;
    }
    stack = node.parent;
  }
  for (auto at = path_.rbegin(); at != path_.rend(); ++at) {
    const format::Index frame = dictionaries_->stacks[*at].frame;
    const bool is_gap = frame < dictionaries_->frames.size() && dictionaries_->frames[frame].IsGap();
    const format::Index method =
        frame < dictionaries_->frames.size() ? dictionaries_->frames[frame].method : format::kNone;
    if (is_gap) {
      flags |= kTruncated;
    } else if (method >= dictionaries_->methods.size() || dictionaries_->methods[method].name == format::kLost) {
      flags |= kUnknown;
    }
    flags_[*at] = flags;
  }
  return flags;
}

const char* LevelName(Level level) {
  constexpr std::array kNames{"ok", "note", "warning", "problem"};
  return kNames.at(static_cast<size_t>(level));
}

std::vector<Finding> Diagnose(Recording* recording) {
  const format::FileHeader& header = recording->header();
  format::PerStream<StreamTotals> totals = TotalsOfStreams(header);
  VolumeOfBlocks volume(header);
  Verification verification(header);
  Completeness completeness;
  Walk(recording, [&](const format::Block& block) {
    for (StreamTotals& one : totals.of) one.Add(block);
    volume.Add(block);
    verification.Look(block, *recording);
    completeness.Add(block);
  });
  verification.Close(*recording);
  const AllocationTotals allocated = volume.Close(recording->counters());
  return Examination({*recording, totals, allocated, verification, completeness, WallClockMoved(header)}).Run();
}

}  // namespace heaprec::tools

#include "tools/analysis/health/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tools/analysis/health/trust.h"
#include "tools/analysis/health/verification.h"
#include "tools/analysis/totals/totals.h"
#include "tools/input/loss_summary.h"
#include "tools/input/recording.h"
#include "tools/input/stream_traits.h"
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
  static_assert(kIds.size() == static_cast<size_t>(TrustTopic::kExceptions) + 1);
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
  static_assert(kNames.size() == static_cast<size_t>(Level::kProblem) + 1);
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

namespace {

using Entry = std::pair<std::string_view, Advice>;

constexpr std::array kAdvice{
    Entry{"end",
          {"what was allocated after the last block that could be read is missing",
           "keep the shared ring (ring=auto), so that a kill loses nothing; heaprec recover makes a clean recording of "
           "the rest"}},
    Entry{"end_running",
          {"estimates cover the recording so far", "none; run the command again when the recording has ended"}},
    Entry{"end_salvaged",
          {"none: the ring had what the file lacks",
           "heaprec recover makes one file of both, before the machine is restarted"}},
    Entry{"damage",
          {"samples in those bytes are missing, and names defined there are [lost]",
           "copy the file again from its origin; heaprec recover counts what is lost; check the disk"}},
    Entry{"damage_repaired",
          {"none: the bytes were restored from parity records, and no sample or name is missing",
           "heaprec recover writes a clean copy; check the disk"}},
    Entry{
        "source",
        {"kinds are guessed, and without counted bytes the total is known from the samples only",
         "install the JVM's symbols (the debug package of its build), so that source=auto can use hooks; `source` has "
         "the reason"}},
    Entry{"source_imported",
          {"the weights come from the imported file and have its bias",
           "record with heaprec; use the import for a first impression only"}},
    Entry{"stacks",
          {"stacks after it come from GetStackTrace for a while: correct, but more expensive",
           "none for this recording; report the JDK's version, and set stacks=jvmti to skip the comparisons"}},
    Entry{"total",
          {"samples are missing or have wrong weights: estimates may be wrong by that difference",
           "heaprec verify shows the contradiction; record again, and report it if it persists"}},
    Entry{
        "total_inline",
        {"without TLABs the JVM's code allocates without calling the hooks: most objects were counted, but not sampled",
         "remove -XX:-UseTLAB, or start the JVM with the agent instead of attaching"}},
    Entry{"uncounted",
          {"the allocated bytes are estimated from the samples alone: estimates are not calibrated",
           "record with source=hooks where it is available"}},
    Entry{"maxsamples",
          {"sums are unbiased, but based on very few samples for most of the time",
           "raise maxsamples=N, or set duration=, so that all intervals get the same number"}},
    Entry{"losses", {"estimates for that time are too low by about that share", "see the loss of this name below"}},
    Entry{"losses_unknown",
          {"samples may be missing unnoticed", "none: check the recorder that wrote the file for lost events"}},
    Entry{"loss_missed",
          {"the JVM posted no events for these sample points; a few are usual while it starts",
           "none if there are few; otherwise record with source=hooks, and without another agent that samples "
           "allocations"}},
    Entry{"loss_ring_full",
          {"the agent's thread could not keep up: bursts are underestimated",
           "lower rate=, or give the JVM another CPU"}},
    Entry{"loss_lanes_busy",
          {"many threads sampled at once: bursts of many threads are underestimated", "lower rate="}},
    Entry{"loss_no_clock",
          {"the process had more threads than heaprec can track: their allocations are not counted at all",
           "record with fewer threads at a time"}},
    Entry{"loss_write_failed",
          {"the disk was full or failed for longer than the ring could hold samples: that time is underestimated",
           "free disk space, write elsewhere (file=), or limit the file (maxsize=)"}},
    Entry{"loss_oversized",
          {"some stacks are too large for the ring: the deepest sites are underestimated", "lower stackdepth="}},
    Entry{"loss_killed",
          {"the process was killed before these points reached the ring, or its ring is gone",
           "none for this recording, which has all earlier points; next time read the recording before its ring is "
           "deleted"}},
    Entry{"counters",
          {"the recorder's counters contradict each other: do not rely on the numbers",
           "heaprec verify says where; record again, and report it if it persists"}},
    Entry{"consistency",
          {"the recording contradicts itself: do not rely on the numbers",
           "heaprec verify lists all; copy the file again from its origin; report it if it persists"}},
    Entry{"no_samples",
          {"the total is exact; classes, sites and threads are unknown", "raise rate=, or record longer"}},
    Entry{"uncounted_threads",
          {"the totals lack the allocations of those threads",
           "record with fewer threads at a time; report it with the number of threads"}},
    Entry{"cap",
          {"the maximum number of samples was exceeded: the file was changed, or the agent has a defect", "report it"}},
    Entry{"ring",
          {"some samples that were not yet written when the process died are lost",
           "keep the ring's file, and read the recording before the machine is restarted"}},
    Entry{"no_ring",
          {"a kill -9 would have lost up to the last second", "record with ring=auto, or a path on a tmpfs"}},
    Entry{"names",
          {"samples count in totals, but as [lost] or [unknown]: their classes and sites are underestimated",
           "copy the file again from its origin; read it while its ring exists"}},
    Entry{
        "native",
        {"native memory of those libraries is not counted; all other numbers are correct",
         "use one recording of native memory at a time (HEAPREC_NATIVE_SAMPLED or native=on), and libraries whose GOT "
         "may be written to"}},
    Entry{"exceptions", {"thrown exceptions were not recorded", "start the JVM with exceptions=on"}},
    Entry{"truncated",
          {"allocating frames are correct; trees and cumulative numbers lack the missing callers",
           "raise stackdepth= (up to 1024)"}},
    Entry{"unknown_frames",
          {"trees and sites show [unknown] for these frames",
           "record with stacks=jvmti; report it with the JDK's version"}},
    Entry{"unknown_classes", {"tables by class show [unknown] for these samples", "report it with the JDK's version"}},
    Entry{"no_stack",
          {"sites are underestimated by that share; totals and classes are not",
           "none if native threads allocate through JNI without a Java method; else record with stacks=jvmti"}},
    Entry{"no_thread",
          {"tables by thread and by label show [unknown] for these samples", "report it with the JDK's version"}},
    Entry{"precision",
          {"small shares are uncertain: read the intervals, not the values", "record longer, or raise rate="}},
    Entry{"rate_limited",
          {"the rate limits the precision in these intervals; estimates stay unbiased",
           "raise rate= if the intervals are too wide"}},
    Entry{"rate_used",
          {"fewer samples than the rate allows: intervals are wider than they could be",
           "none if the program hardly allocates; else report it"}},
    Entry{"clock",
          {"times of day of later samples are off by that time; durations are correct",
           "use offsets (--from 10s) instead of times of day"}},
    Entry{"missing_start",
          {"estimates cover the time in this file, not the whole recording",
           "raise maxsize= or maxage=, or keep all parts (rotate=)"}},
};

}  // namespace

Advice AdviceFor(std::string_view id) {
  for (const auto& [of, advice] : kAdvice) {
    if (of == id) return advice;
  }
  return {};
}

}  // namespace heaprec::tools

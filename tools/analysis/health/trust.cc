#include "tools/analysis/health/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tools/input/loss_summary.h"
#include "tools/input/stream_traits.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// The JVM delivers nothing while it creates an array class, which happens a few times at its start. In a short
// recording these are more than kFewLost, but far less than the error of its estimates.
constexpr uint64_t kUsuallyMissed = 5;
constexpr double kMaxMissedShare = 0.01;
// If the ring is lost, a kill loses the last interval. In a recording of a second that may be most of it.
constexpr double kMaxKilledShare = 0.5;
// An idle JVM allocates less, and may have no sample by chance.
constexpr uint64_t kWorthSampling = 1 << 20;

uint64_t Distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

// Assesses the losses, counters and cap of one stream.
class StreamAssessment {
 public:
  StreamAssessment(const Recording& recording, const StreamTotals& totals, format::Stream stream, TrustReport* trust)
      : recording_(recording),
        totals_(totals),
        stream_(stream),
        counters_(recording.counters(stream)),
        trust_(*trust) {}

  void Run() {
    AssessSamples();
    AssessLosses();
    AssessCounters();
    AssessCap();
  }

 private:
  bool of_events() const { return format::CountsEvents(stream_); }
  std::string Named(const std::string& sentence) const { return TraitsOf(stream_).prefix + sentence; }
  void AddReason(TrustTopic about, const std::string& reason) { trust_.reasons.push_back({about, Named(reason)}); }
  void AddNote(TrustTopic about, const std::string& note) { trust_.notes.push_back({about, Named(note)}); }
  std::string Amount(double weight) const {
    return of_events() ? Grouped(static_cast<uint64_t>(weight)) + " events" : Bytes(weight);
  }
  uint64_t Lost(format::LossReason loss) const { return counters_.lost[static_cast<size_t>(loss)]; }

  void AssessSamples() {
    const uint64_t counted = counters_.Counted(stream_);
    if (of_events() || counted < kWorthSampling || totals_.events() > 0 || counters_.LostPoints() > 0) return;
    AddReason(TrustTopic::kTotal, fmt::format("no sample was taken: {} were counted, but not by class or site",
                                              Amount(static_cast<double>(counted))));
  }

  void AssessLosses() {
    const double killed = counters_.lost_weight[static_cast<size_t>(format::LossReason::kKilled)];
    const double lost = counters_.AllLostWeight() - killed;
    const double missed = counters_.lost_weight[static_cast<size_t>(format::LossReason::kDroppedByJvm)];
    const uint64_t counted = counters_.Counted(stream_);
    // A loss may be an estimate: together with the samples it may exceed the count.
    const double known = (of_events() ? totals_.objects() : totals_.bytes()) + counters_.AllLostWeight();
    const double all = std::max(static_cast<double>(counted), known);
    AssessKill(killed, all > 0 ? killed / all : 0);
    if (lost <= kFewLost * all) return;
    const double share = all > 0 ? lost / all : 1;
    if (lost == missed && Lost(format::LossReason::kDroppedByJvm) <= kUsuallyMissed && share <= kMaxMissedShare) {
      return AddNote(TrustTopic::kLosses, fmt::format("the JVM did not deliver {} sampled objects, {} of the bytes",
                                                      Lost(format::LossReason::kDroppedByJvm), ShortPercent(share)));
    }
    AddReason(TrustTopic::kLosses,
              fmt::format("{} of the {} were lost", ShortPercent(share), of_events() ? "events" : "bytes"));
  }

  // `weight` 0: unknown.
  void AssessKill(double weight, double share) {
    std::string text = KilledPoints(recording_, stream_);
    if (text.empty()) return;
    if (weight > 0) text += ", representing " + Amount(weight);
    if (share <= kMaxKilledShare) return AddNote(TrustTopic::kLosses, text);
    AddReason(TrustTopic::kLosses,
              fmt::format("{}, {} of the {}", text, ShortPercent(share), of_events() ? "events" : "bytes"));
  }

  // The counters of docs/sampler.md#counters. A thread that was stopped while it handled a point has counted the point
  // but not yet its outcome: at most one per lane.
  void AssessCounters() {
    const uint64_t slack = std::max<uint64_t>(recording_.lane_count(), 1);
    const uint64_t lost = counters_.LostPoints();
    const uint64_t known = counters_.SettledPoints();
    if (counters_.points + slack < known || known + slack < counters_.points) {
      AddReason(TrustTopic::kStreamCounters,
                fmt::format("recorder counters disagree: {} points, but {} committed + {} thinned + {} lost",
                            Grouped(counters_.points), Grouped(counters_.committed), Grouped(counters_.thinned),
                            Grouped(lost)));
    }
    if (Lost(format::LossReason::kThreadLimit) > 0) {
      AddReason(TrustTopic::kClocks, fmt::format("{} allocations of threads without a byte clock were not counted",
                                                 Grouped(Lost(format::LossReason::kThreadLimit))));
    }
    if (counters_.unseen_allocators > 0) {
      AddReason(TrustTopic::kSource,
                "calls of " + CountOf(counters_.unseen_allocators, "other allocator") + " are not seen");
    }
    if (!recording_.misses_bytes() && totals_.events() != counters_.written) {
      AddReason(TrustTopic::kStreamCounters,
                fmt::format("recorder counters say {} written, but the recording has {}",
                            CountOf(counters_.written, "sample"), Grouped(totals_.events())));
    }
    const uint64_t accounted = counters_.SettledSamples();
    if (recording_.is_settled() && Distance(counters_.committed, accounted) > slack) {
      AddReason(TrustTopic::kStreamCounters,
                "the recording lacks " + CountOf(Distance(counters_.committed, accounted), "committed sample"));
    }
  }

  void AssessCap() {
    const uint64_t cap = recording_.header().CapOf(stream_).interval_cap;
    if (cap > 0 && totals_.most_in_interval > cap) {
      AddReason(TrustTopic::kCap, fmt::format("an interval has {}, above its cap of {}",
                                              CountOf(totals_.most_in_interval, "sample"), Grouped(cap)));
    }
  }

  const Recording& recording_;
  const StreamTotals& totals_;
  const format::Stream stream_;
  const format::StreamCounters& counters_;
  TrustReport& trust_;
};

// Assesses the recording as a whole.
class Assessment {
 public:
  explicit Assessment(const Recording& recording) : recording_(recording), running_(recording.running()) {
    AssessDamage();
  }

  void AddHeap() { AssessSource(); }
  void AddStream(format::Stream stream, const StreamTotals& totals) {
    StreamAssessment(recording_, totals, stream, &trust_).Run();
  }
  void AddTotal(const CountCheck& balance) {
    AssessTotal(balance);
    AssessQuotas(balance);
  }
  TrustReport End() {
    AssessSalvage();
    NoteEnd();
    return std::move(trust_);
  }

 private:
  void AddReason(TrustTopic about, std::string reason) { trust_.reasons.push_back({about, std::move(reason)}); }
  void AddNote(TrustTopic about, std::string note) { trust_.notes.push_back({about, std::move(note)}); }

  void AssessDamage() {
    if (recording_.repaired_bytes() > 0) {
      AddNote(TrustTopic::kDamage, CountOf(recording_.repaired_bytes(), "damaged byte") + " repaired");
    }
    if (!recording_.misses_bytes()) return;
    AddReason(TrustTopic::kDamage, recording_.misses_part() ? "a part of the recording is missing"
                                                            : fmt::format("{} damaged bytes were skipped",
                                                                          Grouped(recording_.skipped_bytes())));
  }

  // Shenandoah, and all collectors of JDK 11, allocate so much outside of TLABs that shares were off by a third or more
  // (docs/jdks.md).
  void AssessPortable() {
    const format::FileHeader& header = recording_.header();
    if (!header.Has(format::SourceFact::kBiasedOutsideTlabs)) return;
    const std::string what =
        "source=portable before JDK 25: the JVM samples at wrong rates where objects are allocated outside TLABs";
    if (header.jvm_version.starts_with("11.") || header.gc_name == "Shenandoah") {
      AddReason(TrustTopic::kSource, what);
    } else {
      AddNote(TrustTopic::kSource, what);
    }
  }

  void AssessSource() {
    const std::string source = ToUtf8(recording_.header().source);
    if (source == kImported) {
      AddReason(TrustTopic::kSource, "imported from " + ToUtf8(recording_.header().source_reason) +
                                         ". Intervals show sampling error only, as if samples were independent");
    } else if (source == kImportedOwn) {
      const std::string reason = ToUtf8(recording_.header().source_reason);
      if (recording_.header().Has(format::SourceFact::kOriginalDoubted)) {
        AddReason(TrustTopic::kSource, "imported from " + reason);
      } else {
        AddNote(TrustTopic::kSource, "imported from " + reason + ": estimates are from the samples alone");
      }
    } else if (source != "hooks" && source != kPreloaded) {
      AddNote(TrustTopic::kSource,
              fmt::format("source {}: kinds are guessed, candidates are not counted{}", source,
                          recording_.counters().candidate_bytes > 0 ? "" : "; bytes are known from the samples only"));
      AssessPortable();
    }
    if (recording_.counters().stack_mismatches > 0) {
      AddNote(TrustTopic::kStacks,
              "a walked stack differed from the JVM's: stacks after it come from GetStackTrace for a while");
    }
    if (!recording_.header().exceptions_unavailable_reason.empty()) {
      AddNote(TrustTopic::kExceptions,
              "exceptions are not recorded: " + ToUtf8(recording_.header().exceptions_unavailable_reason));
    }
  }

  // Compares two counts of the same bytes. In a very long recording sampling error is smaller than the approximations.
  void AssessTotal(const CountCheck& balance) {
    if (!(balance.counted > 0)) return;
    const double apart = std::abs(balance.counted - balance.accounted);
    if (apart <= std::max(balance.slack, kFewLost * balance.counted) + CountedEarly(balance.counted)) return;
    AddReason(TrustTopic::kTotal, fmt::format("{} bytes were counted, but samples and losses represent {}",
                                              Grouped(static_cast<uint64_t>(balance.counted)),
                                              Grouped(static_cast<uint64_t>(balance.accounted))));
  }

  // Bytes of an interval are counted when it is closed, a little after its end, so they include some of the next
  // interval, whose count is smaller by as much. A copy, or a part of a rotation, may lack that next one. Returns the
  // bytes of one interval for these, as the maximum; otherwise 0.
  double CountedEarly(double counted) const {
    const auto& ending = recording_.ending();
    if (!ending || recording_.is_settled()) return 0;
    const format::FileHeader& header = recording_.header();
    const uint64_t lasts_ns = ending->time_ns - std::min(ending->time_ns, header.start.begin_ns);
    const double intervals =
        static_cast<double>(lasts_ns) / static_cast<double>(std::max<uint64_t>(header.interval_ns, 1));
    return counted / std::max(intervals, 1.0);
  }

  // With maxsamples=N later intervals may have hardly any samples: the sums are still unbiased, but useless.
  void AssessQuotas(const CountCheck& balance) {
    const uint64_t most = recording_.header().max_samples;
    if (most == 0 || recording_.counters().second_stage == 0 || !(balance.counted > 0)) return;
    if (balance.raw_bytes.high - balance.raw_bytes.low <= 1.5 * balance.counted) return;
    AddReason(TrustTopic::kQuotas,
              fmt::format("maxsamples={} was used up early; most of the recording has too few samples", Grouped(most)));
  }

  void AssessSalvage() {
    const SalvageReport& salvage = recording_.salvage();
    for (const std::string& error : salvage.errors)
      AddReason(TrustTopic::kRing, "the ring could not be read to its end: " + error);
    if (salvage.invalid > 0) AddReason(TrustTopic::kRing, "the ring has " + CountOf(salvage.invalid, "invalid sample"));
    if (salvage.unnamed > 0)
      AddReason(TrustTopic::kNames, "names are missing from " + CountOf(salvage.unnamed, "salvaged sample"));
  }

  std::string RingText() const {
    return recording_.header().ring_path.empty() ? "it had no ring in shared memory" : "its ring is gone";
  }

  void NoteEnd() {
    if (recording_.has_nothing()) {
      AddReason(TrustTopic::kEnd, "nothing could be read: the recording has no complete block, and " + RingText());
    }
    if (recording_.ending()) return;
    if (recording_.tail_bytes() > 0 && !running_) {
      AddNote(TrustTopic::kEnd,
              fmt::format("{} bytes of an unfinished block at the end", Grouped(recording_.tail_bytes())));
    }
    if (recording_.has_nothing()) return;
    if (running_) {
      AddNote(TrustTopic::kEnd, "the recording is still running");
    } else if (recording_.salvage().ring_found) {
      if (recording_.salvage().write_errno != 0) {
        AddNote(TrustTopic::kEnd,
                fmt::format("its end could not be written ({}) and is in the ring; heaprec recover joins them",
                            std::strerror(recording_.salvage().write_errno)));
        return;
      }
      AddNote(TrustTopic::kEnd, "the recording was cut off; its ring is complete");
    } else if (recording_.unwritten_ns() > 0) {
      AddReason(TrustTopic::kEnd, "the recording was cut off while its file could not be written, and " + RingText() +
                                      ": " + LostEnd(recording_));
    } else {
      AddNote(TrustTopic::kEnd, "the recording was cut off, and " + RingText() + ": " + LostEnd(recording_));
    }
  }

  const Recording& recording_;
  const bool running_;
  TrustReport trust_;
};

}  // namespace

TrustReport AssessTrust(const Recording& recording, const format::PerStream<StreamTotals>& tallies,
                        const CountCheck& balance) {
  Assessment assessment(recording);
  assessment.AddHeap();
  for (const format::Stream stream : format::kAllStreams) assessment.AddStream(stream, tallies[stream]);
  assessment.AddTotal(balance);
  return assessment.End();
}

TrustReport AssessStreamTrust(const Recording& recording, format::Stream stream, const StreamTotals& totals,
                              const CountCheck* balance) {
  Assessment assessment(recording);
  if (stream == format::Stream::kAllocations) assessment.AddHeap();
  assessment.AddStream(stream, totals);
  if (balance != nullptr) assessment.AddTotal(*balance);
  return assessment.End();
}

std::string TrustText(const std::vector<std::string>& reasons) {
  if (reasons.empty()) return "yes";
  Text text;
  AppendPrintable(text, fmt::format("no, because {}", fmt::join(reasons, "; ")));
  return fmt::to_string(text);
}

}  // namespace heaprec::tools

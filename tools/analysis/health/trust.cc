#include "tools/analysis/health/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tools/analysis/imported.h"
#include "tools/input/program_recording.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

// Less than the sampling error of any share that a recording can tell.
constexpr double kMaxLostShare = 0.001;
// The JVM delivers nothing while it creates an array class; a start-up has a few such objects. In a short recording
// they are more than the share above, and far less than the error of its estimates.
constexpr uint64_t kUsuallyMissed = 5;
constexpr double kMostMissedPercent = 1;

uint64_t Distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

// Of one stream: its losses, books and cap.
class StreamJudgement {
 public:
  StreamJudgement(const Recording& recording, const Tally& tally, format::Stream stream, Trust* trust)
      : recording_(recording), tally_(tally), stream_(stream), books_(recording.books(stream)), trust_(*trust) {}

  void Run() {
    JudgeLosses();
    JudgeBooks();
    JudgeCap();
  }

 private:
  bool of_events() const { return format::CountsEvents(stream_); }
  std::string Named(const std::string& sentence) const { return PrefixOf(stream_) + sentence; }
  void No(About about, const std::string& reason) { trust_.reasons.push_back({about, Named(reason)}); }
  void Note(About about, const std::string& note) { trust_.notes.push_back({about, Named(note)}); }
  uint64_t Lost(format::Loss loss) const { return books_.lost[static_cast<size_t>(loss)]; }

  void JudgeLosses() {
    JudgeKill();
    const double killed = books_.lost_weight[static_cast<size_t>(format::Loss::kKilled)];
    const double lost = books_.AllLostWeight() - killed;
    const double missed = books_.lost_weight[static_cast<size_t>(format::Loss::kMissed)];
    const uint64_t counted = of_events() ? books_.candidates : books_.candidate_bytes;
    const double all = std::max(static_cast<double>(counted), of_events() ? tally_.objects() : tally_.bytes());
    if (lost <= kMaxLostShare * all) return;
    const double percent = all > 0 ? 100 * lost / all : 100;
    if (lost == missed && Lost(format::Loss::kMissed) <= kUsuallyMissed && percent <= kMostMissedPercent) {
      return Note(About::kLosses, fmt::format("the JVM did not deliver {} sampled objects, {:.2g} % of the bytes",
                                              Lost(format::Loss::kMissed), percent));
    }
    No(About::kLosses, fmt::format("{:.2g} % of the {} were lost", percent, of_events() ? "events" : "bytes"));
  }

  // The rest of the recording is as it would be if the process had been killed 0.1 s earlier.
  void JudgeKill() {
    const uint64_t points = Lost(format::Loss::kKilled);
    if (points == 0) return;
    const double weight = books_.lost_weight[static_cast<size_t>(format::Loss::kKilled)];
    Note(About::kLosses,
         fmt::format("the kill lost {} sample point{} of the last 0.1 s{}", Grouped(points), points == 1 ? "" : "s",
                     weight > 0 ? fmt::format(", which stand for {}", Bytes(weight)) : ""));
  }

  // The books of docs/sampler.md#counters. A thread that was stopped in the middle of a hit has counted its point but
  // not yet what became of it: at most one per lane.
  void JudgeBooks() {
    const uint64_t slack = std::max<uint64_t>(recording_.lane_count(), 1);
    const uint64_t lost = books_.LostPoints();
    const uint64_t known = books_.committed + books_.thinned + lost;
    if (books_.points + slack < known || known + slack < books_.points) {
      No(About::kBooks,
         fmt::format("the books do not add up: {} points, but {} committed + {} thinned + {} lost",
                     Grouped(books_.points), Grouped(books_.committed), Grouped(books_.thinned), Grouped(lost)));
    }
    if (Lost(format::Loss::kNoClock) > 0) {
      No(About::kClocks, fmt::format("{} allocations of threads without a byte clock were not counted",
                                     Grouped(Lost(format::Loss::kNoClock))));
    }
    if (!recording_.misses_bytes() && tally_.events() != books_.written) {
      No(About::kBooks, fmt::format("the books say {} events were written, but there are {}", Grouped(books_.written),
                                    Grouped(tally_.events())));
    }
    const uint64_t accounted = books_.written + books_.second_stage + Lost(format::Loss::kWriteFailed);
    if (recording_.is_settled() && Distance(books_.committed, accounted) > slack) {
      No(About::kBooks,
         fmt::format("{} committed samples are missing", Grouped(Distance(books_.committed, accounted))));
    }
  }

  void JudgeCap() {
    const uint64_t cap = recording_.header().CapOf(stream_).interval_cap;
    if (cap > 0 && tally_.most_in_interval > cap) {
      No(About::kCap, fmt::format("an interval holds {} events, over its cap of {}", Grouped(tally_.most_in_interval),
                                  Grouped(cap)));
    }
  }

  const Recording& recording_;
  const Tally& tally_;
  const format::Stream stream_;
  const format::Books& books_;
  Trust& trust_;
};

// Of the recording as a whole.
class Judgement {
 public:
  explicit Judgement(const Recording& recording) : recording_(recording), running_(recording.running()) {
    JudgeDamage();
  }

  void OfHeap() { JudgeSource(); }
  void Of(format::Stream stream, const Tally& tally) { StreamJudgement(recording_, tally, stream, &trust_).Run(); }
  void Of(const Balance& balance) {
    JudgeTotal(balance);
    JudgeQuotas(balance);
  }
  Trust End() {
    JudgeSalvage();
    NoteEnd();
    return std::move(trust_);
  }

 private:
  void No(About about, std::string reason) { trust_.reasons.push_back({about, std::move(reason)}); }
  void Note(About about, std::string note) { trust_.notes.push_back({about, std::move(note)}); }

  void JudgeDamage() {
    if (recording_.repaired_bytes() > 0) {
      Note(About::kDamage, DamagedBytes(recording_.repaired_bytes()) + " repaired");
    }
    if (!recording_.misses_bytes()) return;
    No(About::kDamage, fmt::format("{} damaged bytes were skipped", Grouped(recording_.skipped_bytes())));
  }

  void JudgeSource() {
    const std::string source = ToUtf8(recording_.header().source);
    if (source == "tlab") {
      No(About::kSource, "source tlab charges a whole TLAB to whoever refilled it: attribution is biased");
    } else if (source == kImported) {
      No(About::kSource, "imported from " + ToUtf8(recording_.header().source_reason) +
                             ". Intervals show chance alone, as if each sample had been drawn by itself");
    } else if (source == kImportedOwn) {
      Note(About::kSource,
           "imported from " + ToUtf8(recording_.header().source_reason) + ": estimates are from the samples alone");
    } else if (source != "hooks" && source != kPreloaded) {
      Note(About::kSource,
           fmt::format("source {}: kinds are guessed, candidates are not counted{}", source,
                       recording_.books().candidate_bytes > 0 ? "" : "; bytes are known from the samples only"));
    }
    if (recording_.books().stacks_differed > 0) {
      Note(About::kStacks,
           "a walked stack was not what the JVM says: from there on all are asked of it, by GetStackTrace");
    }
    if (!recording_.header().exceptions_refused.empty()) {
      Note(About::kExceptions, "exceptions are not recorded: " + ToUtf8(recording_.header().exceptions_refused));
    }
  }

  // Two counts of the same bytes. In a very long recording chance is less than what is approximate.
  void JudgeTotal(const Balance& balance) {
    if (!(balance.counted > 0)) return;
    const double apart = std::abs(balance.counted - balance.accounted);
    if (apart <= std::max(balance.slack, kMaxLostShare * balance.counted) + CountedEarly(balance.counted)) return;
    No(About::kTotal,
       fmt::format("{} bytes were counted, but samples and losses stand for {}",
                   Grouped(static_cast<uint64_t>(balance.counted)), Grouped(static_cast<uint64_t>(balance.accounted))));
  }

  // An interval's bytes are counted when it is closed, a little after its end: some are of the next one. Where that is
  // left out, in a copy, nothing makes up for it: at most an interval's worth.
  double CountedEarly(double counted) const {
    const auto& ending = recording_.ending();
    if (!ending || recording_.is_settled()) return 0;
    const format::FileHeader& header = recording_.header();
    const uint64_t lasts_ns = ending->time_ns - std::min(ending->time_ns, header.start.begin_ns);
    const double intervals =
        static_cast<double>(lasts_ns) / static_cast<double>(std::max<uint64_t>(header.interval_ns, 1));
    return counted / std::max(intervals, 1.0);
  }

  // With samples=N the later intervals may be left with hardly any: then the sums are without bias, and of no use.
  void JudgeQuotas(const Balance& balance) {
    const uint64_t most = recording_.header().max_samples;
    if (most == 0 || recording_.books().second_stage == 0 || !(balance.counted > 0)) return;
    if (balance.raw_bytes.high - balance.raw_bytes.low <= 1.5 * balance.counted) return;
    No(About::kQuotas, fmt::format("most of it was recorded with hardly any of its {} samples left", Grouped(most)));
  }

  void JudgeSalvage() {
    const SalvageReport& salvage = recording_.salvage();
    for (const std::string& error : salvage.errors) No(About::kRing, "the ring could not be read to its end: " + error);
    if (salvage.invalid > 0)
      No(About::kRing, fmt::format("{} samples of the ring are invalid", Grouped(salvage.invalid)));
    if (salvage.unnamed > 0)
      No(About::kNames, fmt::format("{} salvaged events have lost names", Grouped(salvage.unnamed)));
  }

  void NoteEnd() {
    if (recording_.ending()) return;
    if (recording_.tail_bytes() > 0 && !running_) {
      Note(About::kEnd, fmt::format("{} bytes of an unfinished block at the end", Grouped(recording_.tail_bytes())));
    }
    if (recording_.blocks() == 0 && !recording_.salvage().ring_found && !running_) {
      No(About::kEnd, "nothing could be read: the file ends before its first whole block, and its ring is gone");
    } else if (running_) {
      Note(About::kEnd, "the recording is still running");
    } else if (recording_.salvage().ring_found) {
      if (recording_.salvage().write_errno != 0) {
        Note(About::kEnd,
             fmt::format("its end could not be written ({}) and is in the ring; heaprec recover joins them",
                         std::strerror(recording_.salvage().write_errno)));
        return;
      }
      Note(About::kEnd, "the recording was cut off; its ring is complete");
    } else if (CouldNotBeWritten()) {
      No(About::kEnd, "the recording was cut off while its file could not be written, and its ring is gone");
    } else {
      Note(About::kEnd,
           "the recording was cut off and its ring is gone: what only the ring held, up to two seconds, is lost");
    }
  }

  bool CouldNotBeWritten() const {
    return std::ranges::any_of(format::kAllStreams, [this](format::Stream stream) {
      return recording_.books(stream).lost[static_cast<size_t>(format::Loss::kWriteFailed)] > 0;
    });
  }

  const Recording& recording_;
  const bool running_;
  Trust trust_;
};

}  // namespace

Trust Judge(const Recording& recording, const format::PerStream<Tally>& tallies, const Balance& balance) {
  Judgement judgement(recording);
  judgement.OfHeap();
  for (const format::Stream stream : format::kAllStreams) judgement.Of(stream, tallies[stream]);
  judgement.Of(balance);
  return judgement.End();
}

Trust JudgeStream(const Recording& recording, format::Stream stream, const Tally& tally, const Balance* balance) {
  Judgement judgement(recording);
  if (stream == format::Stream::kAllocations) judgement.OfHeap();
  judgement.Of(stream, tally);
  if (balance != nullptr) judgement.Of(*balance);
  return judgement.End();
}

const char* PrefixOf(format::Stream stream) {
  if (stream == format::Stream::kAllocations) return "";
  if (stream == format::Stream::kExceptions) return "exceptions: ";
  return stream == format::Stream::kMapped ? "mappings: " : "native memory: ";
}

std::string TrustText(const std::vector<std::string>& reasons) {
  if (reasons.empty()) return "yes";
  Text text;
  AppendPrintable(text, fmt::format("no, because {}", fmt::join(reasons, "; ")));
  return fmt::to_string(text);
}

}  // namespace heaprec::tools

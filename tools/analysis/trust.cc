#include "tools/analysis/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tools/render/text.h"

namespace heaprec::tools {
namespace {

// Less than the sampling error of any share that a recording can tell.
constexpr double kMaxLostShare = 0.001;
// The JVM delivers nothing while it creates an array class; a start-up has a few such objects. In a short recording
// they are more than the share above, and far less than the error of its estimates.
constexpr uint64_t kUsuallyMissed = 5;
constexpr double kMostMissedPercent = 1;

uint64_t Distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

class Judgement {
 public:
  Judgement(const Recording& recording, const Tally& tally)
      : recording_(recording), tally_(tally), books_(recording.books()), running_(recording.running()) {}

  Trust Run() {
    JudgeDamage();
    JudgeLosses();
    JudgeSource();
    JudgeBooks();
    JudgeSalvage();
    JudgeCap();
    NoteEnd();
    return std::move(trust_);
  }

 private:
  void No(std::string reason) { trust_.reasons.push_back(std::move(reason)); }
  void Note(std::string note) { trust_.notes.push_back(std::move(note)); }

  void JudgeDamage() {
    if (!recording_.damaged()) return;
    uint64_t bytes = 0;
    for (const format::SkippedRange& range : recording_.skipped()) bytes += range.end - range.begin;
    No(fmt::format("{} damaged bytes were skipped", Grouped(bytes)));
  }

  void JudgeLosses() {
    const double lost = std::accumulate(books_.lost_bytes.begin(), books_.lost_bytes.end(), 0.0);
    const double missed = books_.lost_bytes[static_cast<size_t>(format::Loss::kMissed)];
    const double all = std::max(static_cast<double>(books_.candidate_bytes), tally_.bytes());
    if (lost <= kMaxLostShare * all) return;
    const double percent = all > 0 ? 100 * lost / all : 100;
    if (lost == missed && Lost(format::Loss::kMissed) <= kUsuallyMissed && percent <= kMostMissedPercent) {
      return Note(fmt::format("the JVM did not deliver {} sampled objects, {:.2g} % of the bytes",
                              Lost(format::Loss::kMissed), percent));
    }
    No(fmt::format("{:.2g} % of the bytes were lost", percent));
  }

  void JudgeSource() {
    const std::string& source = recording_.header().source;
    if (source == "tlab") {
      No("source tlab charges a whole TLAB to whoever refilled it: attribution is biased");
    } else if (source != "hooks") {
      Note(fmt::format("source {}: bytes are known from the samples only", source));
    }
  }

  uint64_t Lost(format::Loss loss) const { return books_.lost[static_cast<size_t>(loss)]; }

  // The books of docs/sampler.md#books. A thread that was stopped in the middle of a hit has counted its point but not
  // yet what became of it: at most one per lane.
  void JudgeBooks() {
    const uint64_t slack = std::max<uint64_t>(recording_.lane_count(), 1);
    const uint64_t lost = Lost(format::Loss::kMissed) + Lost(format::Loss::kRingFull) + Lost(format::Loss::kLanesBusy) +
                          Lost(format::Loss::kOversized);
    const uint64_t known = books_.committed + books_.thinned + lost;
    if (books_.points + slack < known || known + slack < books_.points) {
      No(fmt::format("the books do not add up: {} points, but {} committed + {} thinned + {} lost",
                     Grouped(books_.points), Grouped(books_.committed), Grouped(books_.thinned), Grouped(lost)));
    }
    if (Lost(format::Loss::kNoClock) > 0) {
      No(fmt::format("{} allocations of threads without a byte clock were not counted",
                     Grouped(Lost(format::Loss::kNoClock))));
    }
    if (!recording_.damaged() && tally_.events() != books_.written) {
      No(fmt::format("the books say {} events were written, but there are {}", Grouped(books_.written),
                     Grouped(tally_.events())));
    }
    const uint64_t accounted = books_.written + books_.second_stage + Lost(format::Loss::kWriteFailed);
    const bool complete = recording_.ending().has_value() || (recording_.salvage().ring_found && !running_);
    if (complete && Distance(books_.committed, accounted) > slack) {
      No(fmt::format("{} committed samples are missing", Grouped(Distance(books_.committed, accounted))));
    }
  }

  void JudgeSalvage() {
    const SalvageReport& salvage = recording_.salvage();
    for (const std::string& error : salvage.errors) No("the ring could not be read to its end: " + error);
    if (salvage.invalid > 0) No(fmt::format("{} samples of the ring are invalid", Grouped(salvage.invalid)));
    if (salvage.unnamed > 0) No(fmt::format("{} salvaged events have lost names", Grouped(salvage.unnamed)));
  }

  void JudgeCap() {
    const uint64_t cap = recording_.header().interval_cap;
    if (cap > 0 && tally_.most_in_interval > cap) {
      No(fmt::format("an interval holds {} events, over its cap of {}", Grouped(tally_.most_in_interval),
                     Grouped(cap)));
    }
  }

  void NoteEnd() {
    if (recording_.ending()) return;
    if (running_) {
      Note("the recording is still running");
    } else if (recording_.salvage().ring_found) {
      Note("the recording was cut off; its ring is complete");
    } else {
      Note("the recording was cut off and its ring is gone: up to one interval is missing at the end");
    }
  }

  const Recording& recording_;
  const Tally& tally_;
  const format::Books& books_;
  const bool running_;
  Trust trust_;
};

}  // namespace

Trust Judge(const Recording& recording, const Tally& tally) { return Judgement(recording, tally).Run(); }

}  // namespace heaprec::tools

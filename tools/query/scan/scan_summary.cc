#include "tools/query/scan/scan_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tools/analysis/health/trust.h"
#include "tools/input/loss_summary.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// Fewer lost samples, as a share of all, are not worth a word.
constexpr double kFewLost = 0.001;

}  // namespace

void ScanSummary::Note(const Recording& recording, double seconds, uint64_t matched, const CensusStrata& census,
                       const std::vector<std::string>& reasons) {
  if (census.has_census && census.why_none.empty()) ++sharpened_;
  if (!census.why_none.empty()) blunted_.insert(census.Text());
  ++scanned_.recordings;
  with_losses_ += CountsLosses(recording.header()) ? 1 : 0;
  scanned_.events += recording.events();
  scanned_.matched += matched;
  scanned_.salvaged += recording.salvage().events;
  scanned_.seconds += seconds;
  scanned_.complete = scanned_.complete && !recording.misses_bytes();
  for (const format::Stream stream : format::kAllStreams) {
    const format::StreamCounters& counters = recording.counters(stream);
    scanned_.thinned += counters.thinned + counters.second_stage;
    scanned_.lost += counters.AllLost();
  }
  doubted_ += reasons.empty() ? 0 : 1;
  for (const std::string& reason : reasons) {
    if (std::ranges::find(doubts_, reason) == doubts_.end()) doubts_.push_back(reason);
  }
  render::Object one = HeaderValue(recording.header());
  const render::Object more{{"file", recording.source().name()},
                            {"samples", recording.events()},
                            {"matched", matched},
                            {"seconds", seconds},
                            {"running", recording.running()},
                            {"losses", LossesValue(recording)},
                            {"census", census.AsValue()},
                            {"trustworthy", reasons.empty()},
                            {"reasons", reasons}};
  one.insert(one.end(), more.begin(), more.end());
  recordings_.push_back(std::move(one));
}

std::string ScanSummary::LossLine() const {
  std::string line = "# ";
  if (scanned_.matched != scanned_.events) line += Grouped(scanned_.matched) + " of ";
  line += CountOf(scanned_.events, "sample");
  const uint64_t all = scanned_.events + scanned_.thinned + scanned_.lost;
  if (!HasLosses()) {
    line += ", losses unknown";
  } else if (scanned_.thinned > 0) {
    line += fmt::format(" kept of {} (rate limit; sums stay unbiased)", Grouped(all));
  }
  const double lost = static_cast<double>(scanned_.lost) / static_cast<double>(std::max<uint64_t>(all, 1));
  if (lost > kFewLost) line += fmt::format("; {} lost ({})", Grouped(scanned_.lost), ShortPercent(lost));
  if (scanned_.salvaged > 0) line += fmt::format("; {} salvaged from the ring", Grouped(scanned_.salvaged));
  if (sharpened_ > 0) {
    line += sharpened_ < scanned_.recordings ? fmt::format("; {} adjusted by a census", sharpened_)
                                             : "; adjusted by the census";
  }
  for (const std::string& text : blunted_) line += text;
  if (scanned_.recordings != 1) line += fmt::format("; {} recordings", scanned_.recordings);
  line += "\n";
  if (!merged_names_.empty()) line += "# " + merged_names_ + "\n";
  return line + (doubts_.empty() ? "" : "# trustworthy: " + TrustVerdict() + "\n");
}

std::string ScanSummary::TrustVerdict() const {
  if (doubts_.empty()) return "";
  const bool is_one = scanned_.recordings == 1;
  return TrustText(doubts_) + (is_one ? "" : fmt::format(" ({} of {} recordings)", doubted_, scanned_.recordings));
}

render::Object ScanSummary::AsObject() const {
  return {{"recordings", recordings_},
          {"samples", scanned_.events},
          {"matched", scanned_.matched},
          {"seconds", scanned_.seconds},
          {"thinned", HasLosses() ? render::Value(scanned_.thinned) : render::Value()},
          {"lost", HasLosses() ? render::Value(scanned_.lost) : render::Value()},
          {"salvaged", scanned_.salvaged},
          {"complete", scanned_.complete},
          {"trustworthy", doubts_.empty()},
          {"reasons", doubts_}};
}

}  // namespace heaprec::tools

#include "tools/query/scan/scan_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/analysis/health/trust.h"
#include "tools/analysis/totals/totals.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// The share of all bytes from which on a remark is printed.
constexpr double kMuchLeftOut = 0.01;

}  // namespace

void ScanSummary::Note(const Recording& recording, double seconds, const Points& points, const CensusStrata& census,
                       const std::vector<std::string>& reasons) {
  if (census.has_census && census.why_none.empty()) ++sharpened_;
  if (!census.why_none.empty()) blunted_.insert(census.Text());
  scanned_.Add(recording);
  scanned_.matched += points.matched;
  points_ += points.all;
  scanned_.calibrated_to += points.calibrated_to;
  left_out_ = std::max(left_out_, points.left_out);
  if (points.has_rows || scanned_.points > 0) scanned_.points = points_;
  scanned_.seconds += seconds;
  scanned_.complete = scanned_.complete && !recording.misses_bytes();
  doubted_ += reasons.empty() ? 0 : 1;
  for (const std::string& reason : reasons) {
    if (std::ranges::find(doubts_, reason) == doubts_.end()) doubts_.push_back(reason);
  }
  render::Object one = HeaderValue(recording.header());
  const render::Object more{{"file", recording.source().name()},
                            {"samples", recording.events()},
                            {"points", points.all},
                            {"calibrated_to_points", points.calibrated_to},
                            {"left_out_share", points.left_out},
                            {"matched", points.matched},
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
  std::string line = scanned_.Line(scanned_.matched);
  if (left_out_ > kMuchLeftOut)
    line += fmt::format("; {} of the bytes are of sites without samples and left out", ShortPercent(left_out_));
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
  const bool knows_losses = scanned_.counts_losses || scanned_.recordings == 0;
  return {{"recordings", recordings_},
          {"samples", scanned_.events},
          {"points", points_},
          {"calibrated_to_points", scanned_.calibrated_to},
          {"matched", scanned_.matched},
          {"seconds", scanned_.seconds},
          {"thinned", knows_losses ? render::Value(scanned_.thinned) : render::Value()},
          {"lost", knows_losses ? render::Value(scanned_.lost) : render::Value()},
          {"salvaged", scanned_.salvaged},
          {"complete", scanned_.complete},
          {"trustworthy", doubts_.empty()},
          {"reasons", doubts_}};
}

StreamTrust::StreamTrust(const format::FileHeader& header, format::Stream stream, bool has_design)
    : stream_(stream), totals_(header.CapOf(stream).interval_ns, stream) {
  if (stream == format::Stream::kAllocations && !has_design) own_.emplace(header);
}

void StreamTrust::Add(const format::Block& block, bool by_rows) {
  totals_.Add(block, by_rows);
  if (own_) own_->Add(block, by_rows);
}

std::vector<std::string> StreamTrust::Reasons(const Recording& recording, const Design* design) const {
  const Design* const read = own_ ? &*own_ : design;
  std::optional<CountCheck> balance;
  if (stream_ == format::Stream::kAllocations && read != nullptr) {
    Design counted = *read;  // more blocks may come
    counted.CountUnwritten(recording.counters(stream_));
    balance = CheckCounts(counted, recording.counters(stream_));
  }
  return TextsOf(AssessStreamTrust(recording, stream_, totals_, balance ? &*balance : nullptr).reasons);
}

}  // namespace heaprec::tools

#include "tools/query/scan_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tools/analysis/health/trust.h"
#include "tools/input/loss_summary.h"
#include "tools/text/text.h"

namespace heaprec::tools {

void Coverage::Note(const Recording& recording, double seconds, uint64_t chosen, const ByCensus& census,
                    const std::vector<std::string>& reasons) {
  if (census.has_census && census.why_none.empty()) ++sharpened_;
  if (!census.why_none.empty()) blunted_.insert(census.Text());
  ++covered_.recordings;
  covered_.events += recording.events();
  covered_.chosen += chosen;
  covered_.salvaged += recording.salvage().events;
  covered_.seconds += seconds;
  covered_.complete = covered_.complete && !recording.misses_bytes();
  for (const format::Stream stream : format::kAllStreams) {
    const format::Books& books = recording.books(stream);
    covered_.thinned += books.thinned + books.second_stage;
    covered_.lost += books.AllLost();
  }
  doubted_ += reasons.empty() ? 0 : 1;
  for (const std::string& reason : reasons) {
    if (std::ranges::find(doubts_, reason) == doubts_.end()) doubts_.push_back(reason);
  }
  nlohmann::json one = HeaderAsJson(recording.header());
  one["file"] = recording.source().name();
  one["events"] = recording.events();
  one["chosen"] = chosen;
  one["seconds"] = seconds;
  one["running"] = recording.running();
  one["losses"] = LossesAsJson(recording);
  one["census"] = census.AsJson();
  one["trustworthy"] = reasons.empty();
  one["reasons"] = reasons;
  recordings_.push_back(std::move(one));
}

std::string Coverage::LossLine() const {
  std::string line = "# ";
  if (covered_.chosen != covered_.events) line += Grouped(covered_.chosen) + " of ";
  line += fmt::format("{} events, {} thinned, {} lost", Grouped(covered_.events), Grouped(covered_.thinned),
                      Grouped(covered_.lost));
  if (covered_.salvaged > 0) line += fmt::format("; {} salvaged from the ring", Grouped(covered_.salvaged));
  if (sharpened_ > 0) {
    line += sharpened_ < covered_.recordings ? fmt::format("; {} sharpened by a census", sharpened_)
                                             : "; sharpened by a census";
  }
  for (const std::string& text : blunted_) line += text;
  if (covered_.recordings != 1) line += fmt::format("; {} recordings", covered_.recordings);
  return line + "\n" + (doubts_.empty() ? "" : "# trustworthy: " + Doubt() + "\n");
}

std::string Coverage::Doubt() const {
  if (doubts_.empty()) return "";
  const bool is_one = covered_.recordings == 1;
  return TrustText(doubts_) + (is_one ? "" : fmt::format(" ({} of {} recordings)", doubted_, covered_.recordings));
}

nlohmann::json Coverage::AsJson() const {
  return {{"recordings", recordings_},      {"events", covered_.events},
          {"chosen", covered_.chosen},      {"seconds", covered_.seconds},
          {"thinned", covered_.thinned},    {"lost", covered_.lost},
          {"salvaged", covered_.salvaged},  {"complete", covered_.complete},
          {"trustworthy", doubts_.empty()}, {"reasons", doubts_}};
}

}  // namespace heaprec::tools

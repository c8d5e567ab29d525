#include "tools/query/allocations/census_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/input/loss_summary.h"
#include "tools/input/stream_traits.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

constexpr char kNoCensus[] =
    ": the recording has no census; record with the agent option census=all or census=20/s, "
    "such as heaprec record --set census=all -- java ...";

std::string WhyNone(const Recording& recording) {
  const std::string& refused = recording.header().census_unavailable_reason;
  const std::string name = recording.source().name();
  return refused.empty() ? name + kNoCensus : fmt::format("{}: no census: {}", name, ToUtf8(refused));
}

// Returns the bytes of all candidates in the file; nullopt: unknown, as for a part of a recording.
std::optional<uint64_t> CandidatesOf(const Recording& recording) {
  if (recording.is_part()) return std::nullopt;  // candidates are not counted per second
  if (recording.has_nothing()) return std::nullopt;
  const format::CensusCounters& counters = recording.census_counters();
  if (counters == format::CensusCounters{}) return 0;  // so that the sum with other recordings stays known
  const uint64_t bytes = CandidateBytes(counters);
  const bool is_known = recording.header().census == format::CensusMode::kDrawn && bytes > 0;
  return is_known ? std::optional(bytes) : std::nullopt;
}

}  // namespace

Result<CensusScan> CensusScan::Parse(const CensusChoice& choice) {
  FilterOptions options;
  options.from = choice.from;
  options.to = choice.to;
  options.thread = choice.thread;
  options.class_name = choice.class_name;
  options.kinds = {kCensusKind};
  options.with_states = true;
  auto filter = Filter::Parse(options);
  if (!filter.ok()) return filter.error();
  return CensusScan(choice, std::move(*filter));
}

ExitCode CensusScan::Read(const std::vector<std::string>& paths) {
  return WalkFiles(paths, [this](Recording* recording) { return Read(recording); });
}

ExitCode CensusScan::Read(Recording* recording) {
  const format::FileHeader& header = recording->header();
  if (header.census == format::CensusMode::kOff) return Fail(ExitCode::kUnreadable, WhyNone(*recording));
  Filter filter = filter_;
  filter.Start(*recording);
  Walk(recording, nullptr, &filter, [&](const format::Block& block, Names& names) { Add(block, &names, &filter); });
  origins_.push_back({recording->source().name(), IdText(header), header.census, header.census_per_second,
                      recording->census_counters(), IsLaterPart(header),
                      header.census != format::CensusMode::kAll || recording->was_ended_by_recorder(),
                      recording->misses_bytes()});
  estimator_.AddCandidates(CandidatesOf(*recording));
  return ReportDamage(*recording);
}

// For one class this adds its rows, for all classes the totals.
void CensusScan::Add(const format::Block& block, Names* names, Filter* filter) {
  const bool one_class = !choice_.class_name.empty();
  for (const format::CensusRow& row : block.census) {
    if ((!one_class && choice_.by != CensusBy::kClass) || !filter->Keeps(row)) continue;
    table_.AddClass(GroupOf(row, names), names->Class(row.class_id), row);
    if (one_class) total_.AddClass("", names->Class(row.class_id), row);
  }
  for (const format::CensusRow& row : block.census_totals) {
    estimator_.Add(row);
    if (one_class || !filter->Keeps(row)) continue;
    total_.AddTotal("", row);
    if (choice_.by != CensusBy::kClass) table_.AddTotal(GroupOf(row, names), row);
  }
}

std::string CensusScan::GroupOf(const format::CensusRow& row, Names* names) const {
  switch (choice_.by) {
    case CensusBy::kClass:
      return std::string(names->Class(row.class_id));
    case CensusBy::kThread:
      return std::string(names->Thread(row.thread));
    case CensusBy::kTime:
      break;
  }
  return fmt::format("{:>6} s", row.time_ns / format::kCensusSlotNs);
}

bool CensusScan::ChoosesAll() const {
  return choice_.from.empty() && choice_.to.empty() && choice_.thread.empty() && choice_.class_name.empty();
}

Estimate CensusScan::TotalBytes() const {
  return ChoosesAll() ? estimator_.AllBytes() : estimator_.Bytes(total().sums);
}

bool CensusScan::is_exact() const {
  return std::ranges::all_of(origins_, [](const CensusOrigin& origin) {
    return origin.mode == format::CensusMode::kAll && origin.has_all_tlabs && !origin.misses_bytes &&
           origin.counters.is_complete();
  });
}

std::string CensusScan::LossLine() const {
  // Counters of a recording's parts are cumulative since its start.
  std::map<std::string, format::CensusCounters> last;
  for (const CensusOrigin& origin : origins_) {
    format::CensusCounters& counters = last[origin.recording_id];
    for (const auto counter : format::kCensusCounterFields) {
      counters.*counter = std::max(counters.*counter, origin.counters.*counter);
    }
  }
  format::CensusCounters all;
  for (const auto& [id, counters] : last) {
    for (const auto counter : format::kCensusCounterFields) all.*counter += counters.*counter;
  }
  std::string line = fmt::format("# {}{} walks", ChoosesAll() ? "" : "in the whole recording: ", Grouped(all.walks));
  if (all.tlabs + all.outside > 0)
    line += fmt::format(" of {} TLABs and {} objects outside", Grouped(all.tlabs), Grouped(all.outside));
  const auto add = [&line](uint64_t count, uint64_t bytes, const char* what) {
    const std::string amount = Bytes(static_cast<double>(bytes));
    if (count > 0) {
      line += fmt::format("; {} {} ({})", Grouped(count), what, amount);
    } else if (bytes > 0) {
      line += fmt::format("; {} {}", amount, what);
    }
  };
  add(all.aborted, all.aborted_bytes, "aborted");
  add(all.lost, all.lost_bytes, "lost");
  add(all.over_budget, all.over_budget_bytes, "over the limit of their second");
  add(all.unvisited, all.unvisited_bytes, "active TLABs at the end not counted");
  if (!std::ranges::all_of(origins_, &CensusOrigin::has_all_tlabs)) {
    line += "; TLABs in use when the recording was cut off, or copied, are not counted";
  }
  if (std::ranges::any_of(origins_, &CensusOrigin::is_later_part)) line += "; since the recording began";
  const bool has_range = !choice_.from.empty() || !choice_.to.empty();
  if (has_range && total().sums.walks == 0) {
    line += "\n# a census counts whole seconds: none with walks begins in this range; choose a longer one";
  }
  if (estimator_.has_too_few_walks()) {
    line += fmt::format(
        "\n# too few walks: they estimate {}, the count is {}; rows are ranges\n# record longer, or raise N in "
        "census=N/s",
        Bytes(estimator_.by_walks()), Bytes(estimator_.AllBytes().value));
  }
  return line + "\n";
}

void CensusTotals::Add(const format::Block& block) {
  for (const format::CensusRow& row : block.census_totals) {
    table_.AddTotal("", row);
    estimator_.Add(row);
  }
  if (!(block.census_counters == format::CensusCounters{})) counters_ = block.census_counters;
}

void CensusTotals::End(const Recording& recording) {
  counters_ = recording.census_counters();
  estimator_.AddCandidates(CandidatesOf(recording));
}

Estimate CensusTotals::Bytes() const { return estimator_.AllBytes(); }

Estimate CensusTotals::Objects() const { return estimator_.Objects(table_.All().sums); }

uint64_t CensusTotals::MissingBytes() const { return counters_.MissingBytes(); }

}  // namespace heaprec::tools

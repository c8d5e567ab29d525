#include "tools/query/summary/summary_query.h"

#include <algorithm>
#include <span>

#include "tools/analysis/estimate/row_calibration.h"
#include "tools/input/stream_traits.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

void AddTimes(const Recording& recording, const Filter* filter, AskedTime* asked, Facts* into) {
  Facts& facts = *into;
  uint64_t last_ns = 0;
  for (const StreamTotals& totals : facts.totals.of) last_ns = std::max(last_ns, totals.last_ns);
  const auto [begin_ns, end_ns] = RecordedTime(recording, last_ns);
  facts.end_ns = end_ns;
  facts.duration_ns = facts.asked_ns = end_ns - begin_ns;
  if (filter != nullptr) {
    const auto [from_ns, to_ns] = asked->Add(recording, *filter, last_ns);
    facts.asked_ns = to_ns - from_ns;
  }
  const format::Stream stream = MainStream(recording.header());
  const format::StreamCap cap = recording.header().CapOf(stream);
  // Uses whole intervals if they have a cap: the last one may have reached its cap before it was cut off.
  const uint64_t interval_ns = cap.rate_per_second > 0 ? std::max<uint64_t>(cap.interval_ns, 1) : 1;
  const uint64_t intervals = (facts.duration_ns + interval_ns - 1) / interval_ns;
  const double seconds = static_cast<double>(intervals) * static_cast<double>(interval_ns) * 1e-9;
  const StreamTotals& totals = facts.totals[stream];
  if (seconds > 0) facts.mean_rate = static_cast<double>(totals.events()) / seconds;
  if (cap.rate_per_second > 0) facts.fill = facts.mean_rate / cap.rate_per_second;
  const uint64_t in_file = facts.events - recording.salvage().events;
  if (in_file > 0) facts.bytes_per_event = static_cast<double>(recording.bytes_read()) / static_cast<double>(in_file);
  const auto& ending = recording.ending();
  facts.ended = ending ? ToUtf8(ending->reason) : recording.running() ? "still running" : "cut off";
}

}  // namespace

void OutsideTotals::Add(const format::Block& block, Names* names) {
  for (const format::Row& row : block.outside) {
    all.Add(row);
    classes[std::string(names->Class(row.class_id))].Add(row);
  }
}

ClassSiteTotals::Keeps KeptBy(Filter* filter) {
  if (filter == nullptr) return {};
  return [filter](const format::Sample& sample) { return filter->Keeps(sample); };
}

Facts FactsOf(Recording* recording, Filter* filter, VolumeOfBlocks* volume, ClassSiteTotals* breakdown,
              AskedTime* asked) {
  const format::FileHeader& header = recording->header();
  Facts facts{.totals = TotalsOfStreams(header), .heap = GcSummary(header)};
  ExceptionTotalsBuilder thrown(header, KeptBy(filter));
  LiveAtEnd live(header);
  Walk(recording, breakdown->merged(), filter, [&](format::Block& block, Names& names) {
    for (StreamTotals& totals : facts.totals.of) totals.Add(block);
    thrown.Add(block, &names);
    facts.heap.Add(block);
    facts.full.Add(block);
    live.Add(block);
    facts.census.Add(block);
    if (filter == nullptr) facts.outside.Add(block, &names);
    const std::span<const WeightedSample> parts = volume->Add(block);
    if (volume->takes_rows(block)) {
      block.samples = SamplesOfRows(block, header.interval_ns);
      facts.has_rows = true;
    }
    breakdown->Add(block, parts, &names);
  });
  facts.census.End(*recording);
  facts.events = recording->events();
  facts.points = volume->design().all().samples();
  facts.volume = volume->Close(recording->counters());
  facts.thrown = thrown.Close(recording->counters(format::Stream::kExceptions));
  AddTimes(*recording, filter, asked, &facts);
  facts.live = live.Close(facts.end_ns);
  return facts;
}

}  // namespace heaprec::tools

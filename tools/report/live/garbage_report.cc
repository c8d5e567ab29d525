// heaprec live --garbage: single objects that died.
#include <algorithm>

#include "tools/input/stream_traits.h"
#include "tools/report/live/live_report.h"

namespace heaprec::tools {

using namespace render;

namespace {

// The groupings, in this order.
enum { kClass, kThread, kStack };

struct TraceRow {
  DeadTrace trace;
  uint64_t died_at_ns = 0;  // since the start of the recording
  std::string class_name, thread;
  std::vector<std::string> frames;  // the root first
};

// The root first.
std::vector<std::string> FramesOf(CallTree::NodeId node, const CallTree& tree) {
  std::vector<std::string> frames;
  for (; node != CallTree::kRoot; node = tree.At(node).parent) frames.emplace_back(tree.NameOf(node));
  std::ranges::reverse(frames);
  return frames;
}

std::vector<TraceRow> RowsOf(const LiveAnswer& answer, bool newest) {
  std::vector<DeadTrace> traces = newest ? answer.live.newest_garbage() : answer.live.sampled_garbage().kept();
  if (!newest) {
    std::stable_sort(traces.begin(), traces.end(),
                     [](const DeadTrace& a, const DeadTrace& b) { return a.died_ns < b.died_ns; });
  }
  std::vector<TraceRow> rows;
  for (const DeadTrace& trace : traces) {
    rows.push_back({trace, trace.died_ns - answer.live.start_epoch_ns(), answer.tree.names().At(trace.keys[kClass]),
                    answer.tree.names().At(trace.keys[kThread]), FramesOf(trace.keys[kStack], answer.tree)});
  }
  return rows;
}

double SecondsOf(const TraceRow& row) { return static_cast<double>(row.trace.died_ns - row.trace.born_ns) * 1e-9; }

std::string NameOf(const TraceRow& row) {
  return row.class_name + "  " + (row.frames.empty() ? "[unknown]" : row.frames.back());
}

std::vector<Column<TraceRow>> TraceColumns(const LifecycleTerms& terms) {
  return {{"", std::string(terms.ended) + " at", Unit::kNanoseconds, Detail::kTextOnly, &TraceRow::died_at_ns},
          {"died_ns", "", Unit::kEpochNs, Detail::kJsonOnly, [](const TraceRow& row) { return row.trace.died_ns; }},
          {"born_ns", "", Unit::kEpochNs, Detail::kJsonOnly, [](const TraceRow& row) { return row.trace.born_ns; }},
          {"lifetime_seconds", "lifetime", Unit::kSeconds, Detail::kAlways, SecondsOf},
          {"survived", terms.is_collected ? "collections" : "", Unit::kInteger, Detail::kWide,
           [](const TraceRow& row) { return row.trace.survived; }},
          {"size", "size", Unit::kBytes, Detail::kAlways, [](const TraceRow& row) { return row.trace.size; }},
          {"weight_bytes", "weight", Unit::kBytes, Detail::kWide, [](const TraceRow& row) { return row.trace.weight; }},
          {"class", "", Unit::kText, Detail::kJsonOnly, &TraceRow::class_name},
          {"thread", "", Unit::kText, Detail::kJsonOnly, &TraceRow::thread},
          {"frames", "", Unit::kText, Detail::kJsonOnly, &TraceRow::frames},
          {"", terms.is_collected ? "class, allocated by" : "call, made by", Unit::kText, Detail::kTextOnly, NameOf}};
}

}  // namespace

Report GarbageReport(const LiveAnswer& answer, bool newest) {
  const LifecycleTerms terms = TraitsOf(answer.live.stream()).lifecycle;
  std::vector<TraceRow> rows = RowsOf(answer, newest);
  const size_t count = rows.size();
  Report report("heaprec.garbage/1");
  report.Add(LiveContext(answer));
  report.Add(Hidden({{"which", newest ? "recent" : "sample"}}));
  report.Add(Sentence(
      "{} of {} sampled " + std::string(terms.things) + " that " + (terms.is_collected ? "" : "were ") + terms.ended +
          ", " + (newest ? "newest first" : "chosen at random"),
      {{"", uint64_t{count}, Unit::kInteger}, {"died", answer.live.sampled_garbage().seen(), Unit::kInteger}}));
  if (answer.ranking.limit > 0 && count > answer.ranking.limit) rows.resize(answer.ranking.limit);
  report.Add(MakeTable("traces", TraceColumns(terms), rows, count));
  report.Add(LiveFooter(answer));
  return report;
}

}  // namespace heaprec::tools

// heaprec live --garbage: single objects that died.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/analysis/lifecycle_terms.h"
#include "tools/report/group_estimates_format.h"
#include "tools/report/live_format.h"
#include "tools/report/live_report.h"
#include "tools/text/table.h"
#include "tools/text/terminal.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

// The groupings, in this order.
enum { kClass, kThread, kStack };

std::vector<std::string> FramesOf(CallTree::NodeId node, const CallTree& tree) {
  std::vector<std::string> frames;
  for (; node != CallTree::kRoot; node = tree.At(node).parent) frames.emplace_back(tree.NameOf(node));
  return frames;
}

std::vector<DeadTrace> TracesOf(const LiveReport& report, bool newest) {
  std::vector<DeadTrace> traces = newest ? report.live.newest_garbage() : report.live.sampled_garbage().kept();
  if (!newest) {
    std::stable_sort(traces.begin(), traces.end(),
                     [](const DeadTrace& a, const DeadTrace& b) { return a.died_ns < b.died_ns; });
  }
  return traces;
}

double SecondsOf(const DeadTrace& trace) { return static_cast<double>(trace.died_ns - trace.born_ns) * 1e-9; }

json GarbageJson(const LiveReport& report, bool newest) {
  const CallTree& tree = report.tree;
  json document = LiveDocument(report, "heaprec.garbage/1");
  document["which"] = newest ? "recent" : "sample";
  document["died"] = report.live.sampled_garbage().seen();
  document["traces"] = json::array();
  for (const DeadTrace& trace : TracesOf(report, newest)) {
    const std::vector<std::string> frames = FramesOf(trace.keys[kStack], tree);
    document["traces"].push_back({{"died_ns", trace.died_ns},
                                  {"born_ns", trace.born_ns},
                                  {"life_seconds", SecondsOf(trace)},
                                  {"survived", trace.survived},
                                  {"size", trace.size},
                                  {"weight_bytes", trace.weight},
                                  {"class", tree.names().At(trace.keys[kClass])},
                                  {"thread", tree.names().At(trace.keys[kThread])},
                                  {"frames", std::vector<std::string>(frames.rbegin(), frames.rend())}});
  }
  return document;
}

std::string GarbageText(const LiveReport& report, bool newest) {
  const std::vector<DeadTrace> traces = TracesOf(report, newest);
  const CallTree& tree = report.tree;
  const Terminal terminal = Terminal::Of(STDOUT_FILENO);
  Text text;
  const LiveWords words = WordsOf(report.live.stream());
  Append(text,
         fmt::format("{} of {} sampled {} that {}{}, {}\n\n", Grouped(traces.size()),
                     Grouped(report.live.sampled_garbage().seen()), words.things, words.is_collected ? "" : "were ",
                     words.ended, newest ? "the last one first" : "each with the same chance"));
  std::vector<Column> columns{{fmt::format("{} at", words.ended)}, {"lived"}};
  if (words.is_collected) columns.push_back({"collections", 2});
  columns.insert(columns.end(), {{"size", 4}, {"stands for", 3}});
  Table table(columns, words.is_collected ? "class, allocated by" : "call, made by");
  const size_t count = report.ranking.limit > 0 ? std::min(report.ranking.limit, traces.size()) : traces.size();
  for (size_t i = 0; i < count; ++i) {
    const DeadTrace& trace = traces[i];
    std::vector<std::string> frames = FramesOf(trace.keys[kStack], tree);
    if (frames.empty()) frames.emplace_back("[unknown]");
    const double died_s = static_cast<double>(trace.died_ns - report.live.start_epoch_ns()) * 1e-9;
    const auto size = static_cast<double>(trace.size);
    std::vector<Cell> cells{{fmt::format("{:.3f} s", died_s), ""}, {AgeText(SecondsOf(trace)), ""}};
    if (words.is_collected) cells.push_back({Grouped(trace.survived), ""});
    cells.push_back(BytesCell({size, size, size}));
    cells.push_back(BytesCell({trace.weight, trace.weight, trace.weight}));
    table.Add(std::move(cells), tree.names().At(trace.keys[kClass]) + "  " + frames.front());
  }
  table.AppendTo(terminal, &text);
  if (count < traces.size()) {
    const std::string rest = fmt::format("... {} more; --limit 0 shows all", Grouped(traces.size() - count));
    Append(text, terminal.Dim(rest) + "\n");
  }
  Append(text, "\n" + LiveBottomline(report));
  return fmt::to_string(text);
}

}  // namespace

std::string GarbageForm(const LiveReport& report, bool newest, LiveForm form) {
  if (form == LiveForm::kText) return GarbageText(report, newest);
  return GarbageJson(report, newest).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace heaprec::tools

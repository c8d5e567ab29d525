#include "tools/report/columns/selection.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "tools/input/stream_traits.h"
#include "tools/report/columns/group_columns.h"

namespace heaprec::tools {

using namespace render;

namespace {

Unit UnitOfTotal(const RecordingScan& scan) { return scan.of_exceptions() ? Unit::kCount : Unit::kBytes; }

// The sentence, with the fields in the order of its placeholders.
Line Totals(const RecordingScan& scan) {
  const GroupEstimates matched = scan.matched();
  const double seconds = scan.summary().scanned().seconds;
  const std::string command = TraitsOf(scan.stream()).verb;
  Line line = Sentence("{} " + command + " in {}");
  if (scan.filter().chooses_all()) {
    line.fields = {{"total", scan.total(), UnitOfTotal(scan)}};
  } else {
    line.text = "{}, {} of all that was " + command + ", in {}";
    line.fields = {{"", matched.bytes, UnitOfTotal(scan)}, {"", matched.share, Unit::kShare}};
  }
  line.fields.push_back({"", static_cast<uint64_t>(seconds * 1e9), Unit::kNanoseconds});
  if (seconds > 0) {
    const Unit unit = scan.of_exceptions() ? Unit::kPerSecond : Unit::kBytesPerSecond;
    line.Continue(", {value}", {{"", Scaled(matched.bytes, 1 / seconds), unit}});
  }
  if (scan.of_exceptions()) return line;
  return line.Continue(std::string("; {} ") + TraitsOf(scan.stream()).lifecycle.things,
                       {{"", matched.objects, Unit::kCount}});
}

}  // namespace

std::vector<Line> HeadlineOf(const RecordingScan& scan) {
  std::vector<Field> hidden{
      {"unit", scan.of_exceptions() ? "events" : "bytes"}, {"share_of", scan.share_of()}, {"total", scan.total()}};
  for (const auto& [path, estimates] : {std::pair{"matched", scan.matched()}, {"detection_limit", scan.unseen()}}) {
    std::ranges::move(GroupFields(path, estimates, scan), std::back_inserter(hidden));
  }
  hidden.push_back({"scan", scan.summary().AsObject()});
  return {Totals(scan), Hidden(std::move(hidden))};
}

std::vector<Line> LossLines(const RecordingScan& scan) {
  std::vector<Line> lines;
  std::istringstream losses(scan.summary().LossLine());
  for (std::string line; std::getline(losses, line);) lines.push_back(Sentence(line));
  return lines;
}

Line LimitLine(const std::string& what, const Estimate& unseen, Unit unit, const std::string& json) {
  if (IsUnknown(unseen))
    return Sentence("detection limit: unknown, because there are no samples", {{json, Value(), unit}});
  if (!(unseen.high > 0)) return Hidden({{json, unseen.high, unit}});  // everything was kept
  return Sentence("detection limit: " + what + " at most {} (95 %)", {{json, unseen.high, unit}});
}

std::vector<Line> FooterOf(const RecordingScan& scan, std::string_view what) {
  std::vector<Line> lines;
  lines.push_back(LimitLine(
      "a " + std::string(what) + " without " + scan.observed() + "s " + (scan.of_exceptions() ? "threw" : "allocated"),
      scan.unseen().bytes, UnitOfTotal(scan)));
  std::ranges::move(LossLines(scan), std::back_inserter(lines));
  return lines;
}

std::vector<std::string> FramesOf(CallTree::NodeId node, const CallTree& tree) {
  std::vector<std::string> frames;
  for (; node != CallTree::kRoot; node = tree.At(node).parent) frames.emplace_back(tree.NameOf(node));
  std::ranges::reverse(frames);
  return frames;
}

std::vector<std::string> CallersOf(const std::vector<std::string>& frames, size_t most) {
  if (frames.empty()) return {};
  std::vector<std::string> callers(frames.rbegin() + 1, frames.rend());
  if (callers.size() <= most) return callers;
  callers.resize(most);
  callers.emplace_back("...");
  return callers;
}

}  // namespace heaprec::tools

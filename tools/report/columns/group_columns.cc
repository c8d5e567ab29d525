#include "tools/report/columns/group_columns.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <sstream>
#include <string_view>

#include "tools/input/stream_traits.h"

namespace heaprec::tools {

using namespace render;

namespace {

// Per second of the read data; unknown if there is none.
Estimate PerSecond(const Estimate& of, double seconds) {
  return seconds > 0 ? Scaled(of, 1 / seconds) : Estimate{0, 0, std::numeric_limits<double>::infinity()};
}

using FiguresOfRow = const GroupEstimates& (*)(const GroupRow&);
const GroupEstimates& Own(const GroupRow& row) { return row.own; }
const GroupEstimates& Other(const GroupRow& row) { return *row.other; }

// `is_shown`: also in text.
void AddColumns(const GroupWords& words, const std::string& path, FiguresOfRow of, bool is_shown,
                std::vector<Column<GroupRow>>* into) {
  const auto heading = [is_shown](const char* text) { return is_shown ? text : ""; };
  const auto rate = [of](const GroupRow& row) { return PerSecond(of(row).bytes, row.seconds); };
  into->push_back(
      {path + "points", "", Unit::kInteger, Detail::kJsonOnly, [of](const GroupRow& row) { return of(row).samples; }});
  if (words.counts_events) {
    into->push_back({path + "events_per_second", heading("events/s"), Unit::kPerSecond, Detail::kWide, rate});
    return;
  }
  into->push_back({path + "objects", heading(words.things), Unit::kCount, Detail::kWide,
                   [of](const GroupRow& row) { return of(row).objects; }});
  into->push_back({path + "bytes_per_second", heading("bytes/s"), Unit::kBytesPerSecond, Detail::kWide, rate});
  into->push_back({path + "mean_size", heading("mean size"), Unit::kBytes, Detail::kWide,
                   [of](const GroupRow& row) { return of(row).mean_size; }});
}

void AddSizeAndShare(const GroupWords& words, const std::string& path, const char* heading, FiguresOfRow of,
                     Detail interval, std::vector<Column<GroupRow>>* into) {
  into->push_back({path + (words.counts_events ? "events" : "bytes"), heading,
                   words.counts_events ? Unit::kCount : Unit::kBytes, Detail::kAlways,
                   [of](const GroupRow& row) { return of(row).bytes; }, interval});
  into->push_back({path + "share", *heading == 0 ? "" : words.share, Unit::kShare, Detail::kAlways,
                   [of](const GroupRow& row) { return of(row).share; }});
}

}  // namespace

GroupWords WordsOf(const RecordingScan& scan) {
  GroupWords words;
  words.counts_events = scan.of_exceptions();
  words.things = TraitsOf(scan.stream()).lifecycle.things;
  if (!scan.filter().chooses_all())
    words.share = std::string_view(scan.share_of()) == "selection" ? "of selection" : "of all";
  return words;
}

std::vector<Column<GroupRow>> GroupColumns(const GroupWords& words) {
  std::vector<Column<GroupRow>> columns;
  AddSizeAndShare(words, "", words.counts_events ? "events" : "bytes", Own, Detail::kAlways, &columns);
  if (!words.other.empty()) {
    AddSizeAndShare(words, words.other + ".", words.shows_other ? "with callees" : "", Other, Detail::kWide, &columns);
  }
  AddColumns(words, "", Own, true, &columns);
  if (!words.other.empty()) AddColumns(words, words.other + ".", Other, false, &columns);
  if (words.outside) {
    columns.push_back({"outside_tlabs.bytes", "outside TLABs", Unit::kBytes, *words.outside,
                       [](const GroupRow& row) { return row.outside.bytes; }});
    columns.push_back({"outside_tlabs.objects", "", Unit::kInteger, Detail::kJsonOnly,
                       [](const GroupRow& row) { return row.outside.objects; }});
  }
  if (words.has_frames) columns.push_back({"frames", "", Unit::kText, Detail::kJsonOnly, &GroupRow::frames});
  if (words.has_source) columns.push_back({"source", "", Unit::kText, Detail::kJsonOnly, &GroupRow::source});
  columns.push_back({"name", words.name, Unit::kText, Detail::kAlways, &GroupRow::name});
  return columns;
}

std::vector<Field> GroupFields(const std::string& path, const GroupEstimates& estimates, const RecordingScan& scan) {
  std::vector<Column<GroupRow>> columns = GroupColumns(WordsOf(scan));
  columns.pop_back();  // this table has no names
  return FieldsOf(
      path, columns,
      GroupRow{.name = {}, .own = estimates, .seconds = scan.summary().scanned().seconds, .other = {}, .frames = {}});
}

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

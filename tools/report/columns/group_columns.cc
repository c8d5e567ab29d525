#include "tools/report/columns/group_columns.h"

#include <limits>
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

}  // namespace heaprec::tools

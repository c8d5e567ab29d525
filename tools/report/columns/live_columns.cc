#include "tools/report/columns/live_columns.h"

#include <functional>
#include <iterator>

#include "tools/input/stream_traits.h"
#include "tools/report/columns/group_columns.h"

namespace heaprec::tools {

using namespace render;

namespace {

Line MajorsLine(const LiveResult& live) {
  Line line = Sentence(
      "only major collections of generational ZGC show which tracked objects are dead; {} of them did by the end",
      {{"", live.collections, Unit::kInteger}});
  if (live.is_range()) {
    line.text +=
        "; objects allocated since the last one may be garbage: ranges begin at what is known to be live; "
        "`jcmd PID GC.run` before the end narrows them";
  }
  return line;
}

Line OldGarbageLine(const LiveResult& live) {
  std::string text =
      "{}: objects that died in the old generation since its last collection count as live; "
      "`jcmd PID GC.run` before the end shows what is live";
  if (live.question.leaks) {
    text = "{}: garbage in the old generation may be among the leaks; ";
    text += live.old_collections ? "to rule that out, collect it at least three times, spread over at least half of "
                                   "this time (`jcmd PID GC.run`)"
                                 : "the recording does not say when it was collected";
  }
  return Sentence(std::move(text), {{"", live.old_garbage_of}});
}

}  // namespace

const std::vector<std::string>& LiveSortKeys() {
  static const auto* keys =
      new std::vector<std::string>{"bytes", "objects", "growth", "age", "survived", "samples", "name"};
  return *keys;
}

const std::vector<std::string>& LifetimeSortKeys() {
  static const auto* keys = new std::vector<std::string>{"bytes", "promoted", "gc", "samples", "name"};
  return *keys;
}

std::vector<Column<LiveRow>> LiveColumns(const LiveResult& live, const std::string& name_heading, bool has_frames) {
  const LifecycleTerms terms = TraitsOf(live.stream).lifecycle;
  const bool is_known = live.knows_growth();
  const auto of = [](auto LiveEstimates::*member) {
    return [=](const LiveRow& row) -> Value { return row.range.estimates.*member; };
  };
  const auto growth = [is_known](auto Slope::*member) {
    return [=](const LiveRow& row) { return is_known ? Value(row.growth.*member) : Value(); };
  };
  std::vector<Column<LiveRow>> columns{
      {"bytes", "bytes", Unit::kBytes, Detail::kAlways, of(&LiveEstimates::bytes), Detail::kAlways},
      {"share", "share", Unit::kShare, Detail::kAlways, of(&LiveEstimates::share)},
      {"growth", "growth", Unit::kGrowth, Detail::kAlways, growth(&Slope::per_second)},
      {"growth.p", "", Unit::kProbability, Detail::kJsonOnly, growth(&Slope::p)},
      {"objects", terms.things, Unit::kCount, Detail::kWide, of(&LiveEstimates::objects)},
      {"mean_age_seconds", "mean age", Unit::kSeconds, Detail::kWide, of(&LiveEstimates::mean_age_s)},
      {"median_age_seconds", "", Unit::kSeconds, Detail::kJsonOnly, of(&LiveEstimates::median_age_s)},
      {"mean_survived", terms.is_collected ? "collections" : "", Unit::kNumber, Detail::kWide,
       of(&LiveEstimates::mean_survived)},
      {"median_survived", "", Unit::kNumber, Detail::kJsonOnly, of(&LiveEstimates::median_survived)},
      {"samples", "", Unit::kInteger, Detail::kJsonOnly, of(&LiveEstimates::samples)}};
  if (live.is_range()) {
    columns.push_back(
        {"known_bytes", "", Unit::kBytes, Detail::kJsonOnly, PartOf(&LiveRow::range, &LiveRange::known_bytes)});
    columns.push_back(
        {"known_objects", "", Unit::kCount, Detail::kJsonOnly, PartOf(&LiveRow::range, &LiveRange::known_objects)});
  }
  columns.push_back({"series_bytes", "", Unit::kBytes, Detail::kJsonOnly,
                     [is_known](const LiveRow& row) { return is_known ? Value(row.series) : Value(); }});
  columns.push_back({"", "over time", Unit::kSparkline, Detail::kHtmlOnly, &LiveRow::series});
  if (has_frames) columns.push_back({"frames", "", Unit::kText, Detail::kJsonOnly, &LiveRow::frames});
  columns.push_back({"name", name_heading, Unit::kText, Detail::kAlways, &LiveRow::name});
  return columns;
}

std::vector<Field> LiveFields(const std::string& path, const LiveRow& all, const LiveResult& live) {
  std::vector<Column<LiveRow>> columns = LiveColumns(live, "");
  columns.pop_back();  // this table has no names
  return FieldsOf(path, columns, all);
}

Value PathsValue(const std::vector<GroupPath>& paths) {
  std::vector<std::string> names;
  for (const GroupPath& one : paths) names.push_back(one.path);
  return Value(names);
}

Value PathSharesValue(const std::vector<GroupPath>& paths) {
  std::vector<Estimate> shares;
  for (const GroupPath& one : paths) shares.push_back(one.share);
  return Value(shares);
}

Line LiveContext(const LiveAnswer& answer) {
  const LiveResult& live = answer.live;
  return Hidden({{"scan", answer.scan.summary().AsObject()},
                 {"at_ns", live.moments.at_ns, Unit::kNanoseconds},
                 {"from_ns", live.moments.from_ns, Unit::kNanoseconds},
                 {"to_ns", live.moments.to_ns, Unit::kNanoseconds},
                 {"start_epoch_ns", live.start_epoch_ns, Unit::kEpochNs},
                 {"survived", live.moments.survived, Unit::kInteger},
                 {"min_age_ns", live.question.least_age_ns, Unit::kNanoseconds},
                 {"growth_survived", live.moments.grown, Unit::kInteger},
                 {"collections", live.knows_collections ? Value(live.collections) : Value(), Unit::kInteger},
                 {"of_majors", live.of_majors},
                 {"old_collections", live.old_collections, Unit::kInteger},
                 {"untracked.samples", live.untracked, Unit::kInteger},
                 {"untracked.bytes", live.untracked_bytes, Unit::kBytes}});
}

std::vector<Line> LiveFooter(const LiveAnswer& answer) {
  const LiveResult& live = answer.live;
  std::vector<Line> lines;
  if (live.of_majors) lines.push_back(MajorsLine(live));
  if (!live.old_garbage_of.empty() && !live.has_old_growth()) lines.push_back(OldGarbageLine(live));
  if (live.untracked > 0) {
    lines.push_back(
        Sentence("{} sample(s) could not be tracked (table full; {} of these rows); other samples of the same second "
                 "carry their weight",
                 {{"", live.untracked, Unit::kInteger}, {"", live.untracked_bytes, Unit::kBytes}}));
  }
  if (live.without > 0) {
    lines.push_back(Sentence(std::string("left out: {} recording(s) without ") + TraitsOf(live.stream).lifecycle.option,
                             {{"", uint64_t{live.without}, Unit::kInteger}}));
  }
  std::ranges::move(LossLines(answer.scan), std::back_inserter(lines));
  return lines;
}

const char* WhySurvivorsAreUnknown(const LiveResult& live) {
  return live.knows_collections ? kNoCheck : kNoCollections;
}

const char* WhyGrowthIsUnknown(const LiveResult& live) {
  return live.knows_history() ? WhySurvivorsAreUnknown(live)
                              : "an import has the objects that were live at its end, not those that died before";
}

Line CollectionsOf(const LiveResult& live, uint64_t count) {
  if (!live.knows_collections) return Sentence("an unknown number of collections");
  return Sentence(live.of_majors ? "{} major collection(s)" : "{} collection(s)", {{"", count, Unit::kInteger}});
}

Line Survived(uint64_t collections) {
  if (collections == 0) return {};
  return Sentence(" that survived {} collection(s)", {{"", collections, Unit::kInteger}});
}

std::vector<Column<std::vector<Survival>>> SurvivalColumns(const std::string& age) {
  using Curve = std::vector<Survival>;
  const auto all = [](auto get) {
    return [get](const Curve& curve) {
      List list;
      for (const Survival& one : curve) list.emplace_back(std::invoke(get, one));
      return Value(std::move(list));
    };
  };
  return {{age, "", Unit::kSeconds, Detail::kJsonOnly, all(&Survival::age)},
          {"reached", "", Unit::kShare, Detail::kJsonOnly, all([](const Survival& one) { return one.reached.value; })},
          {"low", "", Unit::kShare, Detail::kJsonOnly, all([](const Survival& one) { return one.reached.low; })},
          {"high", "", Unit::kShare, Detail::kJsonOnly, all([](const Survival& one) { return one.reached.high; })}};
}

}  // namespace heaprec::tools

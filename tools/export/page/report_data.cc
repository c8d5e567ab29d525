#include "tools/export/page/report_data.h"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tools/export/page/column_packer.h"

namespace heaprec::tools {
namespace {

using render::List;
using render::Member;
using render::Object;

template <typename Value>
void Add(const char* name, const std::vector<Value>& values, ColumnPacker* packer) {
  packer->Add(name, std::span<const Value>(values));
}

template <typename Row, typename Get>
void AddColumn(const char* name, const std::vector<Row>& rows, Get get, ColumnPacker* packer) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(static_cast<double>(get(row)));
  Add(name, values, packer);
}

void AddSamples(const SampleColumns& columns, ColumnPacker* packer) {
  Add("second", columns.second, packer);
  Add("microsecond", columns.microsecond, packer);
  Add("class", columns.class_id, packer);
  Add("node", columns.node, packer);
  Add("thread", columns.thread, packer);
  Add("size", columns.size, packer);
  Add("window", columns.window, packer);
  Add("parted", columns.parted, packer);
  Add("weight_code", columns.weight_code, packer);
  Add("explicit_weight", columns.explicit_weights, packer);
  Add("explicit_first_weight", columns.explicit_first_weights, packer);
  Add("explicit_size", columns.explicit_sizes, packer);
  Add("uncounted", columns.uncounted, packer);
  Add("chosen", columns.chosen, packer);
  Add("recording", columns.recording, packer);
  Add("alive", columns.alive, packer);
  Add("alive_weight", columns.alive_weights, packer);
  Add("alive_age", columns.alive_ages, packer);
  Add("lambda", columns.lambdas, packer);
  const std::array names{"rounding0", "rounding1", "rounding2", "rounding3"};
  for (size_t level = 0; level < names.size(); ++level) Add(names[level], columns.rounding[level], packer);
}

void AddLines(const SampleColumns& columns, ColumnPacker* packer) {
  std::vector<uint32_t> begins, ends;
  for (const SampleLine& line : columns.lines) begins.push_back(line.begin), ends.push_back(line.end);
  Add("line_begin", begins, packer);
  Add("line_end", ends, packer);
  AddColumn(
      "line_weight", columns.lines, [](const SampleLine& line) { return line.weight; }, packer);
}

// Parents as steps back, which are mostly 1.
void AddTree(const SampleColumns& columns, ColumnPacker* packer) {
  std::vector<uint32_t> back;
  for (uint32_t node = 0; node < columns.node_parent.size(); ++node) back.push_back(node - columns.node_parent[node]);
  Add("node_back", back, packer);
  Add("node_name", columns.node_name, packer);
  Add("node_type", columns.node_type, packer);
  Add("classes", columns.classes, packer);
  Add("threads", columns.threads, packer);
}

void AddAxis(const SampleColumns& columns, ColumnPacker* packer) {
  using Interval = SampleColumns::IntervalRow;
  AddColumn(
      "interval_begin", columns.intervals, [](const Interval& row) { return row.begin_ns; }, packer);
  AddColumn(
      "interval_bytes", columns.intervals, [](const Interval& row) { return row.bytes; }, packer);
  AddColumn(
      "interval_held", columns.intervals, [](const Interval& row) { return row.held; }, packer);
  AddColumn(
      "interval_kept", columns.intervals, [](const Interval& row) { return row.kept; }, packer);
  using Window = SampleColumns::WindowRow;
  AddColumn(
      "window_start", columns.windows, [](const Window& row) { return row.start_ns; }, packer);
  AddColumn(
      "window_lambda", columns.windows, [](const Window& row) { return row.lambda; }, packer);
  using Heap = SampleColumns::HeapRow;
  AddColumn(
      "heap_time", columns.heap, [](const Heap& row) { return row.time_ns; }, packer);
  AddColumn(
      "heap_used", columns.heap, [](const Heap& row) { return row.used; }, packer);
  AddColumn(
      "heap_committed", columns.heap, [](const Heap& row) { return row.committed; }, packer);
  using Pause = SampleColumns::PauseRow;
  AddColumn(
      "pause_begin", columns.pauses, [](const Pause& row) { return row.begin_ns; }, packer);
  AddColumn(
      "pause_length", columns.pauses, [](const Pause& row) { return row.pause_ns; }, packer);
  AddColumn(
      "pause_before", columns.pauses, [](const Pause& row) { return row.used_before; }, packer);
  AddColumn(
      "pause_after", columns.pauses, [](const Pause& row) { return row.used_after; }, packer);
  using LossReason = SampleColumns::LossRow;
  AddColumn(
      "loss_from", columns.losses, [](const LossReason& row) { return row.from_ns; }, packer);
  AddColumn(
      "loss_to", columns.losses, [](const LossReason& row) { return row.to_ns; }, packer);
  AddColumn(
      "loss_points", columns.losses, [](const LossReason& row) { return row.points; }, packer);
  AddColumn(
      "loss_bytes", columns.losses, [](const LossReason& row) { return row.bytes; }, packer);
}

List StrataOf(const SampleColumns& columns) {
  List strata;
  for (const Stratum& stratum : columns.strata) {
    strata.emplace_back(Object{{"bytes", stratum.bytes},
                               {"factor", stratum.factor},
                               {"known", stratum.known},
                               {"sampled", stratum.sampled},
                               {"counted", stratum.counted},
                               {"is_one_class", stratum.is_one_class},
                               {"objects", stratum.objects}});
  }
  return strata;
}

}  // namespace

std::string ReportData(const SampleColumns& columns, Object facts) {
  ColumnPacker packer;
  AddSamples(columns, &packer);
  AddLines(columns, &packer);
  AddTree(columns, &packer);
  AddAxis(columns, &packer);
  List causes;
  for (const auto& pause : columns.pauses) causes.emplace_back(pause.cause);
  const Object design{{"factor", columns.factor},
                      {"calibrated", columns.calibrated},
                      {"variance_of_bytes", columns.variance_of_bytes},
                      {"unwritten", columns.unwritten},
                      {"counted_bytes", columns.counted_bytes}};
  for (Member& member : Object{{"names", columns.names},
                               {"strata", StrataOf(columns)},
                               {"stratum_of_class", columns.stratum_of_class},
                               {"has_no_chances", columns.has_no_chances},
                               {"chosen_by", columns.chosen_by},
                               {"factors", columns.factors},
                               {"counts_events", columns.counts_events},
                               {"is_range", columns.is_range},
                               {"thinned_to", columns.thinned_to},
                               {"samples", columns.samples},
                               {"interval_ns", columns.interval_ns},
                               {"begin_ns", columns.begin_ns},
                               {"end_ns", columns.end_ns},
                               {"tracks_objects", columns.tracks_objects},
                               {"pause_causes", std::move(causes)},
                               {"primitives", columns.primitives},
                               {"design", design}}) {
    facts.push_back(std::move(member));
  }
  return packer.Pack(std::move(facts));
}

}  // namespace heaprec::tools

// Whatever is made of kept samples adds up to what rows say: per site, a tree, exported stacks and tables by anything
// else have the bytes and objects of the table by site.
#include "tools/analysis/estimate/row_calibration.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/tools/small_recording.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/groups/call_tree.h"
#include "tools/export/exporter.h"
#include "tools/export/totals.h"
#include "tools/query/allocations/flame_query.h"
#include "tools/query/allocations/group_query.h"
#include "tools/query/samples/sample_columns.h"
#include "tools/query/scan/census_strata.h"

namespace heaprec::tools::testing {
namespace {

struct Amount {
  double bytes = 0, objects = 0;
};
using Amounts = std::map<std::string, Amount>;  // by site

Event EventOf(uint64_t time_ns, const std::string& class_name, uint64_t size, double weight,
              const std::vector<std::string>& stack, const std::string& thread = "main") {
  Event event = At(time_ns);
  event.class_name = class_name;
  event.size = size;
  event.weight = weight;
  event.stack = stack;
  event.thread = thread;
  return event;
}

constexpr char kCopy[] = "java/util/Arrays.copyOf:3";  // a primitive

// Six seconds in blocks of two, each with names of its own; the last block has no rows. Of the sites p.S.rare and (of
// p/Rare) p.S.copy no sample is kept; p.S.late has points before its only sample.
void WriteCalibrated(const std::string& path, bool with_rows = true) {
  RecordingFile file(path, HeaderOf(1));
  uint64_t points = 0, samples = 0;
  const auto point = [&](const Event& event, size_t frames) {
    Event of = event;
    of.stack.resize(frames);
    if (with_rows) file.AddPoint(of);
    ++points;
  };
  const auto keep = [&](const Event& event, size_t frames) {
    file.Add(event);
    if (frames > 0) point(event, frames);
    ++samples;
  };
  const auto close = [&](uint64_t second, uint64_t bytes) {
    file.Add(format::Interval{second, points + 5, bytes, std::max(points, samples), samples, 0});
    file.counters().second_stage += std::max(points, samples) - samples;
    file.counters().points += std::max(points, samples) - samples;
    file.counters().committed += std::max(points, samples) - samples;
    points = samples = 0;
  };
  const uint64_t middle = kSecond + 100 * kMs;
  file.Add(format::Window{1, 0, 1e-4});
  keep(EventOf(middle, "p/A", 24, 9000, {"p/S.often:7", "p/Main.one:1"}), 1);
  keep(EventOf(middle + kMs, "p/A", 240, 11000, {"p/S.often:7", "p/Main.two:2"}, "worker"), 1);
  point(EventOf(0, "p/A", 100, 10400, {"p/S.often:8"}), 1);
  point(EventOf(0, "p/B", 100, 10300, {"p/S.late:9"}), 1);
  point(EventOf(0, "p/Rare", 50, 10200, {"p/S.rare:5"}), 1);
  keep(EventOf(middle + 2 * kMs, "[B", 64, 10000, {kCopy, "p/S.copy:4", "p/Main.one:1"}), 2);
  point(EventOf(0, "[B", 640, 10050, {kCopy, "p/S.copy:4"}), 2);
  point(EventOf(0, "p/Rare", 640, 10070, {kCopy, "p/S.copy:4"}), 2);
  close(1, 95'000);
  file.Flush({}, 2 * kSecond);
  file.StartChunk();
  file.Define(EventOf(0, "p/Other", 8, 8, {"p/S.other:1", "p/Main.other:1"}));
  file.Add(format::Window{2, 2 * kSecond, 1e-4});
  point(EventOf(0, "p/Rare", 50, 10200, {"p/S.rare:5"}), 1);
  point(EventOf(0, "p/Rare", 70, 10500, {"p/S.rare:6"}), 1);
  keep(EventOf(2 * kSecond + middle, "p/B", 100, 9900, {"p/S.late:9", "p/Main.two:2"}, "worker"), 1);
  keep(EventOf(2 * kSecond + middle, "p/A", 32, 9800, {"p/S.often:7", "p/Main.two:2"}), 1);
  close(3, 52'000);
  file.Flush({}, 4 * kSecond);
  file.StartChunk();
  file.Add(format::Window{3, 4 * kSecond, 1e-4});
  keep(EventOf(4 * kSecond + middle, "p/A", 32, 9700, {"p/S.often:7", "p/Main.two:2"}), 0);
  keep(EventOf(4 * kSecond + middle, "p/Rare", 32, 9600, {"p/S.last:7", "p/Main.two:2"}, "worker"), 0);
  close(5, 21'000);
  file.End("jvm exit", 6 * kSecond);
}

struct Tabled {
  Amounts by_name;
  Amount all;
  std::string loss_line;
};

Tabled Table(const ScanOptions& options, By by) {
  auto scan = RecordingScan::Parse(options);
  REQUIRE(scan.ok());
  NamePool names;
  std::optional<CallTree> tree;
  std::optional<GroupsScan> groups;
  const auto make = [&] { return &groups.emplace(std::vector<Grouping>{Grouping(by)}); };
  REQUIRE(scan->Run(&names, &tree, make) == ExitCode::kOk);
  Tabled table{.by_name = {}, .all = {}, .loss_line = scan->summary().LossLine()};
  const Groups& of = groups->tables().front();
  for (const GroupTable::Row& row : of.own().Rows()) {
    for (Amount* sum : {&table.by_name[of.grouping().NameOf(row.key, *tree)], &table.all}) {
      sum->bytes += row.estimates.bytes.value;
      sum->objects += row.estimates.objects.value;
    }
  }
  return table;
}

Amounts OfTree(const ScanOptions& options, double* not_kept = nullptr) {
  auto scan = RecordingScan::Parse(options);
  REQUIRE(scan.ok());
  FlameScan flame(*scan, {.at = {}, .classes = false, .bounds = {SIZE_MAX, 0, 0}});
  REQUIRE(flame.Run() == ExitCode::kOk);
  Amounts sums;
  for (size_t box = 1; box < flame.boxes().boxes().size(); ++box) {
    const FlameBoxTree::Box& of = flame.boxes().boxes()[box];
    const std::string name(flame.calls().NameOf(of.node));
    if (of.parent == 0 && name == kCallersNotKept && not_kept != nullptr)
      *not_kept = flame.estimates()[box].bytes.value;
    if (flame.own()[box].samples == 0) continue;
    sums[name].bytes += flame.own()[box].bytes.value;
    sums[name].objects += flame.own()[box].objects.value;
  }
  return sums;
}

// The sums of `export --format collapsed`, before they are rounded.
class StackSums final : public Exporter {
 public:
  StackSums() : totals_(ExportSettings()) {}
  void Begin(const Recording&) override { totals_.StartRecording(); }
  void Add(const FilteredBlock& block) override { totals_.Add(block); }
  Amounts BySite() const {
    Amounts sums;
    const Catalogue& names = totals_.catalogue();
    const AllocationPrimitives primitives = AllocationPrimitives::Default();
    for (Catalogue::Id stack = 0; stack < names.stacks().size(); ++stack) {
      const Totals totals = totals_.Of(stack);
      if (totals.bytes == 0) continue;
      Catalogue::Id site = stack;
      while (primitives.Contains(names.FrameName(names.stacks()[site].frame))) site = names.stacks()[site].parent;
      Amount& sum = sums[names.FrameName(names.stacks()[site].frame)];
      sum.bytes += totals.bytes;
      sum.objects += totals.objects;
    }
    return sums;
  }

 private:
  StackTotals totals_;
};

Amounts OfExport(const ScanOptions& options) {
  auto recordings = Recording::OpenAll(options.files);
  REQUIRE(recordings.ok());
  const auto filter = Filter::Parse(options.filter);
  REQUIRE(filter.ok());
  StackSums sums;
  const CalibratedTo to = options.no_rows ? CalibratedTo::kCounts : CalibratedTo::kRows;
  ExportAll(*recordings, {*filter, to}, &sums);
  return sums.BySite();
}

void RequireSame(const Amounts& one, const Amounts& other) {
  REQUIRE(one.size() == other.size());
  for (const auto& [name, sum] : one) {
    INFO(name);
    REQUIRE(other.contains(name));
    CHECK(sum.bytes == Approx(other.at(name).bytes).epsilon(1e-9));
    CHECK(sum.objects == Approx(other.at(name).objects).epsilon(1e-9));
  }
}

ScanOptions Asked(const std::string& path) {
  ScanOptions options;
  options.files = {path};
  return options;
}

}  // namespace

TEST_CASE_METHOD(Scratch, "A tree, exported stacks, and tables by what rows do not have, add up to the table by site") {
  WriteCalibrated(directory / "rows");
  WriteCalibrated(directory / "samples", false);
  for (const std::string name : {"rows", "samples"}) {
    for (const bool no_rows : {false, true}) {
      for (const auto& [from, to, class_name] :
           {std::array<std::string, 3>{"", "", ""}, {"2s", "4s", ""}, {"1500ms", "4s", ""}, {"", "", "p.Rare"}}) {
        CAPTURE(name, no_rows, from, to, class_name);
        ScanOptions options = Asked(directory / name);
        options.no_rows = no_rows;
        options.filter.from = from;
        options.filter.to = to;
        options.filter.class_name = class_name;
        const Tabled by_site = Table(options, By::kSite);
        CHECK(by_site.all.bytes > 0);
        RequireSame(OfTree(options), by_site.by_name);
        RequireSame(OfExport(options), by_site.by_name);
        for (const By by : {By::kThread, By::kLabel, By::kStack, By::kKind, By::kMethod}) {
          const Tabled table = Table(options, by);
          CHECK(table.all.bytes == Approx(by_site.all.bytes).epsilon(1e-9));
          CHECK(table.all.objects == Approx(by_site.all.objects).epsilon(1e-9));
          const bool is_calibrated = name == "rows" && !no_rows;
          CHECK((table.loss_line.find(", calibrated to ") != std::string::npos) == is_calibrated);
        }
      }
    }
  }
}

TEST_CASE_METHOD(Scratch, "Rows without samples lie below [callers not kept], and belong to no thread") {
  const std::string path = directory / "rec";
  WriteCalibrated(path);
  ScanOptions options = Asked(path);
  double not_kept = 0;
  const Amounts tree = OfTree(options, &not_kept);
  const double rare = Table(options, By::kClass).by_name.at("p.Rare").bytes;
  CHECK(not_kept == Approx(rare - tree.at("p.S.last").bytes).epsilon(1e-9));
  const Tabled by_thread = Table(options, By::kThread);
  CHECK(by_thread.by_name.at("[unknown]").bytes == Approx(not_kept).epsilon(1e-9));
  CHECK(by_thread.loss_line.find("# 7 samples") == 0);
  CHECK(by_thread.loss_line.find(", calibrated to 12 points") != std::string::npos);
  // Each sample has the same weight, whoever asks for it.
  for (const std::string thread : {"main", "worker"}) {
    options.filter.thread = thread;
    const Tabled of_thread = Table(options, By::kSite);
    CHECK(of_thread.all.bytes == Approx(by_thread.by_name.at(thread).bytes).epsilon(1e-9));
    CHECK(of_thread.loss_line.find("of the bytes are of sites without samples and left out") != std::string::npos);
    RequireSame(OfExport(options), of_thread.by_name);
  }
  options.filter.thread.clear();
  options.filter.focus = "p.S.rare";  // on the path itself
  CHECK(Table(options, By::kSite).by_name.at("p.S.rare").bytes == Approx(tree.at("p.S.rare").bytes).epsilon(1e-9));
}

TEST_CASE_METHOD(Scratch, "A calibrated sample has its variance, scaled; a row of a site without samples its own") {
  const std::string path = directory / "rec";
  WriteCalibrated(path);
  auto recording = Recording::Open(path);
  REQUIRE(recording.ok());
  const auto filter = Filter::Parse(FilterOptions());
  const format::FileHeader& header = (*recording)->header();
  Design design(header);
  design.SetCalibration(RowCalibration(filter->RowsWithin(header.interval_ns)));
  SumsBySite sums;
  std::vector<WeightedSample> samples;
  std::vector<double> variances_of_rows;
  while (const auto block = (*recording)->Next()) {
    for (const WeightedSample& drawn : design.Add(*block)) {
      const bool is_row = drawn.row != nullptr;
      CHECK((drawn.site != kNoSite) == !block->rows.empty());
      CHECK((drawn.index >= block->samples.size()) == is_row);
      if (!is_row) CHECK(drawn.weight == block->samples[drawn.index].weight);
      variances_of_rows.push_back(is_row ? drawn.row->bytes_variance : 0);
      samples.push_back(drawn);
      sums.Add(static_cast<uint32_t>(samples.size() - 1), drawn);
    }
  }
  CHECK(design.calibration().points() == 12);
  size_t rows = 0;
  double bytes = 0;
  sums.ForEach(design.calibration(), [&](uint32_t i, const Subset& of) {
    const WeightedSample& one = samples[i];
    bytes += of.bytes();
    if (one.row != nullptr) {
      ++rows;
      CHECK(of.variance().bytes == Approx(variances_of_rows[i]));
      return;
    }
    const double factor = one.site != kNoSite ? design.calibration().Of(one.site).bytes : 1;
    CHECK(of.bytes() == Approx(factor * one.weight));
    CHECK(of.variance().bytes == Approx(factor * factor * one.weight * (one.weight - one.size)));
  });
  CHECK(rows == 4);
  CHECK(samples.size() > 11);  // of p.S.late a row was drawn before its sample
  CHECK(design.all().bytes() == Approx(bytes));
  CHECK(design.all().samples() == 11);
}

}  // namespace heaprec::tools::testing

// Rows by steps of time: bounded, and with the sums of what was added.
namespace heaprec::tools {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

format::Row PointOf(uint64_t size, double weight) {
  format::Row row;
  row.Add(size, weight);
  return row;
}

TEST_CASE("Rows of one class and path in one step are one") {
  StepRows rows;
  rows.Begin(2 * kSecond);
  rows.Add(3, 7, PointOf(16, 100));
  rows.Add(3, 8, PointOf(16, 100));
  rows.Add(3, 7, PointOf(32, 200));
  rows.Begin(4 * kSecond);
  rows.Add(3, 7, PointOf(16, 100));
  rows.Close();
  REQUIRE(rows.rows().size() == 3);
  CHECK(rows.ends() == std::vector{2 * kSecond, 4 * kSecond});
  const StepRow& first = rows.rows().front();
  CHECK(first.node == 7);
  CHECK(first.sums.points == 2);
  CHECK(first.sums.seen == 48);
  CHECK(first.sums.bytes == 300);
  CHECK(first.sums.bytes_variance == 100 * 84 + 200 * 168);
  CHECK(rows.rows().back().step == 1);
}

TEST_CASE("A long recording has long steps with all its points") {
  constexpr uint64_t kBlocks = 5003;
  StepRows rows;
  for (uint64_t block = 1; block <= kBlocks; ++block) {
    rows.Begin(2 * block * kSecond);
    for (uint32_t node = 0; node < 50; ++node) rows.Add(0, node, PointOf(16, 100));
  }
  rows.Close();
  CHECK(rows.ends().size() <= StepRows::kMaxSteps);
  CHECK(rows.ends().size() > StepRows::kMaxSteps / 4);
  CHECK(rows.ends().back() == 2 * kBlocks * kSecond);
  CHECK(rows.ends()[1] - rows.ends()[0] == rows.ends()[0]);
  CHECK(rows.rows().size() == 50 * rows.ends().size());
  uint64_t points = 0;
  for (const StepRow& row : rows.rows()) points += row.sums.points;
  CHECK(points == 50 * kBlocks);
}

TEST_CASE("Many paths have few steps") {
  StepRows rows;
  for (uint64_t block = 1; block <= 40; ++block) {
    rows.Begin(2 * block * kSecond);
    for (uint32_t node = 0; node < 20'000; ++node) rows.Add(0, node, PointOf(16, 100));
  }
  rows.Close();
  CHECK(rows.rows().size() <= StepRows::kMaxRows);
  CHECK(rows.rows().size() == 20'000 * rows.ends().size());
  CHECK(rows.rows().front().sums.points >= 8);
}

TEST_CASE("Several recordings follow each other, each with its own scale") {
  StepRows one, all;
  one.Begin(2 * kSecond);
  one.Add(0, 0, PointOf(16, 100));
  all.Append(one, 1);
  all.Append(one, 3);
  all.Close();
  REQUIRE(all.rows().size() == 2);
  CHECK(all.rows()[1].step == 1);
  CHECK(all.rows()[1].sums.points == 1);
  CHECK(all.rows()[1].sums.bytes == 300);
  CHECK(all.rows()[1].sums.bytes_variance == 9 * 100 * 84);
}

}  // namespace
}  // namespace heaprec::tools

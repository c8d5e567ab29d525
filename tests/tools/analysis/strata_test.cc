// What a census says to the samples of the same recording: docs/estimates.md#post-stratification.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tools/analysis/estimate/census_table.h"
#include "tools/analysis/estimate/estimator.h"

namespace heaprec::tools {
namespace {

using Catch::Matchers::Contains;

constexpr double kLambda = 1e-4;  // a sample of a small object stands for 10 kB
enum Class : format::Index { kString, kBytes, kRare, kRarer, kChunk, kClasses };

// One block: samples of 100 bytes, and what a census counted.
class Counted {
 public:
  explicit Counted(format::CensusMode mode) {
    header_.interval_ns = 1'000'000'000;
    header_.source = "hooks";
    header_.census = mode;
    names_.classes = {"java.lang.String", "[B", "Rare", "Rarer", "jdk/internal/vm/StackChunk"};
    block_.dictionaries = &names_;
    block_.windows.push_back({1, 0, kLambda});
    block_.intervals.emplace_back();
  }
  // `site`: told by the thread, which is as good.
  void Samples(int count, format::Index class_id, format::Index site = 0, uint64_t size = 100) {
    for (int i = 0; i < count; ++i) {
      format::Sample& sample = block_.samples.emplace_back();
      sample.class_id = class_id;
      sample.thread = site;
      sample.size = size;
      sample.weight = static_cast<double>(size) / -std::expm1(-kLambda * static_cast<double>(size));
      sample.window = 1;
    }
  }
  // Of the strings, four fifths are of site 1 and the rest of site 2.
  void AddStringsOfTwoSites() {
    Samples(24, kString, 1);
    Samples(6, kString, 2);
    Samples(50, kBytes, 3);
    Census(kString, 4'000, 400'000);
    Census(kBytes, 1'000, 500'000);
  }
  void Census(format::Index class_id, uint64_t objects, uint64_t bytes, uint64_t walks = 1, double weight = 1) {
    format::CensusRow& row = block_.census.emplace_back();
    row.class_id = class_id;
    row.walks = walks;
    for (uint64_t walk = 0; walk < walks; ++walk) {
      row.objects.Add(objects / walks, bytes / walks, weight);
      row.bytes.Add(bytes / walks, bytes / walks, weight);
    }
    block_.intervals.front().bytes += static_cast<uint64_t>(row.bytes.estimate());
  }

  // Of the samples, as if they were all points: none was raised by a second stage.
  void FoldIntoRows() {
    std::map<format::Index, format::Row> rows;
    for (const format::Sample& sample : block_.samples) {
      rows[sample.class_id].class_id = sample.class_id;
      rows[sample.class_id].Add(sample.size, sample.weight);
    }
    for (const auto& [class_id, row] : rows) block_.rows.push_back(row);
  }

  Strata Build(const format::CensusCounters& counters = {}, bool by_rows = false) {
    StrataBuilder builder(header_);
    builder.Add(block_, by_rows);
    Strata strata = builder.Build(counters);
    why_none_ = builder.why_none();
    return strata;
  }
  // The samples of a class and site (kNone: any), as the strata have them.
  struct Judged {
    Design design;
    Subset subset;
  };
  Judged OfRows(format::Index class_id, bool by_rows) {
    Judged judged{Design(header_), Subset(Subset::Holds::kOneClass)};
    judged.design.SetStrata(Build({}, by_rows));
    for (const WeightedSample& drawn : judged.design.Add(block_, by_rows)) {
      if (drawn.class_id == class_id) judged.subset.Add(drawn);
    }
    return judged;
  }
  Judged Of(format::Index class_id, format::Index site = format::kNone, bool with_census = true) {
    const auto holds = site == format::kNone ? Subset::Holds::kOneClass : Subset::Holds::kAny;
    Judged judged{Design(header_), Subset(holds)};
    if (with_census) judged.design.SetStrata(Build());
    for (const WeightedSample& drawn : judged.design.Add(block_)) {
      const format::Sample& sample = block_.samples[drawn.index];
      if (sample.class_id == class_id && (site == format::kNone || sample.thread == site)) judged.subset.Add(drawn);
    }
    return judged;
  }
  format::FileHeader& header() { return header_; }
  format::Dictionaries& names() { return names_; }
  format::Block& block() { return block_; }
  const std::string& why_none() const { return why_none_; }

 private:
  format::FileHeader header_;
  format::Dictionaries names_;
  format::Block block_;
  std::string why_none_;
};

double Width(const Estimate& estimate) { return estimate.high - estimate.low; }

TEST_CASE("A row equals the sum of its points: with census=all, with a random census, and without") {
  for (const format::CensusMode mode :
       {format::CensusMode::kOff, format::CensusMode::kAll, format::CensusMode::kDrawn}) {
    Counted counted(mode);
    counted.Samples(30, kString);
    counted.Samples(9, kString, 0, 24);
    counted.Samples(50, kBytes, 0, 4'000);
    counted.Samples(3, kRare, 0, 64);
    const uint64_t walks = mode == format::CensusMode::kDrawn ? 40 : 1;
    counted.Census(kString, 4'000, 400'000, walks, walks > 1 ? 2 : 1);
    counted.Census(kBytes, 400, 600'000, walks, walks > 1 ? 2 : 1);
    counted.Census(kRare, 40, 2'560);
    counted.FoldIntoRows();
    for (const format::Index class_id : {kString, kBytes, kRare}) {
      const auto of_samples = counted.OfRows(class_id, false), of_rows = counted.OfRows(class_id, true);
      const Estimator samples(of_samples.design, 0), rows(of_rows.design, 0);
      CHECK(of_rows.subset.samples() == of_samples.subset.samples());
      for (const auto& [one, other] : {std::pair{samples.Bytes(of_samples.subset), rows.Bytes(of_rows.subset)},
                                       {samples.Objects(of_samples.subset), rows.Objects(of_rows.subset)},
                                       {samples.Share(of_samples.subset), rows.Share(of_rows.subset)},
                                       {samples.MeanSize(of_samples.subset), rows.MeanSize(of_rows.subset)},
                                       {samples.Total(), rows.Total()}}) {
        CHECK(other.value == Approx(one.value));
        CHECK(other.low == Approx(one.low));
        CHECK(other.high == Approx(one.high));
      }
    }
  }
}

TEST_CASE("A class that was counted completely has exact bytes, objects and mean size") {
  Counted counted(format::CensusMode::kAll);
  counted.Samples(30, kString);
  counted.Samples(50, kBytes);
  counted.Census(kString, 4'000, 400'000);
  counted.Census(kBytes, 1'000, 500'000);
  const auto judged = counted.Of(kString);
  const Estimator estimator(judged.design, 0);
  for (const auto& [estimate, truth] : {std::pair{estimator.Bytes(judged.subset), 400'000.0},
                                        {estimator.Objects(judged.subset), 4'000.0},
                                        {estimator.MeanSize(judged.subset), 100.0},
                                        {estimator.Share(judged.subset), 4.0 / 9},
                                        {estimator.Total(), 900'000.0}}) {
    CHECK(estimate.value == Approx(truth));
    CHECK(Width(estimate) == 0);
  }
}

TEST_CASE("Stack chunks of virtual threads, which are never sampled, are not charged to rare classes") {
  Counted counted(format::CensusMode::kAll);
  counted.Samples(50, kBytes);
  counted.Samples(6, kRare);
  counted.Samples(6, kRarer);
  counted.Census(kBytes, 5'000, 500'000);
  counted.Census(kRare, 600, 60'000);
  counted.Census(kRarer, 600, 60'000);
  SECTION("where the recorder counts them apart") {
    const uint64_t sampled = counted.block().intervals.front().bytes;
    counted.Census(kChunk, 1'000, 300'000);
    counted.block().intervals.front().bytes = sampled;
  }
  SECTION("where it does not") { counted.Census(kChunk, 1'000, 300'000); }
  const auto judged = counted.Of(kRare);
  INFO(counted.why_none());
  CHECK(Estimator(judged.design, 0).Bytes(judged.subset).value == Approx(60'000).epsilon(0.02));
}

TEST_CASE("Sites divide the counted bytes of their class") {
  Counted counted(format::CensusMode::kAll);
  counted.AddStringsOfTwoSites();
  for (const auto& [site, truth] : {std::pair{1u, 320'000.0}, {2u, 80'000.0}}) {
    const auto with = counted.Of(kString, site), without = counted.Of(kString, site, false);
    const Estimate sharp = Estimator(with.design, 0).Bytes(with.subset);
    const Estimate plain = Estimator(without.design, 0).Bytes(without.subset);
    CHECK(sharp.value == Approx(truth));
    CHECK(sharp.low < truth);
    CHECK(sharp.high > truth);
    CHECK(sharp.high <= 900'000);
    // Scaled, and no surer than without: an upper estimate.
    CHECK(Width(sharp) / sharp.value == Approx(Width(plain) / plain.value).epsilon(0.25));
    const double factor = with.subset.bytes() / without.subset.bytes();
    CHECK(with.subset.variance().bytes == Approx(factor * factor * without.subset.variance().bytes));
  }
}

TEST_CASE("With lost points a class keeps its count, and each site may have lost some") {
  Counted counted(format::CensusMode::kAll);
  counted.AddStringsOfTwoSites();
  constexpr double kLost = 60'000;
  const auto all = counted.Of(kString);
  const Estimator of_class(all.design, kLost);
  CHECK(of_class.Bytes(all.subset).value == Approx(400'000));
  CHECK(Width(of_class.Bytes(all.subset)) == 0);
  CHECK(of_class.Total().value == Approx(900'000));
  const auto site = counted.Of(kString, 1);
  const Estimator lossless(site.design, 0), lossy(site.design, kLost);
  const Estimate without = lossless.Bytes(site.subset), with = lossy.Bytes(site.subset);
  CHECK(with.value == without.value);
  CHECK(with.low == Approx(without.low - kLost));  // what the class lost may all be of other sites
  CHECK(with.high == Approx(without.high + kLost));
  CHECK(lossy.Share(site.subset).high == Approx(with.high / 900'000));
  CHECK(Estimator(site.design, 20 * kLost).Share(site.subset).high == 1);
  // A share of all samples of a time: the base has what was lost.
  const Subset everything = site.design.all();
  const Estimator of_time(site.design, kLost, Weights::kCalibrated, &everything);
  const Estimate share = of_time.Share(site.subset), plain = lossy.Share(site.subset);
  CHECK(share.value == Approx(plain.value));
  CHECK(share.low <= Approx(plain.value - kLost / 900'000));
  CHECK(share.high >= Approx(plain.value + kLost / 900'000));
  CHECK(share.high <= 1);
  // What could not be written may be missing from the counts, too.
  const Estimator unwritten(all.design, kLost, Weights::kCalibrated, nullptr, kLost);
  CHECK(unwritten.Total().value == Approx(960'000));
  CHECK(unwritten.Bytes(all.subset).high == Approx(460'000));
}

TEST_CASE("A site that has all samples of its class may not be the only one") {
  Counted counted(format::CensusMode::kAll);
  counted.Samples(20, kString, 1);
  counted.Samples(50, kBytes, 2);
  counted.Census(kString, 2'000, 200'000);
  counted.Census(kBytes, 1'000, 500'000);
  const auto judged = counted.Of(kString, 1);
  const Estimator estimator(judged.design, 0);
  CHECK(estimator.Bytes(judged.subset).value == Approx(200'000));
  CHECK(estimator.Bytes(judged.subset).low < 160'000);
  CHECK(estimator.Objects(judged.subset).low < 1'600);
}

TEST_CASE("What a filter selects of a class is not exact, even if it selects all its samples") {
  Counted counted(format::CensusMode::kAll);
  counted.AddStringsOfTwoSites();
  const auto judged = counted.Of(kString);
  Estimator estimator(judged.design, 0);
  estimator.SetAmong(Estimator::Among::kClasses);
  CHECK(Width(estimator.Bytes(judged.subset)) == 0);
  estimator.SetAmong(Estimator::Among::kAny);
  CHECK(Width(estimator.Bytes(judged.subset)) > 0);
}

TEST_CASE("Rare classes are one stratum together, whatever their number of samples") {
  Counted counted(format::CensusMode::kAll);
  counted.Samples(60, kString);
  counted.Samples(60, kBytes);
  counted.Samples(14, kRare);  // 8 were to be expected
  counted.Samples(2, kRarer);  // likewise
  counted.Census(kString, 6'000, 600'000);
  counted.Census(kBytes, 6'000, 600'000);
  counted.Census(kRare, 800, 80'000);
  counted.Census(kRarer, 800, 80'000);
  CHECK(counted.Build().count() == 3);
  const auto rare = counted.Of(kRare);
  const Estimate counted_bytes = Estimator(rare.design, 0).Bytes(rare.subset);
  CHECK(counted_bytes.value == 80'000);
  CHECK(Width(counted_bytes) == 0);
  CHECK(Estimator(rare.design, 0).Objects(rare.subset).value == 800);
  CHECK(Estimator(rare.design, 0).MeanSize(rare.subset).value == 100);
  // A site of the class is still estimated from samples.
  const auto site = counted.Of(kRare, 0);
  const Estimate bytes = Estimator(site.design, 0).Bytes(site.subset);
  CHECK(bytes.value == Approx(160'000.0 * 14 / 16));
  CHECK(bytes.low < 0.8 * bytes.value);
  CHECK(bytes.high > 160'000);  // of all rare classes, but that is not used
}

TEST_CASE("Classes that differ only in a generated suffix have no separate exact counts") {
  Counted counted(format::CensusMode::kAll);
  counted.names().classes[kRare] = "p/Map$$Lambda+0x0000000800c03000";
  counted.names().classes[kRarer] = "p/Map$$Lambda+0x0000000800c03200";
  counted.Samples(60, kBytes);
  counted.Samples(30, kRare);
  counted.Census(kBytes, 6'000, 600'000);
  counted.Census(kRare, 2'000, 200'000);
  counted.Census(kRarer, 2'000, 200'000);  // not sampled
  const auto one = counted.Of(kRare);
  CHECK(Width(Estimator(one.design, 0).Bytes(one.subset)) > 0);
}

TEST_CASE("The stratum of rare classes is filled with the smallest others until it is large enough") {
  Counted counted(format::CensusMode::kAll);
  counted.Samples(60, kString);
  counted.Samples(12, kBytes);
  counted.Samples(1, kRare);
  counted.Census(kString, 6'000, 600'000);
  counted.Census(kBytes, 1'200, 120'000);
  counted.Census(kRare, 10, 1'000);
  counted.Census(kRarer, 10, 1'000);  // not sampled
  CHECK(counted.Build().count() == 2);
  const auto string = counted.Of(kString);
  CHECK(Width(Estimator(string.design, 0).Bytes(string.subset)) == 0);
  const auto bytes = counted.Of(kBytes);
  CHECK(Estimator(bytes.design, 0).Bytes(bytes.subset).value == 120'000);
  const auto site = counted.Of(kBytes, 0);
  CHECK(Estimator(site.design, 0).Bytes(site.subset).value == Approx(122'000.0 * 12 / 13));
}

TEST_CASE("A random census changes no estimate") {
  Counted counted(format::CensusMode::kDrawn);
  counted.Samples(50, kString);  // 500 kB
  counted.Samples(500, kBytes);
  counted.Census(kString, 60 * 400, 60 * 40'000 / 40, 60, 10);  // 60 walks of 1000 bytes that stand for 10 each: 600 kB
  CHECK(counted.Build().count() == 0);
  CHECK(counted.why_none().empty());
}

TEST_CASE("A census with missing objects is not used, because their classes are unknown") {
  Counted counted(format::CensusMode::kAll);
  counted.Samples(50, kString);
  counted.Census(kString, 5'000, 500'000);
  CHECK(counted.Build().count() == 1);
  CHECK(counted.why_none().empty());

  format::CensusCounters lost;
  lost.lost = 1;
  lost.lost_bytes = 7;
  CHECK(counted.Build(lost).count() == 0);
  CHECK(counted.why_none() == "7 bytes are missing in it");

  counted.block().intervals.front().bytes = 520'000;
  CHECK(counted.Build().count() == 0);
  CHECK_THAT(counted.why_none(), Contains("it has 500000 bytes, the recording 520000"));

  counted.block().intervals.front().bytes = 0;
  CHECK(counted.Build().count() == 0);
  CHECK(counted.why_none() == "nothing was sampled, or no bytes were counted");

  counted.header().source = "imported";
  CHECK(counted.Build().count() == 0);
  CHECK(counted.why_none() == "weights are biased");
}

}  // namespace
}  // namespace heaprec::tools

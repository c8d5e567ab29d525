// A census of simulated allocations: each thread's go into TLABs, of which all are walked, or some.
//
// Units:    bytes.   Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "format/model/census.h"
#include "tests/support/simulated_recorder.h"
#include "throttle/random.h"

namespace heaprec::testing {

class SimulatedCensus {
 public:
  // Each TLAB is walked with that probability.
  SimulatedCensus(double probability, uint64_t seed) : probability_(probability), random_(seed) {}

  void Count(const SimulatedRecorder::Allocation& one) {
    Tlab& tlab = tlabs_[one.thread];
    auto& [objects, bytes] = tlab.classes[ClassOfSite(one.site)];
    ++objects;
    bytes += one.size;
    tlab.bytes += one.size;
    if (tlab.bytes >= kTlabBytes) Retire(&tlab);
  }
  // What is still in a TLAB is walked at the end, as the rest was.
  std::vector<format::CensusRow> Rows() {
    for (auto& [thread, tlab] : tlabs_) Retire(&tlab);
    std::vector<format::CensusRow> rows;
    for (const auto& [class_id, row] : rows_) rows.push_back(row);
    return rows;
  }

 private:
  static constexpr uint64_t kTlabBytes = 64 << 10;
  struct Tlab {
    std::map<uint32_t, std::pair<uint64_t, uint64_t>> classes;  // objects, bytes
    uint64_t bytes = 0;
  };
  void Retire(Tlab* tlab) {
    if (random_.Uniform() <= probability_) {
      for (const auto& [class_id, found] : tlab->classes) {
        format::CensusRow& row = rows_[class_id];
        row.class_id = class_id;
        ++row.walks;
        row.objects.Add(found.first, tlab->bytes, 1 / probability_);
        row.bytes.Add(found.second, tlab->bytes, 1 / probability_);
      }
    }
    *tlab = {};
  }

  const double probability_;
  throttle::Random random_;
  std::map<uint32_t, Tlab> tlabs_;
  std::map<uint32_t, format::CensusRow> rows_;
};

}  // namespace heaprec::testing

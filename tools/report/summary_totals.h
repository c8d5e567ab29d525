// What `summary` says of several recordings together.
//
// They were drawn apart, so variances add up. Score intervals have no two equal sides, so each side has its own.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/analysis/allocation_totals.h"
#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/report/estimate_format.h"
#include "tools/text/text.h"

namespace heaprec::tools {

struct TotalOfRecordings {
  uint64_t events = 0, counted = 0;
  Estimate bytes, objects;

  void Add(uint64_t more_events, uint64_t more_counted, const Volume& volume) {
    events += more_events;
    counted += more_counted;
    AddTo(&bytes, volume.bytes);
    AddTo(&objects, volume.objects);
  }
  static void AddTo(Estimate* sum, const Estimate& one) {
    const double low = std::hypot(sum->value - sum->low, one.value - one.low);
    const double high = std::hypot(sum->high - sum->value, one.high - one.value);
    sum->value += one.value;
    sum->low = sum->value - low;
    sum->high = sum->value + high;
  }
  std::string Text(size_t recordings) const {
    return fmt::format("\ntotal of {} recordings:\n{:<16}{}\n{:<16}{} ({} bytes) counted\n{:<16}{}\n{:<16}{}\n",
                       recordings, "events:", Grouped(events), "allocated:", Bytes(static_cast<double>(counted)),
                       Grouped(counted), "  estimated:", BytesText(bytes), "objects:", CountText(objects));
  }
  nlohmann::json Json() const {
    return {{"events", events}, {"allocated_bytes", counted}, {"bytes", AsJson(bytes)}, {"objects", AsJson(objects)}};
  }
};

}  // namespace heaprec::tools

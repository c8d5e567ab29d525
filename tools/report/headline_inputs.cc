#include "tools/report/headline_inputs.h"

namespace heaprec::tools {

HeadlineInputs HeadlineInputsOf(const Recording& recording, const Facts& facts, const TrustReport& trust) {
  const format::StreamCounters& counters = recording.counters();
  HeadlineInputs inputs;
  inputs.file = recording.source().name();
  inputs.allocated_bytes = facts.volume.bytes.value;
  inputs.estimated_bytes = facts.volume.calibrated ? facts.volume.raw_bytes.value : 0;
  inputs.duration_ns = facts.duration_ns;
  inputs.heap = &facts.heap;
  if (facts.live && !IsUnknown(facts.live->bytes)) inputs.live_bytes = facts.live->bytes;
  inputs.trust_reasons = TextsOf(trust.reasons);
  inputs.lost_samples = counters.AllLost();
  inputs.sample_points = counters.points;
  return inputs;
}

}  // namespace heaprec::tools

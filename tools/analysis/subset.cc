#include "tools/analysis/subset.h"

namespace heaprec::tools {

void Subset::Add(const Drawn& sample) {
  if (sample.interval != interval_) {
    const Spread gain = GainOfPending();
    gain_.bytes += gain.bytes;
    gain_.objects += gain.objects;
    gain_.both += gain.both;
    pending_ = {};
    interval_ = sample.interval;
  }
  pair_share_ = sample.pair_share;
  const double w = sample.weight, o = sample.objects;
  ++samples_;
  bytes_ += w;
  objects_ += o;
  seen_ += sample.size;
  squares_ += w * w;

  // y / p times z / p times 1 - p = 1 - s / w.
  const double not_sure = w > 0 ? 1 - sample.size / w : 0;
  independent_.bytes += w * w * not_sure;
  independent_.objects += o * o * not_sure;
  independent_.both += w * o * not_sure;
  bytes_fourth_ += w * w * not_sure * w * w * not_sure;
  objects_fourth_ += o * o * not_sure * o * o * not_sure;
  const double first_stage = sample.first_weight - sample.size;
  bytes_with_all_ += w * first_stage;
  objects_with_all_ += o * first_stage;

  const double in_bytes = w * sample.raised(), in_objects = o * sample.raised();
  pending_.bytes += in_bytes;
  pending_.objects += in_objects;
  pending_.squares.bytes += in_bytes * in_bytes;
  pending_.squares.objects += in_objects * in_objects;
  pending_.squares.both += in_bytes * in_objects;
}

Spread Subset::GainOfPending() const {
  return {pair_share_ * (pending_.bytes * pending_.bytes - pending_.squares.bytes),
          pair_share_ * (pending_.objects * pending_.objects - pending_.squares.objects),
          pair_share_ * (pending_.bytes * pending_.objects - pending_.squares.both)};
}

Spread Subset::WholeChain() const {
  const Spread last = GainOfPending();
  return {independent_.bytes - gain_.bytes - last.bytes, independent_.objects - gain_.objects - last.objects,
          independent_.both - gain_.both - last.both};
}

}  // namespace heaprec::tools

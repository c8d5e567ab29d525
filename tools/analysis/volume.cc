#include "tools/analysis/volume.h"

#include "tools/analysis/estimator.h"

namespace heaprec::tools {

void VolumeOfBlocks::Add(const format::Block& block) {
  design_.Add(block);
  for (const format::Sample& sample : block.samples) {
    kinds_[static_cast<size_t>(sample.kind)].Add(design_.Of(sample));
  }
}

Volume VolumeOfBlocks::Close(const format::Books& books) const {
  const double lost = LostBytes(books);
  const Estimator estimator(design_, lost);
  Volume volume;
  volume.calibrated = estimator.calibrated();
  volume.factor = estimator.factor();
  volume.raw_bytes = Estimator(design_, lost, Weights::kRaw).Total();
  volume.bytes = estimator.Total();
  volume.objects = estimator.Objects(design_.all());
  for (size_t kind = 0; kind < kinds_.size(); ++kind) {
    const Subset& of = kinds_[kind];
    volume.kinds[kind] = {estimator.Bytes(of), estimator.Objects(of), estimator.Share(of)};
  }
  return volume;
}

}  // namespace heaprec::tools

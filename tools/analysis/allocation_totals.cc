#include "tools/analysis/allocation_totals.h"

#include <algorithm>
#include <cmath>

#include "tools/analysis/estimate/estimator.h"

namespace heaprec::tools {
namespace {

constexpr double kSigmas = 5;

// Each reason's loss is a sum of equal weights, drawn like those of the samples.
double VarianceOfLosses(const format::Books& books) {
  double variance = 0;
  for (size_t reason = 0; reason < books.lost.size(); ++reason) {
    if (books.lost[reason] > 0 && format::IsLoss(static_cast<format::Loss>(reason))) {
      variance += books.lost_weight[reason] * books.lost_weight[reason] / static_cast<double>(books.lost[reason]);
    }
  }
  return variance;
}

}  // namespace

Balance BalanceOf(const Design& design, const format::Books& books) {
  const double lost = LostWeight(books);
  const Subset& all = design.all();
  Balance balance;
  balance.raw_bytes = Estimator(design, books, Weights::kRaw).Total();
  balance.counted = static_cast<double>(design.counted_bytes());
  balance.accounted = all.bytes() - design.uncounted().bytes() + lost;
  const double variance = design.VarianceOfBytes() + VarianceOfLosses(books);
  // What allocates hardly anything has no sample, by chance.
  const double typical = all.bytes() > 0 ? all.independent().bytes / all.bytes() : design.widest_spacing();
  balance.slack = kSigmas * std::sqrt(variance) + kSigmas * kSigmas * typical;
  return balance;
}

VolumeOfBlocks::VolumeOfBlocks(const format::FileHeader& header, const Strata& strata) : design_(header) {
  if (strata.count() == 0) return;
  sharpened_.emplace(header);
  sharpened_->SetStrata(strata);
}

std::span<const Drawn> VolumeOfBlocks::Add(const format::Block& block) {
  const std::span<const Drawn> all = design_.Add(block);
  for (const Drawn& drawn : all) kinds_[static_cast<size_t>(block.samples[drawn.index].kind)].Add(drawn);
  return sharpened_ ? sharpened_->Add(block) : all;
}

Volume VolumeOfBlocks::Close(const format::Books& books) {
  design_.CountUnwritten(books);
  if (sharpened_) sharpened_->CountUnwritten(books);
  const Estimator estimator(design_, books);
  Volume volume;
  static_cast<Balance&>(volume) = BalanceOf(design_, books);
  volume.calibrated = estimator.calibrated();
  volume.factor = estimator.factor();
  volume.bytes = estimator.Total();
  volume.objects = estimator.Objects(design_.all());
  for (size_t kind = 0; kind < kinds_.size(); ++kind) {
    const Subset& of = kinds_[kind];
    volume.kinds[kind] = {estimator.Bytes(of), estimator.Objects(of), estimator.Share(of)};
  }
  return volume;
}

}  // namespace heaprec::tools

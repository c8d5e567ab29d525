#include "tools/fleet/answers/source.h"

namespace heaprec::tools::fleet {

RowGrain GrainToRead(RowGrain by, const RowFilter& filter) {
  if (by == RowGrain::kWhole) return by;
  const bool tells_class = by != RowGrain::kSite || filter.classes.has_value();
  const bool tells_site = by != RowGrain::kClass || filter.sites.has_value();
  if (tells_class && tells_site) return RowGrain::kClassAndSite;
  return tells_class ? RowGrain::kClass : RowGrain::kSite;
}

void PooledSums::Add(const Sums& of, const RecordingScale& scale) {
  const double f = scale.factor, f2 = f * f, powers[] = {1, f, f2, f2 * f, f2 * f2};
  for (const SumColumn& column : kSumColumns) sums.*column.value += powers[column.power] * of.*column.value;
  const double q = of.bytes * scale.per_byte, p = of.objects * scale.per_byte;
  shared += f2 * q * of.variance;
  shared_all += f2 * q * q * scale.variance;
  shared_objects += f2 * p * of.covariance;
  shared_objects_all += f2 * p * p * scale.variance;
}

PooledSums& PooledSums::operator+=(const PooledSums& other) {
  sums += other.sums;
  shared += other.shared;
  shared_all += other.shared_all;
  shared_objects += other.shared_objects;
  shared_objects_all += other.shared_objects_all;
  return *this;
}

double ThinnedWeight(uint64_t recording, uint64_t id, double weight, double tau) {
  if (tau <= 0 || weight >= tau) return weight;
  // ClickHouse's intHash64, so that a server makes the same random choices.
  const auto mixed = [](uint64_t x) {
    x ^= 0x4cf2d2baae6da887;
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
    return x ^ (x >> 33);
  };
  const double lot = static_cast<double>(mixed(mixed(recording) ^ id) >> 32) * 0x1p-32;
  return lot * tau < weight ? tau : 0;
}

}  // namespace heaprec::tools::fleet

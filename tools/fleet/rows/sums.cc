#include "tools/fleet/rows/sums.h"

namespace heaprec::tools::fleet {

Sums Sums::Of(const Subset& subset) {
  Sums sums;
  sums.bytes = subset.bytes();
  sums.objects = subset.objects();
  sums.seen = subset.seen();
  sums.samples = static_cast<double>(subset.samples());
  sums.variance = subset.variance().bytes;
  sums.variance_objects = subset.variance().objects;
  sums.covariance = subset.variance().both;
  sums.fourth = subset.bytes_fourth();
  sums.fourth_objects = subset.objects_fourth();
  for (const SumColumn& column : kSumColumns) {
    if (!column.is_wide) sums.*column.value = static_cast<double>(static_cast<float>(sums.*column.value));
  }
  return sums;
}

Sums& Sums::operator+=(const Sums& other) {
  for (const SumColumn& column : kSumColumns) this->*column.value += other.*column.value;
  return *this;
}

Totals& Totals::operator+=(const Totals& other) {
  seconds += other.seconds;
  counted += other.counted;
  weighed += other.weighed;
  lost += other.lost;
  all += other.all;
  return *this;
}

void LiveSums::Add(const LiveSample& one) {
  LiveTotal total;
  total.Add(one);
  bytes += total.bytes;
  objects += total.objects;
  seen += total.seen;
  samples += 1;
  variance += total.variance;
  variance_objects += total.variance_of_objects;
  squares += total.squares;
  aged += one.weight * one.age_s;
  aged_once += total.variance * one.age_s;
  aged_twice += total.variance * one.age_s * one.age_s;
}

void LiveSums::Round() {
  for (const LiveColumn& column : kLiveColumns) {
    if (!column.is_wide) this->*column.value = static_cast<double>(static_cast<float>(this->*column.value));
  }
}

LiveSums& LiveSums::operator+=(const LiveSums& other) {
  for (const LiveColumn& column : kLiveColumns) this->*column.value += other.*column.value;
  return *this;
}

LiveTotal LiveSums::total() const {
  LiveTotal total;
  total.samples = static_cast<uint64_t>(samples);
  total.bytes = bytes;
  total.objects = objects;
  total.seen = seen;
  total.variance = variance;
  total.variance_of_objects = variance_objects;
  total.squares = squares;
  return total;
}

}  // namespace heaprec::tools::fleet

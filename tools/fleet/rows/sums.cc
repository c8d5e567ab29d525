#include "tools/fleet/rows/sums.h"

namespace heaprec::tools::fleet {

Sums Sums::Of(const Subset& subset) {
  const Spread chain = subset.WholeChain();
  Sums sums;
  sums.bytes = subset.bytes();
  sums.objects = subset.objects();
  sums.seen = subset.seen();
  sums.samples = static_cast<double>(subset.samples());
  sums.variance = chain.bytes;
  sums.variance_objects = chain.objects;
  sums.with_all = subset.bytes_with_all();
  sums.objects_with_all = subset.objects_with_all();
  sums.apart = subset.independent().bytes;
  sums.apart_objects = subset.independent().objects;
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

}  // namespace heaprec::tools::fleet

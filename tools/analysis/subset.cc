#include "tools/analysis/subset.h"

#include <algorithm>

namespace heaprec::tools {
namespace {

// A gap of so few samples in a subset is a rare node itself, and rounds like one.
constexpr uint32_t kShortGap = 2;

Spread operator*(double factor, const Spread& of) { return {factor * of.bytes, factor * of.objects, factor * of.both}; }

}  // namespace

template <typename Other>
Spread Subset::Product(const End& a, const Other& b) {
  const double loose = (a.loose + b.loose) / 2;
  return loose * Spread{a.weight * b.weight, a.objects * b.objects, (a.weight * b.objects + a.objects * b.weight) / 2};
}

void Subset::Add(const Drawn& sample) {
  const double w = sample.weight, o = sample.objects;
  ++samples_;
  bytes_ += w;
  objects_ += o;
  seen_ += sample.size;
  squares_ += w * w;

  // y / p times z / p times 1 - p = 1 - s / w.
  const Spread square{w * w, o * o, w * o};
  const Spread independent = sample.not_sure * square;
  independent_ += independent;
  bytes_fourth_ += independent.bytes * independent.bytes;
  objects_fourth_ += independent.objects * independent.objects;
  // Of the first stage alone, and its estimate over both: y / p times z / p times (w_1 - s) / w.
  first_stage_ += sample.first_part * square;
  if (sample.line == 0) return;
  second_stage_ += sample.loose * square;
  AddToLine(sample);
}

void Subset::AddToLine(const Drawn& sample) {
  if (sample.line == line_ && sample.rank == last_.rank + 1) {
    second_stage_ += -1 * Product(last_, sample);
    if (sample.before.parted > chosen_by_) ++whole_;
  } else {
    BeginRun(sample);
  }
  last_ = EndOf(sample, sample.after);
}

void Subset::BeginRun(const Drawn& sample) {
  const End first = EndOf(sample, sample.before);
  if (sample.line == line_) {
    run_ = EndRun(first);
    return;
  }
  const auto [circle, rounded] = Pending();
  second_stage_ += circle;
  rounded_ += rounded;
  line_ = sample.line;
  in_line_ = sample.in_line;
  runs_ = 1;
  begin_ = run_ = first;
}

// The latest run is over, and one begins with `next`.
Subset::End Subset::EndRun(End next) {
  cut_ += (last_.parted > chosen_by_) + (next.parted > chosen_by_);
  Part(next.rank - last_.rank - 1, &last_, &next);
  const Spread product = ProductOfEnds(run_, last_);
  rounded_ += Rounded(last_, product);
  if (runs_ == 1) {
    first_product_ = product;
  } else {
    rounded_ += Rounded(run_, product);
  }
  ++runs_;
  return next;
}

// What the interval at hand still adds: to the second stage, and to what rounding takes off.
std::pair<Spread, Spread> Subset::Pending() const {
  if (runs_ == 0) return {};
  End last = last_, begin = begin_;
  const Spread product = ProductOfEnds(run_, last);
  const uint32_t gap = begin.rank + in_line_ - last.rank - 1;
  Spread rounded = runs_ > 1 ? Rounded(run_, product) : Spread{};
  if (gap == 0) return {-1 * Product(last, begin), rounded};
  Part(gap, &last, &begin);
  rounded += Rounded(last, product);
  rounded += Rounded(begin, runs_ > 1 ? first_product_ : product);
  return {{}, rounded};
}

Subset::End Subset::EndOf(const Drawn& sample, const Drawn::Side& side) const {
  const Grain grain = std::max(chosen_by_, side.parted);
  return {.weight = sample.weight,
          .objects = sample.objects,
          .loose = sample.loose,
          .rounding = sample.rounding[static_cast<size_t>(grain)],
          .next = side.rounding,
          .per_byte = sample.per_byte,
          .earlier = line_ > 0 ? last_.per_byte : sample.per_byte,
          .rank = sample.rank,
          .parted = side.parted};
}

// An estimate of the square of what is the same in the whole run, so of two samples; if the run has but one, with the
// objects per byte of the one before it.
Spread Subset::ProductOfEnds(const End& first, const End& last) {
  End other = last;
  if (first.rank == last.rank) other.objects = last.weight * first.earlier;
  return Product(first, other);
}

// What an end that rounds takes off, by the product of the run's two ends.
Spread Subset::Rounded(const End& end, const Spread& product) { return (end.rounding - 1) / 2 * product; }

void Subset::Part(uint32_t gap, End* last, End* first) {
  if (gap > kShortGap) return;
  last->rounding = std::max(last->rounding, last->next);
  first->rounding = std::max(first->rounding, first->next);
}

Spread Subset::WholeChain() const {
  const auto [circle, rounded] = Pending();
  Spread spread = rounded_;
  spread += rounded;
  // Where the subset cuts through nodes, this is its share of them.
  spread = (2 * whole_ + cut_ > 0 ? 2 * whole_ / (2 * whole_ + cut_) : 1) * spread;
  spread += first_stage_;
  spread += second_stage_;
  return spread += circle;
}

}  // namespace heaprec::tools

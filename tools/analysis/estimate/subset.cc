#include "tools/analysis/estimate/subset.h"

#include <algorithm>

namespace heaprec::tools {
namespace {

// A gap of so few samples in a subset is a rare node itself, and rounds like one.
constexpr uint32_t kShortGap = 2;
// Sums of the same samples in another order may differ by rounding.
constexpr double kRounding = 1e-9;
// Strata that are faster looked through than looked up.
constexpr size_t kFew = 8;

// What one sample, or a row, adds to the sums of the variance.
struct Terms {
  Spread independent, first_stage;
  double seen, squares, bytes_fourth, objects_fourth;
};

Terms TermsOf(const WeightedSample& sample) {
  const double w = sample.weight, o = sample.objects;
  // y / p times z / p times 1 - p = 1 - s / w.
  const Spread square{w * w, o * o, w * o}, independent = sample.exclusion * square;
  // The variance of the first stage alone, estimated over both stages: y / p times z / p times (w_1 - s) / w.
  return {independent, sample.first_stage_part * square,      sample.size,
          w * w,       independent.bytes * independent.bytes, independent.objects * independent.objects};
}

// No second stage. A census may have scaled it.
Terms TermsOfRow(const WeightedSample& sample) {
  const format::Row& row = *sample.row;
  const double factor = sample.weight / row.bytes, square = factor * factor;
  const auto seen = static_cast<double>(row.seen);
  const Spread variance = square * Spread{row.bytes_variance, row.objects_variance, row.covariance};
  return {variance,
          variance,
          seen,
          variance.bytes + square * row.bytes * seen / static_cast<double>(row.points),
          square * square * row.bytes_fourth,
          square * square * row.objects_fourth};
}

}  // namespace

template <typename Other>
Spread Subset::Product(const End& a, const Other& b) {
  const double second_stage_exclusion = (a.second_stage_exclusion + b.second_stage_exclusion) / 2;
  return second_stage_exclusion *
         Spread{a.weight * b.weight, a.objects * b.objects, (a.weight * b.objects + a.objects * b.weight) / 2};
}

void Subset::Add(const WeightedSample& sample) {
  const double w = sample.weight, o = sample.objects;
  const bool is_first = samples_ == 0;
  samples_ += sample.points();
  bytes_ += w;
  objects_ += o;
  if (!(o > 0)) ++unsized_;
  const Terms terms = sample.row != nullptr ? TermsOfRow(sample) : TermsOf(sample);
  seen_ += terms.seen;
  squares_ += terms.squares;
  independent_ += terms.independent;
  bytes_fourth_ += terms.bytes_fourth;
  objects_fourth_ += terms.objects_fourth;
  first_stage_ += terms.first_stage;
  if (sample.of_class == nullptr) {
    ++unknown_;
  } else {
    if (is_first) class_ = sample.of_class;
    if (class_ != sample.of_class) class_ = nullptr;
    Piece& piece = PieceOf(sample.of_class->stratum);
    piece.bytes += w;
    piece.objects += o;
    piece.first_stage += terms.first_stage;
  }
  if (sample.line == 0) return;
  second_stage_ += sample.second_stage_exclusion * Spread{w * w, o * o, w * o};
  AddToLine(sample);
}

void Subset::AddToLine(const WeightedSample& sample) {
  if (sample.line == line_ && sample.rank == last_.rank + 1) {
    second_stage_ += -1 * Product(last_, sample);
    if (sample.before.parted > chosen_by_) ++whole_;
  } else {
    BeginRun(sample);
  }
  last_ = EndOf(sample, sample.after);
}

void Subset::BeginRun(const WeightedSample& sample) {
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

// Returns what the current interval still adds to the second stage's variance, and to its reduction by rounding.
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

Subset::End Subset::EndOf(const WeightedSample& sample, const WeightedSample::Side& side) const {
  const OrderLevel level = std::max(chosen_by_, side.parted);
  return {.weight = sample.weight,
          .objects = sample.objects,
          .second_stage_exclusion = sample.second_stage_exclusion,
          .rounding = sample.rounding[static_cast<size_t>(level)],
          .next = side.rounding,
          .objects_per_byte = sample.objects_per_byte,
          .earlier = line_ > 0 ? last_.objects_per_byte : sample.objects_per_byte,
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

// Samples of one class mostly lie together, and most subsets are of few classes.
Subset::Piece& Subset::PieceOf(const Stratum* stratum) {
  if (piece_ < pieces_.size() && pieces_[piece_].stratum == stratum) return pieces_[piece_];
  if (pieces_.size() < kFew) {
    for (piece_ = 0; piece_ < pieces_.size(); ++piece_) {
      if (pieces_[piece_].stratum == stratum) return pieces_[piece_];
    }
  } else {
    if (piece_of_.empty()) {
      for (size_t i = 0; i < pieces_.size(); ++i) NotePiece(pieces_[i].stratum->index, i);
    }
    if (stratum->index >= piece_of_.size() || piece_of_[stratum->index] == 0) {
      NotePiece(stratum->index, pieces_.size());
    }
    piece_ = piece_of_[stratum->index] - size_t{1};
    if (piece_ < pieces_.size()) return pieces_[piece_];
  }
  return pieces_.emplace_back(Piece{.stratum = stratum, .bytes = 0, .objects = 0, .first_stage = {}});
}

void Subset::NotePiece(uint32_t stratum, size_t piece) {
  if (stratum >= piece_of_.size()) piece_of_.resize(stratum + size_t{1});
  piece_of_[stratum] = static_cast<uint32_t>(piece) + 1;
}

// How much of the variance the census takes away.
Spread Subset::Piece::Explained() const {
  const double b = share(), o = objects / stratum->bytes, k = stratum->known, shared = stratum->shared();
  return {2 * k * b * first_stage.bytes - b * b * shared, 2 * k * o * first_stage.both - o * o * shared,
          k * (o * first_stage.bytes + b * first_stage.both) - b * o * shared};
}

Spread Subset::Remaining() const {
  if (const auto known = KnownStrata(); known && known->all) return {};
  Spread spread = WholeChain();
  for (const Piece& piece : pieces_) spread += -1 * piece.Explained();
  return {std::max(spread.bytes, 0.0), std::max(spread.objects, 0.0), spread.both};
}

double Subset::bytes_with_all() const {
  double covariance = first_stage_.bytes;
  for (const Piece& piece : pieces_) {
    covariance -= piece.stratum->known * piece.first_stage.bytes + piece.share() * piece.Shift();
  }
  return std::max(covariance, 0.0);
}

double Subset::objects_with_all() const {
  double covariance = first_stage_.both;
  for (const Piece& piece : pieces_) {
    covariance -= piece.stratum->known * piece.first_stage.both + piece.objects / piece.stratum->bytes * piece.Shift();
  }
  return covariance;
}

double Subset::BytesWith(const Subset& whole) const {
  double covariance = first_stage_.bytes;
  for (const Piece& piece : pieces_) {
    const auto other = std::ranges::find(whole.pieces_, piece.stratum, &Piece::stratum);
    if (other == whole.pieces_.end()) continue;
    const double one = piece.share(), all = other->share();
    covariance -= piece.stratum->known * (one * other->first_stage.bytes + all * piece.first_stage.bytes) -
                  one * all * piece.stratum->shared();
  }
  return covariance;
}

std::optional<Subset::Known> Subset::KnownStrata() const {
  if (pieces_.empty() || unknown_ > 0) return std::nullopt;
  Known known;
  for (const Piece& piece : pieces_) {
    if (!piece.stratum->is_exact()) return std::nullopt;
    known.bytes += piece.stratum->bytes;
    known.sampled += piece.stratum->sampled;
    known.largest_share = std::max(known.largest_share, piece.share());
  }
  // Not if a filter left out some of its samples.
  if (is_class_ && class_ != nullptr && class_->counted && bytes_ >= class_->counted->scaled * (1 - kRounding))
    known.all = class_->counted;
  return known;
}

}  // namespace heaprec::tools

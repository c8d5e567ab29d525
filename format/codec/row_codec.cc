#include "format/codec/row_codec.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "format/bytes/columns.h"

namespace heaprec::format {
namespace {

enum RowColumn : size_t {
  kStack = 0,
  kClass = 1,
  kPoints = 2,
  kSeen = 3,
  kBeyond = 4,
  // The ratio of each sum to that of as many equal points, for rows of several points whose weights exceed their sizes.
  kObjects = 5,
  kBytesVariance = 6,
  kObjectsVariance = 7,
  kCovariance = 8,
  kBytesFourth = 9,
  kObjectsFourth = 10,
};
constexpr size_t kRowColumns = 11;

// Flags of column 0, below the stack.
constexpr uint64_t kHasSeveral = 1, kHasOtherSize = 2;
constexpr int kFlags = 2;

// Codes per factor of two: points are few, so 0.07 % and 2.2 % do.
constexpr int64_t kWeightSteps = 512, kSpreadSteps = 16;

int64_t CodeOf(double ratio, int64_t steps) { return std::llround(static_cast<double>(steps) * std::log2(ratio)); }

// 2^(code / kSteps), which is asked for several times a row: the fraction from a table.
template <int64_t kSteps>
double RatioOf(int64_t code) {
  if (code == 0) return 1;
  static const auto* const fractions = [] {
    auto* of = new std::array<double, kSteps>();
    for (size_t i = 0; i < of->size(); ++i) (*of)[i] = std::exp2(static_cast<double>(i) / kSteps);
    return of;
  }();
  constexpr int64_t kExponents = 1000;  // of normal numbers
  const int64_t exponent = code >> std::countr_zero(static_cast<uint64_t>(kSteps));
  if (exponent < -kExponents || exponent > kExponents) return std::exp2(static_cast<double>(code) / kSteps);
  const auto power = std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
  return (*fractions)[static_cast<size_t>(code - exponent * kSteps)] * power;
}

// Expected values, as if all points of the row were equal. Encoder and decoder compute them from the fields before.
double Points(const Row& row) { return static_cast<double>(row.points); }
double Beyond(const Row& row) { return row.bytes - static_cast<double>(row.seen); }
double EqualObjectsBeyond(const Row& row) { return Beyond(row) * Points(row) / static_cast<double>(row.seen); }
// `part`: of one point, as the others.
double EqualBytesVariance(const Row& row, double part) { return row.bytes * Beyond(row) * part; }
double EqualObjectsVariance(const Row& row, double part) { return row.objects * (row.objects - Points(row)) * part; }
double EqualCovariance(const Row& row, double part) { return row.objects * Beyond(row) * part; }
double EqualFourth(double variance, double part) { return variance * variance * part; }

// HotSpot's sizes are multiples of 8. The next row of a class is expected to have the mean size of its previous row,
// rounded down.
uint64_t Rotated(uint64_t size) { return std::rotr(size, 3); }
uint64_t MeanOf(const Row& row) { return row.seen / row.points / 8; }

// Calls ratio<steps>(column, sum, certain, equal) for each sum of the row's points. `equal`: what sum - certain is
// expected to be, computed from the sums before: so the order matters.
template <typename Sum, typename Ratio>
void VisitSums(Sum& row, const Ratio& ratio) {
  const double part = 1 / Points(row);
  ratio.template operator()<kWeightSteps>(kObjects, row.objects, Points(row), EqualObjectsBeyond(row));
  ratio.template operator()<kSpreadSteps>(kBytesVariance, row.bytes_variance, 0, EqualBytesVariance(row, part));
  ratio.template operator()<kSpreadSteps>(kObjectsVariance, row.objects_variance, 0, EqualObjectsVariance(row, part));
  ratio.template operator()<kSpreadSteps>(kCovariance, row.covariance, 0, EqualCovariance(row, part));
  ratio.template operator()<kSpreadSteps>(kBytesFourth, row.bytes_fourth, 0, EqualFourth(row.bytes_variance, part));
  ratio.template operator()<kSpreadSteps>(kObjectsFourth, row.objects_fourth, 0,
                                          EqualFourth(row.objects_variance, part));
}

bool IsPossible(const Row& row) {
  for (const double sum : {row.bytes, row.objects, row.bytes_variance, row.objects_variance, row.covariance,
                           row.bytes_fourth, row.objects_fourth}) {
    if (!std::isfinite(sum)) return false;
  }
  return true;
}

}  // namespace

void EncodeRows(Section section, std::span<const Row> rows, ByteBuffer* raw) {
  ColumnWriter<kRowColumns> columns;
  std::unordered_map<Index, uint64_t> means;  // by class
  uint64_t stack = 0;
  int64_t last = 0;
  for (const Row& row : rows) {
    uint64_t& mean = means[row.class_id];
    const uint64_t expected = row.points * mean;
    const bool has_several = row.points > 1, has_other_size = Rotated(row.seen) != expected;
    columns.Varint(kStack, (Shifted(row.stack) - stack) << kFlags | (has_several ? kHasSeveral : 0) |
                               (has_other_size ? kHasOtherSize : 0));
    columns.Varint(kClass, Shifted(row.class_id));
    stack = Shifted(row.stack);
    if (has_several) columns.Varint(kPoints, row.points - 2);
    if (has_other_size) columns.Delta(kSeen, Rotated(row.seen), expected);
    mean = MeanOf(row);
    if (!(Beyond(row) > 0)) {
      columns.Varint(kBeyond, 0);
      continue;
    }
    const int64_t code = CodeOf(Beyond(row) / Points(row), kWeightSteps);
    columns.Varint(kBeyond, Zigzag(code - last) + 1);
    last = code;
    if (!has_several) continue;
    VisitSums(row, [&]<int64_t kSteps>(RowColumn column, double sum, double certain, double equal) {
      const double ratio = (sum - certain) / equal;
      columns.Delta(column, std::isnormal(ratio) && ratio > 0 ? static_cast<uint64_t>(CodeOf(ratio, kSteps)) : 0, 0);
    });
  }
  columns.Finish(static_cast<uint64_t>(section), /*critical=*/false, rows.size(), raw);
}

bool DecodeRows(Bytes body, const Dictionaries& dictionaries, std::vector<Row>* rows, bool* refused) {
  ColumnReader<kRowColumns> columns(body);
  *refused |= columns.unknown_critical();
  if (columns.rows() > kMaxBlockRows || !columns.HasBytesForRows()) return false;
  std::vector<uint64_t> means(dictionaries.classes.size() + 1);  // by class, shifted
  rows->reserve(rows->size() + columns.rows());
  uint64_t stack = 0, class_id = 0;
  int64_t last = 0;
  for (uint64_t i = 0; i < columns.rows(); ++i) {
    const uint64_t head = columns[kStack].Varint(), before = class_id;
    const bool has_several = (head & kHasSeveral) != 0, is_of_last_stack = head >> kFlags == 0;
    stack += head >> kFlags;
    class_id = columns[kClass].Varint();
    if (stack > dictionaries.stacks.size() || class_id > dictionaries.classes.size()) return false;
    if (i > 0 && is_of_last_stack && class_id <= before) return false;  // the rows are not in order
    Row row{.class_id = static_cast<Index>(class_id - 1), .stack = static_cast<Index>(stack - 1), .points = 1};
    if (has_several) row.points = columns[kPoints].Varint() + 2;
    uint64_t& mean = means[class_id];
    uint64_t seen = row.points * mean;
    if ((head & kHasOtherSize) != 0) seen = columns[kSeen].Delta(seen);
    row.seen = std::rotl(seen, 3);
    if (row.points == 0 || row.seen < row.points) return false;
    mean = MeanOf(row);
    const uint64_t beyond = columns[kBeyond].Varint();
    row.bytes = static_cast<double>(row.seen);
    row.objects = Points(row);
    if (beyond > 0) {
      last = static_cast<int64_t>(static_cast<uint64_t>(last) + static_cast<uint64_t>(Unzigzag(beyond - 1)));
      row.bytes += Points(row) * RatioOf<kWeightSteps>(last);
      VisitSums(row, [&]<int64_t kSteps>(RowColumn column, double& sum, double certain, double equal) {
        sum = certain + equal * (has_several ? RatioOf<kSteps>(static_cast<int64_t>(columns[column].Delta(0))) : 1);
      });
    }
    if (!IsPossible(row)) return false;
    rows->push_back(row);
  }
  return columns.ok();
}

}  // namespace heaprec::format

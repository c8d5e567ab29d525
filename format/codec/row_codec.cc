#include "format/codec/row_codec.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "format/bytes/columns.h"

namespace heaprec::format {
namespace {

enum RowColumn : size_t {
  kStack = 0,
  kClass = 1,
  kPoints = 2,
  kSeen = 3,
  kBeyond = 4,
  // What several points with weights beyond their sizes add up to, against what as many equal ones would.
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

// Codes per factor of two. The encoder uses every fourth, because points are few: half of that is 2^-10 ln 2, and 2.2
// %.
constexpr double kWeightSteps = 2048, kSpreadSteps = 64;
constexpr int64_t kEncoded = 4;

int64_t CodeOf(double ratio, double steps) {
  return kEncoded * std::llround(steps / static_cast<double>(kEncoded) * std::log2(ratio));
}
double RatioOf(int64_t code, double steps) { return std::exp2(static_cast<double>(code) / steps); }

// What a row would say if its points were equal, from what stands before: the same for the encoder and the decoder.
double Points(const Row& row) { return static_cast<double>(row.points); }
double Beyond(const Row& row) { return row.bytes - static_cast<double>(row.seen); }
double EqualObjectsBeyond(const Row& row) { return Beyond(row) * Points(row) / static_cast<double>(row.seen); }
double EqualBytesVariance(const Row& row) { return row.bytes * Beyond(row) / Points(row); }
double EqualObjectsVariance(const Row& row) { return row.objects * (row.objects - Points(row)) / Points(row); }
double EqualCovariance(const Row& row) { return row.objects * Beyond(row) / Points(row); }
double EqualFourth(double variance, const Row& row) { return variance * variance / Points(row); }

// Sizes are multiples of 8 in HotSpot: a class' next row is expected to have the mean of its last, rounded down.
uint64_t Rotated(uint64_t size) { return std::rotr(size, 3); }
uint64_t MeanOf(const Row& row) { return row.seen / row.points / 8; }

// Calls ratio(column, steps, of, equal) for each sum of the points, `of`, of which `equal` is what is expected. The
// order matters: what is expected depends on the sums before.
template <typename Sum, typename Ratio>
void VisitSums(Sum& row, const Ratio& ratio) {
  ratio(kObjects, kWeightSteps, row.objects, Points(row), EqualObjectsBeyond(row));
  ratio(kBytesVariance, kSpreadSteps, row.bytes_variance, 0, EqualBytesVariance(row));
  ratio(kObjectsVariance, kSpreadSteps, row.objects_variance, 0, EqualObjectsVariance(row));
  ratio(kCovariance, kSpreadSteps, row.covariance, 0, EqualCovariance(row));
  ratio(kBytesFourth, kSpreadSteps, row.bytes_fourth, 0, EqualFourth(row.bytes_variance, row));
  ratio(kObjectsFourth, kSpreadSteps, row.objects_fourth, 0, EqualFourth(row.objects_variance, row));
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
  uint64_t stack = 0, class_id = 0;
  int64_t last = 0;
  for (const Row& row : rows) {
    uint64_t& mean = means[row.class_id];
    const uint64_t expected = row.points * mean;
    const bool has_several = row.points > 1, has_other_size = Rotated(row.seen) != expected;
    columns.Varint(kStack, (Shifted(row.stack) - stack) << kFlags | (has_several ? kHasSeveral : 0) |
                               (has_other_size ? kHasOtherSize : 0));
    columns.Delta(kClass, Shifted(row.class_id), class_id);
    stack = Shifted(row.stack);
    class_id = Shifted(row.class_id);
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
    VisitSums(row, [&](RowColumn column, double steps, double sum, double certain, double equal) {
      const double ratio = (sum - certain) / equal;
      columns.Delta(column, std::isnormal(ratio) && ratio > 0 ? static_cast<uint64_t>(CodeOf(ratio, steps)) : 0, 0);
    });
  }
  columns.Finish(static_cast<uint64_t>(section), /*critical=*/false, rows.size(), raw);
}

bool DecodeRows(Bytes body, const Dictionaries& dictionaries, std::vector<Row>* rows, bool* refused) {
  ColumnReader<kRowColumns> columns(body);
  *refused |= columns.unknown_critical();
  if (columns.rows() > kMaxBlockRows || !columns.HasBytesForRows()) return false;
  std::unordered_map<Index, uint64_t> means;
  uint64_t stack = 0, class_id = 0;
  int64_t last = 0;
  for (uint64_t i = 0; i < columns.rows(); ++i) {
    const uint64_t head = columns[kStack].Varint(), before = class_id;
    const bool has_several = (head & kHasSeveral) != 0, is_of_last_stack = head >> kFlags == 0;
    stack += head >> kFlags;
    class_id = columns[kClass].Delta(class_id);
    if (stack > dictionaries.stacks.size() || class_id > dictionaries.classes.size()) return false;
    if (i > 0 && is_of_last_stack && class_id <= before) return false;  // not in their order
    Row row{.class_id = static_cast<Index>(class_id - 1), .stack = static_cast<Index>(stack - 1), .points = 1};
    if (has_several) row.points = columns[kPoints].Varint() + 2;
    uint64_t& mean = means[row.class_id];
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
      row.bytes += Points(row) * RatioOf(last, kWeightSteps);
      VisitSums(row, [&](RowColumn column, double steps, double& sum, double certain, double equal) {
        sum = certain + equal * RatioOf(has_several ? static_cast<int64_t>(columns[column].Delta(0)) : 0, steps);
      });
    }
    if (!IsPossible(row)) return false;
    rows->push_back(row);
  }
  return columns.ok();
}

}  // namespace heaprec::format

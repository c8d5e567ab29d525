// Rows as columns: a count, then for each column its number, length and values. A reader skips columns that it does
// not know. A column of only zeros is omitted, and an omitted column reads as zeros.
//
// Failure:  ColumnReader::ok() says whether everything was well formed; call it after taking the last value.
// Format:   docs/format/recording.md#columns
#pragma once

#include <array>
#include <cstdint>

#include "format/bytes/bytes.h"
#include "format/bytes/layout.h"

namespace heaprec::format {

// Sections and columns have the same frame: varint (number * 2 + critical), varint length, then the bytes.
struct Framed {
  uint64_t number = 0;
  bool critical = false;
  Bytes body;
};
inline void AppendFramed(ByteBuffer* buffer, uint64_t number, bool critical, Bytes body) {
  ByteSink sink(buffer);
  sink.Varint(number * 2 + (critical ? 1 : 0));
  sink.Varint(body.size());
  sink.Append(body);
}
inline Framed TakeFramed(ByteCursor* cursor) {
  const uint64_t head = cursor->Varint();
  Framed framed{head >> 1, (head & 1) != 0, {}};
  framed.body = cursor->Take(cursor->Varint());
  return framed;
}

// Columns 0 .. kCount-1 of a section under construction.
template <size_t kCount>
class ColumnWriter {
 public:
  void Varint(size_t column, uint64_t value) {
    nonzero_[column] |= value != 0;
    ByteSink(&columns_[column]).Varint(value);
  }
  void Delta(size_t column, uint64_t value, uint64_t base) {
    Varint(column, Zigzag(static_cast<int64_t>(value - base)));
  }
  void F64(size_t column, double value) {
    nonzero_[column] |= std::bit_cast<uint64_t>(value) != 0;
    ByteSink(&columns_[column]).F64(value);
  }
  void Append(size_t column, Bytes bytes) {
    nonzero_[column] |= !bytes.empty();
    ByteSink(&columns_[column]).Append(bytes);
  }
  // Appends the section, unless it has no rows. Only sections of the allocations are critical: a reader that does not
  // know another stream may skip its sections.
  void Finish(Section section, uint64_t rows, ByteBuffer* raw, Stream stream = Stream::kAllocations) {
    Finish(NumberOf(section, stream), /*critical=*/stream == Stream::kAllocations, rows, raw);
  }
  void Finish(uint64_t section, bool critical, uint64_t rows, ByteBuffer* raw) {
    if (rows == 0) return;
    ByteBuffer body;
    ByteSink(&body).Varint(rows);
    for (size_t i = 0; i < kCount; ++i) {
      if (nonzero_[i]) AppendFramed(&body, i, /*critical=*/false, columns_[i]);
    }
    AppendFramed(raw, section, critical, body);
  }

 private:
  std::array<ByteBuffer, kCount> columns_;
  std::array<bool, kCount> nonzero_{};
};

template <size_t kCount>
class ColumnReader {
 public:
  explicit ColumnReader(Bytes body) {
    ByteCursor cursor(body);
    rows_ = cursor.Varint();
    while (cursor.ok() && !cursor.at_end()) {
      const Framed framed = TakeFramed(&cursor);
      if (framed.number < kCount) {
        columns_[framed.number] = ByteCursor(framed.body);
        bytes_ += framed.body.size();
      } else {
        unknown_critical_ |= framed.critical;
      }
    }
    framed_ok_ = cursor.ok();
    if (!framed_ok_) rows_ = 0;
  }

  uint64_t rows() const { return rows_; }
  // If all rows differ, all but one have a byte in some column. A larger count is invalid, and would cost time and
  // memory.
  bool HasBytesForRows() const { return rows_ <= bytes_ + 1; }
  ByteCursor& operator[](size_t column) { return columns_[column]; }
  // Whether a critical column is unknown to this reader; the block is then refused.
  bool unknown_critical() const { return unknown_critical_; }
  // Whether every column was read to its last byte and not beyond.
  bool ok() const {
    for (const ByteCursor& column : columns_) {
      if (!column.ok() || !column.at_end()) return false;
    }
    return framed_ok_;
  }

 private:
  uint64_t rows_ = 0, bytes_ = 0;  // bytes of the known columns
  std::array<ByteCursor, kCount> columns_;
  bool framed_ok_ = false;
  bool unknown_critical_ = false;
};

}  // namespace heaprec::format

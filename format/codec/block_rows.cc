#include "format/codec/block_rows.h"

#include <algorithm>

#include "format/bytes/columns.h"

namespace heaprec::format {
namespace {

void AppendSection(ByteBuffer* raw, Section section, Bytes body, Stream stream = Stream::kAllocations) {
  AppendFramed(raw, NumberOf(section, stream), /*critical=*/false, body);
}

}  // namespace

void EncodeCounters(const StreamCounters& counters, Stream stream, ByteBuffer* raw) {
  ByteBuffer body;
  ByteSink sink(&body);
  sink.Varint(std::size(kStreamCounterFields));
  for (const auto counter : kStreamCounterFields) sink.Delta(counters.*counter, 0);
  sink.Varint(kLosses);
  for (const uint64_t lost : counters.lost) sink.Delta(lost, 0);
  for (const double lost : counters.lost_weight) sink.F64(lost);
  AppendSection(raw, Section::kStreamCounters, body, stream);
}

bool DecodeCounters(Bytes body, StreamCounters* counters) {
  *counters = {};
  ByteCursor cursor(body);
  const uint64_t count = cursor.Varint();
  for (uint64_t i = 0; i < count && cursor.ok(); ++i) {
    const uint64_t value = cursor.Delta(0);
    if (i < std::size(kStreamCounterFields)) counters->*kStreamCounterFields[i] = value;
  }
  const uint64_t losses = cursor.Varint();
  for (uint64_t i = 0; i < losses && cursor.ok(); ++i) {
    const uint64_t value = cursor.Delta(0);
    if (i < kLosses) counters->lost[i] = value;
  }
  for (uint64_t i = 0; i < losses && cursor.ok(); ++i) {
    const double weight = cursor.F64();
    if (i < kLosses) counters->lost_weight[i] = weight;
  }
  return cursor.ok();
}

void EncodeLanes(std::span<const uint64_t> positions, ByteBuffer* raw) {
  ByteBuffer body;
  ByteSink sink(&body);
  sink.Varint(positions.size());
  for (const uint64_t position : positions) sink.Delta(position, 0);
  AppendSection(raw, Section::kLanes, body);
}

bool DecodeLanes(Bytes body, std::vector<uint64_t>* positions) {
  ByteCursor cursor(body);
  const uint64_t lanes = cursor.Varint();
  if (lanes > kMaxLanes) return false;
  positions->resize(lanes);
  for (uint64_t& position : *positions) position = cursor.Delta(0);
  return cursor.ok();
}

void EncodeRowInterval(const RowInterval& row_interval, ByteBuffer* raw) {
  ByteBuffer body;
  ByteSink(&body).Varint(uint64_t{row_interval.first} << 1 | (row_interval.is_last ? 1 : 0));
  AppendSection(raw, Section::kRowInterval, body);
}

bool DecodeRowInterval(Bytes body, std::optional<RowInterval>* row_interval) {
  ByteCursor cursor(body);
  const uint64_t code = cursor.Varint();
  if (!cursor.ok() || code >> 1 > UINT32_MAX) return false;
  *row_interval = RowInterval{static_cast<uint32_t>(code >> 1), (code & 1) != 0};
  return true;
}

void EncodeSkippedBytes(uint64_t bytes, ByteBuffer* raw) {
  ByteBuffer body;
  ByteSink(&body).Varint(bytes);
  AppendSection(raw, Section::kSkippedBytes, body);
}

bool DecodeSkippedBytes(Bytes body, uint64_t* bytes) {
  ByteCursor cursor(body);
  *bytes = cursor.Varint();
  return cursor.ok();
}

void EncodeEnding(const EndMarker& ending, ByteBuffer* raw) {
  ByteBuffer body;
  ByteSink sink(&body);
  sink.Varint(ending.time_ns);
  sink.String(std::string_view(ending.reason).substr(0, kMaxStringBytes));
  AppendSection(raw, Section::kEndMarker, body);
}

bool DecodeEnding(Bytes body, std::optional<EndMarker>* ending) {
  ByteCursor cursor(body);
  EndMarker decoded;
  decoded.time_ns = cursor.Varint();
  decoded.reason = cursor.String();
  if (!cursor.ok() || decoded.reason.size() > kMaxStringBytes) return false;
  *ending = std::move(decoded);
  return true;
}

}  // namespace heaprec::format

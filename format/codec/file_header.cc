#include "format/codec/file_header.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <string>
#include <type_traits>

#include "format/bytes/layout.h"

namespace heaprec::format {
namespace {

constexpr uint64_t kJfrMagic = 0x524c46;                   // "FLR\0"
constexpr uint64_t kSharedRingMagic = 0x474e495243455248;  // docs/format/ring.md
constexpr size_t kVersionAt = 8;
constexpr size_t kHashAt = 16;

// Calls visit(tag, field) for every field. A tag is never used again for something else.
template <typename Header, typename Visit>
void ForEachField(Header& header, const Visit& visit) {
  visit(1, header.recording_id);
  visit(2, header.start_epoch_ns);
  visit(3, header.start_monotonic_ns);
  visit(4, header.interval_ns);
  visit(5, header.interval_cap);
  visit(6, header.rate_per_second);
  visit(7, header.pid);
  visit(8, header.boot_id);
  visit(9, header.container_id);
  visit(10, header.jvm_name);
  visit(11, header.jvm_version);
  visit(12, header.gc_name);
  visit(13, header.agent_version);
  visit(14, header.agent_options);
  visit(15, header.source);
  visit(16, header.source_reason);
  visit(17, header.ring_path);
  visit(18, header.max_samples);
  visit(19, header.duration_ns);
  visit(20, header.exceptions.interval_ns);
  visit(21, header.exceptions.interval_cap);
  visit(22, header.exceptions.rate_per_second);
  visit(23, header.exceptions_unavailable_reason);
  visit(24, header.start);
  visit(25, header.max_tracked_objects);
  visit(26, header.census);
  visit(27, header.census_per_second);
  visit(28, header.census_unavailable_reason);
  visit(29, header.native.interval_ns);
  visit(30, header.native.interval_cap);
  visit(31, header.native.rate_per_second);
  visit(32, header.native_unavailable_reason);
  visit(33, header.max_tracked_blocks);
  visit(34, header.mapped.interval_ns);
  visit(35, header.mapped.interval_cap);
  visit(36, header.mapped.rate_per_second);
  visit(37, header.max_tracked_mappings);
  visit(38, header.service_labels);
  visit(39, header.native_not_seen);
  visit(40, header.source_facts);
  visit(41, header.settings);
}

void Encode(const RecordingId& id, ByteSink sink) { sink.Append(std::as_bytes(std::span(id))); }
void Encode(const std::string& text, ByteSink sink) { sink.Append(AsBytes(text)); }
void Encode(double value, ByteSink sink) { sink.F64(value); }
void Encode(uint64_t value, ByteSink sink) { sink.Varint(value); }
void Encode(uint32_t value, ByteSink sink) { sink.Varint(value); }
void Encode(CensusMode mode, ByteSink sink) { sink.Varint(static_cast<uint64_t>(mode)); }

void Encode(const FileStart& start, ByteSink sink) {
  sink.Varint(start.part);
  sink.Varint(start.begin_ns);
  sink.Varint(kStreams);
  for (const Stream stream : kAllStreams) {
    sink.Varint(start.next_interval[stream]);
    sink.Varint(start.intervals_with_points[stream]);
    const StreamCounters& counters = start.counters[stream];
    sink.Varint(kStreamCounterFields.size());
    for (const auto counter : kStreamCounterFields) sink.Varint(counters.*counter);
    sink.Varint(kLosses);
    for (const uint64_t lost : counters.lost) sink.Varint(lost);
    for (const double weight : counters.lost_weight) sink.F64(weight);
  }
  sink.Varint(start.lane_positions.size());
  for (const uint64_t position : start.lane_positions) sink.Varint(position);
}

void Encode(const std::vector<ServiceLabel>& labels, ByteSink sink) {
  sink.Varint(labels.size());
  for (const ServiceLabel& label : labels) {
    sink.String(label.key);
    sink.String(label.value);
  }
}

void Encode(const std::vector<Setting>& settings, ByteSink sink) {
  sink.Varint(settings.size());
  for (const Setting& setting : settings) {
    sink.String(setting.name);
    sink.String(setting.value);
    sink.Varint(static_cast<uint64_t>(setting.origin));
  }
}

void Decode(Bytes body, std::vector<Setting>* settings) {
  constexpr uint64_t kOrigins = 4;
  ByteCursor cursor(body);
  const uint64_t count = cursor.Varint();
  for (uint64_t i = 0; i < count && cursor.ok(); ++i) {
    Setting setting;
    setting.name = cursor.String();
    setting.value = cursor.String();
    const uint64_t origin = cursor.Varint();
    setting.origin = static_cast<Setting::Origin>(origin < kOrigins ? origin : 0);
    settings->push_back(std::move(setting));
  }
  if (!cursor.ok()) settings->clear();
}

void Decode(Bytes body, std::vector<ServiceLabel>* labels) {
  ByteCursor cursor(body);
  const uint64_t count = cursor.Varint();
  for (uint64_t i = 0; i < count && cursor.ok(); ++i) {
    std::string key(cursor.String());
    labels->push_back({std::move(key), std::string(cursor.String())});
  }
  if (!cursor.ok()) labels->clear();
}

// Skips what a later writer has appended (streams, counters, losses).
void Decode(Bytes body, FileStart* start) {
  ByteCursor cursor(body);
  start->part = static_cast<uint32_t>(cursor.Varint());
  start->begin_ns = cursor.Varint();
  const uint64_t streams = cursor.Varint();
  for (uint64_t stream = 0; stream < streams && cursor.ok(); ++stream) {
    StreamCounters counters;
    const uint64_t next = cursor.Varint();
    const uint64_t with_points = cursor.Varint();
    const uint64_t counted = cursor.Varint();
    for (uint64_t i = 0; i < counted && cursor.ok(); ++i) {
      const uint64_t value = cursor.Varint();
      if (i < kStreamCounterFields.size()) counters.*kStreamCounterFields[i] = value;
    }
    const uint64_t losses = cursor.Varint();
    for (uint64_t i = 0; i < losses && cursor.ok(); ++i) {
      const uint64_t value = cursor.Varint();
      if (i < kLosses) counters.lost[i] = value;
    }
    for (uint64_t i = 0; i < losses && cursor.ok(); ++i) {
      const double value = cursor.F64();
      if (i < kLosses) counters.lost_weight[i] = value;
    }
    if (stream >= kStreams) continue;
    start->counters.of[stream] = counters;
    start->next_interval.of[stream] = next;
    start->intervals_with_points.of[stream] = with_points;
  }
  const uint64_t lanes = cursor.Varint();
  for (uint64_t i = 0; i < lanes && i < kMaxLanes && cursor.ok(); ++i) start->lane_positions.push_back(cursor.Varint());
  if (!cursor.ok()) *start = {};
}

void Decode(Bytes body, RecordingId* id) {
  for (size_t i = 0; i < std::min(body.size(), id->size()); ++i) (*id)[i] = static_cast<uint8_t>(body[i]);
}
void Decode(Bytes body, std::string* text) { *text = AsText(body); }
void Decode(Bytes body, double* value) { *value = ByteCursor(body).F64(); }
template <std::unsigned_integral T>
void Decode(Bytes body, T* value) {
  *value = static_cast<T>(ByteCursor(body).Varint());
}

// An unknown mode also draws in some way, and its rows have their weights.
void Decode(Bytes body, CensusMode* mode) {
  *mode = static_cast<CensusMode>(std::min(ByteCursor(body).Varint(), static_cast<uint64_t>(CensusMode::kDrawn)));
}

// Hashes everything except the hash itself.
uint64_t HeaderHash(Bytes bytes) {
  ByteBuffer hashed(bytes.begin(), bytes.begin() + kHashAt);
  ByteSink(&hashed).Append(bytes.subspan(kFilePrefixBytes));
  return Hash(hashed);
}

}  // namespace

ByteBuffer EncodeHeaderFields(const FileHeader& header) {
  ByteBuffer fields;
  ForEachField(header, [&fields](uint64_t tag, const auto& field) {
    if (field == std::decay_t<decltype(field)>{}) return;
    ByteBuffer body;
    Encode(field, ByteSink(&body));
    ByteSink sink(&fields);
    sink.Varint(tag);
    sink.Varint(body.size());
    sink.Append(body);
  });
  return fields;
}

ByteBuffer EncodeFileHeader(const FileHeader& header) {
  const ByteBuffer fields = EncodeHeaderFields(header);
  ByteBuffer bytes;
  ByteSink sink(&bytes);
  sink.U64(kFileMagic);
  sink.U32(kFileVersion);
  sink.U32(static_cast<uint32_t>(fields.size()));
  sink.U64(0);
  sink.Append(fields);
  const uint64_t hash = HeaderHash(bytes);
  std::memcpy(bytes.data() + kHashAt, &hash, sizeof(hash));
  return bytes;
}

Result<size_t> FileHeaderBytes(Bytes prefix) {
  if (prefix.size() < kFilePrefixBytes) return Error{"not a heaprec recording: shorter than a file header"};
  ByteCursor cursor(prefix);
  const uint64_t magic = cursor.U64();
  if ((magic & UINT32_MAX) == kJfrMagic) return Error{"not a heaprec recording but a JFR file: use heaprec import"};
  if (magic == kSharedRingMagic)
    return Error{"not a heaprec recording but the shared ring of one: give the recording, which knows its ring"};
  if (magic != kFileMagic) return Error{"not a heaprec recording"};
  cursor.U32();  // version
  const uint32_t fields = cursor.U32();
  if (fields > kMaxFileFieldsBytes) return Error{"file header says that it is over 1 MiB long"};
  return kFilePrefixBytes + size_t{fields};
}

bool IsUndamaged(Bytes header) { return ByteCursor(header.subspan(kHashAt)).U64() == HeaderHash(header); }

Result<FileHeader> DecodeFileHeader(Bytes bytes) {
  if (!IsUndamaged(bytes)) return Error{"file header hash differs"};
  const uint32_t version = ByteCursor(bytes.subspan(kVersionAt)).U32();
  if (version != kFileVersion) {
    return Error{"recording of format version " + std::to_string(version) + ", this heaprec reads " +
                 std::to_string(kFileVersion)};
  }
  return DecodeHeaderFields(bytes.subspan(kFilePrefixBytes));
}

Result<FileHeader> DecodeHeaderFields(Bytes fields) {
  FileHeader header;
  ByteCursor cursor(fields);
  while (cursor.ok() && !cursor.at_end()) {
    const uint64_t tag = cursor.Varint();
    const Bytes body = cursor.Take(cursor.Varint());
    ForEachField(header, [tag, body](uint64_t known, auto& field) {
      if (tag == known) Decode(body, &field);
    });
  }
  if (!cursor.ok()) return Error{"file header fields are malformed"};
  return header;
}

}  // namespace heaprec::format

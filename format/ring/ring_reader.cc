#include "format/ring/ring_reader.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "format/ring/content_keys.h"

namespace heaprec::format {
namespace {

Error RingError(const char* what) { return Error{std::string("ring: ") + what}; }

// One record of a lane; all of it is checked against the record's size.
class Record {
 public:
  // `bytes`: from the record's first byte to the end of the bytes that may belong to it. Returns nullopt if it is not a
  // record.
  static std::optional<Record> At(std::span<const std::byte> bytes) {
    RecordHeader header;
    if (bytes.size() < sizeof(header)) return std::nullopt;
    std::memcpy(&header, bytes.data(), sizeof(header));
    if (header.bytes < sizeof(header) || header.bytes % kRecordAlign != 0) return std::nullopt;
    if (header.bytes > bytes.size()) return std::nullopt;
    return Record(header, bytes.first(header.bytes));
  }

  RecordType type() const { return header_.type; }
  uint32_t bytes() const { return header_.bytes; }

  // Passes the record to the visitor. Returns false if its content is invalid.
  bool Visit(RecordVisitor& visitor, uint32_t lane, uint64_t position) const {
    switch (header_.type) {
      case RecordType::kPad:
        return true;
      case RecordType::kClass:
        return VisitClass(visitor);
      case RecordType::kMethod:
        return VisitMethod(visitor);
      case RecordType::kStack:
        return VisitStack(visitor, lane, position);
      case RecordType::kThread:
        return VisitThread(visitor);
      case RecordType::kWindow:
        return VisitWindow(visitor);
      case RecordType::kSample:
        return VisitSample(visitor, lane, position);
      case RecordType::kState:
        return VisitState(visitor);
      case RecordType::kEvent:
        return VisitEvent(visitor, lane);
      case RecordType::kDeath:
        return VisitDeath(visitor, lane, position);
      case RecordType::kNativePoint:
        return VisitNativePoint(visitor);
      case RecordType::kPoint:
      case RecordType::kOutside:
        return VisitPoint(visitor, lane, position);
    }
    return false;
  }

 private:
  Record(RecordHeader header, std::span<const std::byte> bytes) : header_(header), bytes_(bytes) {}

  // Copies the fixed part. Returns false unless the record consists of exactly this part and the `variable(fixed)`
  // bytes after it.
  template <typename T, typename VariableBytes>
  bool Fixed(T* fixed, const VariableBytes& variable) const {
    if (bytes_.size() < sizeof(T)) return false;
    std::memcpy(fixed, bytes_.data(), sizeof(T));
    const uint64_t needed = sizeof(T) + uint64_t{variable(*fixed)};
    return (needed + kRecordAlign - 1) / kRecordAlign * kRecordAlign == bytes_.size();
  }
  std::string_view Text(size_t offset, size_t size) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + offset, size};
  }

  bool VisitClass(RecordVisitor& visitor) const {
    ClassRecord record;
    if (!Fixed(&record, [](const ClassRecord& fixed) { return uint64_t{fixed.name_bytes}; })) return false;
    const std::string_view name = Text(sizeof(record), record.name_bytes);
    if (record.key != ClassKey(name)) return false;
    visitor.OnClass(record.key, name);
    return true;
  }
  bool VisitMethod(RecordVisitor& visitor) const {
    MethodRecord record;
    if (!Fixed(&record, [](const MethodRecord& fixed) {
          return uint64_t{fixed.class_bytes} + fixed.name_bytes + fixed.descriptor_bytes;
        })) {
      return false;
    }
    const std::string_view class_name = Text(sizeof(record), record.class_bytes);
    const std::string_view name = Text(sizeof(record) + record.class_bytes, record.name_bytes);
    const std::string_view descriptor =
        Text(sizeof(record) + record.class_bytes + record.name_bytes, record.descriptor_bytes);
    if (record.key != MethodKey(class_name, name, descriptor)) return false;
    visitor.OnMethod(record.key, class_name, name, descriptor);
    return true;
  }
  bool VisitStack(RecordVisitor& visitor, uint32_t lane, uint64_t position) const {
    StackRecord record;
    if (!Fixed(&record, [](const StackRecord& fixed) { return uint64_t{fixed.frame_count} * sizeof(RingFrame); })) {
      return false;
    }
    if (record.truncated > 1) return false;
    // Aligned: RingView::Of has checked the ring's address, and every record begins at a multiple of 8.
    const std::span frames(reinterpret_cast<const RingFrame*>(bytes_.data() + sizeof(record)), record.frame_count);
    const bool truncated = record.truncated == 1;
    if (!(record.key == KeyOfStack(frames, truncated))) return false;
    visitor.OnStack(record.key, frames, truncated, lane, position);
    return true;
  }
  bool VisitThread(RecordVisitor& visitor) const {
    ThreadRecord record;
    if (!Fixed(&record, [](const ThreadRecord& fixed) { return uint64_t{fixed.name_bytes}; })) return false;
    const std::string_view name = Text(sizeof(record), record.name_bytes);
    if (record.is_virtual > 1) return false;
    if (record.key != ThreadKey(record.java_tid, record.os_tid, record.is_virtual == 1, name)) return false;
    visitor.OnThread(record.key, record, name);
    return true;
  }
  bool VisitWindow(RecordVisitor& visitor) const {
    WindowRecord record;
    if (!Fixed(&record, [](const WindowRecord&) { return uint64_t{0}; })) return false;
    visitor.OnWindow(record);
    return true;
  }
  bool VisitSample(RecordVisitor& visitor, uint32_t lane, uint64_t position) const {
    SampleRecord record;
    if (!Fixed(&record, [](const SampleRecord&) { return uint64_t{0}; })) return false;
    if (record.kind >= static_cast<uint32_t>(kKinds)) return false;
    visitor.OnSample(record, lane, position, position + header_.bytes);
    return true;
  }
  bool VisitPoint(RecordVisitor& visitor, uint32_t lane, uint64_t position) const {
    PointRecord record;
    if (!Fixed(&record, [](const PointRecord&) { return uint64_t{0}; })) return false;
    if (!std::isfinite(record.weight) || !(record.weight > 0) || record.size == 0) return false;
    if (header_.type == RecordType::kPoint) {
      visitor.OnPoint(record, lane, position);
      return true;
    }
    if (record.weight > static_cast<double>(record.size)) return false;
    visitor.OnOutside(record, lane, position);
    return true;
  }
  bool VisitState(RecordVisitor& visitor) const {
    StateRecord record;
    if (!Fixed(&record, [](const StateRecord& fixed) { return fixed.items * sizeof(uint64_t); })) return false;
    if (record.kind >= kProcessStateKinds || IsEvent(static_cast<ProcessStateKind>(record.kind))) return false;
    // Aligned: as in VisitStack.
    visitor.OnState(record, {reinterpret_cast<const uint64_t*>(bytes_.data() + sizeof(record)), record.items});
    return true;
  }
  bool VisitEvent(RecordVisitor& visitor, uint32_t lane) const {
    EventRecord record;
    if (!Fixed(&record, [](const EventRecord& fixed) { return uint64_t{fixed.text_bytes}; })) return false;
    if (record.kind >= static_cast<uint32_t>(kProcessStateKinds)) return false;
    if (!IsEvent(static_cast<ProcessStateKind>(record.kind)) || record.text_bytes > kMaxEventTextBytes) return false;
    visitor.OnEvent(record, Text(sizeof(record), record.text_bytes), lane);
    return true;
  }
  bool VisitDeath(RecordVisitor& visitor, uint32_t lane, uint64_t position) const {
    DeathRecord record;
    if (!Fixed(&record, [](const DeathRecord&) { return uint64_t{0}; })) return false;
    visitor.OnDeath(record, lane, position);
    return true;
  }
  bool VisitNativePoint(RecordVisitor& visitor) const {
    NativePointRecord record;
    if (!Fixed(&record, [](const NativePointRecord& fixed) {
          return fixed.native_frames * sizeof(uint64_t) + fixed.java_frames * sizeof(RingFrame);
        })) {
      return false;
    }
    if (!std::isfinite(record.weight) || !(record.weight > 0)) return false;
    if (record.function >= kNativeFunctions.size() || record.is_cut > 1) return false;
    // Aligned: as in VisitStack.
    const auto* const pcs = reinterpret_cast<const uint64_t*>(bytes_.data() + sizeof(record));
    const auto* const java = reinterpret_cast<const RingFrame*>(pcs + record.native_frames);
    visitor.OnNativePoint(reinterpret_cast<const NativePointRecord*>(bytes_.data()), {pcs, record.native_frames},
                          {java, record.java_frames});
    return true;
  }

  RecordHeader header_;
  std::span<const std::byte> bytes_;
};

// What a state and an event have in common.
template <typename Record>
ProcessState CommonOf(const Record& record, uint64_t start_monotonic_ns) {
  ProcessState state;
  state.id = record.id;
  state.time_ns = SinceStart(record.monotonic_ns, start_monotonic_ns);
  state.kind = static_cast<ProcessStateKind>(record.kind);
  state.used = record.used;
  state.committed = record.committed;
  state.pauses = record.pauses;
  state.paused_ns = record.paused_ns;
  return state;
}

}  // namespace

Result<RingView> RingView::Of(std::span<const std::byte> bytes) {
  if (bytes.size() < kRingHeaderBytes) return RingError("shorter than its header");
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(RingHeader) != 0) return RingError("not aligned in memory");
  const auto* header = reinterpret_cast<const RingHeader*>(bytes.data());
  if (header->magic != kRingMagic) return RingError("not a heaprec ring");
  if (header->version != kRingVersion) return RingError("its format version is not that of this heaprec");
  if (header->header_bytes != kRingHeaderBytes || header->lane_header_bytes != kLaneHeaderBytes) {
    return RingError("its headers have another size");
  }
  RingView view;
  view.header_ = header;
  view.lane_count_ = header->lane_count;
  view.lane_bytes_ = header->lane_bytes;
  if (!std::has_single_bit(view.lane_bytes_) || view.lane_bytes_ < kRecordAlign) {
    return RingError("lane size is not a power of two");
  }
  const uint64_t lane_stride = uint64_t{kLaneHeaderBytes} + view.lane_bytes_;
  if (view.lane_count_ > (bytes.size() - kRingHeaderBytes) / lane_stride) return RingError("shorter than its lanes");
  const auto find = [bytes](uint64_t at, auto** part) {
    using Part = std::remove_pointer_t<decltype(part)>;
    if (at == 0) return true;
    if (at % kRecordAlign != 0 || at > bytes.size() || bytes.size() - at < sizeof(**part)) return false;
    *part = reinterpret_cast<Part>(bytes.data() + at);
    return true;
  };
  if (!find(header->modules_at, &view.modules_)) return RingError("shorter than its modules");
  if (!find(header->census_at, &view.census_)) return RingError("shorter than its census");
  if (!find(header->rows_at, &view.rows_)) return RingError("shorter than its rows");
  return view;
}

std::span<const RingModule> RingView::modules() const {
  if (modules_ == nullptr || modules_->sequence.load(std::memory_order_acquire) % 2 != 0) return {};
  return std::span(modules_->modules).first(std::min(modules_->count, kMaxRingModules));
}

const std::byte* RingView::lane_begin(uint32_t index) const {
  const uint64_t lane_stride = uint64_t{kLaneHeaderBytes} + lane_bytes_;
  return reinterpret_cast<const std::byte*>(header_) + kRingHeaderBytes + index * lane_stride;
}

const LaneHeader& RingView::lane(uint32_t index) const {
  return *reinterpret_cast<const LaneHeader*>(lane_begin(index));
}

std::span<const std::byte> RingView::lane_bytes(uint32_t index) const {
  return {lane_begin(index) + kLaneHeaderBytes, lane_bytes_};
}

Result<uint64_t> WalkLane(const RingView& ring, uint32_t lane, uint64_t position, uint64_t head,
                          RecordVisitor& visitor) {
  const auto failed = [lane](uint64_t at, const char* what) {
    return Error{"ring: lane " + std::to_string(lane) + " position " + std::to_string(at) + ": " + what};
  };
  if (lane >= ring.lane_count()) return failed(position, "no such lane");
  const std::span<const std::byte> bytes = ring.lane_bytes(lane);
  if (position > head || head - position > bytes.size()) return failed(position, "head is out of range");
  if (position % kRecordAlign != 0 || head % kRecordAlign != 0) return failed(position, "not aligned");
  while (position != head) {
    const std::span<const std::byte> to_wrap = bytes.subspan(position & (bytes.size() - 1));
    const auto record = Record::At(to_wrap.first(std::min<uint64_t>(to_wrap.size(), head - position)));
    if (!record) return failed(position, "no record has this size");
    if (!record->Visit(visitor, lane, position)) return failed(position, "record is malformed");
    position += record->bytes();
  }
  return position;
}

void VisitNames(const RingCensusPage& page, RecordVisitor& visitor) {
  std::span<const std::byte> rest(page.names);
  rest = rest.first(std::min<size_t>(rest.size(), page.names_used.load(std::memory_order_acquire)));
  while (const auto record = Record::At(rest)) {
    if (!record->Visit(visitor, 0, 0)) return;
    rest = rest.subspan(record->bytes());
  }
}

uint64_t SinceStart(uint64_t monotonic_ns, uint64_t start_monotonic_ns) {
  return monotonic_ns > start_monotonic_ns ? monotonic_ns - start_monotonic_ns : 0;
}

uint64_t TimeOf(const SampleRecord& record, uint64_t start_monotonic_ns, uint64_t not_before_ns) {
  return std::max(SinceStart(record.monotonic_ns, start_monotonic_ns), not_before_ns) / kTickNs * kTickNs;
}

Window WindowOf(const WindowRecord& record, uint64_t start_monotonic_ns) {
  return {record.id, SinceStart(record.start_monotonic_ns, start_monotonic_ns), record.lambda, record.point_lambda};
}

Thread ThreadOf(const ThreadRecord& record, std::string_view name) {
  return {record.java_tid, record.os_tid, record.is_virtual != 0, std::string(name)};
}

Sample SampleOf(const SampleRecord& record, const SampleNames& names, uint64_t time_ns, double weight) {
  Sample sample;
  sample.id = record.id;
  sample.time_ns = time_ns;
  sample.kind = static_cast<Kind>(record.kind);
  sample.thread = names.thread;
  sample.class_id = names.class_id;
  sample.stack = names.stack;
  sample.size = record.size;
  sample.tlab_size = record.tlab_size;
  sample.window = record.window;
  sample.weight = weight;
  return sample;
}

ProcessState EventOf(const EventRecord& record, std::string_view text, const SampleNames& names,
                     uint64_t start_monotonic_ns) {
  ProcessState state = CommonOf(record, start_monotonic_ns);
  state.cause = text;
  state.thread = names.thread;
  state.stack = names.stack;
  state.class_id = names.class_id;
  return state;
}

ProcessState StateOf(const StateRecord& record, std::span<const uint64_t> amounts, uint64_t start_monotonic_ns) {
  ProcessState state = CommonOf(record, start_monotonic_ns);
  state.threads = record.threads;
  state.rss = record.rss;
  state.collections = record.collections;
  if (record.old_collections > 0) state.old_collections = record.old_collections - 1;
  state.cause.assign(record.cause, strnlen(record.cause, sizeof(record.cause)));
  for (size_t i = 0; i < std::min(amounts.size(), kAccountItems); ++i)
    state.account.Set(static_cast<AccountItem>(i), Amount::OfCode(amounts[i]));
  return state;
}

LifecycleEvent LifecycleOf(const DeathRecord& record, uint64_t start_monotonic_ns) {
  LifecycleEvent lifecycle;
  lifecycle.sample = record.sample;
  lifecycle.time_ns = SinceStart(record.monotonic_ns, start_monotonic_ns);
  lifecycle.kind = LifecycleKind::kDied;
  lifecycle.stream = StreamOfId(record.sample);
  if (lifecycle.stream != Stream::kMapping) {
    lifecycle.collections = record.collections;
  } else if (record.collections > 0) {
    lifecycle.kind = LifecycleKind::kShrunk;
    lifecycle.left = record.collections;
  }
  return lifecycle;
}

CensusCounters CountersOf(const RingCensus& census) {
  CensusCounters counters;
  for (size_t i = 0; i < kCensusCounts; ++i) {
    counters.*kCensusCounterFields[i] = census.counters[i].load(std::memory_order_relaxed);
  }
  return counters;
}

}  // namespace heaprec::format

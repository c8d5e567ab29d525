// A ring in a test's memory, with records written as docs/format/ring.md has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "format/ring/content_keys.h"
#include "format/ring/ring_layout.h"
#include "format/ring/ring_reader.h"
#include "format/ring/ring_records.h"

namespace heaprec::format::testing {

class RingImage {
 public:
  RingImage(uint32_t lanes, uint32_t lane_bytes)
      : lane_bytes_(lane_bytes), words_((kRingHeaderBytes + lanes * (kLaneHeaderBytes + size_t{lane_bytes})) / 8) {
    auto* header = new (words_.data()) RingHeader{};
    header->magic = kRingMagic;
    header->version = kRingVersion;
    header->header_bytes = kRingHeaderBytes;
    header->lane_header_bytes = kLaneHeaderBytes;
    header->lane_count = lanes;
    header->lane_bytes = lane_bytes;
  }

  RingHeader& header() { return *reinterpret_cast<RingHeader*>(words_.data()); }
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words_)); }
  std::span<std::byte> lane(uint32_t lane) {
    return bytes().subspan(kRingHeaderBytes + lane * (kLaneHeaderBytes + size_t{lane_bytes_}) + kLaneHeaderBytes,
                           lane_bytes_);
  }

  // Writes a record at `position` of the lane, padding first when it would wrap; returns the position behind it.
  template <typename T>
  uint64_t Put(uint32_t lane_index, uint64_t position, RecordType type, T record,
               std::initializer_list<std::span<const std::byte>> parts = {}) {
    size_t size = sizeof(T);
    for (const auto part : parts) size += part.size();
    size = (size + kRecordAlign - 1) / kRecordAlign * kRecordAlign;
    const uint64_t to_wrap = lane_bytes_ - position % lane_bytes_;
    if (to_wrap < size) {
      PutBytes(lane_index, position, RecordHeader{static_cast<uint32_t>(to_wrap), RecordType::kPad, 0});
      position += to_wrap;
    }
    record.header = {static_cast<uint32_t>(size), type, 0};
    PutBytes(lane_index, position, record);
    size_t at = position % lane_bytes_ + sizeof(T);
    for (const auto part : parts) {
      if (!part.empty()) std::memcpy(lane(lane_index).data() + at, part.data(), part.size());
      at += part.size();
    }
    return position + size;
  }

 private:
  template <typename T>
  void PutBytes(uint32_t lane_index, uint64_t position, const T& value) {
    std::memcpy(lane(lane_index).data() + position % lane_bytes_, &value, sizeof(value));
  }

  uint32_t lane_bytes_;
  std::vector<uint64_t> words_;
};

inline std::span<const std::byte> TextBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// One record of each type, from `position` on; returns the position behind the last.
inline uint64_t PutOneOfEach(RingImage* ring, uint32_t lane, uint64_t position) {
  ClassRecord named{};
  named.key = ClassKey("java/lang/String");
  named.name_bytes = 16;
  position = ring->Put(lane, position, RecordType::kClass, named, {TextBytes("java/lang/String")});
  MethodRecord method{};
  method.key = MethodKey("a/B", "run", "()V");
  method.class_bytes = method.name_bytes = method.descriptor_bytes = 3;
  position =
      ring->Put(lane, position, RecordType::kMethod, method, {TextBytes("a/B"), TextBytes("run"), TextBytes("()V")});
  const RingFrame frames[] = {{method.key, 5, 10}, {0, -1, -1}};
  StackRecord stack{};
  stack.key = KeyOfStack(frames, true);
  stack.frame_count = 2;
  stack.truncated = 1;
  position = ring->Put(lane, position, RecordType::kStack, stack, {std::as_bytes(std::span(frames))});
  ThreadRecord thread{};
  thread.key = ThreadKey(1, 77, true, "main");
  thread.java_tid = 1;
  thread.os_tid = 77;
  thread.is_virtual = 1;
  thread.name_bytes = 4;
  position = ring->Put(lane, position, RecordType::kThread, thread, {TextBytes("main")});
  WindowRecord window{};
  window.id = 3;
  window.lambda = 1e-6;
  window.point_lambda = 1e-5;
  position = ring->Put(lane, position, RecordType::kWindow, window);
  StateRecord state{};
  state.id = 4;
  state.kind = static_cast<uint16_t>(ProcessStateKind::kGcEnd);
  std::memcpy(state.cause, "System.gc()", 11);
  const uint64_t amounts[] = {Amount::NoLimit().code(), 0, Amount::Of(7).code()};
  state.items = 3;
  position = ring->Put(lane, position, RecordType::kState, state, {std::as_bytes(std::span(amounts))});
  EventRecord event{};
  event.monotonic_ns = 100;
  event.id = 5;
  event.used = 3;
  event.kind = static_cast<uint32_t>(ProcessStateKind::kError);
  event.text_bytes = 15;
  position = ring->Put(lane, position, RecordType::kEvent, event, {TextBytes("Java heap space")});
  DeathRecord death{};
  death.sample = 8;
  death.collections = 2;
  position = ring->Put(lane, position, RecordType::kDeath, death);
  NativePointRecord point{};
  point.id = FirstIdOf(Stream::kNative);
  point.size = 100;
  point.weight = 4096;
  point.native_frames = 2;
  point.java_frames = 1;
  const uint64_t pcs[] = {0x401000, 0x402000};
  position = ring->Put(lane, position, RecordType::kNativePoint, point,
                       {std::as_bytes(std::span(pcs)), std::as_bytes(std::span(frames).first(1))});
  PointRecord light{};
  light.class_key = named.key;
  light.stack_key = stack.key;
  light.size = 32;
  light.weight = 512;
  position = ring->Put(lane, position, RecordType::kPoint, light);
  SampleRecord sample{};
  sample.id = 9;
  sample.thread_key = thread.key;
  sample.class_key = named.key;
  sample.stack_key = stack.key;
  sample.call_path = 0x0123456789abcdef;
  sample.size = 24;
  sample.window = 3;
  return ring->Put(lane, position, RecordType::kSample, sample);
}

// Counts, and touches every byte it is shown: a sanitizer notices what is out of bounds.
struct CountingVisitor : RecordVisitor {
  int classes = 0, methods = 0, stacks = 0, threads = 0, windows = 0, samples = 0, states = 0, deaths = 0, points = 0;
  int light_points = 0;
  uint64_t sum = 0;
  uint64_t last_end = 0;
  void Touch(std::string_view text) {
    for (const char c : text) sum += static_cast<unsigned char>(c);
  }
  void OnClass(uint64_t /*key*/, std::string_view name) override { ++classes, Touch(name); }
  void OnMethod(uint64_t /*key*/, std::string_view class_name, std::string_view name,
                std::string_view descriptor) override {
    ++methods, Touch(class_name), Touch(name), Touch(descriptor);
  }
  void OnStack(StackKey /*key*/, std::span<const RingFrame> leaf_first, bool /*truncated*/, uint32_t /*lane*/,
               uint64_t /*begin*/) override {
    ++stacks;
    for (const RingFrame& frame : leaf_first) sum += frame.method + static_cast<uint32_t>(frame.bci);
  }
  void OnThread(uint64_t /*key*/, const ThreadRecord& record, std::string_view name) override {
    ++threads, Touch(name), sum += record.os_tid;
  }
  void OnWindow(const WindowRecord& record) override { ++windows, sum += record.id; }
  void OnSample(const SampleRecord& record, uint32_t /*lane*/, uint64_t begin, uint64_t end) override {
    ++samples, sum += record.id + begin, last_end = end;
  }
  void OnNativePoint(const NativePointRecord* record, std::span<const uint64_t> pcs,
                     std::span<const RingFrame> java) override {
    ++points, sum += record->id + record->size;
    for (const uint64_t pc : pcs) sum += pc;
    for (const RingFrame& frame : java) sum += frame.method + static_cast<uint32_t>(frame.bci);
  }
  void OnPoint(const PointRecord& record, uint32_t /*lane*/, uint64_t begin) override {
    ++light_points, sum += record.size + begin;
  }
  void OnState(const StateRecord& record, std::span<const uint64_t> amounts) override {
    ++states, sum += record.id;
    const ProcessState state = StateOf(record, amounts, 0);
    Touch(state.cause);
    for (const auto& [item, amount] : state.account.taken()) sum += amount.code();
  }
  void OnEvent(const EventRecord& record, std::string_view text, uint32_t /*lane*/) override {
    ++states, sum += record.id;
    Touch(EventOf(record, text, {}, 0).cause);
  }
  void OnDeath(const DeathRecord& record, uint32_t /*lane*/, uint64_t begin) override {
    ++deaths, sum += LifecycleOf(record, 0).sample + begin;
  }
};

}  // namespace heaprec::format::testing

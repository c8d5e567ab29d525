#include "recorder/sources/callback/frame_names.h"

#include <cstring>

#include "throttle/random.h"

namespace heaprec::sources {
namespace {

// Maximum number of entries in a table, so that searches stay short.
constexpr size_t MostIn(size_t slots) { return slots / 8 * 7; }

}  // namespace

FrameNames::FrameNames(bool is_needed)
    : methods_(is_needed ? kMaxMethods : 1),
      frames_(is_needed ? kMaxFrames : 1),
      texts_(is_needed ? std::make_unique_for_overwrite<char[]>(kTextBytes) : nullptr) {}

size_t FrameNames::MethodSlot(const void* method) const {
  size_t slot = throttle::Mix64(reinterpret_cast<uintptr_t>(method)) % methods_.size();
  while (methods_[slot].id != nullptr && methods_[slot].id != method) slot = (slot + 1) % methods_.size();
  return slot;
}

size_t FrameNames::FrameSlot(const heaprec_frame& frame) const {
  const uint64_t key = reinterpret_cast<uintptr_t>(frame.method) * 31 + static_cast<uint64_t>(frame.location);
  size_t slot = throttle::Mix64(key) % frames_.size();
  while (frames_[slot].method != nullptr &&
         (frames_[slot].method != frame.method || frames_[slot].location != frame.location)) {
    slot = (slot + 1) % frames_.size();
  }
  return slot;
}

uint32_t FrameNames::Append(std::string_view text) {
  char* const at = texts_.get() + text_bytes_;
  std::memcpy(at, text.data(), text.size());
  at[text.size()] = '\0';
  text_bytes_ += text.size() + 1;
  return static_cast<uint32_t>(at - texts_.get());
}

void FrameNames::AddMethod(void* method, const Method& names) {
  const size_t bytes = names.class_name.size() + names.name.size() + names.file.size() + 3;
  if (texts_ == nullptr || method_count_ >= MostIn(kMaxMethods) || text_bytes_ + bytes > kTextBytes) return;
  KnownMethod& known = methods_[MethodSlot(method)];
  if (known.id != nullptr) return;
  known = {method, Append(names.class_name), Append(names.name), Append(names.file)};
  ++method_count_;
}

void FrameNames::Add(const heaprec_frame& frame, int32_t line) {
  if (frame_count_ >= MostIn(kMaxFrames) || texts_ == nullptr || !HasMethod(frame.method)) return;
  KnownFrame& known = frames_[FrameSlot(frame)];
  if (known.method != nullptr) return;
  known = {frame.method, frame.location, line};
  ++frame_count_;
}

heaprec_frame_name FrameNames::Find(const heaprec_frame& frame) const {
  const KnownFrame& known = frames_[FrameSlot(frame)];
  const KnownMethod& method = methods_[MethodSlot(frame.method)];
  if (known.method == nullptr || method.id == nullptr) return {nullptr, nullptr, nullptr, -1};
  const char* const texts = texts_.get();
  return {texts + method.class_name, texts + method.name, texts + method.file, known.line};
}

bool FrameNames::IsHalfFull() const {
  return frame_count_ > kMaxFrames / 2 || method_count_ > kMaxMethods / 2 || text_bytes_ > kTextBytes / 2;
}

void FrameNames::CopyFrom(const FrameNames& other, const heaprec_frame& frame) {
  const heaprec_frame_name names = other.Find(frame);
  if (names.class_name == nullptr) return;
  AddMethod(frame.method, {names.class_name, names.method_name, names.file_name});
  Add(frame, names.line);
}

}  // namespace heaprec::sources

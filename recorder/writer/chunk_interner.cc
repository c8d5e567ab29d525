#include "recorder/writer/chunk_interner.h"

#include <algorithm>
#include <utility>

#include "format/ring/content_keys.h"
#include "format/ring/ring_reader.h"
#include "format/ring/ring_records.h"

namespace heaprec::writer {

using format::Index;
using format::kNone;
using format::RingFrame;

namespace {

// Approximate size of an entry of a map.
constexpr uint64_t kEntryBytes = 64;

}  // namespace

void ChunkInterner::EndChunk() {
  if (chunk_ == nullptr) return;
  previous_.emplace(Previous{std::exchange(current_, {}), chunk_->TakeNames(), {}});
  previous_->methods.assign(previous_->names.methods().size(), kNone);
  chunk_ = nullptr;
}

void ChunkInterner::NewChunk(format::ChunkWriter* chunk) {
  chunk_ = chunk;
  last_frames_.clear();
  last_stack_.clear();
  is_primitive_.clear();
}

uint64_t ChunkInterner::bytes() const {
  return kEntryBytes *
         (current_.classes.size() + current_.methods.size() + current_.threads.size() + current_.stacks.size());
}

void ChunkInterner::CarryOver() {
  if (!previous_) return;
  CarryAll(&Generation::classes, [this](uint64_t key) { (void)Class(key); });
  CarryAll(&Generation::methods, [this](uint64_t key) { (void)Method(key); });
  CarryAll(&Generation::stacks, [this](const format::StackKey& key) { (void)Stack(key); });
  CarryAll(&Generation::threads, [this](uint64_t key) { (void)Thread(key); });
}

template <typename Entries, typename Look>
void ChunkInterner::CarryAll(Entries Generation::*of, const Look& look) {
  for (const auto& [key, entry] : previous_->keys.*of) {
    if (entry.is_carried || (current_.*of).contains(key)) continue;
    look(key);
    (current_.*of).at(key).is_carried = true;
  }
}

void ChunkInterner::DefineClass(uint64_t key, std::string_view name) {
  auto [entry, is_new] = current_.classes.try_emplace(key);
  entry->second.is_carried = false;
  if (is_new) entry->second.index = chunk_->InternClass(name);
}

void ChunkInterner::DefineMethod(uint64_t key, std::string_view class_name, std::string_view name,
                                 std::string_view descriptor) {
  auto [entry, is_new] = current_.methods.try_emplace(key);
  entry->second.is_carried = false;
  if (is_new) entry->second.index = chunk_->InternMethod(class_name, name, descriptor);
}

void ChunkInterner::DefineThread(uint64_t key, const format::Thread& thread) {
  auto [entry, is_new] = current_.threads.try_emplace(key);
  entry->second.is_carried = false;
  if (is_new) entry->second.index = chunk_->InternThread(thread);
}

bool ChunkInterner::DefineStack(format::StackKey key, std::span<const RingFrame> leaf_first, bool truncated) {
  if (const auto known = current_.stacks.find(key); known != current_.stacks.end()) {
    known->second.is_carried = false;
    return true;
  }
  if (format::AreAddresses(leaf_first)) {
    current_.stacks[key].index = DefineAddresses(leaf_first);
    return true;
  }
  next_stack_.resize(leaf_first.size());
  bool is_alike = true;
  for (size_t from_root = 1; from_root <= leaf_first.size(); ++from_root) {
    const RingFrame& frame = leaf_first[leaf_first.size() - from_root];
    format::StackFrame& into = next_stack_[leaf_first.size() - from_root];
    is_alike = is_alike && from_root <= last_frames_.size() && last_frames_[last_frames_.size() - from_root] == frame;
    into = is_alike ? last_stack_[last_stack_.size() - from_root]
                    : format::StackFrame{Method(frame.method), frame.bci, frame.line, frame.type};
    if (into.method == kNone && frame.method != 0) return false;
  }
  last_frames_.assign(leaf_first.begin(), leaf_first.end());
  last_stack_.swap(next_stack_);
  current_.stacks[key].index = chunk_->InternStack(last_stack_, truncated);
  return true;
}

Index ChunkInterner::DefineAddresses(std::span<const RingFrame> leaf_first) {
  std::vector<format::StackFrame> frames;
  for (const RingFrame& frame : leaf_first) {
    const format::CodeLocation place = name_of_ ? name_of_(frame.method) : format::CodeLocation();
    if (place.module.empty()) break;
    const uint64_t key = format::MethodKey(place.module, place.function, place.build_id);
    DefineMethod(key, place.module, place.function, place.build_id);
    frames.push_back({Method(key), static_cast<int32_t>(place.offset), -1, format::FrameType::kNative});
  }
  return frames.empty() ? kNone : chunk_->InternStack(frames, /*truncated=*/false);
}

void ChunkInterner::DefineStackAnyway(format::StackKey key, std::span<const RingFrame> leaf_first, bool truncated) {
  if (DefineStack(key, leaf_first, truncated)) return;
  std::vector<format::StackFrame> frames;
  for (const RingFrame& frame : leaf_first) frames.push_back({Method(frame.method), frame.bci, frame.line, frame.type});
  current_.stacks[key] = {chunk_->InternStack(frames, truncated), false};
}

bool ChunkInterner::IsPrimitive(Index method) {
  if (method == kNone) return false;
  const format::ChunkNames& names = chunk_->names();
  is_primitive_.resize(names.methods().size());
  std::optional<bool>& known = is_primitive_[method];
  if (!known) {
    const format::ChunkNames::NamedMethod& named = names.methods()[method];
    known = primitives_.HasMethod(names.Text(named.class_name), names.Text(named.name));
  }
  return *known;
}

Index ChunkInterner::InternPath(std::span<const format::StackFrame> leaf_first, bool truncated) {
  const format::Path path =
      format::PathOf(leaf_first.size(), truncated, [&](size_t i) { return IsPrimitive(leaf_first[i].method); });
  return chunk_->InternPath(leaf_first.first(path.frames), path.truncated);
}

Index ChunkInterner::Path(format::StackKey key) {
  bool truncated = false;
  const std::vector<format::StackFrame> frames = chunk_->names().Stack(Stack(key), &truncated, format::kLongestPath);
  return InternPath(frames, truncated);
}

Index ChunkInterner::Path(std::span<const RingFrame> leaf_first, bool truncated) {
  const size_t most = std::min(leaf_first.size(), format::kLongestPath);
  std::vector<format::StackFrame> frames;
  for (const RingFrame& frame : leaf_first.first(most))
    frames.push_back({Method(frame.method), frame.bci, frame.line, frame.type});
  return InternPath(frames, truncated || most < leaf_first.size());
}

bool ChunkInterner::HasMethods(std::span<const RingFrame> frames) {
  return std::ranges::all_of(
      frames, [this](const RingFrame& frame) { return frame.method == 0 || Method(frame.method) != kNone; });
}

template <typename Entries, typename Intern>
Index ChunkInterner::Lookup(Entries Generation::*of, const typename Entries::key_type& key, const Intern& intern) {
  if (auto known = (current_.*of).find(key); known != (current_.*of).end()) {
    known->second.is_carried = false;
    return known->second.index;
  }
  if (!previous_) return kNone;
  const auto old = (previous_->keys.*of).find(key);
  if (old == (previous_->keys.*of).end()) return kNone;
  return (current_.*of)[key].index = old->second.index != kNone ? intern(old->second.index) : kNone;
}

Index ChunkInterner::CarriedMethod(Index before) {
  Index& method = previous_->methods[before];
  if (method != kNone) return method;
  const format::ChunkNames& names = previous_->names;
  const format::ChunkNames::NamedMethod& named = names.methods()[before];
  return method =
             chunk_->InternMethod(names.Text(named.class_name), names.Text(named.name), names.Text(named.descriptor));
}

Index ChunkInterner::CarriedStack(Index before) {
  bool truncated = false;
  std::vector<format::StackFrame> frames = previous_->names.Stack(before, &truncated);
  for (format::StackFrame& frame : frames) {
    if (frame.method != kNone) frame.method = CarriedMethod(frame.method);
  }
  return chunk_->InternStack(frames, truncated);
}

Index ChunkInterner::Class(uint64_t key) {
  return Lookup(&Generation::classes, key, [this](Index before) {
    const format::ChunkNames& names = previous_->names;
    return chunk_->InternClass(names.Text(names.classes()[before]));
  });
}

Index ChunkInterner::Method(uint64_t key) {
  return Lookup(&Generation::methods, key, [this](Index before) { return CarriedMethod(before); });
}

Index ChunkInterner::Stack(format::StackKey key) {
  return Lookup(&Generation::stacks, key, [this](Index before) { return CarriedStack(before); });
}

Index ChunkInterner::Thread(uint64_t key) {
  return Lookup(&Generation::threads, key,
                [this](Index before) { return chunk_->InternThread(previous_->names.ThreadOf(before)); });
}

}  // namespace heaprec::writer

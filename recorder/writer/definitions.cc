#include "recorder/writer/definitions.h"

#include <algorithm>
#include <utility>

namespace heaprec::writer {

using format::Index;
using format::kNone;

namespace {

// Of a map's entry, here and in the chunk's dictionary, with the strings' own blocks.
constexpr uint64_t kEntryBytes = 200;

template <typename Entry>
Index Used(Entry* entry) {
  entry->is_carried = false;
  return entry->index;
}

}  // namespace

void Definitions::NewChunk(format::ChunkWriter* chunk) {
  chunk_ = chunk;
  previous_ = std::exchange(current_, {});
  bytes_ = 0;
}

void Definitions::CarryOver() {
  Carry(previous_.classes, &current_.classes, [this](uint64_t key) { (void)Class(key); });
  Carry(previous_.methods, &current_.methods, [this](uint64_t key) { (void)Method(key); });
  Carry(previous_.stacks, &current_.stacks, [this](const format::StackKey& key) { (void)Stack(key); });
  Carry(previous_.threads, &current_.threads, [this](uint64_t key) { (void)Thread(key); });
}

template <typename Entries, typename Lookup>
void Definitions::Carry(const Entries& from, Entries* to, const Lookup& lookup) {
  for (const auto& [key, entry] : from) {
    if (entry.is_carried || to->contains(key)) continue;
    lookup(key);
    to->at(key).is_carried = true;
  }
}

void Definitions::DefineClass(uint64_t key, std::string_view name) {
  auto [entry, is_new] = current_.classes.try_emplace(key);
  entry->second.is_carried = false;
  if (!is_new) return;
  entry->second = {std::string(name), chunk_->InternClass(name)};
  bytes_ += kEntryBytes + 2 * name.size();
}

void Definitions::DefineMethod(uint64_t key, std::string_view class_name, std::string_view name,
                               std::string_view descriptor) {
  auto [entry, is_new] = current_.methods.try_emplace(key);
  entry->second.is_carried = false;
  if (!is_new) return;
  entry->second.content = {std::string(class_name), std::string(name), std::string(descriptor)};
  entry->second.index = chunk_->InternMethod(entry->second.content);
  bytes_ += kEntryBytes + 3 * (class_name.size() + name.size() + descriptor.size());
}

void Definitions::DefineStack(format::StackKey key, std::span<const format::RingFrame> leaf_first, bool truncated) {
  auto [entry, is_new] = current_.stacks.try_emplace(key);
  entry->second.is_carried = false;
  if (!is_new) return;
  entry->second.content = {{leaf_first.begin(), leaf_first.end()}, truncated};
  std::vector<format::StackFrame> frames;
  frames.reserve(leaf_first.size());
  for (const format::RingFrame& frame : leaf_first) frames.push_back({Method(frame.method), frame.bci, frame.line});
  // Method() may have rehashed other maps, not this one.
  entry->second.index = chunk_->InternStack(frames, truncated);
  bytes_ += kEntryBytes + leaf_first.size_bytes();
}

bool Definitions::KnowsMethods(std::span<const format::RingFrame> frames) const {
  return std::all_of(frames.begin(), frames.end(), [this](const format::RingFrame& frame) {
    return frame.method == 0 || current_.methods.contains(frame.method) || previous_.methods.contains(frame.method);
  });
}

void Definitions::DefineThread(uint64_t key, const format::Thread& thread) {
  auto [entry, is_new] = current_.threads.try_emplace(key);
  entry->second.is_carried = false;
  if (!is_new) return;
  entry->second = {thread, chunk_->InternThread(thread)};
  bytes_ += kEntryBytes + 2 * thread.name.size();
}

Index Definitions::Class(uint64_t key) {
  if (auto known = current_.classes.find(key); known != current_.classes.end()) return Used(&known->second);
  auto old = previous_.classes.find(key);
  if (old == previous_.classes.end()) return kNone;
  DefineClass(key, old->second.content);
  return current_.classes[key].index;
}

Index Definitions::Method(uint64_t key) {
  if (auto known = current_.methods.find(key); known != current_.methods.end()) return Used(&known->second);
  auto old = previous_.methods.find(key);
  if (old == previous_.methods.end()) return kNone;
  const format::Method& method = old->second.content;
  DefineMethod(key, method.class_name, method.name, method.descriptor);
  return current_.methods[key].index;
}

Index Definitions::Stack(format::StackKey key) {
  if (auto known = current_.stacks.find(key); known != current_.stacks.end()) return Used(&known->second);
  auto old = previous_.stacks.find(key);
  if (old == previous_.stacks.end()) return kNone;
  DefineStack(key, old->second.content.frames, old->second.content.truncated);
  return current_.stacks[key].index;
}

Index Definitions::Thread(uint64_t key) {
  if (auto known = current_.threads.find(key); known != current_.threads.end()) return Used(&known->second);
  auto old = previous_.threads.find(key);
  if (old == previous_.threads.end()) return kNone;
  DefineThread(key, old->second.content);
  return current_.threads[key].index;
}

}  // namespace heaprec::writer

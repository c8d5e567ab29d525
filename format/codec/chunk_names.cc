#include "format/codec/chunk_names.h"

#include "format/bytes/bytes.h"
#include "format/bytes/layout.h"

namespace heaprec::format {
namespace {

uint64_t HashOf(Index index) { return MixWord(index); }
uint64_t HashOf(std::string_view text) { return Hash(AsBytes(text)); }
uint64_t HashOf(const ChunkNames::NamedMethod& method) {
  return MixWord(MixWord(uint64_t{method.class_name} << 32 | method.name) + method.descriptor);
}
uint64_t HashOf(const ChunkNames::NamedThread& thread) {
  return MixWord(MixWord(thread.java_tid) + (uint64_t{thread.os_tid} << 32 | thread.name));
}
uint64_t HashOf(const ChunkNames::Node& node) { return MixWord(uint64_t{node.parent} << 32 | node.frame); }
// The same for all frames of one place.
uint64_t HashOf(const StackFrame& frame) {
  return MixWord(MixWord(uint64_t{frame.method} << 32 | static_cast<uint32_t>(frame.bci)) +
                 static_cast<uint32_t>(frame.line));
}
bool IsSamePlace(const StackFrame& a, const StackFrame& b) {
  return a.method == b.method && a.bci == b.bci && a.line == b.line;
}

// Returns the index of `entry`, which is added if `entries` does not contain it.
template <typename Entry>
Index Intern(const Entry& entry, std::vector<Entry>* entries, IndexTable* table) {
  return table->FindOrAdd(
      HashOf(entry), [&](Index index) { return (*entries)[index] == entry; }, entries->size(),
      [&] { entries->push_back(entry); }, [&](Index index) { return HashOf((*entries)[index]); });
}

template <typename Entry>
uint64_t BytesOf(const std::vector<Entry>& entries) {
  return entries.capacity() * sizeof(Entry);
}

}  // namespace

std::string_view ChunkNames::Text(Index text) const {
  const size_t begin = text == 0 ? 0 : text_ends_[text - 1];
  return std::string_view(all_texts_).substr(begin, text_ends_[text] - begin);
}

Index ChunkNames::InternText(std::string_view text) {
  text = text.substr(0, kMaxStringBytes);
  const auto append = [&] {
    all_texts_ += text;
    text_ends_.push_back(static_cast<uint32_t>(all_texts_.size()));
  };
  return text_table_.FindOrAdd(
      HashOf(text), [&](Index index) { return Text(index) == text; }, text_ends_.size(), append,
      [this](Index index) { return HashOf(Text(index)); });
}

Index ChunkNames::InternClass(std::string_view name) { return Intern(InternText(name), &classes_, &class_table_); }

Index ChunkNames::InternMethod(std::string_view class_name, std::string_view name, std::string_view descriptor) {
  return Intern({InternText(class_name), InternText(name), InternText(descriptor)}, &methods_, &method_table_);
}

Index ChunkNames::InternThread(const Thread& thread) {
  return Intern({thread.java_tid, thread.os_tid, InternText(thread.name), thread.is_virtual}, &threads_,
                &thread_table_);
}

Index ChunkNames::InternFrame(const StackFrame& frame) { return Intern(frame, &frames_, &frame_table_); }

Index ChunkNames::InternNode(const Node& node, bool is_of_path) {
  const Index index = Intern(node, &nodes_, &node_table_);
  if (index < latest_child_.size()) return index;
  latest_child_.push_back(kNone);
  is_of_path_.push_back(is_of_path);
  return index;
}

Index ChunkNames::InternStack(std::span<const StackFrame> leaf_first, bool truncated) {
  Index node = kNone;
  for (auto frame = leaf_first.rbegin(); frame != leaf_first.rend(); ++frame) {
    if (node == kNone) {
      node = InternNode({truncated ? kCutRoot : kNone, InternFrame(*frame)});
      continue;
    }
    // Consecutive stacks often begin with the same frames. Their nodes are adjacent, so no lookup is needed.
    const Index latest = latest_child_[node];
    const bool is_latest = latest != kNone && frames_[nodes_[latest].frame] == *frame;
    const Index child = is_latest ? latest : InternNode({node, InternFrame(*frame)});
    latest_child_[node] = child;
    node = child;
  }
  return node;
}

Index ChunkNames::InternPath(std::span<const StackFrame> leaf_first, bool truncated) {
  Index node = truncated ? kCutRoot : kNone;
  for (auto frame = leaf_first.rbegin(); frame != leaf_first.rend(); ++frame) {
    const auto is_same = [&](Index index) { return IsSamePlace(frames_[index], *frame); };
    const Index known = frame_table_.Find(HashOf(*frame), is_same);
    node = InternNode({node, known != kNone ? known : InternFrame(*frame)}, /*is_of_path=*/true);
  }
  return leaf_first.empty() ? kNone : node;
}

std::vector<StackFrame> ChunkNames::Stack(Index leaf, bool* truncated, size_t most) const {
  std::vector<StackFrame> leaf_first;
  Index node = leaf;
  for (; node != kNone && node != kCutRoot && leaf_first.size() < most; node = nodes_[node].parent)
    leaf_first.push_back(frames_[nodes_[node].frame]);
  *truncated = node != kNone;
  return leaf_first;
}

Thread ChunkNames::ThreadOf(Index thread) const {
  const NamedThread& named = threads_[thread];
  return {named.java_tid, named.os_tid, named.is_virtual, std::string(Text(named.name))};
}

uint64_t ChunkNames::bytes() const {
  const uint64_t entries = BytesOf(text_ends_) + BytesOf(classes_) + BytesOf(methods_) + BytesOf(frames_) +
                           BytesOf(nodes_) + BytesOf(latest_child_) + BytesOf(threads_);
  uint64_t tables = 0;
  for (const IndexTable* table :
       {&text_table_, &class_table_, &method_table_, &frame_table_, &node_table_, &thread_table_}) {
    tables += table->bytes();
  }
  return all_texts_.capacity() + entries + tables;
}

}  // namespace heaprec::format

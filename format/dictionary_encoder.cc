#include <utility>

#include "format/columns.h"
#include "format/dictionary_codec.h"

namespace heaprec::format {
namespace {

std::string_view Clipped(std::string_view text) { return text.substr(0, kMaxStringBytes); }

// A name cannot hold '\0': HotSpot's symbols encode it as two bytes.
std::string KeyOf(const Method& method) { return method.class_name + '\0' + method.name + '\0' + method.descriptor; }

std::string KeyOf(const Thread& thread) {
  ByteBuffer key;
  ByteSink sink(&key);
  sink.U64(thread.java_tid);
  sink.U32(thread.os_tid);
  sink.U32(thread.is_virtual ? 1 : 0);
  return std::string(AsText(key)) + thread.name;
}

// The index under `key`, and whether it is new.
template <typename Map, typename Key>
std::pair<Index, bool> Intern(Map* map, Key key) {
  const auto [at, is_new] = map->try_emplace(std::move(key), static_cast<Index>(map->size()));
  return {at->second, is_new};
}

}  // namespace

size_t DictionaryEncoder::FrameHash::operator()(const FrameKey& key) const {
  const uint64_t words[] = {key.method_bci, key.line};
  return Hash(std::as_bytes(std::span(words)));
}

Index DictionaryEncoder::InternClass(std::string_view name) {
  const auto [index, is_new] = Intern(&classes_, std::string(name));
  if (is_new) pending_classes_.emplace_back(name);
  return index;
}

Index DictionaryEncoder::InternMethod(const Method& method) {
  const auto [index, is_new] = Intern(&methods_, KeyOf(method));
  if (is_new) pending_methods_.push_back(method);
  return index;
}

Index DictionaryEncoder::InternThread(const Thread& thread) {
  const auto [index, is_new] = Intern(&threads_, KeyOf(thread));
  if (is_new) pending_threads_.push_back(thread);
  return index;
}

Index DictionaryEncoder::InternFrame(const StackFrame& frame) {
  const FrameKey key{static_cast<uint64_t>(frame.method) << 32 | static_cast<uint32_t>(frame.bci),
                     static_cast<uint32_t>(frame.line)};
  const auto [index, is_new] = Intern(&frames_, key);
  if (is_new) pending_frames_.push_back({frame.method, frame.bci, frame.line});
  return index;
}

Index DictionaryEncoder::InternStack(std::span<const StackFrame> leaf_first, bool truncated) {
  Index node = kNone;
  for (auto frame = leaf_first.rbegin(); frame != leaf_first.rend(); ++frame) {
    const Index frame_index = InternFrame(*frame);
    const bool cut = node == kNone && truncated;
    const auto next = static_cast<Index>(frame_of_node_.size());
    const auto [at, is_new] = node == kNone
                                  ? roots_.try_emplace(static_cast<uint64_t>(frame_index) << 1 | (cut ? 1 : 0), next)
                                  : children_.try_emplace(static_cast<uint64_t>(node) << 32 | frame_index, next);
    if (is_new) {
      frame_of_node_.push_back(frame_index);
      pending_nodes_.push_back({node, frame_index, cut});
    }
    node = at->second;
  }
  return node;
}

bool DictionaryEncoder::has_pending() const {
  return !pending_classes_.empty() || !pending_methods_.empty() || !pending_nodes_.empty() || !pending_threads_.empty();
}

// 0 announces the next new string: strings are numbered in the order in which the sections name them.
uint64_t DictionaryEncoder::StringCode(std::string_view text) {
  text = Clipped(text);
  const auto [at, is_new] = strings_.try_emplace(std::string(text), context_.next_string);
  if (!is_new) return at->second + 1;
  ++context_.next_string;
  pending_strings_.emplace_back(text);
  return 0;
}

void DictionaryEncoder::Encode(ByteBuffer* raw) {
  ByteBuffer named;  // by strings that must come first
  ColumnWriter<1> classes;
  for (const std::string& name : pending_classes_) classes.Varint(0, StringCode(name));
  classes.Finish(Section::kClasses, pending_classes_.size(), &named);
  EncodeMethods(&named);
  EncodeThreads(&named);
  ColumnWriter<2> strings;
  for (const std::string& text : pending_strings_) {
    strings.Varint(0, text.size());
    strings.Append(1, AsBytes(text));
  }
  strings.Finish(Section::kStrings, pending_strings_.size(), raw);
  ByteSink(raw).Append(named);
  EncodeFrames(raw);
  EncodeNodes(raw);
  pending_strings_.clear();
  pending_classes_.clear();
  encoded_ = {strings_.size(), classes_.size(),       methods_.size(),
              frames_.size(),  frame_of_node_.size(), threads_.size()};
  context_.StartBlock();
}

void DictionaryEncoder::EncodeMethods(ByteBuffer* raw) {
  ColumnWriter<3> columns;
  for (const Method& method : pending_methods_) columns.Varint(0, StringCode(method.class_name));
  for (const Method& method : pending_methods_) columns.Varint(1, StringCode(method.name));
  for (const Method& method : pending_methods_) columns.Varint(2, StringCode(method.descriptor));
  columns.Finish(Section::kMethods, pending_methods_.size(), raw);
  pending_methods_.clear();
}

void DictionaryEncoder::EncodeThreads(ByteBuffer* raw) {
  ColumnWriter<4> columns;
  for (const Thread& thread : pending_threads_) {
    columns.Delta(0, thread.java_tid, std::exchange(context_.last_java_tid, thread.java_tid));
    columns.Delta(1, thread.os_tid, std::exchange(context_.last_os_tid, thread.os_tid));
    columns.Varint(2, thread.is_virtual ? 1 : 0);
    columns.Varint(3, StringCode(thread.name));
  }
  columns.Finish(Section::kThreads, pending_threads_.size(), raw);
  pending_threads_.clear();
}

void DictionaryEncoder::EncodeFrames(ByteBuffer* raw) {
  ColumnWriter<3> columns;
  for (const Frame& frame : pending_frames_) {
    const uint64_t method = frame.method == kNone ? 0 : static_cast<uint64_t>(frame.method) + 1;
    if (context_.line_of_method.size() <= method) context_.line_of_method.resize(method + 1);
    columns.Delta(0, method, std::exchange(context_.last_frame_method, method));
    columns.Varint(1, static_cast<uint32_t>(frame.bci) + 1U);
    const int64_t line = frame.line;
    columns.Delta(2, static_cast<uint64_t>(line),
                  static_cast<uint64_t>(int64_t{std::exchange(context_.line_of_method[method], frame.line)}));
  }
  columns.Finish(Section::kFrames, pending_frames_.size(), raw);
  pending_frames_.clear();
}

void DictionaryEncoder::EncodeNodes(ByteBuffer* raw) {
  ColumnWriter<3> columns;
  auto index = static_cast<Index>(frame_of_node_.size() - pending_nodes_.size());
  for (const StackNode& node : pending_nodes_) {
    const Index caller = node.parent == kNone ? 0 : frame_of_node_[node.parent] + 1;
    if (context_.follower.size() <= node.frame + size_t{1}) context_.follower.resize(node.frame + size_t{2}, kNone);
    columns.Varint(0, index++ - (node.parent + 1U));
    if (node.frame == context_.next_frame) {
      columns.Varint(1, 0);
      ++context_.next_frame;
    } else {
      columns.Varint(1, context_.follower[caller] == node.frame ? 1 : node.frame + uint64_t{2});
    }
    columns.Varint(2, node.truncated ? 1 : 0);
    context_.follower[caller] = node.frame;
  }
  columns.Finish(Section::kNodes, pending_nodes_.size(), raw);
  pending_nodes_.clear();
}

}  // namespace heaprec::format

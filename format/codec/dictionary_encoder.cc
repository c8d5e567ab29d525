#include <utility>

#include "format/bytes/columns.h"
#include "format/codec/dictionary_codec.h"

namespace heaprec::format {
namespace {

// Indices in DictionaryCounts.
enum : size_t { kStrings, kClasses, kMethods, kFrames, kNodes, kThreads };

template <typename Entry>
std::span<const Entry> From(const std::vector<Entry>& entries, uint64_t first) {
  return std::span(entries).subspan(first);
}

}  // namespace

void EncodeOffsets(const DictionaryCounts& offsets, ByteBuffer* raw) {
  ByteBuffer body;
  for (const uint64_t count : offsets) ByteSink(&body).Varint(count);
  AppendFramed(raw, static_cast<uint64_t>(Section::kDictionaryOffsets), /*critical=*/true, body);
}

bool DictionaryEncoder::has_pending() const {
  return names_.classes().size() > encoded_[kClasses] || names_.methods().size() > encoded_[kMethods] ||
         names_.nodes().size() > encoded_[kNodes] || names_.threads().size() > encoded_[kThreads];
}

// Code 0 means the next new string: strings are numbered in the order of their first use.
uint64_t DictionaryEncoder::StringCode(Index text) {
  if (code_of_text_[text] != 0) return code_of_text_[text];
  code_of_text_[text] = static_cast<uint32_t>(++context_.next_string);
  new_strings_.push_back(text);
  return 0;
}

void DictionaryEncoder::Encode(ByteBuffer* raw) {
  code_of_text_.resize(names_.texts());
  ByteBuffer named;  // sections of strings and classes, which must come first
  EncodeClasses(&named);
  EncodeMethods(&named);
  EncodeThreads(&named);
  EncodeStrings(raw);
  ByteSink(raw).Append(named);
  EncodeFrames(raw);
  EncodeNodes(raw);
  encoded_ = {context_.next_string,   names_.classes().size(), names_.methods().size(),
              names_.frames().size(), names_.nodes().size(),   names_.threads().size()};
}

void DictionaryEncoder::EncodeStrings(ByteBuffer* raw) {
  ColumnWriter<2> columns;
  for (const Index text : new_strings_) {
    columns.Varint(0, names_.Text(text).size());
    columns.Append(1, AsBytes(names_.Text(text)));
  }
  columns.Finish(Section::kStrings, new_strings_.size(), raw);
  new_strings_.clear();
}

void DictionaryEncoder::EncodeClasses(ByteBuffer* raw) {
  ColumnWriter<1> columns;
  const auto fresh = From(names_.classes(), encoded_[kClasses]);
  for (const Index name : fresh) columns.Varint(0, StringCode(name));
  columns.Finish(Section::kClasses, fresh.size(), raw);
}

void DictionaryEncoder::EncodeMethods(ByteBuffer* raw) {
  ColumnWriter<3> columns;
  const auto fresh = From(names_.methods(), encoded_[kMethods]);
  for (const ChunkNames::NamedMethod& method : fresh) columns.Varint(0, StringCode(method.class_name));
  for (const ChunkNames::NamedMethod& method : fresh) columns.Varint(1, StringCode(method.name));
  for (const ChunkNames::NamedMethod& method : fresh) columns.Varint(2, StringCode(method.descriptor));
  columns.Finish(Section::kMethods, fresh.size(), raw);
}

void DictionaryEncoder::EncodeThreads(ByteBuffer* raw) {
  ColumnWriter<4> columns;
  const auto fresh = From(names_.threads(), encoded_[kThreads]);
  uint64_t last_java_tid = 0, last_os_tid = 0;
  for (const ChunkNames::NamedThread& thread : fresh) {
    columns.Delta(0, thread.java_tid, std::exchange(last_java_tid, thread.java_tid));
    columns.Delta(1, thread.os_tid, std::exchange(last_os_tid, thread.os_tid));
    columns.Varint(2, thread.is_virtual ? 1 : 0);
    columns.Varint(3, StringCode(thread.name));
  }
  columns.Finish(Section::kThreads, fresh.size(), raw);
}

void DictionaryEncoder::EncodeFrames(ByteBuffer* raw) {
  ColumnWriter<4> columns;
  const auto fresh = From(names_.frames(), encoded_[kFrames]);
  uint64_t last_method = 0;
  std::vector<int32_t> line_of_method;  // line of the method's latest frame
  for (const StackFrame& frame : fresh) {
    const uint64_t method = frame.method == kNone ? 0 : static_cast<uint64_t>(frame.method) + 1;
    if (line_of_method.size() <= method) line_of_method.resize(method + 1);
    columns.Delta(0, method, std::exchange(last_method, method));
    columns.Varint(1, static_cast<uint32_t>(frame.bci) + 1U);
    const int64_t line = frame.line;
    columns.Delta(2, static_cast<uint64_t>(line),
                  static_cast<uint64_t>(int64_t{std::exchange(line_of_method[method], frame.line)}));
    columns.Varint(3, static_cast<uint8_t>(frame.type));
  }
  columns.Finish(Section::kFrames, fresh.size(), raw);
}

void DictionaryEncoder::EncodeNodes(ByteBuffer* raw) {
  ColumnWriter<3> columns;
  auto index = static_cast<Index>(encoded_[kNodes]);
  const auto fresh = From(names_.nodes(), index);
  for (const ChunkNames::Node& node : fresh) {
    const bool is_cut = node.parent == ChunkNames::kCutRoot;
    const Index parent = is_cut ? kNone : node.parent;
    const Index caller = parent == kNone ? 0 : names_.nodes()[parent].frame + 1;
    if (context_.predicted.size() <= node.frame + size_t{1}) context_.predicted.resize(node.frame + size_t{2}, kNone);
    columns.Varint(0, index++ - (parent + 1U));
    if (node.frame == context_.next_frame) {
      columns.Varint(1, 0);
      ++context_.next_frame;
    } else {
      columns.Varint(1, context_.predicted[caller] == node.frame ? 1 : node.frame + uint64_t{2});
    }
    columns.Varint(2, is_cut ? 1 : 0);
    context_.predicted[caller] = node.frame;
  }
  columns.Finish(Section::kNodes, fresh.size(), raw);
}

}  // namespace heaprec::format

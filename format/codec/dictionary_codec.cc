#include "format/codec/dictionary_codec.h"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>

#include "format/bytes/bytes.h"
#include "format/bytes/columns.h"

namespace heaprec::format {
namespace {

// Indices in DictionaryCounts.
enum : size_t { kStrings, kClasses, kMethods, kFrames, kNodes, kThreads };

template <typename Entry>
std::span<const Entry> From(const std::vector<Entry>& entries, uint64_t first) {
  return std::span(entries).subspan(first);
}

// Without room for more: heap is what limits a chunk.
template <typename Entry>
void Grow(std::vector<Entry>* entries, size_t size, Entry added) {
  entries->reserve(size);
  entries->resize(size, added);
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

std::vector<Row> DictionaryEncoder::Numbered(std::vector<Row> rows) const {
  for (Row& row : rows) row.stack = NumberOfStack(row.stack);
  std::ranges::sort(rows, {}, [](const Row& row) { return std::pair<Index, Index>(row.stack + 1, row.class_id + 1); });
  return rows;
}

// Callers come before what they call. Paths are first, so that most frames are of consecutive lines of a class.
std::vector<Index> DictionaryEncoder::NodesInOrder() const {
  struct PathNode {
    std::string_view class_name;
    int32_t line, bci;  // of the path's site
    Index root, node;
  };
  const auto first = static_cast<Index>(encoded_[kNodes]);
  const auto nodes = From(names_.nodes(), first);
  std::vector<PathNode> paths;
  std::vector<Index> roots(nodes.size(), kNone);  // of new nodes: the new one nearest to the root; kNone: of no path
  std::vector<Index> order;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Index node = first + static_cast<Index>(i), parent = nodes[i].parent;
    const bool has_new_parent = parent != kNone && parent != ChunkNames::kCutRoot && parent >= first;
    if (names_.IsOfPath(node)) roots[i] = has_new_parent ? roots[parent - first] : node;
    if (roots[i] == kNone) continue;
    const StackFrame& site = names_.frames()[names_.nodes()[roots[i]].frame];
    const std::string_view class_name =
        site.method == kNone ? std::string_view() : names_.Text(names_.methods()[site.method].class_name);
    paths.push_back({class_name, site.line, site.bci, roots[i], node});
  }
  std::ranges::sort(paths, {}, [](const PathNode& path) {
    return std::tuple(path.class_name, path.line, path.bci, path.root, path.node);
  });
  for (const PathNode& path : paths) order.push_back(path.node);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (roots[i] == kNone) order.push_back(first + static_cast<Index>(i));
  }
  return order;
}

void DictionaryEncoder::NumberEntries() {
  constexpr auto kNumber = [](Index entry, std::vector<Index>* numbers, uint64_t encoded, std::vector<Index>* added) {
    if ((*numbers)[entry] != kNone) return;
    (*numbers)[entry] = static_cast<Index>(encoded + added->size());
    added->push_back(entry);
  };
  Grow(&numbers_of_nodes_, names_.nodes().size(), kNone);
  Grow(&numbers_of_frames_, names_.frames().size(), kNone);
  Grow(&numbers_of_methods_, names_.methods().size(), kNone);
  Grow(&context_.predicted, names_.frames().size() + 1, kNone);
  Grow(&code_of_text_, names_.texts(), uint32_t{0});
  for (const Index node : NodesInOrder()) {
    kNumber(node, &numbers_of_nodes_, encoded_[kNodes], &new_nodes_);
    const Index frame = names_.nodes()[node].frame;
    kNumber(frame, &numbers_of_frames_, encoded_[kFrames], &new_frames_);
    const Index method = names_.frames()[frame].method;
    if (method != kNone) kNumber(method, &numbers_of_methods_, encoded_[kMethods], &new_methods_);
  }
  for (auto method = static_cast<Index>(encoded_[kMethods]); method < names_.methods().size(); ++method)
    kNumber(method, &numbers_of_methods_, encoded_[kMethods], &new_methods_);
}

void DictionaryEncoder::Encode(ByteBuffer* raw) {
  NumberEntries();
  ByteBuffer named;  // strings that must come first
  EncodeClasses(&named);
  EncodeMethods(&named);
  EncodeThreads(&named);
  EncodeStrings(raw);
  ByteSink(raw).Append(named);
  EncodeFrames(raw);
  EncodeNodes(raw);
  encoded_ = {context_.next_string,   names_.classes().size(), names_.methods().size(),
              names_.frames().size(), names_.nodes().size(),   names_.threads().size()};
  new_nodes_ = {}, new_frames_ = {}, new_methods_ = {};
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
  const std::vector<ChunkNames::NamedMethod>& methods = names_.methods();
  for (const Index method : new_methods_) columns.Varint(0, StringCode(methods[method].class_name));
  for (const Index method : new_methods_) columns.Varint(1, StringCode(methods[method].name));
  for (const Index method : new_methods_) columns.Varint(2, StringCode(methods[method].descriptor));
  columns.Finish(Section::kMethods, new_methods_.size(), raw);
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
  context_.next_method = encoded_[kMethods];
  LatestLines lines;
  for (const Index index : new_frames_) {
    const StackFrame& frame = names_.frames()[index];
    const uint64_t method = frame.method == kNone ? 0 : numbers_of_methods_[frame.method] + uint64_t{1};
    const bool is_next = method == context_.next_method + 1;
    if (is_next) ++context_.next_method;
    const uint64_t class_name = is_next ? names_.methods()[frame.method].class_name + uint64_t{1} : 0;
    columns.Varint(0, method == 0 ? 0 : is_next ? 1 : method + 1);
    columns.Varint(1, static_cast<uint32_t>(frame.bci) + 1U);
    columns.Delta(2, static_cast<uint64_t>(int64_t{frame.line}),
                  static_cast<uint64_t>(int64_t{lines.Before(method, class_name)}));
    lines.Set(method, frame.line);
    columns.Varint(3, static_cast<uint8_t>(frame.type));
  }
  columns.Finish(Section::kFrames, new_frames_.size(), raw);
}

void DictionaryEncoder::EncodeNodes(ByteBuffer* raw) {
  ColumnWriter<3> columns;
  for (const Index index : new_nodes_) {
    const ChunkNames::Node& node = names_.nodes()[index];
    const Index frame = numbers_of_frames_[node.frame];
    const bool is_cut = node.parent == ChunkNames::kCutRoot, is_root = is_cut || node.parent == kNone;
    const Index caller = is_root ? 0 : numbers_of_frames_[names_.nodes()[node.parent].frame] + 1;
    columns.Varint(0, is_root ? 0 : numbers_of_nodes_[index] - numbers_of_nodes_[node.parent]);
    if (frame == context_.next_frame) {
      columns.Varint(1, 0);
      ++context_.next_frame;
    } else {
      columns.Varint(1, context_.predicted[caller] == frame ? 1 : frame + uint64_t{2});
    }
    columns.Varint(2, is_cut ? 1 : 0);
    context_.predicted[caller] = frame;
  }
  columns.Finish(Section::kNodes, new_nodes_.size(), raw);
}

bool DictionaryDecoder::Charge(uint64_t bytes) {
  charged_ += bytes;
  return charged_ <= kMaxDictionaryBytes;
}

DictionaryCounts DictionaryDecoder::counts() const {
  return {strings_.size(),  dictionaries_.classes.size(), dictionaries_.methods.size(),
          frames_in_file(), dictionaries_.stacks.size(),  dictionaries_.threads.size()};
}

bool DictionaryDecoder::FillUpTo(const DictionaryCounts& offsets) {
  const DictionaryCounts have = counts();
  if (have == offsets) return true;
  static constexpr size_t kEntryBytes[] = {sizeof(std::string), sizeof(std::string), sizeof(Method),
                                           sizeof(Frame),       sizeof(StackNode),   sizeof(Thread)};
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] < have[i] || offsets[i] > kMaxDictionaryBytes) return false;
    if (!Charge((offsets[i] - have[i]) * kEntryBytes[i])) return false;
    lost_ += offsets[i] - have[i];
  }
  const auto [strings, classes, methods, frames, nodes, threads] = offsets;
  static constexpr Frame kGap{kNone, -1, kGapLine};
  if (lost_frame_ == kNone) {
    lost_frame_ = static_cast<Index>(dictionaries_.frames.size());
    dictionaries_.frames.push_back(kGap);
  }
  strings_.resize(strings, kLost);
  dictionaries_.classes.resize(classes, kLost);
  dictionaries_.methods.resize(methods, Method{kLost, kLost, ""});
  class_names_.resize(methods);
  dictionaries_.frames.resize(frames + 1, kGap);
  dictionaries_.stacks.resize(nodes, StackNode{kNone, lost_frame_, /*truncated=*/true});
  Thread lost_thread;
  lost_thread.name = kLost;
  dictionaries_.threads.resize(threads, lost_thread);
  context_.next_string = strings;
  context_.next_frame = frames;
  // It is unknown which frames the lost nodes called, so nothing is predicted.
  if (nodes > have[4]) context_.predicted.assign(dictionaries_.frames.size() + 1, lost_frame_);
  return true;
}

bool DictionaryDecoder::Decode(Section section, Bytes body, bool* refused) {
  switch (section) {
    case Section::kStrings:
      return DecodeStrings(body, refused);
    case Section::kClasses:
      return DecodeClasses(body, refused);
    case Section::kMethods:
      return DecodeMethods(body, refused);
    case Section::kFrames:
      return DecodeFrames(body, refused);
    case Section::kNodes:
      return DecodeNodes(body, refused);
    case Section::kThreads:
      return DecodeThreads(body, refused);
    default:
      return false;
  }
}

const std::string* DictionaryDecoder::StringOf(uint64_t code) {
  const uint64_t index = code == 0 ? context_.next_string++ : code - 1;
  return index < strings_.size() ? &strings_[index] : nullptr;
}

bool DictionaryDecoder::DecodeStrings(Bytes body, bool* refused) {
  ColumnReader<2> columns(body);
  *refused |= columns.unknown_critical();
  if (!columns.HasBytesForRows()) return false;
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    const Bytes text = columns[1].Take(columns[0].Varint());
    if (text.size() > kMaxStringBytes || !Charge(sizeof(std::string) + text.size())) return false;
    strings_.emplace_back(AsText(text));
  }
  return columns.ok();
}

bool DictionaryDecoder::DecodeClasses(Bytes body, bool* refused) {
  ColumnReader<1> columns(body);
  *refused |= columns.unknown_critical();
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    const std::string* name = StringOf(columns[0].Varint());
    if (name == nullptr || !Charge(sizeof(std::string) + name->size())) return false;
    dictionaries_.classes.push_back(*name);
  }
  return columns.ok();
}

bool DictionaryDecoder::DecodeMethods(Bytes body, bool* refused) {
  ColumnReader<3> columns(body);
  *refused |= columns.unknown_critical();
  const size_t first = context_.next_method = dictionaries_.methods.size();
  std::string Method::*const fields[] = {&Method::class_name, &Method::name, &Method::descriptor};
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    if (!Charge(sizeof(Method))) return false;
    dictionaries_.methods.emplace_back();
  }
  class_names_.resize(dictionaries_.methods.size());
  for (size_t column = 0; column < std::size(fields); ++column) {
    for (size_t at = first; at < dictionaries_.methods.size(); ++at) {
      const std::string* text = StringOf(columns[column].Varint());
      if (text == nullptr || !Charge(text->size())) return false;
      dictionaries_.methods[at].*fields[column] = *text;
      if (column == 0) class_names_[at] = static_cast<Index>(text - strings_.data() + 1);
    }
  }
  return columns.ok();
}

bool DictionaryDecoder::DecodeThreads(Bytes body, bool* refused) {
  ColumnReader<4> columns(body);
  *refused |= columns.unknown_critical();
  uint64_t java_tid = 0, os_tid = 0;
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    Thread thread;
    thread.java_tid = java_tid = columns[0].Delta(java_tid);
    os_tid = columns[1].Delta(os_tid);
    thread.os_tid = static_cast<uint32_t>(os_tid);
    thread.is_virtual = columns[2].Varint() != 0;
    const std::string* name = StringOf(columns[3].Varint());
    if (name == nullptr || !Charge(sizeof(Thread) + name->size())) return false;
    if (os_tid != thread.os_tid) return false;
    thread.name = *name;
    dictionaries_.threads.push_back(std::move(thread));
  }
  return columns.ok();
}

bool DictionaryDecoder::DecodeFrames(Bytes body, bool* refused) {
  ColumnReader<4> columns(body);
  *refused |= columns.unknown_critical();
  if (!columns.HasBytesForRows()) return false;
  LatestLines lines;
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    const uint64_t code = columns[0].Varint();
    const uint64_t method = code == 1 ? ++context_.next_method : code - (code > 1 ? 1 : 0);  // + 1; 0: none
    if (method > dictionaries_.methods.size() || !Charge(sizeof(Frame))) return false;
    const uint64_t class_name = code == 1 ? class_names_[method - 1] : 0;
    Frame frame;
    frame.method = method == 0 ? kNone : static_cast<Index>(method - 1);
    frame.bci = static_cast<int32_t>(static_cast<uint32_t>(columns[1].Varint()) - 1U);
    frame.line =
        static_cast<int32_t>(columns[2].Delta(static_cast<uint64_t>(int64_t{lines.Before(method, class_name)})));
    lines.Set(method, frame.line);
    const uint64_t type = columns[3].Varint();
    if (type < kFrameTypes) frame.type = static_cast<FrameType>(type);
    dictionaries_.frames.push_back(frame);
  }
  return columns.ok();
}

bool DictionaryDecoder::DecodeNodes(Bytes body, bool* refused) {
  constexpr size_t kBatch = 256;
  ColumnReader<3> columns(body);
  *refused |= columns.unknown_critical();
  context_.predicted.resize(dictionaries_.frames.size() + 1, lost_frame_);
  std::array<std::array<uint64_t, kBatch>, 3> batch;
  for (uint64_t left = columns.rows(); left > 0;) {
    const size_t rows = std::min<uint64_t>(left, kBatch);
    if (!Charge(rows * sizeof(StackNode))) return false;
    for (size_t column = 0; column < batch.size(); ++column) {
      TakeVarints(&columns[column], std::span(batch[column]).first(rows));
    }
    if (!AddNodes(std::span(batch[0]).first(rows), batch[1], batch[2])) return false;
    left -= rows;
  }
  return columns.ok();
}

// Makes no call and no bounds check per node: there are more nodes than samples.
bool DictionaryDecoder::AddNodes(std::span<const uint64_t> distances, std::span<const uint64_t> codes,
                                 std::span<const uint64_t> truncated) {
  const size_t first = dictionaries_.stacks.size(), frames = dictionaries_.frames.size();
  dictionaries_.stacks.resize(first + distances.size());
  StackNode* const nodes = dictionaries_.stacks.data();
  Index* const predicted = context_.predicted.data();
  for (size_t i = 0; i < distances.size(); ++i) {
    const uint64_t distance = distances[i], code = codes[i], number = first + i;
    if (distance > number || code > kNone) return false;
    StackNode& node = nodes[number];
    node.parent = distance == 0 ? kNone : static_cast<Index>(number - distance);
    const Index caller = node.parent == kNone ? 0 : nodes[node.parent].frame + 1;
    node.frame = predicted[caller];
    if (code != 1) node.frame = FrameIndexOf(code == 0 ? context_.next_frame++ : code - 2);
    if (node.frame >= frames) return false;
    // The lost frame replaces many, so what one of them called predicts nothing for the others.
    if (lost_frame_ == kNone || caller != lost_frame_ + 1) predicted[caller] = node.frame;
    node.truncated = truncated[i] != 0;
  }
  return true;
}

}  // namespace heaprec::format

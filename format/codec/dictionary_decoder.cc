#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "format/bytes/columns.h"
#include "format/bytes/varint_batch.h"
#include "format/codec/dictionary_codec.h"

namespace heaprec::format {

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

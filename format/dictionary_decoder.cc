#include <utility>

#include "format/columns.h"
#include "format/dictionary_codec.h"

namespace heaprec::format {

bool DictionaryDecoder::Charge(uint64_t bytes) {
  charged_ += bytes;
  return charged_ <= kMaxDictionaryBytes;
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
  const size_t first = dictionaries_.methods.size();
  std::string Method::*const fields[] = {&Method::class_name, &Method::name, &Method::descriptor};
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    if (!Charge(sizeof(Method))) return false;
    dictionaries_.methods.emplace_back();
  }
  for (size_t column = 0; column < std::size(fields); ++column) {
    for (size_t at = first; at < dictionaries_.methods.size(); ++at) {
      const std::string* text = StringOf(columns[column].Varint());
      if (text == nullptr || !Charge(text->size())) return false;
      dictionaries_.methods[at].*fields[column] = *text;
    }
  }
  return columns.ok();
}

bool DictionaryDecoder::DecodeThreads(Bytes body, bool* refused) {
  ColumnReader<4> columns(body);
  *refused |= columns.unknown_critical();
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    Thread thread;
    thread.java_tid = context_.last_java_tid = columns[0].Delta(context_.last_java_tid);
    context_.last_os_tid = columns[1].Delta(context_.last_os_tid);
    thread.os_tid = static_cast<uint32_t>(context_.last_os_tid);
    thread.is_virtual = columns[2].Varint() != 0;
    const std::string* name = StringOf(columns[3].Varint());
    if (name == nullptr || !Charge(sizeof(Thread) + name->size())) return false;
    if (context_.last_os_tid != thread.os_tid) return false;
    thread.name = *name;
    dictionaries_.threads.push_back(std::move(thread));
  }
  return columns.ok();
}

bool DictionaryDecoder::DecodeFrames(Bytes body, bool* refused) {
  ColumnReader<3> columns(body);
  *refused |= columns.unknown_critical();
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    const uint64_t method = context_.last_frame_method = columns[0].Delta(context_.last_frame_method);
    if (method > dictionaries_.methods.size() || !Charge(sizeof(Frame))) return false;
    if (context_.line_of_method.size() <= method) context_.line_of_method.resize(method + 1);
    Frame frame;
    frame.method = method == 0 ? kNone : static_cast<Index>(method - 1);
    frame.bci = static_cast<int32_t>(static_cast<uint32_t>(columns[1].Varint()) - 1U);
    int32_t& line = context_.line_of_method[method];
    frame.line = line = static_cast<int32_t>(columns[2].Delta(static_cast<uint64_t>(int64_t{line})));
    dictionaries_.frames.push_back(frame);
  }
  return columns.ok();
}

bool DictionaryDecoder::DecodeNodes(Bytes body, bool* refused) {
  ColumnReader<3> columns(body);
  *refused |= columns.unknown_critical();
  std::vector<StackNode>& nodes = dictionaries_.stacks;
  std::vector<Index>& follower = context_.follower;
  follower.resize(dictionaries_.frames.size() + 1, kNone);
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    const uint64_t distance = columns[0].Varint();
    if (distance > nodes.size() || !Charge(sizeof(StackNode))) return false;
    StackNode node;
    node.parent = static_cast<Index>(nodes.size() - distance) - 1U;  // distance back to before the first: kNone
    const Index caller = node.parent == kNone ? 0 : nodes[node.parent].frame + 1;
    const uint64_t code = columns[1].Varint();
    const uint64_t frame = code == 0 ? context_.next_frame++ : code == 1 ? follower[caller] : code - 2;
    if (frame >= dictionaries_.frames.size()) return false;
    node.frame = follower[caller] = static_cast<Index>(frame);
    node.truncated = columns[2].Varint() != 0;
    nodes.push_back(node);
  }
  return columns.ok();
}

}  // namespace heaprec::format

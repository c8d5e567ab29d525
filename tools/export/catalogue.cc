#include "tools/export/catalogue.h"

#include <xxhash.h>

#include <algorithm>

#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

constexpr uint64_t kNotLooked = UINT64_MAX;

uint64_t Pair(uint32_t high, uint32_t low) { return uint64_t{high} << 32 | low; }

}  // namespace

size_t Catalogue::KeyHash::operator()(const Key& key) const { return XXH3_64bits(&key, sizeof(key)); }

template <typename Entry>
Catalogue::Id Catalogue::Number(const Key& key, const Entry& entry, Known* known, std::vector<Entry>* entries) {
  const auto [at, is_new] = known->try_emplace(key, static_cast<Id>(entries->size()));
  if (is_new) entries->push_back(entry);
  return at->second;
}

void Catalogue::Enter(const format::Block& block, Names* names) {
  const format::Dictionaries& now = *block.dictionaries;
  if (dictionaries_ == nullptr || block.chunk != chunk_ || now.stacks.size() < stack_cache_.size()) {
    for (Cache* cache : {&class_cache_, &method_cache_, &frame_cache_, &stack_cache_, &thread_cache_}) cache->clear();
  }
  chunk_ = block.chunk;
  dictionaries_ = block.dictionaries;
  names_ = names;
  class_cache_.resize(now.classes.size(), kNotLooked);
  method_cache_.resize(now.methods.size(), kNotLooked);
  frame_cache_.resize(now.frames.size(), kNotLooked);
  stack_cache_.resize(now.stacks.size(), kNotLooked);
  thread_cache_.resize(now.threads.size(), kNotLooked);
}

Catalogue::Id Catalogue::ClassOf(format::Index index) {
  if (index >= class_cache_.size()) return kNone;
  uint64_t& cached = class_cache_[index];
  if (cached == kNotLooked) {
    const Id name = StringOf(names_->Class(index));
    cached = Number({name, 0}, name, &known_classes_, &classes_);
  }
  return static_cast<Id>(cached);
}

Catalogue::Id Catalogue::ThreadOf(format::Index index) {
  if (index >= thread_cache_.size()) return kNone;
  uint64_t& cached = thread_cache_[index];
  if (cached == kNotLooked) {
    const format::Thread& thread = dictionaries_->threads[index];
    const Thread entry{StringOf(names_->Thread(index)), StringOf(thread.name), thread.java_tid, thread.os_tid,
                       thread.is_virtual};
    const Key key{Pair(entry.text, entry.os_tid), thread.java_tid << 1 | (thread.is_virtual ? 1 : 0)};
    cached = Number(key, entry, &known_threads_, &threads_);
  }
  return static_cast<Id>(cached);
}

Catalogue::Id Catalogue::MethodOf(format::Index index) {
  if (index >= method_cache_.size()) return kNone;
  uint64_t& cached = method_cache_[index];
  if (cached == kNotLooked) {
    const format::Method& method = dictionaries_->methods[index];
    const std::string name = ToUtf8(method.name);
    std::string_view class_name = names_->Method(index);  // "java.util.HashMap.resize"
    class_name.remove_suffix(std::min(class_name.size(), name.size() + 1));
    const Id descriptor = detail_ == Detail::kAll ? StringOf(ToUtf8(method.descriptor)) : kNone;
    const Method entry{StringOf(class_name), StringOf(name), descriptor};
    cached = Number({Pair(entry.class_name, entry.name), entry.descriptor}, entry, &known_methods_, &methods_);
  }
  return static_cast<Id>(cached);
}

Catalogue::Id Catalogue::FrameOf(format::Index index) {
  if (index >= frame_cache_.size()) return FrameOf(Frame{});
  uint64_t& cached = frame_cache_[index];
  if (cached == kNotLooked) {
    const format::Frame& frame = dictionaries_->frames[index];
    Frame entry{MethodOf(frame.method), frame.bci, frame.line};
    if (detail_ != Detail::kAll) entry.bci = -1;
    const bool has_line = detail_ != Detail::kName && (entry.line > 0 || detail_ == Detail::kAll);
    if (!has_line && !entry.IsGap()) entry.line = -1;
    cached = FrameOf(entry);
  }
  return static_cast<Id>(cached);
}

Catalogue::Id Catalogue::FrameOf(const Frame& frame) {
  const Key key{Pair(frame.method, static_cast<uint32_t>(frame.bci)), static_cast<uint32_t>(frame.line)};
  return Number(key, frame, &known_frames_, &frames_);
}

Catalogue::Id Catalogue::Node(Id parent, Id frame) {
  const auto hash_of = [](const Stack& stack) { return format::MixWord(Pair(stack.parent, stack.frame)); };
  const Stack stack{parent, frame};
  // The frames of a new stack get consecutive numbers, so the first child often has the next number.
  if (parent + 1 < stacks_.size() && stacks_[parent + 1] == stack) return parent + 1;
  return known_stacks_.FindOrAdd(
      hash_of(stack), [&](Id id) { return stacks_[id] == stack; }, stacks_.size(), [&] { stacks_.push_back(stack); },
      [&](Id id) { return hash_of(stacks_[id]); });
}

bool Catalogue::IsHidden(Id frame) {
  if (!hides_) return false;
  if (frame >= hidden_.size()) hidden_.resize(frames_.size());
  std::optional<bool>& hidden = hidden_[frame];
  if (!hidden) hidden = !frames_[frame].IsGap() && hides_(FrameName(frame));
  return *hidden;
}

Catalogue::Id Catalogue::StackOf(format::Index index) {
  if (index >= stack_cache_.size()) return kNone;
  path_.clear();
  Id node = kNone;
  // A parent always precedes its children; anything else is a damaged tree and ends the walk.
  for (format::Index at = index;;) {
    if (stack_cache_[at] != kNotLooked) {
      node = static_cast<Id>(stack_cache_[at]);
      break;
    }
    path_.push_back(at);
    const format::StackNode& step = dictionaries_->stacks[at];
    if (step.parent == format::kNone || step.parent >= at) {
      if (step.truncated) node = Node(kNone, FrameOf(Frame{kNone, -1, format::kGapLine}));
      break;
    }
    at = step.parent;
  }
  for (auto step = path_.rbegin(); step != path_.rend(); ++step) {
    const Id frame = FrameOf(dictionaries_->stacks[*step].frame);
    if (!IsHidden(frame)) node = Node(node, frame);
    stack_cache_[*step] = node;
  }
  return node;
}

Catalogue::Id Catalogue::SiteOf(Id stack) const {
  Id site = stacks_[stack].frame;
  for (Id at = stack; at != kNone && !frames_[stacks_[at].frame].IsGap(); at = stacks_[at].parent) {
    site = stacks_[at].frame;
  }
  return site;
}

Catalogue::Id Catalogue::StackOfRow(format::Index path) {
  if (path >= stack_cache_.size()) return UnknownStack();
  path_.clear();
  for (format::Index at = path;;) {
    path_.push_back(at);
    const format::StackNode& step = dictionaries_->stacks[at];
    if (step.parent == format::kNone || step.parent >= at) break;
    at = step.parent;
  }
  Id node = Node(kNone, FrameOf(Frame{kNone, -1, kCallersLine}));
  for (auto step = path_.rbegin(); step != path_.rend(); ++step) {
    const Id frame = FrameOf(dictionaries_->stacks[*step].frame);
    if (!IsHidden(frame)) node = Node(node, frame);
  }
  return node;
}

std::string_view Catalogue::ClassName(Id id) const {
  return id < classes_.size() ? std::string_view(strings()[classes_[id]]) : kUnknown;
}

std::string_view Catalogue::ThreadName(Id id) const {
  return id < threads_.size() ? std::string_view(strings()[threads_[id].name]) : kUnknown;
}

std::string Catalogue::FrameName(Id frame) const {
  if (frame >= frames_.size()) return std::string(kUnknown);
  const Frame& entry = frames_[frame];
  if (entry.IsGap()) return std::string(entry.line == kCallersLine ? kCallersNotKept : kTruncated);
  if (entry.method >= methods_.size()) return std::string(kUnknown);
  const Method& method = methods_[entry.method];
  return strings()[method.class_name] + "." + strings()[method.name];
}

}  // namespace heaprec::tools

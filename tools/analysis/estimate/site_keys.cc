#include "tools/analysis/estimate/site_keys.h"

#include "format/ring/ring_reader.h"

namespace heaprec::tools {
namespace {

// What `find` gives for the entry, once; the index itself if there is no such entry.
template <typename Entries, typename Find>
uint64_t Once(format::Index index, const Entries* entries, std::vector<uint64_t>* known, Find find) {
  if (entries == nullptr || index >= entries->size()) return Mixed(index, 0);
  if (known->size() < entries->size()) known->resize(entries->size());
  uint64_t& key = (*known)[index];
  if (key == 0) key = find((*entries)[index]);
  return key;
}

uint64_t HashOf(format::Index class_id, format::Index stack) {
  return format::MixWord(uint64_t{class_id} << 32 | stack);
}

}  // namespace

void SiteKeys::Enter(const format::Block& block) {
  if (block.chunk != chunk_ || block.dictionaries != names_) {
    for (Keys* keys : {&classes_, &methods_, &threads_, &frames_, &stacks_}) keys->clear();
    places_.clear();
    place_table_ = {};
  }
  chunk_ = block.chunk;
  names_ = block.dictionaries;
}

uint32_t SiteKeys::SiteIndex(const format::Sample& sample) {
  const format::Index class_id = sample.class_id, stack = sample.stack;
  const auto is_same = [&](uint32_t place) {
    return places_[place].stack == stack && places_[place].class_id == class_id;
  };
  return place_table_.FindOrAdd(
      HashOf(class_id, stack), is_same, places_.size(), [&] { places_.push_back(New(class_id, stack)); },
      [this](uint32_t place) { return HashOf(places_[place].class_id, places_[place].stack); });
}

SiteKeys::Site SiteKeys::New(format::Index class_id, format::Index stack) {
  const uint64_t of_class = ClassKeyOf(class_id);
  uint64_t leaf = 0, whole = 0;
  if (names_ == nullptr || stack >= names_->stacks.size()) {
    leaf = Mixed(stack, 1);
    whole = Mixed(stack, 2);
  } else {
    whole = StackKeyOf(stack);
    const format::Index frame = names_->stacks[stack].frame;
    if (frame < names_->frames.size()) leaf = MethodKeyOf(names_->frames[frame].method);
  }
  return {of_class, Mixed(of_class, leaf), Mixed(of_class, whole), class_id, stack};
}

uint64_t SiteKeys::ClassKeyOf(format::Index index) {
  return Once(index, names_ ? &names_->classes : nullptr, &classes_,
              [](const std::string& name) { return format::ClassKey(name); });
}

uint64_t SiteKeys::MethodKeyOf(format::Index index) {
  return Once(index, names_ ? &names_->methods : nullptr, &methods_, [](const format::Method& method) {
    return format::MethodKey(method.class_name, method.name, method.descriptor);
  });
}

uint64_t SiteKeys::ThreadKeyOf(format::Index index) {
  return Once(index, names_ ? &names_->threads : nullptr, &threads_, [](const format::Thread& thread) {
    return format::ThreadKey(thread.java_tid, thread.os_tid, thread.is_virtual, thread.name);
  });
}

// The key of a frame: its method and bytecode index.
void SiteKeys::ExtendFrameKeys() {
  frames_.reserve(names_->frames.size());
  for (size_t i = frames_.size(); i < names_->frames.size(); ++i) {
    const format::Frame& frame = names_->frames[i];
    frames_.push_back(Mixed(MethodKeyOf(frame.method), static_cast<uint32_t>(frame.bci)));
  }
}

// A parent always precedes its children, so what is known of it is enough; anything else is a damaged tree.
uint64_t SiteKeys::StackKeyOf(format::Index stack) {
  if (stack < stacks_.size()) return stacks_[stack];
  ExtendFrameKeys();
  const size_t known = stacks_.size();
  stacks_.resize(names_->stacks.size());
  for (size_t i = known; i < stacks_.size(); ++i) {
    const format::StackNode& node = names_->stacks[i];
    const uint64_t caller = node.parent < i ? stacks_[node.parent] : 0;
    stacks_[i] = node.frame < frames_.size() ? Mixed(caller, frames_[node.frame]) : caller;
  }
  return stacks_[stack];
}

}  // namespace heaprec::tools

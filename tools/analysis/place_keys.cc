#include "tools/analysis/place_keys.h"

#include "format/ring_reader.h"

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

}  // namespace

void PlaceKeys::Enter(const format::Block& block) {
  if (block.chunk != chunk_ || block.dictionaries != names_) {
    classes_.clear(), methods_.clear(), threads_.clear(), stacks_.clear();
  }
  chunk_ = block.chunk;
  names_ = block.dictionaries;
}

PlaceKey PlaceKeys::Of(const format::Sample& sample) {
  const StackKey stack = OfStack(sample.stack);
  const uint64_t of_class = OfClass(sample.class_id), whole = Mixed(of_class, stack.whole);
  return {of_class, Mixed(of_class, stack.leaf), whole, Mixed(whole, OfThread(sample.thread))};
}

uint64_t PlaceKeys::OfClass(format::Index index) {
  return Once(index, names_ ? &names_->classes : nullptr, &classes_,
              [](const std::string& name) { return format::ClassKey(name); });
}

uint64_t PlaceKeys::OfMethod(format::Index index) {
  return Once(index, names_ ? &names_->methods : nullptr, &methods_, [](const format::Method& method) {
    return format::MethodKey(method.class_name, method.name, method.descriptor);
  });
}

uint64_t PlaceKeys::OfThread(format::Index index) {
  return Once(index, names_ ? &names_->threads : nullptr, &threads_, [](const format::Thread& thread) {
    return format::ThreadKey(thread.java_tid, thread.os_tid, thread.is_virtual, thread.name);
  });
}

// A parent always precedes its children, so what is known of it is enough; anything else is a damaged tree.
PlaceKeys::StackKey PlaceKeys::OfStack(format::Index stack) {
  if (names_ == nullptr || stack >= names_->stacks.size()) return {Mixed(stack, 1), Mixed(stack, 2)};
  for (size_t i = stacks_.size(); i <= stack; ++i) stacks_.push_back(OfNode(static_cast<format::Index>(i)));
  return stacks_[stack];
}

PlaceKeys::StackKey PlaceKeys::OfNode(format::Index index) {
  const format::StackNode& node = names_->stacks[index];
  StackKey key;
  if (node.parent < index) key.whole = stacks_[node.parent].whole;
  if (node.frame >= names_->frames.size()) return key;
  const format::Frame& frame = names_->frames[node.frame];
  key.leaf = OfMethod(frame.method);
  key.whole = Mixed(key.whole, Mixed(key.leaf, static_cast<uint32_t>(frame.bci)));
  return key;
}

}  // namespace heaprec::tools

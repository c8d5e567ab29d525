#include "tools/analysis/health/completeness.h"

#include <algorithm>

namespace heaprec::tools {
namespace {

void Count(const format::Sample& sample, Completeness::Part* into) {
  ++into->samples;
  into->bytes += sample.weight_bytes();
}

}  // namespace

void Completeness::Add(const format::Block& block) {
  const format::Dictionaries& now = *block.dictionaries;
  if (dictionaries_ == nullptr || block.chunk != chunk_ || now.stacks.size() < flags_.size()) {
    flags_.clear();
    lost_in_chunk_ = 0;
  }
  dictionaries_ = block.dictionaries;
  chunk_ = block.chunk;
  flags_.resize(now.stacks.size());
  // block.lost_names counts from the start of the chunk.
  lost_names += block.lost_names - std::min(block.lost_names, lost_in_chunk_);
  lost_in_chunk_ = block.lost_names;
  for (const format::Sample& sample : block.samples) {
    if (sample.stream() != format::Stream::kAllocations) continue;
    Count(sample, &all_);
    if (sample.thread >= now.threads.size()) Count(sample, &no_thread);
    if (sample.class_id >= now.classes.size() || now.classes[sample.class_id] == format::kLost) {
      Count(sample, &unknown_class);
    }
    if (sample.stack >= flags_.size()) {
      Count(sample, &no_stack);
      continue;
    }
    const uint8_t flags = FlagsOf(sample.stack);
    if ((flags & kTruncated) != 0) Count(sample, &truncated);
    if ((flags & kUnknown) != 0) Count(sample, &unknown_frame);
  }
}

// A stack has what its caller's has, and what its own frame adds.
uint8_t Completeness::FlagsOf(format::Index stack) {
  path_.clear();
  uint8_t flags = kLooked;
  for (;;) {
    if (flags_[stack] != 0) {
      flags |= flags_[stack];
      break;
    }
    path_.push_back(stack);
    const format::StackNode& node = dictionaries_->stacks[stack];
    if (node.parent == format::kNone || node.parent >= stack) {
      if (node.truncated) flags |= kTruncated;
      break;
    }
    stack = node.parent;
  }
  for (auto at = path_.rbegin(); at != path_.rend(); ++at) {
    const format::Index frame = dictionaries_->stacks[*at].frame;
    const bool is_gap = frame < dictionaries_->frames.size() && dictionaries_->frames[frame].IsGap();
    const format::Index method =
        frame < dictionaries_->frames.size() ? dictionaries_->frames[frame].method : format::kNone;
    if (is_gap) {
      flags |= kTruncated;
    } else if (method >= dictionaries_->methods.size() || dictionaries_->methods[method].name == format::kLost) {
      flags |= kUnknown;
    }
    flags_[*at] = flags;
  }
  return flags;
}

}  // namespace heaprec::tools

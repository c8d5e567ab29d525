#include <algorithm>

#include "tools/export/row_format.h"

namespace heaprec::tools {
namespace {

// Rendered stacks of one chunk are forgotten past this.
constexpr size_t kMaxCachedBytes = 64 << 20;
constexpr std::string_view kHiddenFrame = ";";  // which no text of a frame is

}  // namespace

void FoldedStacks::Enter(const format::Block& block, Names* names) {
  const bool same_chunk = names_ != nullptr && block.chunk == chunk_;
  if (!same_chunk || block.dictionaries->stacks.size() < stacks_.size()) {
    stacks_.clear();
    frames_.clear();
    cached_bytes_ = 0;
  }
  chunk_ = block.chunk;
  names_ = names;
  none_ = Field({});
  stacks_.resize(block.dictionaries->stacks.size());
  frames_.resize(block.dictionaries->frames.size());
}

std::string_view FoldedStacks::Of(format::Index stack) {
  if (stack >= stacks_.size()) return none_;
  if (cached_bytes_ > kMaxCachedBytes) {
    for (std::string& cached : stacks_) std::string().swap(cached);
    cached_bytes_ = 0;
  }
  std::string& cached = stacks_[stack];
  if (cached.empty()) {
    cached = Field(Render(stack));
    cached_bytes_ += cached.size();
  }
  return cached;
}

std::string FoldedStacks::Field(std::string_view folded) const {
  Text field;
  format_.AppendText(folded, field);
  return fmt::to_string(field);
}

const std::string& FoldedStacks::Frame(const format::Frame& frame) {
  std::string& text = frames_[static_cast<size_t>(&frame - names_->dictionaries().frames.data())];
  if (!text.empty()) return text;
  text = names_->Method(frame);
  if (hides_ && !frame.IsGap() && hides_(text)) return text = kHiddenFrame;
  std::replace(text.begin(), text.end(), ';', ',');
  if (frame.line >= 0) text += fmt::format(":{}", frame.line);
  return text;
}

std::string FoldedStacks::Render(format::Index stack) {
  leaf_first_.clear();
  const bool cut = ForEachFrame(*names_, stack, 0, [&](const format::Frame& frame) {
    const std::string& text = Frame(frame);
    if (text != kHiddenFrame) leaf_first_.push_back(text);
  });
  std::string folded;
  if (cut) folded = kTruncated;
  for (auto frame = leaf_first_.rbegin(); frame != leaf_first_.rend(); ++frame) {
    if (!folded.empty()) folded += ';';
    folded += *frame;
  }
  return folded;
}

}  // namespace heaprec::tools

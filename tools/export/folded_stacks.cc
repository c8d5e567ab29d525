#include <algorithm>

#include "tools/export/row_format.h"

namespace heaprec::tools {
namespace {

// Rendered stacks of one chunk are forgotten past this.
constexpr size_t kMaxCachedBytes = 64 << 20;

}  // namespace

void FoldedStacks::Enter(const format::Block& block, Names* names) {
  const bool same_chunk = names_ != nullptr && block.chunk == chunk_;
  if (!same_chunk || block.dictionaries->stacks.size() < stacks_.size()) {
    stacks_.clear();
    cached_bytes_ = 0;
  }
  chunk_ = block.chunk;
  names_ = names;
  none_ = Field({});
  stacks_.resize(block.dictionaries->stacks.size());
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

std::string FoldedStacks::Render(format::Index stack) {
  std::vector<std::string> leaf_first;
  const bool cut = ForEachFrame(*names_, stack, 0, [&](const format::Frame& frame) {
    std::string text(names_->Method(frame));
    if (hides_ && !frame.IsGap() && hides_(text)) return;
    std::replace(text.begin(), text.end(), ';', ',');
    if (frame.line >= 0) text += fmt::format(":{}", frame.line);
    leaf_first.push_back(std::move(text));
  });
  std::string folded;
  if (cut) folded = kTruncated;
  for (auto frame = leaf_first.rbegin(); frame != leaf_first.rend(); ++frame) {
    if (!folded.empty()) folded += ';';
    folded += *frame;
  }
  return folded;
}

}  // namespace heaprec::tools

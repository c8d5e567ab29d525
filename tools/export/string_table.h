// The texts of a profile by number: 0 is the empty one, each stands once.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace heaprec::tools {

class StringTable {
 public:
  StringTable() { NumberOf(""); }

  uint32_t NumberOf(std::string_view text) {
    const auto known = known_.find(text);
    if (known != known_.end()) return known->second;
    texts_.emplace_back(text);
    return known_.emplace(texts_.back(), static_cast<uint32_t>(texts_.size() - 1)).first->second;
  }
  const std::deque<std::string>& texts() const { return texts_; }

 private:
  std::deque<std::string> texts_;  // whose texts stay where they are
  std::unordered_map<std::string_view, uint32_t> known_;
};

}  // namespace heaprec::tools

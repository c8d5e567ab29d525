// Texts by number, from 0 in order of first use, each once.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace heaprec::tools {

class StringTable {
 public:
  // In profiles the first text is empty.
  StringTable(std::initializer_list<std::string_view> first = {}) {
    for (const std::string_view text : first) NumberOf(text);
  }

  uint32_t NumberOf(std::string_view text) {
    if (const auto known = Find(text)) return *known;
    texts_.emplace_back(text);
    return numbers_.emplace(texts_.back(), static_cast<uint32_t>(texts_.size() - 1)).first->second;
  }
  std::optional<uint32_t> Find(std::string_view text) const {
    const auto known = numbers_.find(text);
    return known == numbers_.end() ? std::nullopt : std::optional(known->second);
  }
  const std::deque<std::string>& texts() const { return texts_; }

 private:
  std::deque<std::string> texts_;  // a deque does not move its texts
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

}  // namespace heaprec::tools

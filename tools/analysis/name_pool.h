// Names as small numbers, the same for all chunks, recordings and files: what is merged by name is merged by number.
//
// Threads:  one.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tools/analysis/generated_names.h"

namespace heaprec::tools {

class NamePool {
 public:
  using Id = uint32_t;
  // Of several runs of a program: what a JVM makes up for lambdas and other hidden classes is left out.
  enum class Runs : bool { kOne, kSeveral };

  explicit NamePool(Runs runs = Runs::kOne) : runs_(runs) {}

  // Ids count up from 0.
  Id Of(std::string_view name) {
    const auto known = ids_.find(name);
    if (known != ids_.end()) return known->second;
    const std::string kept = runs_ == Runs::kOne ? std::string(name) : StripGeneratedSuffix(name);
    return kept == name ? New(kept) : Of(kept);
  }
  // Valid as long as the pool.
  const std::string& At(Id id) const { return names_[id]; }
  size_t size() const { return names_.size(); }

 private:
  Id New(const std::string& name) {
    const Id id = static_cast<Id>(names_.size());
    ids_.emplace(names_.emplace_back(name), id);
    return id;
  }

  const Runs runs_;
  std::deque<std::string> names_;  // never moves them
  std::unordered_map<std::string_view, Id> ids_;
};

}  // namespace heaprec::tools

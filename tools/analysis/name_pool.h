// Names as small numbers, the same for all chunks, recordings and files: what is merged by name is merged by number.
//
// Threads:  one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tools/input/generated_names.h"
#include "tools/text/string_table.h"

namespace heaprec::tools {

class NamePool {
 public:
  using Id = uint32_t;

  // `merged`: how those who read recordings into the pool are to show names; null: as they are.
  explicit NamePool(std::shared_ptr<MergedNames> merged = nullptr) : merged_(std::move(merged)) {}

  // Ids count up from 0.
  Id Of(std::string_view name) { return names_.NumberOf(name); }
  // Valid as long as the pool.
  const std::string& At(Id id) const { return names_.texts()[id]; }
  size_t size() const { return names_.texts().size(); }

  MergedNames* merged() const { return merged_.get(); }
  void Clear() { names_ = StringTable(); }

 private:
  std::shared_ptr<MergedNames> merged_;
  StringTable names_;
};

}  // namespace heaprec::tools

// Names as small numbers, the same for all chunks, recordings and files: what is merged by name is merged by number.
//
// Threads:  one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/analysis/generated_names.h"
#include "tools/text/string_table.h"

namespace heaprec::tools {

class NamePool {
 public:
  using Id = uint32_t;
  // kSeveral: runs of one program; omits the suffixes that a JVM generates for lambdas and other hidden classes.
  enum class Runs : bool { kOne, kSeveral };

  explicit NamePool(Runs runs = Runs::kOne) : runs_(runs) {}

  // Ids count up from 0.
  Id Of(std::string_view name) {
    if (const auto known = names_.Find(name)) return *known;
    if (runs_ == Runs::kOne) return names_.NumberOf(name);
    const std::string kept = StripGeneratedSuffix(name);
    return kept == name ? names_.NumberOf(name) : Of(kept);
  }
  // Valid as long as the pool.
  const std::string& At(Id id) const { return names_.texts()[id]; }
  size_t size() const { return names_.texts().size(); }

 private:
  const Runs runs_;
  StringTable names_;
};

}  // namespace heaprec::tools

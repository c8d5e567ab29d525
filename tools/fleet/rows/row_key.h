// What a row of sums is of. 0 where a grain does not tell.
#pragma once

#include <compare>
#include <cstdint>

namespace heaprec::tools::fleet {

// kWhole: rows of `live` only.
enum class RowGrain : uint8_t { kWhole = 0, kClass = 1, kSite = 2, kClassAndSite = 3 };

struct RowKey {
  RowGrain level = RowGrain::kClass;
  uint64_t class_id = 0, site = 0;
  auto operator<=>(const RowKey&) const = default;
};

}  // namespace heaprec::tools::fleet

// Methods that only carry out an allocation for their caller: Object.clone, Arrays.copyOf, Unsafe.allocateMemory, ...
//
// Whether such a frame is on a stack depends on how the code was compiled: C2 expands the intrinsic and leaves the
// frame out, the interpreter does not. So the site of an allocation is the first frame that is none of them. The frames
// from the leaf up to the site are the path that a row has.
//
// A pattern is a method as reports spell it: "java.lang.Object.clone"; "*" at the end matches any rest.
//
// Context:  drain (it allocates); Contains, HasMethod and PathOf: alloc.
// Threads:  any, once made.
// List:     docs/reference/sites.md   Format: docs/format/recording.md#rows
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "format/model/row.h"

namespace heaprec::format {

class AllocationPrimitives {
 public:
  // Has no methods.
  AllocationPrimitives() = default;

  static std::span<const std::string_view> DefaultPatterns();
  static AllocationPrimitives Default();
  void Add(std::string_view pattern);

  bool empty() const { return exact_.empty() && prefixes_.empty(); }
  // `method` without a line number.
  bool Contains(std::string_view method) const;
  // The same for a method as HotSpot spells it: "java/lang/Object", "clone".
  bool HasMethod(std::string_view class_name, std::string_view name) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_set<std::string, Hash, std::equal_to<>> exact_;
  std::vector<std::string> prefixes_;
};

// Maximum frames of a path. In the interpreter a dozen primitives may be below a site that concatenates strings.
inline constexpr size_t kLongestPath = 24;

// How many frames of a stack, from its leaf, form the path, and whether the stack continues although no site was found.
struct Path {
  size_t frames = 0;
  bool truncated = false;
};

// Returns the path of a stack of `frames` frames, which may have been truncated. is_primitive(i): whether frame i, from
// the leaf, is an allocation primitive.
template <typename IsPrimitive>
Path PathOf(size_t frames, bool truncated, const IsPrimitive& is_primitive) {
  const size_t most = std::min(frames, kLongestPath);
  for (size_t i = 0; i < most; ++i) {
    if (!is_primitive(i)) return {i + 1, false};
  }
  return {most, truncated || frames > most};
}

}  // namespace heaprec::format

// Methods that only carry out an allocation for their caller: Object.clone, Arrays.copyOf, Unsafe.allocateMemory, ...
//
// Whether such a frame is on a stack depends on how the code was compiled: C2 expands the intrinsic and leaves the
// frame out, the interpreter does not. So the site of an allocation is the first frame that is none of them.
//
// A pattern is a method as reports spell it: "java.lang.Object.clone"; "*" at the end stands for any rest. A file has
// one a line; "#" begins a comment, and a line "default" stands for the built-in ones.
//
// Threads:  any, once made.
// Failure:  Read returns the sentence for the user.
// List:     docs/reference/sites.md
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "format/bytes/result.h"

namespace heaprec::tools {

// The site of memory that the JVM allocates to report a sampled object, and whether `method` shows such an allocation.
inline constexpr std::string_view kOwnSite = "[heaprec]";
bool AllocatesForSampling(std::string_view method);

class AllocationPrimitives {
 public:
  // None.
  AllocationPrimitives() = default;

  static std::span<const std::string_view> DefaultPatterns();
  static AllocationPrimitives Default();
  static format::Result<AllocationPrimitives> Read(const std::string& path);

  bool empty() const { return exact_.empty() && prefixes_.empty(); }
  // `method` without a line number.
  bool Contains(std::string_view method) const;

 private:
  void Add(std::string_view pattern);

  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_set<std::string, Hash, std::equal_to<>> exact_;
  std::vector<std::string> prefixes_;
};

}  // namespace heaprec::tools

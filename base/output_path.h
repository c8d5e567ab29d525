// Paths to record into: recorder and tools use the same names, refuse the same paths and report the same errors.
//
//   const OutputPath output("app-%p.hrec", pid, epoch_ns);
//   for (int number = 0; number < OutputPath::kMaxNames; ++number) is_free(output.Name(number)) ...
//
// Context:  setup, drain. CheckOutput reads the file status; nothing opens a file.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace heaprec {

class OutputPath {
 public:
  static constexpr int kMaxNames = 10'000;

  // %p: pid; %t: local time as yyyy_MM_dd_HH_mm_ss; %n: the number of the file; %%: a percent sign.
  OutputPath(std::string pattern, uint32_t pid, uint64_t epoch_ns);

  // The names to try, from 0. Without %n: "dir/rec.hrec", "dir/rec-1.hrec", "dir/rec-2.hrec", ...
  std::string Name(int number) const;
  // Whether the pattern has %n.
  bool is_numbered() const { return is_numbered_; }

  // Returns the pattern for exactly this path.
  static std::string Literal(const std::string& path);

 private:
  std::string Expand(int number) const;

  std::string pattern_, pid_, time_;
  bool is_numbered_;
};

// Returns an error if no recording can be written at `path`: it exists and is not a regular file.
Status CheckOutput(const std::string& path);

}  // namespace heaprec

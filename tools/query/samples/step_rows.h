// The rows of recordings, merged into time steps, from which the report page estimates tables.
//
// A row belongs to one class and path in one step; a step consists of one or more whole blocks. So the steps of a long
// recording are long.
//
// Units:    ns.
// Maths:    docs/estimates.md#rows
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/model/row.h"

namespace heaprec::tools {

// Multiplies everything random in the sums by `factor`.
format::Row Scaled(format::Row sums, double factor);

struct StepRow {
  uint32_t step = 0, class_id = 0, node = 0;
  format::Row sums;
};

class StepRows {
 public:
  static constexpr size_t kMaxSteps = 128, kMaxRows = 100'000;

  // Begins the next block of a recording, which covers the time up to `end_ns`.
  void Begin(uint64_t end_ns);
  // Adds a row of the block, or a sample like a row.
  void Add(uint32_t class_id, uint32_t node, const format::Row& sums);
  // Appends all of a later recording, scaled.
  void Append(const StepRows& other, double factor);
  // Call at the end.
  void Close();

  // Ordered after Close.
  const std::vector<StepRow>& rows() const { return rows_; }
  std::vector<StepRow>& rows() { return rows_; }
  // Ends of steps; each begins at the previous end.
  const std::vector<uint64_t>& ends() const { return ends_; }

 private:
  void Unite();
  void Halve();
  void Bound();

  std::vector<StepRow> rows_;
  std::vector<uint64_t> ends_;
  uint64_t in_step_ = 0, per_step_ = 1;  // numbers of blocks
  size_t room_ = 2 * kMaxRows;
};

}  // namespace heaprec::tools

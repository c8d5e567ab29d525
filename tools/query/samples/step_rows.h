// The rows of recordings, merged into steps of time: what the report page estimates tables from.
//
// A row is of one class and path in one step, and a step of one or more whole blocks. So the steps of a long recording
// are long.
//
// Units:    ns.
// Maths:    docs/estimates.md#rows
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/model/row.h"

namespace heaprec::tools {

// With what is random in them multiplied by `factor`.
format::Row Scaled(format::Row sums, double factor);

struct StepRow {
  uint32_t step = 0, class_id = 0, node = 0;
  format::Row sums;
};

class StepRows {
 public:
  static constexpr size_t kMaxSteps = 128, kMaxRows = 100'000;

  // The next block of a recording, of the time up to `end_ns`.
  void Begin(uint64_t end_ns);
  // A row of it, or a sample as if it were one.
  void Add(uint32_t class_id, uint32_t node, const format::Row& sums);
  // All of another recording, which comes after this, scaled.
  void Append(const StepRows& other, double factor);
  // At the end.
  void Close();

  // Ordered, once closed.
  const std::vector<StepRow>& rows() const { return rows_; }
  std::vector<StepRow>& rows() { return rows_; }
  // When steps end; each begins where the one before it ends.
  const std::vector<uint64_t>& ends() const { return ends_; }

 private:
  void Unite();
  void Halve();
  void Bound();

  std::vector<StepRow> rows_;
  std::vector<uint64_t> ends_;
  uint64_t in_step_ = 0, per_step_ = 1;  // blocks
  size_t room_ = 2 * kMaxRows;
};

}  // namespace heaprec::tools

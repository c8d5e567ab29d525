// One event as a row of an export format.
//
// The columns, in order, are the same in every row format; docs/guide/export-import-sql.md#columns
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/reader/reader.h"
#include "tools/export/exporter.h"
#include "tools/input/dictionary_names.h"
#include "tools/text/text.h"

namespace heaprec::tools {

// The values of a row; the views are valid during the call.
struct Row {
  uint64_t time_ns = 0;  // epoch
  const format::Sample* sample = nullptr;
  std::string_view thread, class_name;
  std::string_view stack;          // root;...;leaf, already in the form of AppendText
  std::string_view thread_text{};  // as recorded, with its labels: format/model/names.h
  // recording id; empty: there is only one recording, and no such column
  std::string_view recording{};
  const LiveDetail* alive = nullptr;                // nullptr: no such columns
  std::optional<Calibration::Weight> calibrated{};  // nullopt: no such columns
};

// Optional columns.
struct RowColumns {
  bool recording = false, alive = false, calibrated = false;
};

class RowFormat {
 public:
  virtual ~RowFormat() = default;
  virtual void AppendHeader(RowColumns columns, Text& into) const = 0;
  virtual void AppendRow(const Row& row, Text& into) const = 0;
  // Appends a text as a field of the format, quoted and escaped.
  virtual void AppendText(std::string_view utf8, Text& into) const = 0;
};

std::unique_ptr<RowFormat> CsvRows();

// Stacks as one text, root first: "Class.method:line;..."; without ":line" if the line is unknown; "[truncated]"
// replaces frames that were not recorded. A ';' inside a name becomes ','. Each stack is rendered once per chunk, as a
// field of `format`, which must outlive this, because it may have thousands of characters.
class FoldedStacks {
 public:
  using Hides = std::function<bool(std::string_view method)>;

  // `hides`: frames to omit; empty: none.
  explicit FoldedStacks(const RowFormat* format, Hides hides = {}) : format_(*format), hides_(std::move(hides)) {}
  void Enter(const format::Block& block, Names* names);
  // Returns the empty text for an unknown stack.
  std::string_view Of(format::Index stack);

 private:
  // Valid until the next block.
  const std::string& Frame(const format::Frame& frame);
  std::string Render(format::Index stack);
  std::string Field(std::string_view folded) const;

  const RowFormat& format_;
  const Hides hides_;
  Names* names_ = nullptr;
  uint32_t chunk_ = 0;
  std::string none_;
  std::vector<std::string> stacks_, frames_;  // empty: not rendered yet
  std::vector<std::string_view> leaf_first_;
  size_t cached_bytes_ = 0;
};

// Writes a row per sample as blocks arrive: csv, jsonl. `output` must outlive it.
std::unique_ptr<Exporter> MakeRowExporter(std::unique_ptr<RowFormat> format, const ExportSettings& settings,
                                          Output* output);

}  // namespace heaprec::tools

// Two sides of a comparison: what each recorded, in which unit they compare, and which rows of a table differ.
//
//   Side before({RowsBy::kClass}), after({RowsBy::kClass});   // surveyed with one call tree
//   CompareTables(before.table(0), scale_before, after.table(0), scale_after, 0, 0.05);
//
// Threads:  one.
// Maths:    docs/sampler.md#differences
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/result.h"
#include "tools/analysis/difference.h"
#include "tools/analysis/figures.h"
#include "tools/analysis/group_table.h"
#include "tools/survey.h"

namespace heaprec::tools {

// In which unit two recordings compare.
enum class Per : uint8_t { kSecond, kTotal, kOp };

struct Scale {
  Per per = Per::kSecond;
  bool objects = false;   // else bytes
  double operations = 0;  // kOp
  double seconds = 0;     // kSecond

  // What figures are in this unit. Without seconds nothing is known.
  Estimate Of(const Figures& figures) const;
  // "/s", "/op"; of shares empty.
  std::string Suffix() const;
};

// "A=100,B=120", or "100" for both.
format::Result<std::pair<double, double>> ParseOperations(std::string_view text);

// By what rows are told apart.
enum class RowsBy : uint8_t { kClass, kSite, kMethod, kPackage, kThread, kStack };
// "class", "site", ...; kMethod is any method of a stack, so that rows share samples.
format::Result<RowsBy> ParseRowsBy(std::string_view text);
std::string_view RowsByText(RowsBy by);
inline constexpr std::string_view kAllRowsBy = "class, site, method, package, thread or stack";

// One side: the survey of its files, in groups. Keys are names of the tree's pool, of stacks nodes of the tree.
class Side final : public Surveyor {
 public:
  explicit Side(const std::vector<RowsBy>& by);

  void Begin(const format::FileHeader& header, std::optional<Grain> chosen_by) override;
  void See(const Sighting& sighting) override;
  void End(const Estimator& estimator, double seconds) override;

  const GroupTable& table(size_t i) const { return tables_[i]; }
  // All that passed the filters.
  const Figures& all() const { return all_.Of(0); }
  // Of the first recording; UINT64_MAX if there was none.
  uint64_t start_epoch_ns() const { return start_epoch_ns_; }

 private:
  void Add(size_t table, const Drawn& drawn, const format::Sample& sample, const Sighting& sighting);

  const std::vector<RowsBy> by_;
  std::vector<GroupTable> tables_;
  GroupTable all_{Grain::kClass};
  uint64_t start_epoch_ns_ = UINT64_MAX;
};

// The name of a row.
std::string RowName(RowsBy by, GroupTable::Key key, CallTree& tree);

struct ComparedRow {
  GroupTable::Key key = 0;
  uint64_t samples_before = 0, samples_after = 0;
  Difference difference;
};

// All rows of both tables, judged together: those that differ first, the largest change first.
std::vector<ComparedRow> CompareTables(const GroupTable& before, const Scale& scale_before, const GroupTable& after,
                                       const Scale& scale_after, double margin, double fdr);

}  // namespace heaprec::tools

// Two sides of a comparison: what each recorded, in which unit they compare, and which rows of a table differ.
//
//   Side before({Grouping(By::kClass)}, false), after(...);   // surveyed with one call tree
//   CompareTables(before.table(0), scale_before, after.table(0), scale_after, {});
//
// Threads:  one.
// Maths:    docs/estimates.md#differences
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/result.h"
#include "tools/analysis/estimate/difference.h"
#include "tools/analysis/estimate/group_estimates.h"
#include "tools/analysis/group_table.h"
#include "tools/query/group_query.h"
#include "tools/query/scan.h"

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

// One side: the survey of its files, in groups. By method these are of any method of a stack, so that they share
// samples; the tree must fold. Keys are names of the tree's pool, of stacks nodes of the tree.
class Side final : public Surveyor {
 public:
  // `own_frames`: as Groups.
  Side(const std::vector<Grouping>& by, bool own_frames);

  void Begin(const format::FileHeader& header, std::optional<Grain> chosen_by) override;
  void See(const Sighting& sighting) override;
  void End(const Estimator& estimator, double seconds) override;

  const GroupTable& table(size_t i) const;
  // Of the first recording; UINT64_MAX if there was none.
  uint64_t start_epoch_ns() const { return start_epoch_ns_; }

 private:
  std::vector<Groups> groups_;
  uint64_t start_epoch_ns_ = UINT64_MAX;
};

// All that passed the filters; the bytes of all that was recorded are what was counted.
Figures AllOf(const Survey& survey);

// The name of a row; of a stack all its frames, from the root.
std::string RowName(const Grouping& by, GroupTable::Key key, const CallTree& tree);

struct ComparedRow {
  GroupTable::Key key = 0;
  uint64_t samples_before = 0, samples_after = 0;
  Difference difference;
};

struct Question {
  double margin = 0;
  double fdr = 0.05;
  Asked asked = Asked::kEither;
};

// All rows of both tables, judged together: those that differ first, the largest change first.
std::vector<ComparedRow> CompareTables(const GroupTable& before, const Scale& scale_before, const GroupTable& after,
                                       const Scale& scale_after, const Question& question);

}  // namespace heaprec::tools

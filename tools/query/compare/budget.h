// Allocation budgets, as given on the command line: "site:com.acme.*<5MiB/op", "total<2GiB", "class:byte[]<10%".
//
//   budget   = subject "<" amount
//   subject  = "total" | ("class" | "site" | "method" | "package" | "thread" | "rule") ":" pattern
//   amount   = number [unit] ["/op" | "/s"]        unit: B KiB MiB GiB TiB (KB and k mean KiB too), objects, events, %
//
// A pattern is that of the filters (name_pattern.h), for names as they are shown (dictionary_names.h); all matches are
// added. "?" at its end: no name needs to match. A rule is one of advice (tools/query/allocations/rules.h): what it
// finds.
//
// Failure:  Parse returns a message for the user with the error, its position, and an example.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/analysis/groups/grouping.h"
#include "tools/query/allocations/advice_scan.h"
#include "tools/query/filter/name_pattern.h"
#include "tools/query/scan/census_strata.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

struct Budget {
  enum class Subject : uint8_t { kTotal, kClass, kSite, kMethod, kPackage, kThread, kRule };
  enum class Unit : uint8_t { kBytes, kObjects, kShare };
  enum class Per : uint8_t { kRecording, kSecond, kOp };

  std::string text;  // as given
  Subject subject = Subject::kTotal;
  std::string subject_text;            // "site:com.acme.*"
  std::string pattern_text;            // "com.acme.*"
  std::optional<NamePattern> pattern;  // nullopt: all
  bool may_be_absent = false;
  double limit = 0;  // bytes, objects, or a fraction from 0 to 1
  Unit unit = Unit::kBytes;
  bool has_unit = true;       // otherwise it is a plain number, of bytes
  bool is_of_events = false;  // the unit was "events"
  Per per = Per::kRecording;

  // Not for kTotal and kRule.
  Named Kind() const;
  bool Matches(std::string_view name) const { return pattern->Matches(name); }

  static Result<Budget> Parse(const std::string& text);
};

// The amounts for several budgets: one group of samples per budget, over the recordings of a scan.
class BudgetVisitor final : public ScanVisitor {
 public:
  // `budgets` must outlive this.
  explicit BudgetVisitor(const std::vector<Budget>* budgets);

  bool takes_rows(uint64_t begin_ns, uint64_t end_ns) const override;
  // As in summary, whose advice a budget refers to.
  bool calibrates() const override { return advice_.has_value(); }
  void Begin(const format::FileHeader& header) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  GroupEstimates Of(size_t budget) const;
  // Whether it consists of classes that complete censuses counted.
  bool IsCounted(size_t budget) const {
    return is_counted_ && budgets_[budget].subject == Budget::Subject::kClass &&
           !known_[budget].counted.has_stack_chunks();
  }
  // Whether the budget may include only stack chunks, which the recorder counts and never samples.
  bool MissesStackChunks(size_t budget) const;
  double seconds() const { return seconds_; }
  // Whether a recording comes from another recorder, whose weights are biased.
  bool is_imported() const { return is_imported_; }

 private:
  // Cached matches for entries of the current chunk.
  struct Known {
    Matches classes, stacks, threads;
    std::optional<StackMatch> any_frame;
    CountedClasses counted;
  };
  bool Takes(const Budget& budget, Known* known, const format::Sample& sample, const MatchedBlock& in);

  const std::vector<Budget>& budgets_;
  std::vector<GroupTable> tables_;  // by budget, with one key each
  std::vector<Known> known_;
  std::optional<AdviceScan> advice_;  // for all budgets of rules
  uint32_t chunk_ = format::kNone;
  size_t stacks_ = 0;
  double seconds_ = 0;
  bool is_imported_ = false, has_census_ = false, has_stack_chunks_ = false;
  bool is_counted_ = true;
};

}  // namespace heaprec::tools

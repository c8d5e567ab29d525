#include "tools/query/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

namespace heaprec::tools {
namespace {

// Whole text as a number above 0.
std::optional<double> ParseNumber(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number > 0) || std::isinf(number)) return {};
  return number;
}

// By how much a row has changed; what is unknown comes last.
double SizeOf(const ComparedRow& row) {
  const double change = row.difference.change.value;
  return std::isnan(change) ? -1 : std::abs(change);
}

bool Differs(const ComparedRow& row) { return row.difference.verdict != Verdict::kSame; }

}  // namespace

Estimate Scale::Of(const Figures& figures) const {
  if (per == Per::kTotal && !objects) return figures.share;
  const Estimate of = objects ? figures.objects : figures.bytes;
  if (per == Per::kTotal) return of;
  const double exposure = per == Per::kOp ? operations : seconds;
  return exposure > 0 ? Scaled(of, 1 / exposure) : kUnknownEstimate;
}

std::string Scale::Suffix() const {
  switch (per) {
    case Per::kSecond:
      return "/s";
    case Per::kOp:
      return "/op";
    case Per::kTotal:
      break;
  }
  return "";
}

format::Result<std::pair<double, double>> ParseOperations(std::string_view text) {
  const format::Error wrong{
      fmt::format("--ops {}: expected the operations on each side, A=1000,B=1200, or 1000 for both", text)};
  if (const auto both = ParseNumber(text)) return std::pair(*both, *both);
  std::optional<double> before, after;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (part.starts_with("A=")) {
      before = ParseNumber(part.substr(2));
    } else if (part.starts_with("B=")) {
      after = ParseNumber(part.substr(2));
    } else {
      return wrong;
    }
  }
  if (!before || !after) return wrong;
  return std::pair(*before, *after);
}

Side::Side(const std::vector<Grouping>& by, bool own_frames) {
  for (const Grouping& one : by) groups_.emplace_back(one, own_frames);
}

void Side::Begin(const format::FileHeader& header, std::optional<Grain> chosen_by) {
  start_epoch_ns_ = std::min(start_epoch_ns_, header.start_epoch_ns);
  for (Groups& one : groups_) one.Begin(chosen_by);
}

void Side::See(const Sighting& sighting) {
  for (Groups& one : groups_) one.See(sighting);
}

void Side::End(const Estimator& estimator, double) {
  for (Groups& one : groups_) one.End(estimator);
}

const GroupTable& Side::table(size_t i) const {
  const Groups& of = groups_[i];
  return of.cumulative() != nullptr ? *of.cumulative() : of.own();
}

Figures AllOf(const Survey& survey) {
  Figures all = survey.chosen();
  if (survey.chooses_all()) all.bytes = survey.total();
  return all;
}

std::string RowName(const Grouping& by, GroupTable::Key key, const CallTree& tree) {
  if (by.by() != By::kStack) return by.NameOf(key, tree);
  std::string stack;
  for (CallTree::NodeId node = key; node != CallTree::kRoot; node = tree.At(node).parent) {
    stack.insert(0, std::string(tree.NameOf(node)) + (stack.empty() ? "" : ";"));
  }
  return stack;
}

std::vector<ComparedRow> CompareTables(const GroupTable& before, const Scale& scale_before, const GroupTable& after,
                                       const Scale& scale_after, const Question& question) {
  std::map<GroupTable::Key, ComparedRow> by_key;
  for (const GroupTable* table : {&before, &after}) {
    for (const GroupTable::Row& row : table->Rows()) by_key[row.key].key = row.key;
  }
  std::vector<ComparedRow> rows;
  std::vector<Difference> differences;
  for (auto& [key, row] : by_key) {
    const Figures &was = before.Of(key), &is = after.Of(key);
    row.samples_before = was.samples, row.samples_after = is.samples;
    differences.push_back(Compare(scale_before.Of(was), scale_after.Of(is), question.margin, question.asked));
    rows.push_back(row);
  }
  Judge(&differences, question.fdr);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].difference = differences[i];
  std::stable_sort(rows.begin(), rows.end(), [](const ComparedRow& a, const ComparedRow& b) {
    if (Differs(a) != Differs(b)) return Differs(a);
    return SizeOf(a) > SizeOf(b);
  });
  return rows;
}

}  // namespace heaprec::tools

#include "tools/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

namespace heaprec::tools {
namespace {

// Whole text as a number above 0.
std::optional<double> ParseNumber(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number > 0) || std::isinf(number)) return {};
  return number;
}

constexpr std::array<std::string_view, 6> kRowsByTexts{"class", "site", "method", "package", "thread", "stack"};

// The finest grain that has a say in which row a sample belongs to.
Grain GrainOf(RowsBy by) {
  switch (by) {
    case RowsBy::kClass:
      return Grain::kClass;
    case RowsBy::kSite:
    case RowsBy::kPackage:
      return Grain::kMethod;
    case RowsBy::kMethod:
    case RowsBy::kStack:
      return Grain::kStack;
    case RowsBy::kThread:
      break;
  }
  return Grain::kThread;
}

// "java.util" of "java.util.HashMap.resize".
std::string_view PackageOf(std::string_view method) {
  for (int part = 0; part < 2; ++part) {
    const size_t dot = method.rfind('.');
    method = dot == std::string_view::npos ? std::string_view() : method.substr(0, dot);
  }
  return method.empty() ? "(none)" : method;
}

bool Differs(const ComparedRow& row) { return row.difference.verdict != Verdict::kSame; }

}  // namespace

Estimate Scale::Of(const Figures& figures) const {
  if (per == Per::kTotal && !objects) return figures.share;
  const Estimate& of = objects ? figures.objects : figures.bytes;
  if (per == Per::kTotal) return of;
  const double exposure = per == Per::kOp ? operations : seconds;
  return exposure > 0 ? Scaled(of, 1 / exposure) : Estimate{0, 0, std::numeric_limits<double>::infinity()};
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
      fmt::format("--ops {}: how many operations each side did, A=1000,B=1200, or 1000 for both", text)};
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

format::Result<RowsBy> ParseRowsBy(std::string_view text) {
  for (size_t i = 0; i < kRowsByTexts.size(); ++i) {
    if (kRowsByTexts[i] == text) return static_cast<RowsBy>(i);
  }
  return format::Error{fmt::format("--by {}: one of {}", text, kAllRowsBy)};
}

std::string_view RowsByText(RowsBy by) { return kRowsByTexts[static_cast<size_t>(by)]; }

Side::Side(const std::vector<RowsBy>& by) : by_(by) {
  for (const RowsBy one : by_) tables_.emplace_back(GrainOf(one));
}

void Side::Begin(const format::FileHeader& header, std::optional<Grain> chosen_by) {
  start_epoch_ns_ = std::min(start_epoch_ns_, header.start_epoch_ns);
  for (GroupTable& table : tables_) table.Start(chosen_by);
  all_.Start(chosen_by);
}

void Side::See(const Sighting& sighting) {
  for (const Drawn* drawn : sighting.drawn) {
    const format::Sample& sample = sighting.block.samples[drawn->index];
    all_.Add(0, *drawn);
    for (size_t i = 0; i < by_.size(); ++i) Add(i, *drawn, sample, sighting);
  }
}

void Side::Add(size_t i, const Drawn& drawn, const format::Sample& sample, const Sighting& sighting) {
  CallTree& tree = sighting.tree;
  const CallTree::NodeId leaf = tree.Of(sample.stack);
  switch (by_[i]) {
    case RowsBy::kClass:
      return tables_[i].Add(tree.names().Of(sighting.names.Class(sample.class_id)), drawn);
    case RowsBy::kSite:
      return tables_[i].Add(tree.At(leaf).name, drawn);
    case RowsBy::kPackage:
      return tables_[i].Add(tree.names().Of(PackageOf(tree.NameOf(leaf))), drawn);
    case RowsBy::kThread:
      return tables_[i].Add(tree.names().Of(sighting.names.Thread(sample.thread)), drawn);
    case RowsBy::kStack:
      return tables_[i].Add(leaf, drawn);
    case RowsBy::kMethod:
      break;
  }
  // The tree is folded: no name is on a path twice.
  for (CallTree::NodeId node = leaf; node != CallTree::kRoot; node = tree.At(node).parent) {
    tables_[i].Add(tree.At(node).name, drawn);
  }
}

void Side::End(const Estimator& estimator, double) {
  for (GroupTable& table : tables_) table.Close(estimator);
  all_.Close(estimator);
}

std::string RowName(RowsBy by, GroupTable::Key key, CallTree& tree) {
  if (by != RowsBy::kStack) return tree.names().At(key);
  std::string stack;
  for (CallTree::NodeId node = key; node != CallTree::kRoot; node = tree.At(node).parent) {
    stack.insert(0, std::string(tree.NameOf(node)) + (stack.empty() ? "" : ";"));
  }
  return stack;
}

std::vector<ComparedRow> CompareTables(const GroupTable& before, const Scale& scale_before, const GroupTable& after,
                                       const Scale& scale_after, double margin, double fdr) {
  std::map<GroupTable::Key, ComparedRow> by_key;
  for (const GroupTable* table : {&before, &after}) {
    for (const GroupTable::Row& row : table->Rows()) by_key[row.key].key = row.key;
  }
  std::vector<ComparedRow> rows;
  std::vector<Difference> differences;
  for (auto& [key, row] : by_key) {
    const Figures &was = before.Of(key), &is = after.Of(key);
    row.samples_before = was.samples, row.samples_after = is.samples;
    differences.push_back(Compare(scale_before.Of(was), scale_after.Of(is), margin));
    rows.push_back(row);
  }
  Judge(&differences, fdr);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].difference = differences[i];
  std::stable_sort(rows.begin(), rows.end(), [](const ComparedRow& a, const ComparedRow& b) {
    if (Differs(a) != Differs(b)) return Differs(a);
    return std::abs(a.difference.change.value) > std::abs(b.difference.change.value);
  });
  return rows;
}

}  // namespace heaprec::tools

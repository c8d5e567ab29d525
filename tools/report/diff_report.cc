#include "tools/report/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

constexpr size_t kRowsOfOne = 20, kRowsOfTwo = 10;

std::string Printable(std::string_view text) {
  Text printable;
  AppendPrintable(printable, text);
  return fmt::to_string(printable);
}

std::string SideText(std::string_view which, const DiffSide& side) {
  const Figures all = AllOf(side.survey);
  return fmt::format("{:<9}{}: {} in {}, {} samples\n", which, Printable(side.name),
                     side.survey.of_exceptions() ? Grouped(static_cast<uint64_t>(all.bytes.value)) + " events"
                                                 : Bytes(all.bytes.value),
                     Duration(static_cast<uint64_t>(side.survey.covered().seconds * 1e9)), Grouped(all.samples));
}

void AppendTable(const ComparedTable& of, const DiffResult& result, const DiffRows& rows_shown, size_t usual,
                 const CallTree& tree, std::string* into) {
  const size_t limit = rows_shown.limit.value_or(usual);
  const size_t shown = rows_shown.all ? of.rows.size() : of.changed;
  const size_t rows = limit > 0 ? std::min(limit, shown) : shown;
  *into += fmt::format("\nby {}: {} of {} changed, at a false discovery rate of {:g} %{}\n", of.by.Text(),
                       Grouped(of.changed), Grouped(of.rows.size()), 100 * result.question.fdr,
                       of.changed < of.rows.size() ? "; the others may be noise" : "");
  for (size_t i = 0; i < rows; ++i) {
    const Difference& one = of.rows[i].difference;
    *into += fmt::format("  {:<4} {:>14} {:<22} {:>8} {:>12} -> {:<12} {}\n", VerdictText(one.verdict),
                         ChangeText(one.change, result.style), ChangeIntervalText(one.change, result.style),
                         RatioText(one.ratio.value), ValueText(one.before.value, result.style),
                         ValueText(one.after.value, result.style), Printable(RowName(of.by, of.rows[i].key, tree)));
  }
  if (rows < shown) *into += fmt::format("  ... {} more; --limit 0 shows all\n", Grouped(shown - rows));
}

json RowAsJson(const ComparedRow& row, const ComparedTable& table, const CallTree& tree) {
  json one = AsJson(row.difference);
  one["name"] = RowName(table.by, row.key, tree);
  one["samples_before"] = row.samples_before;
  one["samples_after"] = row.samples_after;
  return one;
}

json RowsAsJson(const ComparedTable& table, const DiffRows& shown, const CallTree& tree) {
  json rows = json::array();
  for (const ComparedRow& row : table.rows) {
    if (shown.limit.value_or(0) > 0 && rows.size() == *shown.limit) break;
    if (shown.all || row.difference.verdict != Verdict::kSame) rows.push_back(RowAsJson(row, table, tree));
  }
  return rows;
}

}  // namespace

ValueStyle StyleOf(const Scale& scale, const Survey& survey) {
  using Unit = ValueStyle::Unit;
  const Unit amount = scale.objects || survey.of_exceptions() ? Unit::kCount : Unit::kBytes;
  return {scale.per == Per::kTotal ? Unit::kShare : amount, scale.Suffix()};
}

std::string DiffText(const DiffResult& result, const DiffSide& before, const DiffSide& after, const DiffRows& shown,
                     const CallTree& tree) {
  const std::string verdict = result.total.verdict == Verdict::kSame ? ", not shown to differ" : "";
  std::string text = fmt::format("{:<9}{}{}\n", "total", TotalText(result.total, result.total_style), verdict);
  text += SideText("before", before) + SideText("after", after);
  const size_t usual = result.tables.size() > 1 ? kRowsOfTwo : kRowsOfOne;
  for (const ComparedTable& table : result.tables) AppendTable(table, result, shown, usual, tree, &text);
  return text + "\n" + before.survey.LossLine() + after.survey.LossLine();
}

std::string DiffJson(const DiffResult& result, const DiffSide& before, const DiffSide& after, const DiffRows& shown,
                     const CallTree& tree) {
  static constexpr std::array<const char*, 3> kPer{"second", "total", "op"};
  const char* const amount = before.survey.of_exceptions() ? "events" : "bytes";
  json document = {{"schema", "heaprec.diff/1"},
                   {"per", kPer[static_cast<size_t>(result.scale.per)]},
                   {"unit", result.scale.objects ? "objects" : amount},
                   {"fdr", result.question.fdr},
                   {"min_change", result.question.margin},
                   {"reversed", result.reversed},
                   {"before", before.survey.AsJson()},
                   {"after", after.survey.AsJson()},
                   {"total", AsJson(result.total)},
                   {"tables", json::array()}};
  for (const ComparedTable& table : result.tables) {
    document["tables"].push_back({{"by", table.by.Text()},
                                  {"count", table.rows.size()},
                                  {"changed", table.changed},
                                  {"rows", RowsAsJson(table, shown, tree)}});
  }
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace heaprec::tools

// heaprec top: what allocates most, by class, site, method, thread, ...
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/options/command.h"
#include "tools/query/group_query.h"
#include "tools/query/scan.h"
#include "tools/report/group_estimates_format.h"
#include "tools/report/report_header.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/table.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

// Rows on a terminal, unless told: of one table, and of each of two.
constexpr size_t kRowsOfOne = 20, kRowsOfTwo = 10;
// Callers below a stack's leaf, on a terminal.
constexpr size_t kCallers = 6;

struct TopOptions {
  SurveyOptions survey;
  std::string by;
  Ranking ranking;
  std::optional<size_t> limit;
  bool json = false;
};

class Tables : public Surveyor {
 public:
  Tables(const std::vector<Grouping>& groupings, bool own_frames) {
    for (const Grouping& grouping : groupings) of_.emplace_back(grouping, own_frames);
  }
  Grain finest() const override {
    Grain finest = Grain::kClass;
    for (const Groups& one : of_) finest = std::max(finest, one.finest());
    return finest;
  }
  void Begin(const format::FileHeader&, std::optional<Grain> chosen_by) override {
    for (Groups& one : of_) one.Begin(chosen_by);
  }
  void See(const Sighting& sighting) override {
    for (Groups& one : of_) one.See(sighting);
  }
  void End(const Estimator& estimator, double) override {
    for (Groups& one : of_) one.End(estimator);
  }
  const std::vector<Groups>& of() const { return of_; }

 private:
  std::vector<Groups> of_;
};

std::vector<std::string> FramesOf(CallTree::NodeId node, const CallTree& tree) {
  std::vector<std::string> leaf_first;
  for (; node != CallTree::kRoot; node = tree.At(node).parent) leaf_first.emplace_back(tree.NameOf(node));
  return leaf_first;
}

// One grouping's rows, as text and as JSON.
class TopTable {
 public:
  TopTable(const Groups& of, const Ranking& ranking, const CallTree& tree, const Survey& survey)
      : of_(of),
        tree_(tree),
        rows_(Ranked(of, ranking, tree)),
        unit_(UnitOf(survey)),
        things_(ThingsOf(survey)),
        seconds_(survey.covered().seconds) {}

  void AppendTo(const Terminal& terminal, Text* into) const {
    std::vector<Column> columns = FigureColumns(unit_, things_);
    if (of_.cumulative() != nullptr)
      columns.insert(columns.begin() + 2, {{"with callees", Column::kStays, 8}, {"share", Column::kStays, 1}});
    Table table(columns, of_.grouping().Text());
    for (const GroupTable::Row* row : rows_) AddRow(row->key, &table);
    table.AppendTo(terminal, into);
    AppendRest(terminal, into);
  }

  json AsJson() const {
    json rows = json::array();
    for (const GroupTable::Row* row : rows_) rows.push_back(RowAsJson(row->key));
    return {{"by", of_.grouping().Text()}, {"count", Count()}, {"rows", rows}};
  }

 private:
  // A method that only calls has no group of its own.
  size_t Count() const {
    return of_.cumulative() != nullptr ? of_.cumulative()->Rows().size() : of_.own().Rows().size();
  }

  void AddRow(GroupTable::Key key, Table* table) const {
    std::vector<Cell> cells = FigureCells(of_.own().Of(key), seconds_, unit_);
    if (const GroupTable* cumulative = of_.cumulative()) {
      const std::vector<Cell> more = FigureCells(cumulative->Of(key), seconds_, unit_);
      cells.insert(cells.begin() + 2, more.begin(), more.begin() + 2);
    }
    std::vector<std::string> callers;
    if (of_.grouping().by() == By::kStack) {
      callers = FramesOf(key, tree_);
      callers.erase(callers.begin());
      const bool cut = callers.size() > kCallers;
      if (cut) callers.resize(kCallers);
      if (cut) callers.emplace_back("...");
    }
    table->Add(std::move(cells), of_.grouping().NameOf(key, tree_), "", std::move(callers));
  }

  void AppendRest(const Terminal& terminal, Text* into) const {
    if (rows_.size() == Count()) return;
    const std::string rest = fmt::format("... {} more; --limit 0 shows all", Grouped(Count() - rows_.size()));
    Append(*into, terminal.Dim(rest) + "\n");
  }

  json RowAsJson(GroupTable::Key key) const {
    json row = tools::AsJson(of_.own().Of(key), seconds_, unit_);
    row["name"] = of_.grouping().NameOf(key, tree_);
    if (of_.cumulative() != nullptr) row["cumulative"] = tools::AsJson(of_.cumulative()->Of(key), seconds_, unit_);
    if (of_.grouping().by() == By::kStack) {
      const std::vector<std::string> frames = FramesOf(key, tree_);
      row["frames"] = std::vector<std::string>(frames.rbegin(), frames.rend());
    }
    return row;
  }

  const Groups& of_;
  const CallTree& tree_;
  const std::vector<const GroupTable::Row*> rows_;
  const Unit unit_;
  const char* const things_;
  const double seconds_;
};

std::string JsonForm(const std::vector<TopTable>& tables, const Survey& survey) {
  json document = DocumentOf(survey, "heaprec.top/1");
  document["tables"] = json::array();
  for (const TopTable& table : tables) document["tables"].push_back(table.AsJson());
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string TextForm(const std::vector<TopTable>& tables, const Survey& survey, std::string_view what) {
  const Terminal terminal = Terminal::Of(STDOUT_FILENO);
  Text text;
  Append(text, Headline(survey));
  for (const TopTable& table : tables) {
    text.push_back('\n');
    table.AppendTo(terminal, &text);
  }
  text.push_back('\n');
  Append(text, Bottomline(survey, what));
  return fmt::to_string(text);
}

// What was asked for, or classes and sites.
format::Result<std::vector<Grouping>> GroupingsOf(const TopOptions& options) {
  if (options.by.empty()) return std::vector<Grouping>{Grouping(By::kClass), Grouping(By::kSite)};
  auto one = Grouping::Parse(options.by);
  if (!one.ok()) return one.error();
  if (options.ranking.sort == "cumulative" && one->by() != By::kMethod) {
    return format::Error{"--sort cumulative needs --by method: other tables have no cumulative column"};
  }
  return std::vector<Grouping>{std::move(*one)};
}

ExitCode Usage(const format::Error& error) {
  Complain(error.message);
  return ExitCode::kUsage;
}

ExitCode Top(TopOptions options) {
  auto groupings = GroupingsOf(options);
  if (!groupings.ok()) return Usage(groupings.error());
  options.survey.fold = groupings->front().by() == By::kMethod;
  auto survey = Survey::Parse(options.survey);
  if (!survey.ok()) return Usage(survey.error());
  const size_t usual = groupings->size() > 1 ? kRowsOfTwo : kRowsOfOne;
  options.ranking.limit = options.limit.value_or(options.json ? 0 : usual);

  NamePool names;
  CallTree tree(&names, survey->TreeOptions());
  Tables tables(*groupings, options.survey.lines || !options.survey.filter.hide.empty());
  const ExitCode read = survey->Run(&tree, &tables);
  if (read == ExitCode::kUnreadable) return read;
  std::vector<TopTable> ranked;
  for (const Groups& one : tables.of()) ranked.emplace_back(one, options.ranking, tree, *survey);
  Output output(STDOUT_FILENO);
  const std::string what = options.by.empty() ? "class or site" : groupings->front().Text();
  output.Append(options.json ? JsonForm(ranked, *survey) : TextForm(ranked, *survey, what));
  output.Flush();
  const ExitCode written = output.Report("standard output");
  return written != ExitCode::kOk ? written : read;
}

}  // namespace

Command TopCommand() {
  auto options = std::make_shared<TopOptions>();
  Command command("top", "Rank classes, sites, methods, threads, ... by bytes");
  command.AddOption("--by", options->by, "Group rows by this key (default: one table by class and one by site)")
      .Value("KEY")
      .OneOf(Grouping::Words());
  command
      .AddOption("--sort", options->ranking.sort,
                 "Sort by bytes (default), objects, mean-size, samples, cumulative or name")
      .Value("COLUMN")
      .OneOf(SortKeys());
  command.AddOption("--limit", options->limit, "Maximum rows; 0 = all (default: 20, or 10 per table; --json: all)")
      .Value("N");
  command.AddPercent("--min-share", options->ranking.min_share, "Hide rows below this share of the total, such as 1%");
  command.AddFlag("--json", options->json, "Print JSON");
  options->survey.AddTo(command);
  command.footer = R"(Examples:
  heaprec top app.hrec
  heaprec top --by method --sort cumulative --hide '^java\.' app.hrec
  heaprec top --by thread --class 'char[]' --from 10s --to 20s app.hrec
  heaprec top --by label:request --min-share 1% monday.hrec tuesday.hrec
  heaprec top --json app.hrec | jq -r '.tables[0].rows[].name')";
  command.run = [options](const auto&) { return Top(*options); };
  return command;
}

}  // namespace heaprec::tools

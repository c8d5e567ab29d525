// heaprec histogram: the sizes of the objects, by powers of two.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/options/command.h"
#include "tools/query/group_query.h"
#include "tools/query/scan.h"
#include "tools/report/report_header.h"
#include "tools/text/bars.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/table.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

constexpr size_t kBarColumns = 20;

struct HistogramOptions {
  SurveyOptions survey;
  bool json = false;
};

class SizeSurvey : public Surveyor {
 public:
  void Begin(const format::FileHeader&, std::optional<Grain> chosen_by) override { sizes_.Begin(chosen_by); }
  void See(const Sighting& sighting) override { sizes_.See(sighting); }
  void End(const Estimator& estimator, double) override { sizes_.End(estimator); }

  // Those of unknown size, then from the smallest size to the largest, those between that have no samples too.
  std::vector<GroupTable::Row> Rows() const {
    uint32_t first = UINT32_MAX, last = 0;
    std::vector<GroupTable::Row> rows;
    for (const GroupTable::Row& row : sizes_.own().Rows()) {
      if (row.key == 0) rows.push_back(row);
      if (row.key == 0) continue;
      first = std::min(first, row.key);
      last = std::max(last, row.key);
    }
    for (uint32_t bits = first; bits <= last && first != UINT32_MAX; ++bits) {
      rows.push_back({bits, sizes_.own().Of(bits)});
    }
    return rows;
  }

 private:
  Groups sizes_{Grouping(By::kSize), false};
};

std::string TextForm(const std::vector<GroupTable::Row>& rows, const Survey& survey, const Terminal& terminal) {
  double most_bytes = 0, most_objects = 0;
  for (const GroupTable::Row& row : rows) {
    most_bytes = std::max(most_bytes, row.figures.bytes.value);
    most_objects = std::max(most_objects, OrUnbounded(row.figures.objects).value);
  }
  std::vector<Column> columns = FigureColumns(Unit::kBytes, ThingsOf(survey));
  columns.pop_back();  // the mean size is that of the row
  Table table(columns, fmt::format("{:<18}{:<{}}  {}", "size", "bytes", kBarColumns, ThingsOf(survey)));
  for (const GroupTable::Row& row : rows) {
    std::vector<Cell> cells = FigureCells(row.figures, survey.covered().seconds, Unit::kBytes);
    cells.pop_back();
    const auto bar = [&](double value, double most) {
      return Bar(most > 0 ? value / most : 0, kBarColumns, terminal.unicode);
    };
    table.Add(std::move(cells), "",
              fmt::format("{:<18}{}  {}", SizeClassName(row.key), bar(row.figures.bytes.value, most_bytes),
                          bar(OrUnbounded(row.figures.objects).value, most_objects)));
  }
  Text text;
  Append(text, Headline(survey) + "\n");
  table.AppendTo(terminal, &text);
  Append(text, "\n" + Bottomline(survey, "size"));
  return fmt::to_string(text);
}

std::string JsonForm(const std::vector<GroupTable::Row>& rows, const Survey& survey) {
  json document = DocumentOf(survey, "heaprec.histogram/1");
  document["classes"] = json::array();
  for (const GroupTable::Row& row : rows) {
    json one = AsJson(row.figures, survey.covered().seconds, Unit::kBytes);
    one["from"] = row.key > 0 ? json(uint64_t{1} << (row.key - 1)) : json();  // 0: of unknown size
    one["below"] = row.key > 0 && row.key < 64 ? json(uint64_t{1} << row.key) : json();
    document["classes"].push_back(std::move(one));
  }
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

ExitCode ShowHistogram(const HistogramOptions& options) {
  auto survey = Survey::Parse(options.survey);
  const std::string refused = !survey.ok() ? survey.error().message
                              : survey->of_exceptions()
                                  ? "--kind exception: exceptions have no recorded sizes; use another kind"
                                  : "";
  if (!refused.empty()) {
    Complain(refused);
    return ExitCode::kUsage;
  }
  NamePool names;
  CallTree tree(&names, survey->TreeOptions());
  SizeSurvey sizes;
  const ExitCode read = survey->Run(&tree, &sizes);
  if (read == ExitCode::kUnreadable) return read;
  Output output(STDOUT_FILENO);
  const std::vector<GroupTable::Row> rows = sizes.Rows();
  output.Append(options.json ? JsonForm(rows, *survey) : TextForm(rows, *survey, Terminal::Of(STDOUT_FILENO)));
  output.Flush();
  const ExitCode written = output.Report("standard output");
  return written != ExitCode::kOk ? written : read;
}

}  // namespace

Command HistogramCommand() {
  auto options = std::make_shared<HistogramOptions>();
  Command command("histogram", "Show the distribution of object sizes");
  command.AddFlag("--json", options->json, "Print JSON");
  options->survey.AddTo(command);
  command.footer = R"(Examples:
  heaprec histogram app.hrec
  heaprec histogram --site 'StringBuilder.*' app.hrec
  heaprec histogram --json app.hrec | jq -r '.classes[] | [.from, .objects.value] | @tsv')";
  command.run = [options](const auto&) { return ShowHistogram(*options); };
  return command;
}

}  // namespace heaprec::tools

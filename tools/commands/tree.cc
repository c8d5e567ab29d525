// heaprec tree: who called what allocates, from the root down or from the allocation up.
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tools/options/command.h"
#include "tools/query/scan.h"
#include "tools/query/tree_query.h"
#include "tools/report/report_header.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/table.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;
using NodeId = CallTree::NodeId;

struct TreeOptions {
  SurveyOptions survey;
  bool callers = false, json = false, unfolded = false;
  uint32_t depth = 0;
  size_t limit = 0;
  double min_share = 0.01;
};

// The nodes that are shown, as text and as JSON.
class TreeForm {
 public:
  TreeForm(const TreeOptions& options, const Survey& survey, const TreeSurvey& tree)
      : options_(options), survey_(survey), tree_(tree), children_(tree.Children()) {
    for (std::vector<NodeId>& of : children_) hidden_.push_back(Prune(&of));
  }

  std::string AsText(const Terminal& terminal) const {
    Table table(FigureColumns(UnitOf(survey_), ThingsOf(survey_)),
                options_.callers ? "allocated by, called from" : "allocated below", Table::Keep::kNames);
    table.Add(Cells(survey_.chosen()), "all");
    AddChildren(CallTree::kRoot, "", terminal.unicode, &table);
    fmt::memory_buffer text;
    Append(text, Headline(survey_) + "\n");
    table.AppendTo(terminal, &text);
    Append(text, "\n" + Bottomline(survey_, "path"));
    return fmt::to_string(text);
  }

  std::string AsJson() const {
    json document = DocumentOf(survey_, "heaprec.tree/1");
    document["direction"] = options_.callers ? "callers" : "callees";
    document["children"] = ChildrenAsJson(CallTree::kRoot);
    document["left_out"] = hidden_[CallTree::kRoot];
    return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  }

 private:
  // Returns how many it left out.
  size_t Prune(std::vector<NodeId>* of) const {
    size_t shown = 0;
    while (shown < of->size() && tree_.Below((*of)[shown]).share.value >= options_.min_share) ++shown;
    if (options_.limit > 0) shown = std::min(shown, options_.limit);
    const size_t hidden = of->size() - shown;
    of->resize(shown);
    return hidden;
  }

  std::vector<Cell> Cells(const Figures& figures) const {
    return FigureCells(figures, survey_.covered().seconds, UnitOf(survey_));
  }

  // A node's only child stands below it, so that a chain of calls does not walk out of the terminal.
  void AddChildren(NodeId parent, const std::string& before, bool unicode, Table* table) const {
    const std::vector<NodeId>& children = children_[parent];
    const bool is_chain = children.size() == 1 && parent != CallTree::kRoot;
    for (size_t i = 0; i < children.size(); ++i) {
      const bool is_last = i + 1 == children.size();
      const char* const branch = unicode ? (is_last ? "└─ " : "├─ ") : (is_last ? "`- " : "|- ");
      const char* const beside = is_last ? "   " : unicode ? "│  " : "|  ";
      table->Add(Cells(tree_.Below(children[i])), NameOf(children[i]), is_chain ? before : before + branch);
      AddChildren(children[i], is_chain ? before : before + beside, unicode, table);
    }
  }

  std::string NameOf(NodeId node) const {
    const std::string name(tree_.tree().NameOf(node));
    return hidden_[node] == 0 ? name : fmt::format("{} (+{})", name, hidden_[node]);
  }

  json ChildrenAsJson(NodeId parent) const {
    json nodes = json::array();
    const double seconds = survey_.covered().seconds;
    for (const NodeId node : children_[parent]) {
      json one = tools::AsJson(tree_.Below(node), seconds, UnitOf(survey_));
      one["name"] = tree_.tree().NameOf(node);
      one["own"] = tools::AsJson(tree_.Own(node), seconds, UnitOf(survey_));
      one["children"] = ChildrenAsJson(node);
      one["left_out"] = hidden_[node];
      nodes.push_back(std::move(one));
    }
    return nodes;
  }

  const TreeOptions& options_;
  const Survey& survey_;
  const TreeSurvey& tree_;
  std::vector<std::vector<NodeId>> children_;  // that are shown
  std::vector<size_t> hidden_;                 // how many are not
};

ExitCode ShowTree(TreeOptions options) {
  options.survey.fold = !options.unfolded;
  auto survey = Survey::Parse(options.survey);
  if (!survey.ok()) {
    Complain(survey.error().message);
    return ExitCode::kUsage;
  }
  NamePool names;
  CallTree stacks(&names, survey->TreeOptions());
  TreeSurvey tree(stacks, options.callers ? Direction::kCallers : Direction::kCallees, options.depth);
  const ExitCode read = survey->Run(&stacks, &tree);
  if (read == ExitCode::kUnreadable) return read;
  const TreeForm form(options, *survey, tree);
  Output output(STDOUT_FILENO);
  output.Append(options.json ? form.AsJson() : form.AsText(Terminal::Of(STDOUT_FILENO)));
  output.Flush();
  const ExitCode written = output.Report("standard output");
  return written != ExitCode::kOk ? written : read;
}

}  // namespace

Command TreeCommand() {
  auto options = std::make_shared<TreeOptions>();
  Command command("tree", "Show allocations as a tree of callees or callers");
  command.AddFlag("--callers", options->callers, "Start at the allocating frames and show their callers");
  command.AddOption("--depth", options->depth, "Maximum depth in frames; 0 = all (default)").Value("N");
  command.AddOption("--limit", options->limit, "Maximum children per node; 0 = all (default)").Value("N");
  command.AddPercent("--min-share", options->min_share, "Hide nodes below this share of the total (default: 1%)");
  command.AddFlag("--no-fold", options->unfolded, "Keep recursive calls (default: a method appears once per path)");
  command.AddFlag("--json", options->json, "Print JSON");
  options->survey.AddTo(command);
  command.footer = R"(Examples:
  heaprec tree app.hrec
  heaprec tree --callers --class 'char[]' --depth 6 app.hrec
  heaprec tree --focus 'com\.acme\.' --hide '^java\.' --min-share 0.5% app.hrec
  heaprec tree --json app.hrec | jq '.children[].name')";
  command.run = [options](const auto&) { return ShowTree(*options); };
  return command;
}

}  // namespace heaprec::tools

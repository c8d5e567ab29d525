#include "tools/render/print.h"

#include <unistd.h>

#include <utility>

#include "tools/text/output.h"
#include "tools/text/terminal.h"

namespace heaprec::tools::render {

void OutputOptions::AddTo(Command& command, const std::vector<std::string>& others) {
  std::vector<std::string> words{"text", "json", "markdown", "csv", "html"};
  words.insert(words.end(), others.begin(), others.end());
  std::string help = "Output format: text (default)";
  for (size_t i = 1; i < words.size(); ++i) help += (i + 1 == words.size() ? " or " : ", ") + words[i];
  command.AddOption("--format", format, help).Value("FORMAT").OneOf(words);
  command.AddFlag("--json", json, "Short for --format json");
  command.AddFlag("--wide", wide, "Show all columns and intervals, however wide the terminal is");
}

void OutputOptions::AddLimitTo(Command& command, std::string text) {
  command.AddOption("--limit", limit, std::move(text)).Value("N");
}

Form OutputOptions::form() const {
  if (json || format == "json") return Form::kJson;
  if (format == "markdown") return Form::kMarkdown;
  if (format == "csv") return Form::kCsv;
  return format == "html" ? Form::kHtml : Form::kText;
}

ExitCode Print(const Report& report, const OutputOptions& options, ExitCode code) {
  Output output(STDOUT_FILENO);
  output.Append(Render(report, options.form(), Terminal::Of(STDOUT_FILENO), options.wide));
  output.Flush();
  const ExitCode written = output.Report("standard output");
  return written != ExitCode::kOk ? written : code;
}

}  // namespace heaprec::tools::render

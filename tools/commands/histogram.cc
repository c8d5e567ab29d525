// heaprec histogram: shows the distribution of object sizes, by powers of two.
#include <memory>

#include "tools/options/command.h"
#include "tools/query/allocations/group_query.h"
#include "tools/render/print.h"
#include "tools/report/estimates/reports.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

struct HistogramOptions {
  ScanOptions scan;
  render::OutputOptions output;
};

ExitCode Histogram(const HistogramOptions& options) {
  auto scan = RecordingScan::Parse(options.scan);
  const std::string refused = !scan.ok() ? scan.error().message
                              : scan->of_exceptions()
                                  ? "--kind exception: exceptions have no recorded sizes; use another kind"
                                  : "";
  if (!refused.empty()) return Fail(ExitCode::kUsage, refused);
  NamePool names;
  CallTree tree(&names, scan->TreeOptions());
  GroupsScan groups({Grouping(By::kSize)});
  const ExitCode read = scan->Run(&tree, &groups);
  if (read == ExitCode::kUnreadable) return read;
  return Print(HistogramReport(*scan, groups.tables().front()), options.output, read);
}

}  // namespace

Command HistogramCommand() {
  auto options = std::make_shared<HistogramOptions>();
  Command command("histogram", "Show the distribution of object sizes");
  options->output.AddTo(command);
  options->scan.AddShareTo(command);
  options->scan.AddTo(command);
  command.footer = R"(Examples:
  heaprec histogram app.hrec
  heaprec histogram --site 'StringBuilder.*' app.hrec
  heaprec histogram --json app.hrec | jq -r '.classes[] | [.from, .objects.value] | @tsv')";
  command.run = [options](const auto&) { return Histogram(*options); };
  return command;
}

}  // namespace heaprec::tools

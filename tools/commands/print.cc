// heaprec print: prints every sample as text or JSON, of a finished, killed or running recording.
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <ctime>
#include <memory>
#include <optional>

#include "tools/input/loss_summary.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"
#include "tools/report/recording/event_text.h"
#include "tools/text/interrupt.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {
namespace {

constexpr int64_t kDefaultDepth = 5;  // like `jfr print`; JSON has all frames
constexpr timespec kPoll{0, 200'000'000};

struct PrintOptions {
  std::string recording;
  FilterOptions filter;
  std::optional<int64_t> stack_depth;
  bool json = false, follow = false;
};

// Returns the next block. `follows`: waits for new blocks until the recording has ended or its process has died; then
// it becomes false.
std::optional<format::Block> NextOf(Recording* recording, bool* follows, const EventPrinter& printer, Output* output) {
  while (*follows) {
    if (!printer.goes_on()) return std::nullopt;
    if (auto block = recording->NextInFile()) return block;
    // Checked before the file is read to its end, so that data written before the process died is still read or
    // salvaged.
    *follows = recording->running();
    if (auto block = recording->NextInFile()) return block;
    if (!*follows) break;
    output->Flush();
    nanosleep(&kPoll, nullptr);
  }
  return recording->Next();
}

// Prints recording `which` of the `count` in the file. `limit`: maximum events. Returns the number of events.
uint64_t PrintOne(Recording* recording, size_t which, size_t count, const Filter& filter, uint64_t limit,
                  const PrintOptions& options, AskedTime* asked, ExitCode* outcome) {
  Output output(STDOUT_FILENO);
  Progress progress(recording->source().name(), options.follow ? 0 : recording->source().size(),
                    Progress::StdoutUse::kOutput);
  const EventStyle style{options.json, !options.json && Terminal::Of(STDOUT_FILENO).colour,
                         static_cast<size_t>(options.stack_depth.value_or(options.json ? 0 : kDefaultDepth))};
  EventPrinter printer(*recording, filter, limit, style, [&output] {
    output.Tick();
    return !output.failed() && !IsInterrupted();
  });
  printer.Begin(which, count, output.text());
  if (options.follow) CatchSignals({SIGINT, SIGTERM});
  if (options.follow) recording->TakeAsWritten();
  for (bool follows = options.follow; printer.goes_on();) {
    const auto block = NextOf(recording, &follows, printer, &output);
    if (!block) break;
    printer.Add(*block, output.text());
    progress.At(recording->bytes_read());
  }
  printer.End(output.text(), asked);
  output.Flush();
  const ExitCode written = output.Report("standard output"), read = ReportDamage(*recording);
  if (written != ExitCode::kOk || read != ExitCode::kOk) *outcome = written != ExitCode::kOk ? written : read;
  return printer.printed();
}

ExitCode Print(const PrintOptions& options) {
  auto filter = Filter::Parse(options.filter);
  if (!filter.ok()) return Fail(ExitCode::kUsage, filter.error().message);
  if (options.follow && options.recording == "-")
    return Fail(ExitCode::kUsage, "--follow needs a file: standard input must be read to its end first");
  auto recordings = Recording::OpenAll(options.recording);
  if (!recordings.ok()) return Fail(ExitCode::kUnreadable, recordings.error().message);
  const size_t count = recordings->size();
  AskedTime asked;
  ExitCode outcome = ExitCode::kOk;
  uint64_t left = filter->limit();
  for (size_t i = 0; i < count; ++i)
    left -= PrintOne((*recordings)[i].get(), i, count, *filter, left, options, &asked, &outcome);
  asked.Report();
  if (left == filter->limit()) ReportUnmatched(filter->asked(), {options.recording});
  return outcome;
}

}  // namespace

Command PrintCommand() {
  auto options = std::make_shared<PrintOptions>();
  Command command("print", "Print every sample as text or JSON");
  command.AddOption("REC", options->recording, "Recording to read; - is standard input").Required();
  command.AddFlag("--json", options->json, "Print one JSON document");
  command.AddFlag("--follow", options->follow, "Keep printing while the recording grows, until it ends or Ctrl-C");
  command
      .AddOption("--stack-depth", options->stack_depth, "Maximum frames per stack; 0 = all (default: 5; --json: all)")
      .Value("N")
      .InRange(0, INFINITY);
  options->filter.with_states = true;
  options->filter.AddTo(command);
  command.footer = R"(Examples:
  heaprec print app.hrec
  heaprec print --from 10s --to 1m30s --class 'byte[]' app.hrec
  heaprec print --site HashMap.resize --stack-depth 0 app.hrec
  heaprec print --kind gc,heap app.hrec
  heaprec print --kind census --json app.hrec
  heaprec print --thread worker --json app.hrec | jq '.events[].weight_bytes'
  heaprec print --follow app.hrec)";
  command.run = [options](const auto&) { return Print(*options); };
  return command;
}

}  // namespace heaprec::tools

// heaprec print: every event as text or JSON, of a finished, killed or running recording.
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>

#include "tools/input/dictionary_names.h"
#include "tools/input/loss_summary.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"
#include "tools/render/renderers.h"
#include "tools/report/recording/event_format.h"
#include "tools/report/recording/state_format.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/progress.h"

namespace heaprec::tools {
namespace {

constexpr int64_t kDefaultDepth = 5;  // as `jfr print`
constexpr timespec kPoll{0, 200'000'000};

struct PrintOptions {
  std::string recording;
  FilterOptions filter;
  std::optional<int64_t> stack_depth;
  bool json = false;
  bool follow = false;
};

volatile std::sig_atomic_t interrupted = 0;

// Without SA_RESTART, so that the sleep between two polls ends at once.
void StopFollowingOnInterrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool WantsColour() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

class Printer {
 public:
  // `before`: events of the file's recordings before this one, for --limit.
  Printer(Recording* recording, Filter filter, uint64_t before, const PrintOptions& options)
      : recording_(*recording),
        before_(before),
        filter_(std::move(filter)),
        options_(options),
        text_(StyleOf(options), recording->header().start_epoch_ns),
        states_(StyleOf(options), recording->header().start_epoch_ns),
        output_(STDOUT_FILENO),
        progress_(recording->source().name(), options.follow ? 0 : recording->source().size(),
                  Progress::Beside::kOutput) {
    filter_.Start(recording->header());
  }

  ExitCode Run() {
    Begin();
    if (options_.follow) Follow();
    while (!done()) {
      const auto block = recording_.Next();
      if (!block) break;
      Print(*block);
      progress_.At(recording_.bytes_read());
    }
    End();
    output_.Flush();
    const ExitCode written = output_.Report("standard output");
    const ExitCode read = ReportDamage(recording_);
    return written != ExitCode::kOk ? written : read;
  }

  uint64_t printed() const { return printed_ + states_printed_; }

 private:
  static EventStyle StyleOf(const PrintOptions& options) {
    const int64_t depth = options.json ? 0 : kDefaultDepth;  // JSON: nothing is left out unless asked for
    return {options.json, !options.json && WantsColour(), static_cast<size_t>(options.stack_depth.value_or(depth))};
  }

  bool done() const {
    return before_ + printed_ + states_printed_ >= filter_.limit() || output_.failed() || interrupted != 0;
  }

  // Prints the file's blocks as they come, until the recording has ended or its process has died.
  void Follow() {
    StopFollowingOnInterrupt();
    while (!done()) {
      // Asked before the file is read: what a process wrote before it died is then read below, or salvaged.
      const bool running = recording_.running();
      while (!done()) {
        const auto block = recording_.NextInFile();
        if (!block) break;
        Print(*block);
      }
      if (!running) return;
      output_.Flush();
      if (!done()) nanosleep(&kPoll, nullptr);
    }
  }

  void Print(const format::Block& block) {
    names_.Enter(block);
    filter_.Enter(block, &names_);
    text_.Enter(block, &names_);
    auto state = block.states.begin();
    auto lifecycle = block.lifecycle_events.begin();
    const auto print_states = [&](uint64_t until_ns) {
      for (; state != block.states.end() && state->time_ns <= until_ns && !done(); ++state) Print(*state);
      for (; lifecycle != block.lifecycle_events.end() && lifecycle->time_ns <= until_ns && !done(); ++lifecycle)
        Print(*lifecycle);
    };
    for (const format::Sample& sample : block.samples) {
      print_states(sample.time_ns);
      if (done()) return;
      if (!filter_.Keeps(sample)) continue;
      if (options_.json) output_.Append(printed_ + states_printed_ == 0 ? "\n" : ",\n");
      text_.Append(sample, output_.text());
      ++printed_;
      output_.Tick();
    }
    print_states(UINT64_MAX);
    for (auto row = block.census.begin(); row != block.census.end() && !done(); ++row) Print(*row);
  }

  void Print(const format::ProcessState& state) {
    if (!filter_.Keeps(state)) return;
    Text text;
    if (states_.Append(state, text)) AppendState(text);
  }

  void Print(const format::LifecycleEvent& lifecycle) {
    if (!filter_.Keeps(lifecycle)) return;
    Text text;
    states_.Append(lifecycle, text);
    AppendState(text);
  }

  void Print(const format::CensusRow& row) {
    if (!filter_.Keeps(row)) return;
    Text text;
    states_.Append(row, &names_, text);
    AppendState(text);
  }

  void AppendState(const Text& text) {
    if (options_.json) output_.Append(printed_ + states_printed_ == 0 ? "\n" : ",\n");
    output_.Append({text.data(), text.size()});
    ++states_printed_;
    output_.Tick();
  }

  void Begin() {
    if (!options_.json) return;
    output_.Append("{\"recording\":" + render::JsonText(HeaderValue(recording_.header())) + ",\n\"events\":[");
  }

  void End() {
    const bool complete = before_ + printed_ + states_printed_ < filter_.limit();
    Text unfinished;
    if (complete && states_.AppendUnfinished(unfinished)) AppendState(unfinished);
    if (options_.json) {
      render::Object losses = LossesValue(recording_);
      losses.push_back({"complete", complete});  // false: --limit ended the reading, and there may be more
      output_.Append("\n],\n\"losses\":" + render::JsonText(losses) + "}\n");
    } else {
      output_.Append(LossLine(recording_, printed_) + (complete ? "\n" : "; stopped at --limit\n"));
    }
  }

  Recording& recording_;
  const uint64_t before_;
  Filter filter_;
  const PrintOptions& options_;
  EventText text_;
  StateText states_;
  Output output_;
  Progress progress_;
  Names names_;
  uint64_t printed_ = 0;         // samples
  uint64_t states_printed_ = 0;  // collections, looks at the heap, lifecycle events
};

void Write(const std::string& text) {
  Output output(STDOUT_FILENO);
  output.Append(text);
  output.Flush();
}

// Which of several recordings follows.
void Separate(const format::FileHeader& header, size_t index, size_t count, const PrintOptions& options) {
  if (options.json) {
    Write(index == 0 ? "{\"recordings\":[" : ",");
  } else {
    Write(fmt::format("# recording {}\n\n", WhichText(header, index, count)));
  }
}

ExitCode Print(const PrintOptions& options) {
  auto filter = Filter::Parse(options.filter);
  if (!filter.ok()) return Fail(ExitCode::kUsage, filter.error().message);
  if (options.follow && options.recording == "-")
    return Fail(ExitCode::kUsage, "--follow needs a file: standard input must be read to its end first");
  auto recordings = Recording::OpenAll(options.recording);
  if (!recordings.ok()) return Fail(ExitCode::kUnreadable, recordings.error().message);
  const size_t count = recordings->size();
  ExitCode outcome = ExitCode::kOk;
  uint64_t printed = 0;
  for (size_t i = 0; i < count; ++i) {
    Recording& recording = *(*recordings)[i];
    if (count > 1) Separate(recording.header(), i, count, options);
    Printer printer(&recording, *filter, printed, options);
    const ExitCode one = printer.Run();
    printed += printer.printed();
    if (one != ExitCode::kOk) outcome = one;
  }
  if (count > 1 && options.json) Write("]}\n");
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

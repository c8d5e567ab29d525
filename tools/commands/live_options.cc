#include "tools/commands/live_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/input/recording_kind.h"
#include "tools/input/stream_traits.h"
#include "tools/query/filter/event_filter.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

ExitCode Usage(const Error& error) { return Fail(ExitCode::kUsage, error.message); }

std::optional<Error> SetTimes(const LiveCommandOptions& options, LiveQuery* question) {
  FilterOptions times;
  times.from = options.scan.filter.from;
  times.to = options.scan.filter.to;
  auto span = Filter::Parse(times);
  if (!span.ok()) return span.error();
  question->span = std::move(*span);
  const auto at = TimeOption("--at", options.at);
  if (!at.ok()) return at.error();
  question->at = *at;
  return std::nullopt;
}

}  // namespace

ExitCode Read(const LiveCommandOptions& options, LiveQuery question, const std::vector<By>& by, LiveScan* into) {
  auto groupings = GroupingsOption(options.by, by);
  if (!groupings.ok()) return Usage(groupings.error());
  question.by = std::move(*groupings);
  if (const auto wrong = SetTimes(options, &question)) return Usage(*wrong);
  // Objects of all times count: --from and --to say when they are looked at.
  ScanOptions all_times = options.scan;
  all_times.filter.from.clear();
  all_times.filter.to.clear();
  all_times.fold = question.by.front().by() == By::kMethod;
  auto scan = RecordingScan::Parse(all_times);
  if (!scan.ok()) return Usage(scan.error());
  const LifecycleTerms words = TraitsOf(scan->stream()).lifecycle;
  if (!words.is_tracked()) return Usage({fmt::format("--kind {}", words.not_tracked)});
  const bool asks_collections = question.survived > 0 || question.promoted != LiveQuery().promoted;
  if (asks_collections && !words.is_collected) {
    return Usage({fmt::format("--survived: {} are not subject to garbage collection; they live until they are {}",
                              words.things, words.ended)});
  }
  into->scan.emplace(std::move(*scan));
  into->names = NamePool(all_times.Naming());
  const ExitCode read = into->scan->Run(
      &into->names, &into->tree, [&] { return &into->live.emplace(question, &*into->tree, into->scan->stream()); });
  if (read == ExitCode::kUnreadable || into->live->result().tracked > 0) return read;
  return Fail(ExitCode::kUnreadable, options.scan.files.front() + TraitsOf(into->scan->stream()).lifecycle.not_tracked);
}

}  // namespace heaprec::tools

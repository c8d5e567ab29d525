#include "tools/commands/native_samples.h"

#include <unistd.h>

#include <cstring>
#include <memory>

#include "tools/analysis/health/trust.h"
#include "tools/commands/native_categories.h"
#include "tools/input/confined_open.h"
#include "tools/input/recording.h"
#include "tools/input/recording_kind.h"
#include "tools/query/live/native_query.h"
#include "tools/query/scan/scan.h"
#include "tools/report/native/reports.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

constexpr char kRecordingMagic[] = "\x89HRFILE\n";

Grouping GroupingOf(const NativeQuery& question) {
  const bool shows_stacks = question.by == By::kSite && question.callers > 0;
  return Grouping(shows_stacks ? By::kStack : question.by);
}

// Behind a file's name: why native memory was sampled in none of its recordings; empty: it was in one, or the file
// cannot be read.
std::string WhyNone(const std::string& path) {
  const auto recordings = Recording::OpenAll(path);
  if (!recordings.ok()) return "";
  std::string refused;
  for (const auto& recording : *recordings) {
    if (recording->header().max_tracked_blocks > 0) return "";
    refused = RefusalOfNative(recording->header());
  }
  return refused.empty() ? kNoNative : ": " + refused;
}

bool WantsSamples(const NativeQuery& question) {
  return question.by != By::kSite || question.callers > 0 || question.min_age_ns > 0;
}

// Mappings are a stream of their own, and so a scan of their own.
void AddMappingsOf(const NativeQuery& question, render::Report* report) {
  FileScan scan(question.file, {"mmap"});
  MappingVisitor mappings(GroupingOf(question), {}, scan.tree());
  if (!scan.Run(&mappings) || !mappings.has_any()) return;
  AddMappings({scan.scan(), mappings, *scan.tree(), question.limit, question.callers}, report);
}

ExitCode ShowSamples(const NativeQuery& question) {
  ScanOptions options;
  options.files = {question.file};
  options.filter.kinds = {"malloc"};
  auto scan = RecordingScan::Parse(options);
  if (!scan.ok()) return Fail(ExitCode::kUsage, scan.error().message);
  LiveQuery of_live;
  of_live.least_age_ns = question.min_age_ns;
  of_live.lifetimes = question.min_age_ns > 0;
  NamePool names;
  CallTree tree(&names, scan->TreeOptions());
  NativeVisitor native(GroupingOf(question), std::move(of_live), &tree);
  const ExitCode read = scan->Run(&tree, &native);
  if (read == ExitCode::kUnreadable) return read;
  if (native.live().tracked == 0)
    return Fail(ExitCode::kUnreadable,
                question.file + (native.refusal().empty() ? kNoNative : ": " + native.refusal()));
  render::Report report =
      NativeReport({*scan, native, tree, question.by_live, question.limit, question.callers, question.min_age_ns});
  // With --min-age the mappings are not asked for; and standard input can be read once only.
  if (question.min_age_ns == 0 && question.file != "-") AddMappingsOf(question, &report);
  return Print(report, question.output, read);
}

}  // namespace

bool IsRecording(const std::string& path) {
  if (path == "-") return true;
  const Descriptor file = OpenRegularBelow("", path);
  char magic[sizeof kRecordingMagic - 1] = {};
  return read(file.number(), magic, sizeof magic) == ssize_t{sizeof magic} &&
         std::memcmp(magic, kRecordingMagic, sizeof magic) == 0;
}

ExitCode ShowNativeRecording(const NativeQuery& question) {
  // Standard input is read once.
  const std::string why_none = question.file == "-" ? "" : WhyNone(question.file);
  if (!why_none.empty() && WantsSamples(question)) return Fail(ExitCode::kUnreadable, question.file + why_none);
  if (!why_none.empty()) return ShowMemory({question.file, question.output, why_none});
  return ShowSamples(question);
}

}  // namespace heaprec::tools

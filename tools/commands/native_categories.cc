#include "tools/commands/native_categories.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/analysis/health/trust.h"
#include "tools/analysis/memory_categories.h"
#include "tools/input/loss_summary.h"
#include "tools/input/recording.h"
#include "tools/report/categories_report.h"
#include "tools/report/site_timeline.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

constexpr size_t kMostSites = 8, kMostLooksOfSites = 200;
constexpr const char* kInPlaceOf =
    "# native memory was not sampled (native=on): this is what the JVM and the kernel say of it\n\n";
constexpr const char* kHint =
    "\n# of the process only: the JVM tells its categories with -XX:NativeMemoryTracking=summary, and a look was taken "
    "with nmt=10s\n";

MemoryCourse CourseOf(Recording* recording) {
  MemoryCourse course;
  while (const auto block = recording->Next()) course.Add(*block);
  return course;
}

// Sites of a file that holds several recordings belong to none of them.
SiteCourse SitesBeside(const std::vector<MemoryLook>& looks, const MemoryQuestion& question, bool is_alone) {
  if (!is_alone || looks.empty()) return {};
  std::vector<uint64_t> times;
  for (const MemoryLook& look : looks) times.push_back(look.time_ns);
  return SitesAt(question.file, times, kMostSites);
}

void AppendText(const std::vector<MemoryLook>& all, const MemoryQuestion& question, bool is_alone, Text* into) {
  if (all.empty()) return Append(*into, "nobody looked at the process\n");
  const Terminal terminal = Terminal::Of(STDOUT_FILENO);
  const std::vector<MemoryLook> looks = ChosenLooks(all, question.limit);
  AppendLastLook(all, terminal, into);
  const SiteCourse sites = SitesBeside(looks, question, is_alone);
  AppendLooks(looks, sites.lines, terminal, into);
  if (looks.size() < all.size()) {
    Append(*into, terminal.Dim(fmt::format("{} of {} looks; --limit 0 shows all", looks.size(), all.size())) + "\n");
  }
  if (all.back().categories.empty()) Append(*into, kHint);
  if (!sites.doubts.empty()) Append(*into, "\n# trustworthy: " + TrustText(sites.doubts) + "\n");
}

json AsJson(const Recording& recording, const std::vector<MemoryLook>& looks, const MemoryQuestion& question,
            bool is_alone) {
  json document = {{"header", HeaderAsJson(recording.header())}, {"looks", CategoriesAsJson(looks)}};
  const auto some = ChosenLooks(looks, kMostLooksOfSites);
  const SiteCourse sites = SitesBeside(some, question, is_alone);
  if (sites.lines.empty()) return document;
  document["sites"] = SitesAsJson(some, sites.lines);
  document["trustworthy"] = sites.doubts.empty();
  document["reasons"] = sites.doubts;
  return document;
}

ExitCode Refuse(const MemoryQuestion& question) {
  Complain(question.file + question.in_place_of + "; record with nmt=10s for NMT categories, RSS and PSS");
  return ExitCode::kUnreadable;
}

}  // namespace

ExitCode ShowMemory(const MemoryQuestion& question) {
  const auto recordings = Recording::OpenAll(question.file);
  if (!recordings.ok()) {
    Complain(recordings.error().message);
    return ExitCode::kUnreadable;
  }
  std::vector<MemoryCourse> courses;
  for (const auto& recording : *recordings) courses.push_back(CourseOf(recording.get()));
  const bool is_asked_for = question.in_place_of.empty();
  if (!is_asked_for && std::ranges::none_of(courses, &MemoryCourse::has_looks)) return Refuse(question);
  const bool is_alone = recordings->size() == 1;
  Output output(STDOUT_FILENO);
  json document = {{"schema", "heaprec.memory/1"}, {"recordings", json::array()}};
  ExitCode read = ExitCode::kOk;
  if (!is_asked_for && !question.json) output.Append(kInPlaceOf);
  for (size_t i = 0; i < recordings->size(); ++i) {
    const Recording& recording = *(*recordings)[i];
    const std::vector<MemoryLook> looks = courses[i].Looks();
    if (question.json) {
      document["recordings"].push_back(AsJson(recording, looks, question, is_alone));
    } else {
      if (!is_alone) output.Append(WhichText(recording.header(), i, recordings->size()) + "\n");
      AppendText(looks, question, is_alone, &output.text());
    }
    if (ReportDamage(recording) != ExitCode::kOk) read = ExitCode::kDamaged;
  }
  if (question.json) output.Append(document.dump(2) + "\n");
  output.Flush();
  const ExitCode written = output.Report("standard output");
  return written != ExitCode::kOk ? written : read;
}

}  // namespace heaprec::tools

#include "tools/native_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tools/closing.h"
#include "tools/complain.h"
#include "tools/input/recording.h"
#include "tools/native/categories.h"
#include "tools/native/categories_form.h"
#include "tools/render/output.h"
#include "tools/render/terminal.h"
#include "tools/site_course.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

constexpr size_t kMostSites = 8, kMostLooksOfSites = 200;
constexpr const char* kHint =
    "\n# of the process only: the JVM tells its categories with -XX:NativeMemoryTracking=summary, and a look was taken "
    "with nmt=10s\n";

std::vector<MemoryLook> LooksOf(Recording* recording) {
  MemoryCourse course;
  while (const auto block = recording->Next()) course.Add(*block);
  return course.Looks();
}

// Sites of a file that holds several recordings belong to none of them.
std::vector<SiteLine> SitesBeside(const std::vector<MemoryLook>& looks, const MemoryQuestion& question, bool is_alone) {
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
  AppendLooks(looks, SitesBeside(looks, question, is_alone), terminal, into);
  if (looks.size() < all.size()) {
    Append(*into, terminal.Dim(fmt::format("{} of {} looks; --limit 0 shows all", looks.size(), all.size())) + "\n");
  }
  if (all.back().categories.empty()) Append(*into, kHint);
}

}  // namespace

ExitCode ShowMemory(const MemoryQuestion& question) {
  const auto recordings = Recording::OpenAll(question.file);
  if (!recordings.ok()) {
    Complain(recordings.error().message);
    return ExitCode::kUnreadable;
  }
  Output output(STDOUT_FILENO);
  json document = {{"schema", "heaprec.memory/1"}, {"recordings", json::array()}};
  ExitCode read = ExitCode::kOk;
  for (size_t i = 0; i < recordings->size(); ++i) {
    Recording& recording = *(*recordings)[i];
    const std::vector<MemoryLook> looks = LooksOf(&recording);
    if (question.json) {
      document["recordings"].push_back(
          {{"header", HeaderAsJson(recording.header())}, {"looks", CategoriesAsJson(looks)}});
      const auto some = ChosenLooks(looks, kMostLooksOfSites);
      const auto sites = SitesBeside(some, question, recordings->size() == 1);
      if (!sites.empty()) document["recordings"].back()["sites"] = SitesAsJson(some, sites);
    } else {
      if (recordings->size() > 1) output.Append(WhichText(recording.header(), i, recordings->size()) + "\n");
      AppendText(looks, question, recordings->size() == 1, &output.text());
    }
    if (ReportDamage(recording) != ExitCode::kOk) read = ExitCode::kDamaged;
  }
  if (question.json) output.Append(document.dump(2) + "\n");
  output.Flush();
  const ExitCode written = output.Report("standard output");
  return written != ExitCode::kOk ? written : read;
}

}  // namespace heaprec::tools

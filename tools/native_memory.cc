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

namespace heaprec::tools {
namespace {

using nlohmann::json;

constexpr const char* kHint =
    "\n# of the process only: the JVM tells its categories with -XX:NativeMemoryTracking=summary, and a look was taken "
    "with nmt=10s\n";

std::vector<MemoryLook> LooksOf(Recording* recording) {
  MemoryCourse course;
  while (const auto block = recording->Next()) course.Add(*block);
  return course.Looks();
}

void AppendText(const std::vector<MemoryLook>& looks, const MemoryQuestion& question, Text* into) {
  if (looks.empty()) return Append(*into, "nobody looked at the process\n");
  AppendCategories(looks, question.limit, Terminal::Of(STDOUT_FILENO), into);
  if (looks.back().categories.empty()) Append(*into, kHint);
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
    } else {
      if (recordings->size() > 1) output.Append(WhichText(recording.header(), i, recordings->size()) + "\n");
      AppendText(looks, question, &output.text());
    }
    if (ReportDamage(recording) != ExitCode::kOk) read = ExitCode::kDamaged;
  }
  if (question.json) output.Append(document.dump(2) + "\n");
  output.Flush();
  const ExitCode written = output.Report("standard output");
  return written != ExitCode::kOk ? written : read;
}

}  // namespace heaprec::tools

#include "tools/commands/page_output.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"

namespace heaprec::tools {

std::string PageOutput::PathFor(const PageRequest& request, const char* extension) const {
  if (!path.empty()) return path;
  const std::string& first = request.scan.files.front();
  const std::string name = request.view.empty() ? "report" : request.view;
  return (first == "-" ? name : std::filesystem::path(first).stem().string()) + extension;
}

ExitCode PageOutput::Write(const PageRequest& request) const {
  const std::string to = PathFor(request);
  std::vector<std::string> files = request.scan.files;
  if (request.other) files.insert(files.end(), request.other->files.begin(), request.other->files.end());
  if (to.ends_with(".svg"))
    return Fail(ExitCode::kUsage, to + ": the report is an HTML page; heaprec flame and timeline --svg write pictures");
  if (IsOneOf(to, files)) return Fail(ExitCode::kCannotWrite, to + ": is the recording itself");
  const RecordingPage page = MakePage(request);
  if (!page.error.empty()) PrintError(page.error);
  if (page.has_failed()) return page.code;
  const ExitCode written = WriteFile(to, force, page.html);
  if (written != ExitCode::kOk) return written;
  if (to != "-" && !quiet) {
    const std::string all = page.shown < page.samples ? ", reduced from " + Grouped(page.samples) : "";
    PrintError(fmt::format("{}: {}, {}{}", to, Bytes(static_cast<double>(page.html.size())),
                           CountOf(page.shown, "sample"), all));
  }
  return page.code;
}

}  // namespace heaprec::tools

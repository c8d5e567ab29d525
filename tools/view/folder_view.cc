#include "tools/view/folder_view.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "tools/export/page/report_page.h"
#include "tools/fleet/rows/slices.h"
#include "tools/fleet/server/http.h"
#include "tools/input/recording.h"
#include "tools/input/stream_traits.h"
#include "tools/query/scan/scan.h"
#include "tools/render/value_format.h"
#include "tools/report/page/recording_page.h"
#include "tools/text/text.h"

namespace heaprec::tools::view {
namespace {

namespace fs = std::filesystem;
using render::Unit;

// Read for one list, about a second's work: the list of a large folder comes in parts.
constexpr uint64_t kMaxReadBytes = uint64_t{256} << 20;
constexpr size_t kTokenBytes = 16;

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; }
body { margin: 1.5em; }
table { border-collapse: collapse; }
th, td { padding: .25em .75em; text-align: left; border-bottom: 1px solid #8884; vertical-align: top; }
td { overflow-wrap: anywhere; }
.number { text-align: right; white-space: nowrap; }
)";

// The policy of pages without scripts.
std::string Policy() {
  return "default-src 'none'; style-src " + PolicyHash(kStyle) +
         "; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

std::string Html(std::string_view text) {
  Text markup;
  AppendMarkup(markup, text);
  return fmt::to_string(markup);
}

// `head`, `body`: HTML.
HttpAnswer Page(unsigned status, const std::string& title, std::string_view head, std::string_view body) {
  return {status, Policy(),
          fmt::format("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n"
                      "<link rel=\"icon\" href=\"data:,\">{}<style>{}</style></head>\n<body>\n{}</body></html>\n",
                      Html(title), head, kStyle, body)};
}

HttpAnswer Refusal(unsigned status, const std::string& why) {
  return Page(status, "heaprec", "", "<p>" + Html(why) + "</p>\n");
}

// In a time that does not depend on where they differ.
bool AreEqual(std::string_view a, std::string_view b) {
  unsigned difference = a.size() != b.size() ? 1 : 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

// Only the totals, for which any row answers.
class Totals final : public ScanVisitor {
 public:
  bool takes_rows(uint64_t, uint64_t) const override { return true; }
  bool estimates() const override { return false; }
  void Begin(const format::FileHeader&) override {}
  void Visit(const MatchedBlock&) override {}
  void End(const Estimator&, double) override {}
};

// The service, or the program; a recording does not have the class that a JVM runs.
std::string ProgramText(const format::FileHeader& header) {
  const std::string service = ServiceLabelOf(header, "service.name"), program = ProgramOf(header);
  const std::string name = !service.empty() ? service : !program.empty() ? program : "Java " + header.jvm_version;
  return fmt::format("{}, PID {}", ToUtf8(name), header.pid);
}

std::string NumberCell(const render::Value& value, Unit unit) {
  return fmt::format("<td class=\"number\">{}</td>", Html(render::FormatInline(value, unit, true)));
}

}  // namespace

Result<std::string> RandomToken() {
  std::array<unsigned char, kTokenBytes> random{};
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    return Error{"the kernel has no random numbers for a token"};
  std::string token;
  for (const unsigned char byte : random) token += fmt::format("{:02x}", byte);
  return token;
}

std::string FolderView::Url() const { return fmt::format("http://127.0.0.1:{}/{}/", port_, token_); }

// A page of another site may make its name refer to 127.0.0.1, but the browser then sends that name.
bool FolderView::MayAnswer(const HttpRequest& request) const {
  const std::string port = port_ == 80 ? "" : fmt::format(":{}", port_);
  if (request.host != "127.0.0.1" + port && request.host != "localhost" + port) return false;
  return AreEqual(request.target.substr(0, token_.size() + 2), "/" + token_ + "/");
}

HttpAnswer FolderView::Answer(const HttpRequest& request) {
  if (!MayAnswer(request)) return Refusal(403, "403: heaprec view prints the address that opens its pages.");
  if (request.method != "GET" && request.method != "HEAD") return Refusal(405, "405: only GET and HEAD.");
  const std::string_view path = request.target.substr(token_.size() + 2);
  const std::vector<File> files = Files();
  if (path.empty()) return List(files, nullptr);
  const size_t slash = path.find('/');
  const std::string_view what = path.substr(0, slash);
  std::vector<const File*> named;
  for (size_t at = slash; at != std::string_view::npos; at = path.find('/', at + 1)) {
    const std::string_view segment = path.substr(at + 1, path.find('/', at + 1) - at - 1);
    const auto found = std::ranges::find(files, segment, &File::segment);
    if (found == files.end()) return Refusal(404, "404: no such recording in the folder.");
    named.push_back(&*found);
  }
  if (what == "report" && named.size() == 1) return Report(named);
  if (what == "compare" && named.size() == 1) return List(files, named.front());
  if (what == "compare" && named.size() == 2) return Report(named);
  return Refusal(404, "404: no such page.");
}

std::vector<FolderView::File> FolderView::Files() const {
  std::vector<File> files;
  for (const fs::path path : fleet::RecordingsIn(folder_)) {
    std::error_code error;
    if (fs::is_symlink(path, error)) continue;  // may lead out of the folder
    std::string name = path.lexically_relative(folder_);
    std::string segment = fleet::PercentEncoded(name);
    const uint64_t bytes = fs::file_size(path, error);
    const fs::file_time_type written = fs::last_write_time(path, error);
    if (!error) files.push_back({std::move(name), std::move(segment), path, bytes, written});
  }
  return files;
}

FolderView::Summary FolderView::Read(const File& file) {
  Summary summary;
  summary.bytes = file.bytes;
  summary.written = file.written;
  const auto recordings = Recording::OpenAll(file.path);
  if (!recordings.ok()) {
    summary.error = recordings.error().message;
    return summary;
  }
  const format::FileHeader& header = recordings->front()->header();
  if (!HasHeap(header)) summary.kinds = {"malloc"};
  FileScan scan(file.path, summary.kinds);
  Totals totals;
  if (!scan.Run(&totals)) {
    summary.error = "cannot be read; heaprec summary says why";
    return summary;
  }
  const RecordingScan& read = scan.scan();
  const std::string more =
      recordings->size() > 1 ? fmt::format(", and {}", CountOf(recordings->size() - 1, "more recording")) : "";
  summary.is_running = std::ranges::any_of(*recordings, [](const auto& recording) { return recording->running(); });
  summary.program = ProgramText(header) + more + (summary.is_running ? ", still running" : "");
  summary.trust = read.summary().TrustVerdict().empty() ? "yes" : read.summary().TrustVerdict();
  summary.start_epoch_ns = header.start_epoch_ns + header.start.begin_ns;
  for (const auto& [begin_ns, end_ns] : read.asked_times()) summary.duration_ns += end_ns - begin_ns;
  summary.allocated = read.total();
  return summary;
}

bool FolderView::IsKnown(const File& file) const {
  const auto known = summaries_.find(file.name);
  return known != summaries_.end() && !known->second.is_running && known->second.bytes == file.bytes &&
         known->second.written == file.written;
}

const FolderView::Summary& FolderView::SummaryOf(const File& file) {
  if (!IsKnown(file)) summaries_.insert_or_assign(file.name, Read(file));
  return summaries_.at(file.name);
}

size_t FolderView::ReadNew(const std::vector<File>& files) {
  const auto is_new = [this](const File* file) { return !summaries_.contains(file->name); };
  std::vector<const File*> in_order;
  for (const File& file : files) {
    if (!IsKnown(file)) in_order.push_back(&file);
  }
  std::stable_partition(in_order.begin(), in_order.end(), is_new);
  uint64_t read_bytes = 0;
  size_t unread = 0;
  for (const File* file : in_order) {
    if (read_bytes >= kMaxReadBytes) {
      unread += is_new(file) ? 1 : 0;
      continue;
    }
    SummaryOf(*file);
    read_bytes += file->bytes;
  }
  return unread;
}

std::string FolderView::RowOf(const File& file, const File* before) const {
  const std::string name = fmt::format("<bdi>{}</bdi>", Html(ToUtf8(file.name)));
  const auto found = summaries_.find(file.name);
  if (found == summaries_.end() || !found->second.error.empty()) {
    return fmt::format("<tr><td>{}</td><td colspan=\"7\">{}</td></tr>\n", name,
                       found == summaries_.end() ? "not read yet" : Html(ToUtf8(found->second.error)));
  }
  const Summary& summary = found->second;
  const auto link = [&](const std::string& to, const std::string& text) {
    return fmt::format("<a href=\"/{}/{}\">{}</a>", token_, to, text);
  };
  const std::string compare = before == nullptr ? link("compare/" + file.segment, "compare")
                              : before->segment == file.segment
                                  ? ""
                                  : link("compare/" + before->segment + "/" + file.segment, "compare");
  const auto start = static_cast<std::time_t>(summary.start_epoch_ns / 1'000'000'000);
  return fmt::format("<tr><td>{}</td><td><bdi>{}</bdi></td>{}{}{}{}<td>{}</td><td class=\"number\">{}</td></tr>\n",
                     link("report/" + file.segment, name), Html(summary.program),
                     NumberCell(fmt::format("{:%F %T}", fmt::localtime(start)), Unit::kText),
                     NumberCell(summary.duration_ns, Unit::kNanoseconds), NumberCell(file.bytes, Unit::kBytes),
                     NumberCell(summary.allocated, Unit::kBytes), Html(summary.trust), compare);
}

HttpAnswer FolderView::List(const std::vector<File>& files, const File* before) {
  const size_t unread = ReadNew(files);
  const std::string title = ToUtf8(folder_.string());
  std::string body = fmt::format("<h1><bdi>{}</bdi></h1>\n", Html(title));
  if (before != nullptr) {
    body += fmt::format("<p>Compare <b><bdi>{}</bdi></b> with a later recording; <a href=\"/{}/\">cancel</a></p>\n",
                        Html(ToUtf8(before->name)), token_);
  }
  if (files.empty()) return Page(200, title, "", body + "<p>No recordings (*.hrec) in this folder.</p>\n");
  if (unread > 0) body += fmt::format("<p>Reading {} ...</p>\n", CountOf(unread, "more recording"));
  body +=
      "<table>\n<tr><th>recording</th><th>program</th><th class=\"number\">start</th><th class=\"number\">duration</th>"
      "<th class=\"number\">size</th><th class=\"number\">allocated</th><th>trustworthy</th><th></th></tr>\n";
  // The newest first; unreadable ones last.
  std::vector<const File*> rows;
  for (const File& file : files) rows.push_back(&file);
  std::ranges::stable_sort(rows, std::ranges::greater(), [this](const File* file) {
    const auto found = summaries_.find(file->name);
    return found != summaries_.end() ? found->second.start_epoch_ns : 0;
  });
  for (const File* file : rows) body += RowOf(*file, before);
  return Page(200, title, unread > 0 ? "<meta http-equiv=\"refresh\" content=\"0\">" : "", body + "</table>\n");
}

HttpAnswer FolderView::Report(const std::vector<const File*>& files) {
  PageRequest request;
  for (const File* file : files) {
    const Summary& summary = SummaryOf(*file);
    if (!summary.error.empty()) return Refusal(422, "422: " + summary.error);
    if (request.scan.files.empty()) request.scan.filter.kinds = summary.kinds;
    request.scan.files.push_back(file->path);
  }
  if (files.size() == 2) {
    ExitCode read = ExitCode::kOk;
    const auto compared = ComparisonPage(request, &read);
    if (!compared.ok()) return Refusal(422, "422: these cannot be compared: " + compared.error().message);
    request = *compared;
  }
  request.said = true;
  const RecordingPage page = MakePage(request);
  if (page.has_failed()) return Refusal(422, "422: " + (page.error.empty() ? "cannot be shown" : page.error));
  // The page has a policy of its own, except for this.
  return {200, "frame-ancestors 'none'", page.html};
}

}  // namespace heaprec::tools::view

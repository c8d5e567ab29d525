#include "tools/query/why/end_facts.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

#include "format/model/names.h"
#include "tools/input/confined_open.h"
#include "tools/input/file_source.h"
#include "tools/input/writer_process.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using format::AccountItem;
using format::ProcessState;
using format::ProcessStateKind;

constexpr uint64_t kSecondNs = 1'000'000'000, kEndNs = 10 * kSecondNs, kBeforeNs = 600 * kSecondNs,
                   kRecentNs = 120 * kSecondNs;
constexpr size_t kMaxAccounts = 2048, kMaxErrors = 256, kMaxPauses = 4096, kMaxFrames = 16;
constexpr double kClockTolerance_s = 2;
constexpr int kMaxDepth = 8;  // of nested cgroups

// The text after `mark`, to the end of the line.
std::string_view LineAfter(std::string_view text, std::string_view mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + mark.size());
  return text.substr(0, text.find('\n'));
}

std::string_view Trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of("# \t\r");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

std::optional<uint64_t> Number(std::string_view text) {
  uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

// Whether it is the main thread. Its id is 1, or 3 since JDK 24; before, 3 was the finalizer's.
bool IsMain(const format::Thread& thread) {
  return (thread.java_tid == 1 || thread.java_tid == 3) && format::NameOfThread(thread.name) == "main";
}

// Whether the kernel has this name of a thread that has `java` in Java. It has 15 bytes: the first ones, or since JDK
// 22 the first seven, two dots and the last six.
bool IsKernelName(std::string_view kernel, std::string_view java) {
  constexpr size_t kMost = 15, kFirst = 7, kDots = 2;
  if (java.size() <= kMost) return kernel == java;
  if (kernel.size() != kMost) return false;
  return java.starts_with(kernel) ||
         (kernel.substr(kFirst, kDots) == ".." && java.starts_with(kernel.substr(0, kFirst)) &&
          java.ends_with(kernel.substr(kFirst + kDots)));
}

// The method that the program called to start a thread: behind those of java.lang.Thread.
const std::string* StartSite(const std::vector<std::string>& frames) {
  for (const std::string& frame : frames) {
    if (!frame.starts_with("java.lang.Thread.")) return &frame;
  }
  return frames.empty() ? nullptr : &frames.back();
}

std::optional<Survivor> OomKillsIn(const std::filesystem::path& folder) {
  for (const char* name : {"memory.events", "memory.oom_control"}) {
    const std::string text = ReadSmallFile(folder / name);
    if (const auto kills = Number(LineAfter("\n" + text, "\noom_kill "))) return Survivor{folder / name, *kills};
  }
  return std::nullopt;
}

}  // namespace

const AccountAt* EndFacts::before() const {
  if (accounts.size() < 2) return nullptr;
  const uint64_t back_ns = std::max(std::min(kBeforeNs, duration_ns() / 10), kSecondNs);
  const uint64_t last_ns = accounts.back().time_ns;
  const uint64_t at_ns = last_ns - std::min(last_ns, back_ns);
  const auto after = std::ranges::upper_bound(accounts, at_ns, {}, &AccountAt::time_ns);
  return after == accounts.begin() ? &accounts.front() : &*std::prev(after);
}

const format::Setting* EndFacts::SettingOf(std::string_view name) const {
  const auto found = std::ranges::find(header.settings, name, &format::Setting::name);
  return found == header.settings.end() ? nullptr : &*found;
}

std::optional<uint64_t> EndFacts::NumberOf(std::string_view setting) const {
  const format::Setting* const found = SettingOf(setting);
  return found != nullptr ? Number(found->value) : std::nullopt;
}

GcTime EndFacts::GcBetween(uint64_t from_ns, uint64_t to_ns) const {
  GcTime time{0, to_ns - std::min(from_ns, to_ns)};
  for (const GcPause& pause : pauses) {
    const uint64_t begin_ns = std::max(from_ns, pause.end_ns - std::min(pause.end_ns, pause.paused_ns));
    const uint64_t end_ns = std::min(pause.end_ns, to_ns);
    if (end_ns > begin_ns) time.paused_ns += end_ns - begin_ns;
  }
  return time;
}

EndFactsReader::EndFactsReader(const format::FileHeader& header) {
  facts_.header = header;
  facts_.begin_ns = facts_.end_ns = header.start.begin_ns;
}

EndEvent EndFactsReader::Named(const ProcessState& state) {
  EndEvent event{state, {}, {}, {}};
  if (const format::Thread* const thread = names_.ThreadOf(state.thread)) NameThread(*thread, &event);
  if (state.class_id != format::kNone) event.class_name = names_.Class(state.class_id);
  event.state.cause = ToUtf8(state.cause);
  ForEachFrame(names_, state.stack, kMaxFrames, [&](const format::Frame& frame) {
    event.frames.emplace_back(names_.Method(frame));
    if (frame.line > 0) event.frames.back() += fmt::format(":{}", frame.line);
  });
  return event;
}

void EndFactsReader::NoteThreads(const format::Block& block) {
  const auto& threads = block.dictionaries->threads;
  if (block.chunk != chunk_ || threads.size() < chunk_threads_) chunk_threads_ = 0;
  chunk_ = block.chunk;
  for (; chunk_threads_ < threads.size(); ++chunk_threads_) {
    const format::Thread& thread = threads[chunk_threads_];
    if (thread.java_tid != 0 && thread.os_tid != 0 && !thread.is_virtual) java_threads_[thread.os_tid] = thread;
  }
}

// An error of the JVM has the kernel's name of its thread. Samples of the same thread have Java's, if it has allocated.
void EndFactsReader::NameThread(const format::Thread& thread, EndEvent* event) const {
  const format::Thread* named = &thread;
  if (const auto found = java_threads_.find(thread.os_tid); thread.java_tid == 0 && found != java_threads_.end()) {
    const std::string_view java = format::NameOfThread(found->second.name);
    // The kernel may have given the id to another thread.
    if (IsMain(found->second) || IsKernelName(format::NameOfThread(thread.name), java)) named = &found->second;
  }
  event->thread = ToUtf8(format::NameOfThread(named->name));
  event->is_in_main = IsMain(*named);
}

void EndFactsReader::AddEvent(const ProcessState& state) {
  switch (state.kind) {
    case ProcessStateKind::kError:
    case ProcessStateKind::kResourceExhausted:
      if (facts_.errors_seen++ == 0) facts_.first_error_ns = state.time_ns;
      if (facts_.errors.size() == kMaxErrors) facts_.errors.erase(facts_.errors.begin());
      facts_.errors.push_back(Named(state));
      return;
    case ProcessStateKind::kThreadStarts: {
      const EndEvent event = Named(state);
      const std::string* const site = StartSite(event.frames);
      ThreadSite& sum = thread_sites_[site != nullptr ? *site : std::string(kUnknown)];
      sum.started += state.used;
      sum.failed += state.committed;
      return;
    }
    case ProcessStateKind::kHeapFull:
      if (facts_.heap_full.size() == kMaxErrors) facts_.heap_full.erase(facts_.heap_full.begin());
      facts_.heap_full.push_back(state);
      return;
    case ProcessStateKind::kPathWalk:
    case ProcessStateKind::kPath:
      return;
    default:
      facts_.ends.push_back(Named(state));
  }
}

void EndFactsReader::AddSnapshot(const ProcessState& state) {
  if (has_current_ && state.time_ns <= current_.time_ns) return;
  current_.time_ns = state.time_ns;
  current_.heap_used = state.used;
  current_.heap_committed = state.committed;
  current_.rss = state.rss;
  current_.threads = state.threads;
  current_.account.Update(state.account);
  has_current_ = true;
  recent_.push_back(current_);
  while (recent_.front().time_ns + kRecentNs < current_.time_ns) recent_.pop_front();
  auto& kept = facts_.accounts;
  if (!kept.empty() && state.time_ns - kept.back().time_ns < step_ns_) return;
  kept.push_back(current_);
  if (kept.size() < kMaxAccounts) return;
  // Every other one goes, and from now on half as many come.
  for (size_t i = 0; 2 * i < kept.size(); ++i) kept[i] = std::move(kept[2 * i]);
  kept.resize((kept.size() + 1) / 2);
  step_ns_ = (kept.back().time_ns - kept.front().time_ns) / (kept.size() - 1);
}

void EndFactsReader::Add(const format::Block& block) {
  names_.Enter(block);
  NoteThreads(block);
  full_.Add(block);
  facts_.end_ns = std::max(facts_.end_ns, block.end_ns);
  for (const ProcessState& state : block.states) {
    facts_.end_ns = std::max(facts_.end_ns, state.time_ns);
    if (format::IsEvent(state.kind)) {
      AddEvent(state);
    } else if (state.kind == ProcessStateKind::kSnapshot) {
      AddSnapshot(state);
    } else if (state.kind == ProcessStateKind::kGcBegin) {
      gc_begun_ns_ = state.time_ns;
    } else if (state.kind == ProcessStateKind::kGcEnd || state.kind == ProcessStateKind::kGcCounted) {
      // A beginning may come after its own end, from another lane.
      if (gc_begun_ns_ && *gc_begun_ns_ <= state.time_ns) gc_begun_ns_.reset();
      facts_.gc.paused_ns += state.paused_ns;
      facts_.last_gc_ns = state.time_ns;
      if (!state.cause.empty()) facts_.last_gc_cause = ToUtf8(state.cause);
      auto& pauses = facts_.pauses;
      pauses.push_back({state.time_ns, state.paused_ns});
      if (pauses.size() == 2 * kMaxPauses) pauses.erase(pauses.begin(), pauses.begin() + kMaxPauses);
    }
  }
  if (block.ending) facts_.end_ns = std::max(facts_.begin_ns, block.ending->time_ns);
}

EndFacts EndFactsReader::Finish(const Recording& recording) {
  if (recording.ending()) facts_.end_reason = ToUtf8(recording.ending()->reason);
  facts_.is_running = recording.running();
  facts_.was_in_ring = recording.salvage().ring_found;
  facts_.breaks_off = !recording.skipped().empty() && recording.skipped().back().at_end;
  if (!recent_.empty()) {
    auto& kept = facts_.accounts;
    std::erase_if(kept, [&](const AccountAt& at) { return at.time_ns >= recent_.front().time_ns; });
    std::ranges::move(recent_, std::back_inserter(kept));
  }
  const uint64_t end_ns = facts_.end_ns, from_ns = std::max(facts_.begin_ns, end_ns - std::min(end_ns, kEndNs));
  // A collection during which the process ended.
  if (gc_begun_ns_ && *gc_begun_ns_ > facts_.last_gc_ns && *gc_begun_ns_ < end_ns) {
    facts_.gc.paused_ns += end_ns - *gc_begun_ns_;
    facts_.pauses.push_back({end_ns, end_ns - *gc_begun_ns_});
  }
  facts_.gc_at_end = facts_.GcBetween(from_ns, end_ns);
  facts_.gc.of_ns = facts_.duration_ns();
  facts_.full = full_.Soonest();
  for (auto& [site, sums] : thread_sites_) facts_.thread_sites.push_back({site, sums.started, sums.failed});
  std::ranges::stable_sort(facts_.thread_sites, std::ranges::greater(),
                           [](const ThreadSite& site) { return site.started + site.failed; });
  const auto time_of = [](const EndEvent& event) { return event.state.time_ns; };
  std::ranges::stable_sort(facts_.errors, {}, time_of);
  std::ranges::stable_sort(facts_.ends, {}, time_of);
  std::ranges::stable_sort(facts_.heap_full, {}, &ProcessState::time_ns);
  return std::move(facts_);
}

CrashReport ParseCrashReport(const std::string& file, const std::string& text) {
  CrashReport report;
  report.file = file;
  // The first line of the frame of # that is neither empty nor a greeting.
  std::string_view rest(text);
  while (!rest.empty()) {
    const std::string_view line = Trimmed(rest.substr(0, rest.find('\n')));
    const size_t end = rest.find('\n');
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.empty() || line.starts_with("A fatal error has been detected")) continue;
    report.problem = line.substr(0, line.find(", pid="));
    break;
  }
  // What an internal error is follows in the next line.
  if (report.problem.starts_with("Internal Error") || report.problem.starts_with("There is insufficient memory")) {
    const std::string_view more = Trimmed(rest.substr(0, rest.find('\n')));
    if (!more.empty() && report.problem.starts_with("Internal Error")) report.problem = more;
    if (!more.empty() && report.problem.starts_with("There is")) report.problem += " " + std::string(more);
  }
  report.problem = ToUtf8(report.problem);
  report.frame = ToUtf8(Trimmed(LineAfter(text, "# Problematic frame:\n")));
  std::string_view thread = LineAfter(text, "\nCurrent thread (");
  const size_t name = thread.find("):");
  if (name != std::string_view::npos) thread = Trimmed(thread.substr(name + 2));
  report.thread = ToUtf8(Trimmed(thread.substr(0, thread.find('['))));
  report.uptime_s = std::strtod(std::string(LineAfter(text, "elapsed time: ")).c_str(), nullptr);
  return report;
}

std::optional<CrashReport> FindCrashReport(const std::string& recording, const EndFacts& facts) {
  if (facts.header.pid == 0 || recording == "-") return std::nullopt;
  const std::filesystem::path file = std::filesystem::path(FilesOf(recording).front()).parent_path() /
                                     fmt::format("hs_err_pid{}.log", facts.header.pid);
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return std::nullopt;
  const uint64_t start_s = (facts.header.start_epoch_ns + facts.begin_ns) / kSecondNs;
  if (status.st_mtime < static_cast<time_t>(start_s)) return std::nullopt;
  const std::string text = ReadSmallFile(file);
  CrashReport report = ParseCrashReport(file, text);
  const bool is_younger =
      report.uptime_s > 0 && report.uptime_s + kClockTolerance_s < static_cast<double>(facts.end_ns) * 1e-9;
  if (text.empty() || is_younger) return std::nullopt;
  return report;
}

std::optional<Survivor> ReadSurvivor(const format::FileHeader& header, const std::string& folder,
                                     const std::string& root) {
  if (!folder.empty()) return OomKillsIn(folder);
  const auto setting = std::ranges::find(header.settings, "cgroup.inode", &format::Setting::name);
  const uint64_t inode = setting != header.settings.end() ? Number(setting->value).value_or(0) : 0;
  const std::string& container = header.container_id;
  if ((container.empty() && inode == 0) || !WallClockMoved(header)) return std::nullopt;
  const auto is_it = [&](const std::filesystem::path& path) {
    struct stat status {};
    if (inode != 0) return stat(path.c_str(), &status) == 0 && status.st_ino == inode;
    return path.filename().string().find(container) != std::string::npos;
  };
  for (const std::string& mount : {root + "/memory", root}) {
    if (inode != 0 && is_it(mount)) {
      if (auto found = OomKillsIn(mount)) return found;
    }
    // Inside the same container its cgroup is the root.
    for (const char* own : {"/proc/self/cgroup", "/proc/self/mountinfo"}) {
      if (container.empty() || ReadSmallFile(own).find(container) == std::string::npos) continue;
      if (auto found = OomKillsIn(mount)) return found;
    }
    std::error_code error;
    using Folders = std::filesystem::recursive_directory_iterator;
    constexpr auto kSkips = std::filesystem::directory_options::skip_permission_denied;
    for (Folders at(mount, kSkips, error), end; !error && at != end; at.increment(error)) {
      if (!at->is_directory(error)) continue;
      if (at.depth() >= kMaxDepth) at.disable_recursion_pending();
      if (!is_it(at->path())) continue;
      if (auto found = OomKillsIn(at->path())) return found;
    }
  }
  return std::nullopt;
}

}  // namespace heaprec::tools

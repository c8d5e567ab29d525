#include "tools/screen/live_session.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/result.h"
#include "tools/control/java_process.h"
#include "tools/control/live_recording.h"
#include "tools/control/temporary_recording.h"
#include "tools/rewrite/recording_editor.h"
#include "tools/screen/curses_screen.h"
#include "tools/screen/live_view.h"
#include "tools/text/interrupt.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/terminal.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kRefresh{1000};
constexpr int kAttachTimeoutMs = 10'000;
// Size of the page that is printed without a terminal.
constexpr size_t kPrintedWidth = 80, kPrintedHeight = 24;

// What is followed, and its name on a command line.
struct Subject {
  std::string name;  // "shop.Orders (PID 12345)", "app.hrec"
  std::string file;  // its name for other commands: a file, or the PID of a JVM that is recorded
  std::string path;  // of the recording; empty: it is temporary
  std::optional<JavaProcess> java;
  std::unique_ptr<TemporaryRecording> temporary;  // started by this session

  Result<std::unique_ptr<Recording>> Open() const {
    if (temporary) return temporary->Open();
    if (!java) return Recording::Open(path);
    auto live = FindLiveRecording(java->process);
    if (!live) return Error{fmt::format("PID {}: the recording has ended", java->process.pid)};
    return std::move(live->recording);
  }
};

Result<Subject> SubjectOf(const std::string& name) {
  std::error_code error;
  if (std::filesystem::is_regular_file(name, error)) {
    return Subject{.name = ToUtf8(name), .file = name, .path = name, .java = {}, .temporary = {}};
  }
  auto java = Find(name);
  if (!java.ok()) return Error{fmt::format("{}: no such file, and {}", name, java.error().message)};
  const pid_t pid = java->process.pid;
  // For a jar shows its own name: the whole path would leave no space for the rest of the title.
  const std::string main = ToUtf8(std::filesystem::path(java->main).filename().string());
  Subject subject{.name = fmt::format("{} (PID {})", main, pid),
                  .file = std::to_string(pid),
                  .path = "",
                  .java = *java,
                  .temporary = {}};
  if (FindLiveRecording(java->process)) return subject;
  PrintError(fmt::format("PID {}: starting a recording, which ends with this view", pid));
  ASSIGN_OR_RETURN(subject.temporary, TemporaryRecording::Start(*java, AgentOptions(), kAttachTimeoutMs));
  return subject;
}

// As in `heaprec dump`.
Result<uint64_t> Save(const Subject& subject, const std::string& path) {
  ASSIGN_OR_RETURN(auto recording, subject.Open());
  ASSIGN_OR_RETURN(auto file, OutputFile::Open(path, /*overwrite=*/false));
  ASSIGN_OR_RETURN(const auto written, Rewrite(recording.get(), format::kEndDump, &file->output()));
  file->output().Flush();
  if (file->output().failed()) return Error{path + ": not written"};
  RETURN_IF_ERROR(file->Commit());
  return written.events;
}

class Session {
 public:
  Session(Subject* subject, std::unique_ptr<Follow> follow, const FollowOptions& options)
      : subject_(*subject), follow_(std::move(follow)), given_(options.question.scan.filter) {
    view_.ranking = options.ranking;
    view_.question = options.question;
    view_.save_as = subject_.java ? fmt::format("heaprec-{}.hrec", subject_.file)
                                  : "copy-of-" + std::filesystem::path(subject_.path).filename().string();
    Read();
  }

  Frame FrameOf(const Terminal& terminal, size_t height) { return Compose(&view_, shown_, terminal, height); }
  bool is_over() const { return is_over_; }
  bool is_paused() const { return view_.is_paused; }

  // Reads what was written since the last call.
  void Read() {
    follow_->Read();
    ContinueInNextFile();
    if (follow_->Settle()) {
      view_.question.opened.clear();
      view_.selected.reset();
      Ask();
    }
    shown_.headlines = follow_->HeadlinesSoFar(subject_.file);
    Refresh();
  }

  void PressKey(Key key) {
    switch (Press(key, &view_, shown_)) {
      case Action::kNothing:
        return;
      case Action::kAnswer:
        return Refresh();
      case Action::kAsk:
        return Ask();
      case Action::kSave: {
        const auto saved = Save(subject_, view_.typed);
        view_.message =
            saved.ok() ? fmt::format("{}: {}", view_.typed, CountOf(*saved, "sample")) : saved.error().message;
        return;
      }
      case Action::kQuit:
        is_over_ = true;
    }
  }

 private:
  // If a JVM's recording has rotated, or its file was moved, it continues in another file, and so does the view, which
  // then begins with that file.
  void ContinueInNextFile() {
    const Recording& part = follow_->recording();
    if (!subject_.java || !part.ending() || part.ending()->reason != format::kEndRotated) return;
    auto recording = subject_.Open();
    if (!recording.ok()) return;  // the next frame tries again
    const format::FileHeader& next = (*recording)->header();
    if (next.recording_id != part.header().recording_id || next.start.part <= part.header().start.part) return;
    auto follow = Follow::Start(std::move(*recording), follow_->question());
    if (!follow.ok()) return;
    follow_ = std::move(*follow);
    follow_->Read();
  }

  void Refresh() {
    const Recording& recording = follow_->recording();
    const format::FileHeader& header = recording.header();
    const std::string version = header.jvm_version.substr(0, header.jvm_version.find_first_of("+-"));
    shown_.title = fmt::format("{}, JDK {} {}", subject_.name, version, header.gc_name);
    shown_.state = recording.ending()      ? "ended: " + recording.ending()->reason
                   : !recording.running()  ? "ended"
                   : header.start.part > 0 ? fmt::format("recording, file {}", header.start.part + 1)
                                           : "recording";
    shown_.state += fmt::format(", {:.0f} s", static_cast<double>(follow_->end_ns() - follow_->begin_ns()) * 1e-9);
    shown_.step_ns = std::max<uint64_t>(header.interval_ns, 1);
    shown_.steps = follow_->StepsSoFar();
    shown_.answer = follow_->Answer(Spans()[view_.span].seconds, view_.ranking);
  }

  // Reads the recording again from its start, because data for new filters or callers was not stored.
  void Ask() {
    FollowQuestion question = view_.question;
    SetFilter(view_.filter, given_, &question.scan.filter);
    question.merged = follow_->question().merged;
    auto next = follow_->Ask(std::move(question));
    if (!next.ok()) {
      view_.message = next.error().message;
      return;
    }
    follow_ = std::move(*next);
    follow_->Read();
    Refresh();
  }

  const Subject& subject_;
  std::unique_ptr<Follow> follow_;
  const FilterOptions given_;
  View view_;
  Shown shown_;
  bool is_over_ = false;
};

void Show(Session* session, const Terminal& terminal, CursesScreen* screen) {
  Terminal now = terminal;
  auto next = Clock::now() + kRefresh;
  while (!session->is_over() && !IsInterrupted() && !screen->IsGone()) {
    now.width = screen->width();
    screen->Draw(session->FrameOf(now, screen->height()));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    if (left.count() > 0) {
      const auto key = screen->Wait(static_cast<int>(left.count()));
      if (key) session->PressKey(*key);
      continue;
    }
    next = Clock::now() + kRefresh;
    if (!session->is_paused()) session->Read();
  }
}

// Without a terminal: prints frame after frame, as long as the recording runs.
ExitCode PrintFrames(Session* session, Terminal terminal) {
  if (terminal.width == 0) terminal.width = kPrintedWidth;
  Output output(STDOUT_FILENO);
  while (!IsInterrupted() && !output.failed()) {
    for (const FrameLine& line : session->FrameOf(terminal, kPrintedHeight)) {
      for (const StyledText& one : line) output.Append(one.text);
      output.Append("\n");
    }
    output.Append("\n");
    output.Flush();
    poll(nullptr, 0, static_cast<int>(kRefresh.count()));
    session->Read();
  }
  return output.Report("standard output");
}

}  // namespace

ExitCode FollowLive(const FollowOptions& options) {
  auto subject = SubjectOf(options.question.scan.files.front());
  if (!subject.ok()) return Fail(ExitCode::kCannotAttach, subject.error().message);
  CatchSignals({SIGINT, SIGTERM, SIGHUP, SIGQUIT});
  auto recording = subject->Open();
  if (!recording.ok()) return Fail(ExitCode::kUnreadable, recording.error().message);
  auto follow = Follow::Start(std::move(*recording), options.question);
  if (!follow.ok()) return Fail(ExitCode::kUsage, follow.error().message);
  const Terminal terminal = Terminal::Of(STDOUT_FILENO);
  Session session(&*subject, std::move(*follow), options);
  ExitCode code = ExitCode::kOk;
  if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
    auto screen = CursesScreen::Open(terminal);
    if (!screen.ok()) return Fail(ExitCode::kUsage, screen.error().message);
    Show(&session, terminal, screen->get());
  } else {
    code = PrintFrames(&session, terminal);
  }
  if (subject->temporary) {
    if (const Status stopped = subject->temporary->Stop(); !stopped)
      return Fail(ExitCode::kCannotAttach, stopped.error().message);
  }
  return code;
}

}  // namespace heaprec::tools

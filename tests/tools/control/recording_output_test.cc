// Where recordings of attach go, and which files of a relayed one are copied; the JVM is the test itself.
#include "tools/control/recording_output.h"

#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/tools/recording_fixture.h"

namespace heaprec::tools::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kTimeoutMs = 1000;

JavaProcess Ourselves() {
  auto process = LookAt(getpid());
  REQUIRE(process.ok());
  JavaProcess java;
  java.process = *process;
  return java;
}

// A relayed recording to `output`.
RecordingOutput RelayTo(const std::string& output) {
  AgentOptions agent;
  agent.output = output;
  RecordingOutput place;
  REQUIRE_FALSE(place.Choose(Ourselves().process, agent, /*is_inside=*/false, /*is_awaited=*/true));
  return place;
}

ExitCode Bring(RecordingOutput* place) { return place->Bring(Ourselves(), kTimeoutMs, /*counts_down=*/false); }

// The private folder, as the agent is told.
std::string FolderOf(const RecordingOutput& place) {
  const std::string text = place.agent_text().substr(0, place.agent_text().find(','));
  REQUIRE(text.starts_with("file=/"));
  return fs::path(text.substr(text.find('/'))).parent_path();
}

// Returns its bytes.
std::string WriteRecording(const std::string& path, int events) {
  {
    RecordingFile file(path, SomeHeader());
    for (int i = 0; i < events; ++i) file.Add(Event{.class_name = "p/Class" + std::to_string(i)});
    file.Flush();
  }
  return Contents(path);
}

// Of each file that is written, while it lives.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit now{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &now) == 0);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

}  // namespace

TEST_CASE("Each file of a relayed recording is copied, in order") {
  const Directory out;
  std::vector<std::string> parts;
  std::string theirs;
  {
    RecordingOutput place = RelayTo(out / "app.hrec");
    theirs = FolderOf(place);
    for (const char* name : {"/rec.hrec", "/rec-1.hrec", "/rec-2.hrec", "/rec-10.hrec"}) {
      parts.push_back(WriteRecording(theirs + name, static_cast<int>(parts.size()) + 1));
    }
    CHECK(Bring(&place) == ExitCode::kOk);
  }
  CHECK(out.Entries() == std::vector<std::string>{"app-1.hrec", "app-2.hrec", "app-3.hrec", "app.hrec"});
  CHECK((Contents(out / "app.hrec") == parts[0]));
  CHECK((Contents(out / "app-1.hrec") == parts[1]));
  CHECK((Contents(out / "app-2.hrec") == parts[2]));
  CHECK((Contents(out / "app-3.hrec") == parts[3]));
  CHECK_FALSE(fs::exists(theirs));
}

TEST_CASE("Files of a relayed recording that cannot be copied stay with the JVM") {
  const Directory out;
  std::string theirs, first, second, third;
  {
    RecordingOutput place = RelayTo(out / "app.hrec");
    theirs = FolderOf(place);
    first = WriteRecording(theirs + "/rec.hrec", 1);
    second = WriteRecording(theirs + "/rec-1.hrec", 100);
    third = WriteRecording(theirs + "/rec-2.hrec", 1);
    REQUIRE(second.size() > first.size());
    const FileLimit limit(first.size());
    CHECK(Bring(&place) == ExitCode::kCannotWrite);
  }
  CHECK((Contents(out / "app.hrec") == first));
  CHECK((Contents(theirs + "/rec-1.hrec") == second));
  CHECK((Contents(theirs + "/rec-2.hrec") == third));
  fs::remove_all(theirs);
}

TEST_CASE("Files of a relayed recording that are no recordings stay with the JVM, the others are copied") {
  const Directory out;
  std::string theirs, last;
  {
    RecordingOutput place = RelayTo(out / "app.hrec");
    theirs = FolderOf(place);
    WriteRecording(theirs + "/rec.hrec", 1);
    Overwrite(theirs + "/rec-1.hrec", "text");
    REQUIRE(symlink("rec.hrec", (theirs + "/rec-2.hrec").c_str()) == 0);
    last = WriteRecording(theirs + "/rec-3.hrec", 2);
    CHECK(Bring(&place) == ExitCode::kUnreadable);
  }
  CHECK((Contents(out / "app-1.hrec") == last));
  CHECK(Contents(theirs + "/rec-1.hrec") == "text");
  CHECK(fs::is_symlink(theirs + "/rec-2.hrec"));
  fs::remove_all(theirs);
}

TEST_CASE("Concurrent relayed recordings to the same name have separate files") {
  const Directory out;
  RecordingOutput one = RelayTo(out / "app.hrec"), other = RelayTo(out / "app.hrec");
  const std::string first = WriteRecording(FolderOf(one) + "/rec.hrec", 1);
  const std::string second = WriteRecording(FolderOf(other) + "/rec.hrec", 2);
  CHECK(Bring(&one) == ExitCode::kOk);
  CHECK(Bring(&other) == ExitCode::kOk);
  CHECK((Contents(out / "app.hrec") == first));
  CHECK((Contents(out / "app-1.hrec") == second));
}

TEST_CASE("A folder that cannot be written, a process that has exited, and wrong options have different exit codes") {
  const Directory out;
  Process process = Ourselves().process;
  AgentOptions agent;
  agent.output = out / "app.hrec";
  const auto code = [&] {
    const auto failure = RecordingOutput().Choose(process, agent, /*is_inside=*/false, /*is_awaited=*/true);
    return failure ? failure->code : ExitCode::kOk;
  };
  CHECK(code() == ExitCode::kOk);
  agent.file = out / "absent";
  CHECK(code() == ExitCode::kUsage);
  agent.file.clear();
  process.start_ticks -= 1;
  CHECK(code() == ExitCode::kCannotAttach);
  agent.output = out / "absent/app.hrec";
  CHECK(code() == ExitCode::kCannotWrite);
  CHECK(out.Entries().empty());
}

}  // namespace heaprec::tools::testing

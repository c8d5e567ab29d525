// Runs programs for the end-to-end tests: JVMs with and without the agent, and the heaprec command.
//
// Threads:  one; several processes may run at once.
// Failure:  a program that cannot be started or does not end in time ends with exit code 127 or kNeverEnded, and what
//           it said, in the latter case with where it stands (hang_report.py). A missing JDK is such a program: the
//           tests fail, they do not skip.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heaprec::testing {

inline constexpr int kNeverEnded = -1;

struct Outcome {
  int exit_code = kNeverEnded;
  int signal = 0;  // that ended the process; 0: none
  std::string out, err;
};

struct Command {
  std::vector<std::string> args;                    // args[0] is looked up in PATH
  std::vector<std::string> environment{};           // "NAME=value", beside what the test inherited
  std::string folder{};                             // to run in; empty: the test's own scratch folder
  std::optional<uint64_t> largest_file_bytes = {};  // RLIMIT_FSIZE, until LiftFileLimit
  int seconds = 0;                                  // that it takes by itself: patience begins after them
};

// A running program; its output goes to files, so that it never waits for us.
class Process {
 public:
  explicit Process(const Command& command);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();  // kills what still runs

  pid_t pid() const { return pid_; }
  std::string Out() const;  // so far
  // Until its stdout holds `text`; false if it ended or said nothing of the kind for a minute.
  bool WaitForOutput(const std::string& text);
  bool WaitForFile(const std::string& path);
  void Kill(int signal) const;
  void LiftFileLimit() const;
  bool Wait();  // for its end; false if it does not come
  Outcome Finish();

 private:
  bool Poll();  // true once the process has ended
  template <typename Condition>
  bool WaitFor(const Condition& condition);

  pid_t pid_ = -1;
  int polls_ = 0;
  std::string out_path_, err_path_;
  std::optional<int> status_;
};

Outcome Run(const Command& command);
// heaprec with these arguments; it finds the agent of this build.
Command HeaprecCommand(std::vector<std::string> args);
Outcome Heaprec(std::vector<std::string> args);
// Runs them side by side, at most `at_once` at a time; the outcomes are in the order of the commands. For programs that
// mostly wait, and where no timing is judged.
std::vector<Outcome> RunAll(const std::vector<Command>& commands, size_t at_once);

// A pipe that is full and that nobody reads, while it lives. A command's standard error goes there by Into.
class FullPipe {
 public:
  FullPipe();
  ~FullPipe();
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;
  Command Into(Command command) const;

 private:
  std::string path_;
  int end_ = -1;
};

// $JAVA_HOME, or Debian's JDK 17.
std::string JavaHome();

// What the tests need from the build, wherever they run.
std::string AgentPath();
std::string HeaprecPath();
std::string ProgramsJar();
std::string RunfilePath(const std::string& path);

// A folder of its own for each call, inside the test's scratch folder.
std::string FreshFolder();
std::string ReadFile(const std::string& path);
// Whether every user may go to where `path` is: a JDK in root's own folders is for root alone.
bool IsOpenToOthers(const std::string& path);
bool FileExists(const std::string& path);

// The shared rings of a JVM; those of a killed one stay behind for the salvage, until the test removes its own.
std::vector<std::string> RingsOf(pid_t pid);
void RemoveRingsOf(pid_t pid);

// One JVM run of a program of tests/e2e.
struct Java {
  std::vector<std::string> flags{};
  std::string main;  // "e2e.Sizes"
  std::vector<std::string> args{};
  std::optional<std::string> agent_options{};  // nullopt: without the agent
  std::string agent = AgentPath();
  std::string home = JavaHome();
};
Command CommandOf(const Java& java);
inline Outcome Run(const Java& java) { return Run(CommandOf(java)); }

}  // namespace heaprec::testing

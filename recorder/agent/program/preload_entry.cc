// libheaprec.so in a program without a JVM, by LD_PRELOAD: if its environment has HEAPREC_NATIVE_SAMPLED, its native
// memory is sampled from before main until exit.
//
//   LD_PRELOAD=/path/libheaprec.so HEAPREC_NATIVE_SAMPLED=file=rec-%p.hrec,rate=100,only=NAME ./program
//
// Context:  setup.
// Failure:  one line on stderr; the program continues without a recording.
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include "recorder/agent/options/command.h"
#include "recorder/agent/options/options.h"
#include "recorder/agent/program/last_thread.h"
#include "recorder/agent/program/program_recording.h"
#include "recorder/native_sample/malloc_hooks.h"
#include "recorder/sources/log.h"

namespace heaprec::agent {
namespace {

constexpr char kVariable[] = "HEAPREC_NATIVE_SAMPLED";

ProgramRecording* recording = nullptr;  // never destroyed: its threads live as long as the process
pid_t recorded = 0;

bool IsRecorded() { return recording != nullptr && getpid() == recorded; }

// If a JVM loads the library as its agent, long after libc, the environment's options are not meant for it.
bool IsPreloaded() {
  struct Search {
    bool found = false, is_first = false;
  } search;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        auto* const of = static_cast<Search*>(into);
        const std::string_view path = info->dlpi_name != nullptr ? info->dlpi_name : "";
        const auto own = reinterpret_cast<uintptr_t>(&recording);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && begin <= own && own < begin + segment.p_memsz) of->is_first = true;
        }
        of->found = of->is_first || path.substr(path.rfind('/') + 1) == "libc.so.6";
        return of->found ? 1 : 0;
      },
      &search);
  return search.is_first;
}

// Ends the recording and its threads, and logs the reason: `event`, `name` and `demand` together. Waits for seconds if
// the disk is slow. Does not reset `recorded`: fork's second handler must release what the first one holds.
void EndRecording(const char* event, const char* name, const char* demand) {
  static std::atomic<bool> has_ended{false};
  if (!IsRecorded()) return;
  const int error = errno;
  try {
    const bool ends = !recording->is_over() && !has_ended.exchange(true);
    const std::string reason = std::string(event) + name;
    if (ends) recording->Stop(reason);
    const bool are_gone = WaitForAgentThreads();
    if (ends) {
      Log(LogLevel::kWarn, "{}: recording ended: {}{}{}", recording->path(), reason, demand,
          are_gone ? "" : "; heaprec's threads are still running");
    }
  } catch (const std::exception&) {  // out of memory: the program may still succeed
  }
  errno = error;
}

// For a call that fails, or makes glibc abort later, if the process has threads that the program does not know.
void EndFor(const char* call) {
  EndRecording("the program called ", call, ", which requires that heaprec's threads end");
}

void EndWithMain() { EndRecording("the main thread ended, and no thread could be started to run exit", "", ""); }

void Refuse(const ProgramOptions& options, const std::string& why) {
  Log(LogLevel::kError, "{}: {}; native memory is not recorded", kVariable, why);
  WriteReply(options.reply_file, ReplyStatus::kError, why);
}

// Runs while the program has only one thread of its own.
void Begin(const char* text) {
  const auto options = ParseProgramOptions(text);
  if (!options.ok()) {
    const auto command = ParseCommand(text);
    return Refuse({.reply_file = command.ok() ? command->reply_file : ""}, options.error().message);
  }
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!options->only.empty() && program.filename() != options->only) return;
  SetLogLevel(options->options.log_level);
  auto started = ProgramRecording::Start(options->options, program.string());
  if (!started.ok()) return Refuse(*options, started.error().message);
  recording = started->release();
  recorded = getpid();
  WatchMainThread(EndWithMain);
  // Forks of a child do not wait: the thread that paused the drain may not exist in it.
  pthread_atfork(
      [] {
        if (IsRecorded()) recording->Pause();
      },
      [] {
        if (IsRecorded()) recording->Resume();
      },
      native::AbandonHooks);
  WriteReply(options->reply_file, ReplyStatus::kOk, "recording " + recording->path());
  Log(LogLevel::kInfo, "recording {} into {}", program.string(), recording->path());
}

__attribute__((constructor)) void Start() {
  const char* text = secure_getenv(kVariable);
  if (text == nullptr || !IsPreloaded()) return;
  const int error = errno;
  try {
    Begin(text);
  } catch (const std::exception& exception) {
    Refuse({}, exception.what());
  }
  errno = error;
}

// Runs after the program's own destructors. Does nothing in a forked child, which has neither drain nor ring.
__attribute__((destructor)) void End() {
  if (IsRecorded()) recording->Stop("exit");
}

// If a call fails, repeats it without heaprec's threads if they may be the reason: the kernel refuses some of these
// calls to a process with several threads. A failed call has changed nothing. `may_refuse`: whether the arguments allow
// that reason.
template <typename Call>
int CallAlone(const char* name, bool may_refuse, Call call) {
  const long result = call();
  const int error = errno;
  const bool is_refused = result != 0 && may_refuse && (error == EINVAL || error == EUSERS);
  const bool ends = is_refused && IsRecorded() && IsOnlyProgramThread();
  errno = error;
  if (!ends) return static_cast<int>(result);
  EndFor(name);
  return static_cast<int>(call());
}

}  // namespace
}  // namespace heaprec::agent

// These replace libc's functions in a program that preloads this library. A JVM that loads it as an agent calls libc's.
#define HEAPREC_EXPORT extern "C" __attribute__((visibility("default")))

// Capabilities belong to a thread: if a later setgroups or setuid fails in one thread but not in another, glibc aborts.
HEAPREC_EXPORT int capset(void* header, const void* data) {
  heaprec::agent::EndFor("capset");
  return static_cast<int>(syscall(SYS_capset, header, data));
}

HEAPREC_EXPORT int unshare(int flags) {
  constexpr int kAlone = CLONE_NEWUSER | CLONE_NEWPID | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM;
  return heaprec::agent::CallAlone("unshare", (flags & kAlone) != 0, [=] { return syscall(SYS_unshare, flags); });
}

HEAPREC_EXPORT int setns(int file, int types) {
  constexpr int kNewTime = 0x80;  // CLONE_NEWTIME; glibc has it from 2.33 on
  constexpr int kAlone = CLONE_NEWUSER | CLONE_NEWNS | kNewTime;
  const bool may_refuse = types == 0 || (types & kAlone) != 0;  // 0: of any type
  return heaprec::agent::CallAlone("setns", may_refuse, [=] { return syscall(SYS_setns, file, types); });
}

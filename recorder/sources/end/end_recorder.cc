#include "recorder/sources/end/end_recorder.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/descriptors.h"
#include "base/time.h"
#include "format/ring/content_keys.h"
#include "recorder/sources/agent_thread.h"
#include "recorder/sources/java/entry.h"

namespace heaprec::sources {

using format::ProcessStateKind;

namespace {

uint32_t OwnTid() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

// The kernel's name of a process, without heap: "bash". Empty: it is gone.
std::string_view ProgramOf(pid_t pid, std::array<char, 32>* room) {
  std::array<char, 32> path{"/proc/"};
  std::array<char, 12> digits;
  size_t at = 6, count = 0;
  for (pid_t rest = pid; rest > 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
  while (count > 0) path[at++] = digits[--count];
  std::memcpy(path.data() + at, "/comm", 6);
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t got = read(file, room->data(), room->size());
  close(file);
  std::string_view name(room->data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
  while (name.ends_with('\n')) name.remove_suffix(1);
  return name;
}

// The id in Java of the first thread: 1, or 3 since JDK 24. If it has ended, that of another of the JVM's own.
uint64_t MainThread(const Jvm& jvm, JNIEnv* jni) {
  uint64_t least = UINT64_MAX;
  jvm.ForEachThread(jni, [&](jthread thread) {
    ThreadIdentity identity;
    jvm.thread_fields.Read(jni, thread, &identity);
    least = std::min(least, identity.java_tid);
  });
  return least;
}

}  // namespace

std::atomic<EndRecorder*> active_ends{nullptr};
std::atomic<jclass> machine_error{nullptr};

std::unique_ptr<EndRecorder> EndRecorder::Make(const Jvm& jvm, JNIEnv* jni, SampleWriter& writer,
                                               HeapStateRecorder& states) {
  std::unique_ptr<EndRecorder> made(new EndRecorder(jvm, writer, states));
  const auto global = [jni](const char* name) -> jclass {
    const jclass local = jni->FindClass(name);
    const auto found = local != nullptr ? static_cast<jclass>(jni->NewGlobalRef(local)) : nullptr;
    jni->ExceptionClear();
    jni->DeleteLocalRef(local);
    return found;
  };
  // Found once, because the references stay as long as the JVM.
  static const jclass out_of_memory = global("java/lang/OutOfMemoryError"),
                      stack_overflow = global("java/lang/StackOverflowError");
  static const jmethodID halt = [jni] {
    const jclass runtime = jni->FindClass("java/lang/Runtime");
    const jmethodID found = runtime != nullptr ? jni->GetMethodID(runtime, "halt", "(I)V") : nullptr;
    jni->ExceptionClear();
    jni->DeleteLocalRef(runtime);
    return found;
  }();
  if (machine_error.load() == nullptr) machine_error.store(global("java/lang/VirtualMachineError"));
  made->out_of_memory_.type = out_of_memory;
  made->stack_overflow_.type = stack_overflow;
  made->halt_ = halt;
  made->main_thread_ = MainThread(jvm, jni);
  made->throwables_ = hotspot::Throwables::Resolve(jni, jvm.names);
  if (jvm.walker.ok()) {
    const auto current = hotspot::CurrentThread::Resolve(jvm.thread_of(jni), jvm.AllThreads(jni));
    if (current.ok()) made->current_.emplace(*current);
  }
  made->heap_max_ = jvm.structs.SizeFlag("MaxHeapSize").value_or(0);
  made->ends_on_out_of_memory_ = jvm.structs.BoolFlag("ExitOnOutOfMemoryError").value_or(false) ||
                                 jvm.structs.BoolFlag("CrashOnOutOfMemoryError").value_or(false);
  return made;
}

void EndRecorder::CommitHere(SampleWriter::Event event) {
  JNIEnv* const jni = EnvOf(jvm_.vm);
  if (jni == nullptr) return;
  event.os_tid = OwnTid();
  Frames frames;
  event.frames = std::span(frames).first(writer_.DescribeStack(jvm_.jvmti, event.os_tid, frames));
  ThreadIdentity identity;
  jthread thread = nullptr;
  if (jni->ExceptionCheck() == JNI_FALSE && jvm_.jvmti->GetCurrentThread(&thread) == JVMTI_ERROR_NONE) {
    jvm_.thread_fields.Read(jni, thread, &identity);
    jni->DeleteLocalRef(thread);
    event.thread = &identity;
  }
  (void)writer_.CommitEvent(event, states_.ids());
}

bool EndRecorder::IsCalledBy(jmethodID method) const {
  std::array<jvmtiFrameInfo, 4> frames;
  jint count = 0;
  if (jvm_.jvmti->GetStackTrace(nullptr, 0, frames.size(), frames.data(), &count) != JVMTI_ERROR_NONE) return false;
  return std::any_of(frames.begin(), frames.begin() + count, [=](const auto& frame) { return frame.method == method; });
}

// Runtime.exit and System.exit end in Shutdown.exit, Runtime.halt does not.
void EndRecorder::OnHalt(jint code) {
  CommitHere({.kind = ProcessStateKind::kExit,
              .used = uint64_t{static_cast<uint32_t>(code)} + 1,
              .committed = halt_ != nullptr && IsCalledBy(halt_) ? 1U : 0U});
}

bool EndRecorder::MayRecordError() {
  const uint64_t second = MonotonicNs() / kNsPerSecond;
  if (errors_second_.exchange(second, std::memory_order_relaxed) != second)
    errors_in_second_.store(0, std::memory_order_relaxed);
  return errors_in_second_.fetch_add(1, std::memory_order_relaxed) < kErrorsPerSecond;
}

void EndRecorder::OnThrowable(JNIEnv* jni, jthrowable thrown) {
  for (ErrorClass* type : {&out_of_memory_, &stack_overflow_}) {
    if (type->type == nullptr || jni->IsInstanceOf(thrown, type->type) == JNI_FALSE) continue;
    const uint64_t count = type->count.fetch_add(1, std::memory_order_relaxed) + 1;
    if (MayRecordError()) CommitHere({.kind = ProcessStateKind::kError, .used = count, .class_name = type->name});
  }
}

// The thread does not stop for a safepoint here, so its frames are as it left them. Its name is the kernel's.
void EndRecorder::OnOutOfMemory(const char* message) {
  const std::string_view text = message != nullptr ? std::string_view(message) : std::string_view();
  const uint64_t count = out_of_memory_.count.fetch_add(1, std::memory_order_relaxed) + 1;
  if (MayRecordError()) {
    SampleWriter::Event event{.kind = ProcessStateKind::kError,
                              .used = count,
                              .committed = ends_on_out_of_memory_ ? 1U : 0U,
                              .text = text,
                              .class_name = out_of_memory_.name,
                              .os_tid = OwnTid()};
    Frames frames;
    const void* const java_thread = current_ ? (*current_)() : nullptr;
    if (java_thread != nullptr) {
      std::array<hotspot::MethodFrame, SampleWriter::kMaxEventFrames> room;
      const auto walked = jvm_.walker->ExpandLeafSide(java_thread, room);
      event.frames = std::span(frames).first(writer_.Describe(walked, event.os_tid, frames));
    }
    ThreadIdentity identity;
    std::memset(identity.name, 0, 16);
    prctl(PR_GET_NAME, identity.name);
    identity.name_bytes = strnlen(identity.name, 16);
    event.thread = &identity;
    (void)writer_.CommitEvent(event, states_.ids());
  }
  if (text.find("heap space") != text.npos || text.find("GC overhead") != text.npos) {
    states_.MarkHeapFull(states_.HeapUsed(), heap_max_, text, /*anyway=*/!has_marked_.exchange(true));
  }
}

void EndRecorder::OnSignal(int signal, const siginfo_t* info) {
  const KeptErrno kept;
  std::array<char, 32> room;
  SampleWriter::Event event{.kind = ProcessStateKind::kSignal, .used = static_cast<uint64_t>(signal)};
  // Of a process; the terminal's signals are the kernel's own.
  if (info != nullptr && (info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL)) {
    event.committed = static_cast<uint64_t>(info->si_pid);
    event.text = ProgramOf(info->si_pid, &room);
  }
  (void)writer_.CommitEvent(event, states_.ids());
}

// The exception stays pending: the JVM's functions of JNI and JVMTI keep it. Afterwards the JVM gives it to its
// handler.
void EndRecorder::OnDetach(JNIEnv* jni) {
  const auto thrown = jni->ExceptionOccurred();
  if (thrown == nullptr) return;
  SampleWriter::Event event{.kind = ProcessStateKind::kUncaught, .os_tid = OwnTid()};
  ThreadIdentity identity;
  jthread thread = nullptr;
  if (jvm_.jvmti->GetCurrentThread(&thread) == JVMTI_ERROR_NONE) jvm_.thread_fields.Read(jni, thread, &identity);
  const jclass type = jni->GetObjectClass(thrown);
  hotspot::JvmtiText text(jvm_.jvmti);
  (void)jvm_.jvmti->GetClassSignature(type, text.out(), nullptr);
  const std::string_view signature = text.c_str();  // Lp/C;
  if (identity.java_tid == main_thread_ && !signature.empty()) {
    event.thread = &identity;
    event.class_name = signature.substr(1, signature.size() - 2);
    std::array<char, 3 * format::kMaxEventTextBytes + 1> message;
    event.text = throwables_.MessageOf(jni, thrown, message);
    std::array<hotspot::MethodFrame, SampleWriter::kMaxEventFrames> room;
    Frames frames;
    const auto stack = throwables_.StackOf(jni, thrown, room);
    event.frames = std::span(frames).first(writer_.Describe(stack, event.os_tid, frames));
    (void)writer_.CommitEvent(event, states_.ids());
  }
  for (const jobject local : {static_cast<jobject>(type), static_cast<jobject>(thrown), static_cast<jobject>(thread)})
    jni->DeleteLocalRef(local);
}

EndRecorder::Site* EndRecorder::SiteOf(uint64_t key) {
  for (size_t i = 0; i < kSites; ++i) {
    Site& site = sites_[(key + i) % kSites];
    uint64_t before = site.key.load(std::memory_order_relaxed);
    if (before == 0 && site.key.compare_exchange_strong(before, key, std::memory_order_relaxed)) return &site;
    if (before == key) return &site;
  }
  return nullptr;
}

bool EndRecorder::IsDue(Site& site, uint64_t now_ns) {
  const uint64_t waiting = site.started.load(std::memory_order_relaxed) + site.failed.load(std::memory_order_relaxed);
  const uint64_t before = site.total.load(std::memory_order_relaxed);
  return waiting * 8 >= before || now_ns > site.written_ns.load(std::memory_order_relaxed) + kNsPerSecond;
}

void EndRecorder::OnThreadStart(bool has_started, std::string_view name) {
  Frames frames;
  const uint32_t os_tid = OwnTid();
  const auto stack = std::span(frames).first(writer_.DescribeStack(jvm_.jvmti, os_tid, frames));
  Site* const site = SiteOf(format::KeyOfStack(stack, /*truncated=*/false).low | 1);
  if (site == nullptr) return;
  (has_started ? site->started : site->failed).fetch_add(1, std::memory_order_relaxed);
  if (!has_started) states_.CountFailedStart();
  const uint64_t now_ns = MonotonicNs();
  if (!IsDue(*site, now_ns)) return;
  const uint64_t started = site->started.exchange(0, std::memory_order_relaxed);
  const uint64_t failed = site->failed.exchange(0, std::memory_order_relaxed);
  site->total.fetch_add(started + failed, std::memory_order_relaxed);
  site->written_ns.store(now_ns, std::memory_order_relaxed);
  if (started + failed == 0) return;
  (void)writer_.CommitEvent({.kind = ProcessStateKind::kThreadStarts,
                             .used = started,
                             .committed = failed,
                             .text = name,
                             .os_tid = os_tid,
                             .frames = stack},
                            states_.ids());
}

}  // namespace heaprec::sources

using heaprec::sources::active_ends;
using heaprec::sources::CallbackScope;
using heaprec::sources::EndRecorder;

namespace {

// What an entry does may come back to it.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_inside = false;

template <typename Call>
void Enter(const Call& call) {
  if (active_ends.load(std::memory_order_relaxed) == nullptr || is_inside) return;
  const CallbackScope inside;
  is_inside = true;
  // Sequentially consistent, as CallbackScope asks for.
  if (EndRecorder* const ends = active_ends.load()) call(*ends);
  is_inside = false;
}

}  // namespace

void heaprec_on_halt(int code) {
  Enter([code](EndRecorder& ends) { ends.OnHalt(code); });
}

void heaprec_on_throwable(JNIEnv* jni, jobject thrown) {
  if (active_ends.load(std::memory_order_relaxed) == nullptr) return;
  const jclass error = heaprec::sources::machine_error.load(std::memory_order_relaxed);
  if (error == nullptr || jni->IsInstanceOf(thrown, error) == JNI_FALSE) return;
  Enter([=](EndRecorder& ends) { ends.OnThrowable(jni, static_cast<jthrowable>(thrown)); });
}

void heaprec_on_out_of_memory(const char* message) {
  Enter([message](EndRecorder& ends) { ends.OnOutOfMemory(message); });
}

void heaprec_around_thread_start(JNIEnv* jni, jobject thread, void (*start)(JNIEnv*, jobject)) {
  heaprec::sources::ThreadIdentity started;
  Enter([&](EndRecorder& ends) { ends.ReadName(jni, thread, &started); });
  start(jni, thread);
  const bool has_started = jni->ExceptionCheck() == JNI_FALSE;
  // The name alone, without the labels of the thread that starts it.
  const std::string_view name = started.Name().substr(0, started.Name().find('\0'));
  Enter([&](EndRecorder& ends) { ends.OnThreadStart(has_started, name); });
}

void heaprec_on_signal(int signal, const siginfo_t* info) {
  Enter([=](EndRecorder& ends) { ends.OnSignal(signal, info); });
}

void heaprec_on_detach(JavaVM* vm) {
  if (active_ends.load(std::memory_order_relaxed) == nullptr) return;
  JNIEnv* const jni = heaprec::sources::EnvOf(vm);
  if (jni == nullptr || jni->ExceptionCheck() == JNI_FALSE) return;
  Enter([jni](EndRecorder& ends) { ends.OnDetach(jni); });
}

#include "recorder/sources/agent_thread.h"

#include "recorder/native_sample/thread_clocks.h"
#include "recorder/writer/signal_masked_thread.h"

namespace heaprec::sources {
namespace {

constexpr std::chrono::seconds kPatience{2};

}  // namespace

StoppableThread::~StoppableThread() {
  if (started_) pthread_join(thread_, nullptr);
}

Status StoppableThread::Start() {
  const auto run = [](void* argument) {
    auto* const self = static_cast<StoppableThread*>(argument);
    native::ThreadClocks::LeaveOut();
    self->body_();
    self->Finish();
  };
  const auto failed = [](void* self) { static_cast<StoppableThread*>(self)->Finish(); };
  auto thread = writer::StartSignalMaskedThread(name_, run, failed, this);
  if (!thread.ok()) return thread.error();
  thread_ = *thread;
  started_ = true;
  return {};
}

void StoppableThread::Stop() {
  std::unique_lock lock(mutex_);
  stop_requested_ = true;
  changed_.notify_all();
  if (started_) (void)changed_.wait_for(lock, kPatience, [this] { return finished_; });
}

bool StoppableThread::TryJoin() {
  if (started_ && pthread_tryjoin_np(thread_, nullptr) == 0) started_ = false;
  return !started_;
}

bool StoppableThread::SleepOrStop(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return stop_requested_; });
}

void StoppableThread::Finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

JNIEnv* EnvOf(JavaVM* vm) {
  JNIEnv* jni = nullptr;
  return vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_6) == JNI_OK ? jni : nullptr;
}

AttachedScope::AttachedScope(JavaVM* vm, const char* name) : vm_(vm), jni_(EnvOf(vm)) {
  if (jni_ != nullptr) return;
  JavaVMAttachArgs args{JNI_VERSION_1_6, const_cast<char*>(name), nullptr};
  // As a daemon, so that the JVM's exit does not wait for it.
  if (vm->AttachCurrentThreadAsDaemon(reinterpret_cast<void**>(&jni_), &args) != JNI_OK) {
    jni_ = nullptr;
    return;
  }
  attached_here_ = true;
}

AttachedScope::~AttachedScope() {
  if (attached_here_) vm_->DetachCurrentThread();
}

}  // namespace heaprec::sources

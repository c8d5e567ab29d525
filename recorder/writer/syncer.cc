#include "recorder/writer/syncer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "recorder/writer/signal_masked_thread.h"

namespace heaprec::writer {
namespace {

constexpr size_t kFailuresKept = 16;  // the next tick reads them

}  // namespace

Syncer::~Syncer() { Finish(); }

bool Syncer::Start() {
  if (started_ || failed_to_start_ || where_ == Where::kAtOnce) return started_;
  auto thread = StartSignalMaskedThread(
      "heaprec-sync", [](void* self) { static_cast<Syncer*>(self)->Run(); }, nullptr, this);
  started_ = thread.ok();
  failed_to_start_ = !started_;
  if (started_) thread_ = *thread;
  return started_;
}

uint64_t Syncer::Request(RecordingFile& file, std::string folder) {
  // Uses a separate descriptor, because the drain may close the file meanwhile.
  GuardedFd own = file.DuplicateDescriptor();
  const int error = own.number() >= 0 ? 0 : errno;
  const uint64_t number = ++last_;
  Job job{number, std::move(own), error, std::move(folder)};
  if (!Start()) {
    Note(number, Do(std::move(job)));
    return number;
  }
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  changed_.notify_all();
  return number;
}

std::optional<bool> Syncer::Outcome(uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (done_ < number) return std::nullopt;
  return std::find(failed_.begin(), failed_.end(), number) == failed_.end();
}

int Syncer::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Syncer::Finish() {
  {
    const std::lock_guard lock(mutex_);
    finish_ = true;
    changed_.notify_all();
  }
  if (started_) pthread_join(thread_, nullptr);
  started_ = false;
}

void Syncer::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return finish_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    const uint64_t number = job.number;
    const int error = Do(std::move(job));
    lock.lock();
    Note(number, error);
  }
}

void Syncer::Note(uint64_t number, int error) {
  done_ = number;
  if (error == 0) return;
  failure_ = error;
  failed_.push_back(number);
  if (failed_.size() > kFailuresKept) failed_.pop_front();
}

int Syncer::Do(Job job) {
  if (job.error != 0) return job.error;
  const auto repeat = [](int (*sync)(int), int descriptor) {
    int result = 0;
    do {
      result = sync(descriptor);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
  };
  const int error = repeat(fdatasync, job.file.number());
  job.file.Close();
  if (job.folder.empty()) return error;
  const GuardedFd folder(open(job.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // If the folder cannot be opened, the content is durable; when the name is, depends on the file system.
  if (folder.number() >= 0) (void)repeat(fsync, folder.number());
  return error;
}

}  // namespace heaprec::writer

// A thread that waits for the disk instead of the drain: an fdatasync may take seconds.
//
// Context:  drain. The thread is started by the first request, and calls nothing but fdatasync and fsync.
// Failure:  a request that fails, or cannot be accepted, has the outcome false. Without a thread it is executed
//           at once.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "base/descriptors.h"
#include "recorder/writer/recording_file.h"

namespace heaprec::writer {

class Syncer {
 public:
  enum class Where { kOwnThread, kAtOnce };
  explicit Syncer(Where where = Where::kOwnThread) : where_(where) {}
  ~Syncer();
  Syncer(const Syncer&) = delete;
  Syncer& operator=(const Syncer&) = delete;

  // Makes the file durable and, unless it is empty, `folder`, for a new name. The file may be closed right after this
  // call. Returns the number of the request, from 1.
  uint64_t Request(RecordingFile& file, std::string folder);
  // Whether request `number` was successful; nullopt while it waits. Afterwards earlier requests are also finished.
  std::optional<bool> Outcome(uint64_t number);
  // errno of the last request that failed; 0: none has.
  int failure();
  // Returns when all requests are finished; ends the thread.
  void Finish();

 private:
  struct Job {
    uint64_t number;
    GuardedFd file;
    int error;  // errno if there is no file, otherwise 0
    std::string folder;
  };
  void Run();
  bool Start();
  void Note(uint64_t number, int error);
  static int Do(Job job);

  const Where where_;
  pthread_t thread_{};
  bool started_ = false, failed_to_start_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  uint64_t last_ = 0, done_ = 0;
  std::deque<uint64_t> failed_;  // the latest failed requests
  int failure_ = 0;
  bool finish_ = false;
};

}  // namespace heaprec::writer

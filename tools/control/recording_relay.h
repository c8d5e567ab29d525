// A recording that a JVM writes into a private folder of its own files, until it is complete and can be copied out.
//
// Threads:  one.
// Failure:  Make: a sentence for the user.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tools/control/private_folder.h"
#include "tools/control/process.h"
#include "tools/input/confined_open.h"

namespace heaprec::tools {

class RecordingRelay {
 public:
  static Result<std::unique_ptr<RecordingRelay>> Make(const Process& process);

  std::string path() const { return folder_->path() + "/" + kName; }  // as the process sees it
  // Until the process writes no file in the folder any more, or has ended: true. False: `is_over` said so.
  template <typename IsOver>
  bool Wait(const IsOver& is_over) const {
    bool was_written = false;
    for (int idle = 0; idle < kIdlePolls;) {
      if (is_over()) return false;
      const bool is_written = IsWritten() || (!was_written && IsWaiting());
      was_written = was_written || is_written;
      idle = is_written ? 0 : idle + 1;
      Pause();
    }
    return true;
  }
  // Opens the recording for reading, if there is one; of a recording that rotates the first file.
  Descriptor Recording() const { return folder_->Open(kName); }
  // The names of the recording's files in the folder, in the order in which the agent writes them.
  std::vector<std::string> Files() const;
  const PrivateFolder& folder() const { return *folder_; }
  // Leaves the recording where it is.
  void Keep() { folder_->Keep(); }

 private:
  static constexpr const char* kName = "rec.hrec";
  static constexpr int kIdlePolls = 3;  // between two files of one recording there may be none

  RecordingRelay(ProcessHandle handle, pid_t pid, std::unique_ptr<PrivateFolder> folder)
      : handle_(std::move(handle)), pid_(pid), folder_(std::move(folder)) {}
  bool IsWritten() const;
  bool IsWaiting() const;
  static void Pause();

  const ProcessHandle handle_;
  const pid_t pid_;
  const std::unique_ptr<PrivateFolder> folder_;
};

}  // namespace heaprec::tools

// Shows the progress of a long read on a terminal's stderr: a line that appears after a second and is removed at the
// end.
//
// Context:  reads the clock; writes to stderr, if that is a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace heaprec::tools {

class Progress {
 public:
  // What is written to stdout at the same time. If stdout is a terminal as well, kOutput hides the progress.
  enum class StdoutUse : bool { kNothing, kOutput };

  // `total`: in bytes; 0: not known, then nothing is shown.
  Progress(std::string name, uint64_t total, StdoutUse stdout_use = StdoutUse::kNothing);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void At(uint64_t bytes) {
    if (is_shown_) Show(bytes);
  }

 private:
  void Show(uint64_t bytes);

  using Clock = std::chrono::steady_clock;
  const std::string name_;
  const uint64_t total_;
  bool is_shown_;
  bool has_line_ = false;
  Clock::time_point next_;
};

}  // namespace heaprec::tools

// How far a long reading has come, on a terminal's stderr: a line that appears after a second, and goes at the end.
//
// Context:  reads the clock; writes to stderr, if that is a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace heaprec::tools {

class Progress {
 public:
  // `total`: in bytes; 0: not known, then nothing is shown.
  Progress(std::string name, uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void At(uint64_t bytes) {
    if (is_shown_ && ++calls_ % kCalls == 0) Show(bytes);
  }

 private:
  static constexpr uint32_t kCalls = 8;  // the clock is looked at once in so many
  void Show(uint64_t bytes);

  using Clock = std::chrono::steady_clock;
  const std::string name_;
  const uint64_t total_;
  bool is_shown_;
  uint32_t calls_ = 0;
  bool has_line_ = false;
  Clock::time_point next_;
};

}  // namespace heaprec::tools

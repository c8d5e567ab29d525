// Lines on a terminal's stderr that are removed at the end: the progress of a long read, and a remaining time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace heaprec::tools {

// Appears after a second.
class Progress {
 public:
  // What is written to stdout meanwhile. If stdout is also a terminal, kOutput hides the progress.
  enum class StdoutUse : bool { kNothing, kOutput };

  // `total`: in bytes; 0: unknown, nothing is shown.
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

class Countdown {
 public:
  // "BEFORE [bar] 12 s left AFTER". `seconds` from now on.
  Countdown(std::string before, std::string after, double seconds, bool is_wanted);
  ~Countdown();
  Countdown(const Countdown&) = delete;
  Countdown& operator=(const Countdown&) = delete;

  void Tell() const;

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const std::string before_, after_;
  const double seconds_;
  const bool is_shown_;
};

}  // namespace heaprec::tools

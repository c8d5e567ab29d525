// A line on a terminal's stderr that says how long something goes on; no line where stderr is no terminal. It goes with
// this object.
//
// Threads:  one.
#pragma once

#include <chrono>
#include <string>

namespace heaprec::tools {

class Countdown {
 public:
  // "BEFORE [bar] 12 s left AFTER". `seconds` from now on.
  Countdown(std::string before, std::string after, double seconds, bool is_wanted);
  ~Countdown();
  Countdown(const Countdown&) = delete;
  Countdown& operator=(const Countdown&) = delete;

  void Tell() const;

 private:
  void Print(const std::string& text) const;

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const std::string before_, after_;
  const double seconds_;
  const bool is_shown_;
};

}  // namespace heaprec::tools

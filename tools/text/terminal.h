// A terminal: its width, colours and characters, and lines on stderr that are removed at the end.
//
// Context:  reads the environment: COLUMNS, NO_COLOR, TERM, and the locale's variables.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heaprec::tools {

struct Terminal {
  size_t width = 0;      // columns; 0: no limit
  bool colour = false;   // it is a terminal, and NO_COLOR is not set
  bool unicode = false;  // the locale uses UTF-8

  // For a file or a pipe the width is $COLUMNS, if that is exported.
  static Terminal Of(int descriptor);

  // Returns the text unchanged without colour.
  std::string Bold(std::string_view text) const { return In("1", text); }
  std::string Dim(std::string_view text) const { return In("2", text); }
  // `code`: SGR code of ECMA-48, "32".
  std::string In(std::string_view code, std::string_view text) const;
};

// Returns the number of columns of valid UTF-8: its characters.
size_t WidthOf(std::string_view utf8);

// Shortens a name to at most `width` columns: abbreviates as many packages as necessary, then omits the middle.
// "c.s.t.javac.util.List". 0: no limit.
std::string Shortened(std::string_view name, size_t width, bool unicode);

// Bars and lines use block characters or, without `unicode`, ASCII; a part above 0 is always visible. Bar: `part` (0 to
// 1) of `width` columns, from the left; padded to the width.
std::string Bar(double part, size_t width, bool unicode);

// One column per value, relative to `most`.
std::string Sparkline(std::span<const double> values, double most, bool unicode);

// The same with `rows` lines, the top line first.
std::string ChartLine(std::span<const double> values, double most, size_t row, size_t rows, bool unicode);

// Lines on a terminal's stderr that are removed at the end: the progress of a long read, and a remaining time.

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

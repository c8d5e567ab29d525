// Formats numbers, sizes, times and strings for output.
//
// Units:    times in ns since the start of the recording.
// Threads:  one (the clock texts cache the last second).
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace heaprec::tools {

// Converts the JVM's names (modified UTF-8) to valid UTF-8 for any output. U+0000 in two bytes and surrogate pairs in
// six become standard; invalid bytes become U+FFFD.
std::string ToUtf8(std::string_view modified_utf8);

using Text = fmt::memory_buffer;

inline void Append(Text& text, std::string_view piece) { text.append(piece.data(), piece.data() + piece.size()); }
inline void Append(Text& text, uint64_t number) {
  const fmt::format_int digits(number);
  text.append(digits.data(), digits.data() + digits.size());
}

// "24 B", "238.8 KiB", "18.6 MiB" (powers of 1024).
void AppendBytes(Text& text, double bytes);
std::string Bytes(double bytes);
// "1,234,567"
std::string Grouped(uint64_t number);
// "1 sample", "1,234 samples".
std::string CountOf(uint64_t count, std::string_view noun);
// "1 h 02 min 03 s", "12.345 s"
std::string Duration(uint64_t ns);

// Quoted and escaped for JSON. `utf8` must be valid.
void AppendJsonString(Text& text, std::string_view utf8);
// The shortest text that reads back as the same number; null if it is not finite.
void AppendJsonNumber(Text& text, double number);
// Control characters as \n or \x1b, so that a name cannot steer a terminal.
void AppendPrintable(Text& text, std::string_view utf8);

// Wall-clock times of a recording's events.
class ClockText {
 public:
  explicit ClockText(uint64_t start_epoch_ns) : start_epoch_ns_(start_epoch_ns) {}
  // "16:40:00.731602 (2026-11-20)", local
  void AppendLocal(Text& text, uint64_t time_ns);
  // "2026-11-20T16:40:00.731602772Z"
  void AppendIso(Text& text, uint64_t time_ns);
  static std::string Iso(uint64_t epoch_ns);
  uint64_t EpochNs(uint64_t time_ns) const { return start_epoch_ns_ + time_ns; }

 private:
  // The rendered text of a second.
  struct Second {
    int64_t of = -1;
    std::array<char, 32> date{}, time{};
  };
  static void Render(int64_t second, bool local, Second* into);

  const uint64_t start_epoch_ns_;
  Second local_, utc_;
};

// Shares and changes as percentages: two significant digits below 10 %, whole percents above, never an exponent: "0.5
// %", "5 %", "12 %", "200 %". `share` must be finite and at least 0; 1 is 100 %. Below 0.001 %: "<0.001 %", and "0 %"
// only for 0.
std::string ShortPercent(double share);

// A text as a CSV field, quoted only if RFC 4180 requires it, with inner quotes doubled.
void AppendCsvField(std::string_view utf8, Text& into);

// Escapes text for XML and HTML, as content or within quotes. Characters that XML 1.0 does not have become U+FFFD.
void AppendMarkup(Text& text, std::string_view utf8);

}  // namespace heaprec::tools

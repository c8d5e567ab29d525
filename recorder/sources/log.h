// The agent's messages: one line on stderr, never on stdout, never from an allocating thread.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace heaprec {

enum class LogLevel { kOff, kError, kWarn, kInfo, kDebug };

void SetLogLevel(LogLevel level);
void WriteLine(LogLevel level, std::string_view text);
// "1 sample", "1,125 samples".
std::string SampleCount(uint64_t samples);
void LogOutOfMemory();  // an error; allocates nothing

template <typename... Args>
void Log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  WriteLine(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace heaprec

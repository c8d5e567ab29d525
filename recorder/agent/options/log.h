// What the agent prints: one line on stderr, never on stdout, never from an allocating thread.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "recorder/agent/options/options.h"

namespace heaprec::agent {

void SetLogLevel(LogLevel level);
void WriteLine(LogLevel level, std::string_view text);
void LogOutOfMemory();  // an error; allocates nothing

template <typename... Args>
void Log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  WriteLine(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace heaprec::agent

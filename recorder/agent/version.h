// The version of agent and command.
#pragma once

namespace heaprec {
inline constexpr const char* kVersion = "0.1.0";
}  // namespace heaprec

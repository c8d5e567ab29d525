// The version of agent and command: one number for both, because they share the format.
#pragma once

namespace heaprec {
inline constexpr char kVersion[] = "0.1.0";
}  // namespace heaprec

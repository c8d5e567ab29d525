// The names of heaprec's own threads.
#pragma once

#include <string_view>

namespace heaprec::arch {

// The prefix of all of them.
inline constexpr std::string_view kAgentThreadPrefix = "heaprec-";

}  // namespace heaprec::arch

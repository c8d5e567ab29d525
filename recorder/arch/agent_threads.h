// How heaprec's own threads are named.
#pragma once

#include <string_view>

namespace heaprec::arch {

// The names of all of them begin like this.
inline constexpr std::string_view kAgentThreadPrefix = "heaprec-";

}  // namespace heaprec::arch

// Ends a fuzz target whose property does not hold.
#pragma once

#include <cstdlib>

namespace heaprec::fuzz {

inline void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace heaprec::fuzz

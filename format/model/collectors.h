// What recorder and tools need to know of HotSpot's collectors, named as in FileHeader::gc_name.
//
// Context:  pure functions.
#pragma once

#include <string_view>

namespace heaprec::format {

// Whether most collections ignore the old generation, and the JVM counts the others. Only those find dead objects in
// it.
constexpr bool HasOldGeneration(std::string_view gc_name) {
  return gc_name == "Serial" || gc_name == "Parallel" || gc_name == "G1";
}

// Whether the collector reclaims between its pauses.
constexpr bool IsConcurrent(std::string_view gc_name) { return gc_name == "Z" || gc_name == "Shenandoah"; }

}  // namespace heaprec::format

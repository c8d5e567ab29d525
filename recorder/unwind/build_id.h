// The build id among the notes of an ELF file (PT_NOTE), in memory or of its file.
//
// Context:  drain (it allocates).
// Failure:  empty: there is none. Any content is safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace heaprec::native {

// Hexadecimal.
std::string BuildIdIn(std::span<const uint8_t> notes);

}  // namespace heaprec::native

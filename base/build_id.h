// Finds the build id in the bytes of a note segment or section; empty if there is none. Safe for any content.
//
// Context:  any: no heap, no exception.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace heaprec {

inline std::span<const char> BuildIdIn(std::span<const char> notes) {
  constexpr auto padded = [](uint32_t bytes) { return (uint64_t{bytes} + 3) & ~uint64_t{3}; };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof note);
    const uint64_t content = sizeof note + padded(note.n_namesz);  // at most 2^33: no overflow
    if (content + note.n_descsz > notes.size()) break;
    const bool is_gnu = note.n_namesz == 4 && std::memcmp(notes.data() + sizeof note, "GNU", 4) == 0;
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID) return notes.subspan(content, note.n_descsz);
    notes = notes.subspan(std::min<uint64_t>(content + padded(note.n_descsz), notes.size()));
  }
  return {};
}

}  // namespace heaprec

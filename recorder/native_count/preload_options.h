// HEAPREC_NATIVE_EXACT, the options of libheaprec-native.so: file=native-%p.hnt,depth=1,only=NAME,check.
//
// Context:  setup, inside of malloc: no heap, no stdio.
// Failure:  an unknown option, or an invalid value, is reported on stderr, and nothing is recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace heaprec::native {

inline constexpr size_t kMaxPath = 512;

struct ExactOptions {
  char file[kMaxPath] = "heaprec-native-%p.hnt";
  uint32_t depth = 1;   // number of frames that identify a site, from the innermost one of the program itself
  bool check = false;   // check whether blocks are written past their end
  char only[256] = "";  // file name of the program; empty: any
};

// `text` may be null.
bool ParseExactOptions(const char* text, ExactOptions* into);
// Whether the options select this process.
bool IsChosen(const ExactOptions& options);
// %p: the process id.
void ExpandPath(const char* pattern, std::span<char, kMaxPath> into);
// The folder of the table while the process lives: shared memory.
inline constexpr char kTableFolder[] = "/dev/shm";
void TablePath(std::span<char, kMaxPath> into);
// "heaprec: a block of SIZE bytes was written past its end; 'heaprec native' shows who allocated it: PATH"
void ReportOverrun(size_t size, const char* path);
// "heaprec: PATH: WHY; native memory is not recorded"
void ReportNotRecorded(const char* path, const char* why);
// "heaprec: PATH: WHY; the table of native memory is TABLE"
void ReportTableLocation(const char* path, const char* why, const char* table);

}  // namespace heaprec::native

// Whether a file is the program's standard error. A program that was started without one gets its number for the next
// file that it opens, as does a program that closes it: a line of heaprec's would become part of that file.
//
// Context:  any: system calls only; errno is kept.
// Failure:  if the program has replaced its standard error by a pipe, a socket or a file that is not opened for
//           appending, this is not recognized as its standard error.
#pragma once

namespace heaprec {

// `descriptor`: 2, or a copy of it from the process' table. True if it is what 1 or 2 was when this library was loaded
// (2>&1 is meant then), or if 2 was open then and is a log now: a file that is opened for appending.
bool IsStandardError(int descriptor);

}  // namespace heaprec

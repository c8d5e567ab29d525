// Takes option text apart: "rate=20,@my.conf,strict" becomes key and value of each, those of the file in its place.
//
// A file has one key=value a line; blank lines and those that begin with '#' are skipped, spaces around key and value
// too. A value may hold commas there. A file names no further file.
//
// Context:  setup (it reads files).
// Failure:  a file that cannot be read, or is none of options: the error names file and line.
// Format:   docs/reference/agent-options.md
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "format/bytes/result.h"

namespace heaprec::agent {

struct Option {
  std::string key, value;
  std::string where;  // "my.conf:3: "; empty: not of a file
};

format::Result<std::vector<Option>> SplitOptions(std::string_view text);

// "rate=20,source=jvmti,strict"
std::string AsText(const std::vector<Option>& options);

}  // namespace heaprec::agent

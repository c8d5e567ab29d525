// Splits option text (format/bytes/option_text.h): "rate=20,@my.conf,strict" becomes key and value of each; a file's
// options replace its name.
//
// A file has one key=value per line. Blank lines, lines that begin with '#', and spaces around key and value are
// ignored. Commas and backslashes in a file stand for themselves. A file cannot include another file.
//
// Context:  setup (it reads files).
// Failure:  a file that cannot be read, or does not contain options: the error names file and line.
// Format:   docs/reference/agent-options.md
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heaprec::agent {

struct Option {
  std::string key, value;
  std::string where;  // "my.conf:3: "; empty: not from a file
};

format::Result<std::vector<Option>> SplitOptions(std::string_view text);

// "rate=20,source=jvmti,strict"; SplitOptions takes it.
std::string AsText(const std::vector<Option>& options);

}  // namespace heaprec::agent

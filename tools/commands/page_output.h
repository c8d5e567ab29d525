// Writes the page of a command to its output file.
//
// Failure:  reports the reason on stderr, and returns its exit code.
#pragma once

#include <string>

#include "tools/report/page/recording_page.h"
#include "tools/text/messages.h"

namespace heaprec::tools {

struct PageOutput {
  std::string path;  // empty: see PathFor
  bool force = false, quiet = false;

  // Returns the given path, or REC.html in the working directory.
  std::string PathFor(const PageRequest& request, const char* extension = ".html") const;
  // Makes the page, writes it, and prints its path unless `quiet`.
  ExitCode Write(const PageRequest& request) const;
};

}  // namespace heaprec::tools

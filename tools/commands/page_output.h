// Where the commands that make a page of recordings write it.
//
// Failure:  says on stderr what is wrong, and returns the exit code for it.
#pragma once

#include <string>

#include "tools/report/page/recording_page.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

struct PageOutput {
  std::string path;  // empty: PathFor
  bool force = false, quiet = false;

  // As given, or REC.html in the working directory.
  std::string PathFor(const PageRequest& request, const char* extension = ".html") const;
  // Makes the page, writes it, and prints its path unless `quiet`.
  ExitCode Write(const PageRequest& request) const;
};

}  // namespace heaprec::tools

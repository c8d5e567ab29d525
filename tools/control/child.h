// Runs a command as if it had been started in our place: same terminal, same signals, its exit code.
//
// Threads:  one.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace heaprec::tools {

// The exit code: the command's, 128 + the signal that ended it, 127 or 126 if it could not be started (`why` is set).
// `environment`: "NAME=value", beside what we have. `pid`: the command's, unless it is null.
int RunChild(const std::vector<std::string>& command, const std::vector<std::string>& environment, std::string* why,
             pid_t* pid = nullptr);

// Where a command is found: itself if it holds a slash, else in $PATH; empty if nowhere.
std::string FindInPath(const std::string& name);

}  // namespace heaprec::tools

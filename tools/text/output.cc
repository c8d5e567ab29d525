#include "tools/text/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/text/messages.h"

namespace heaprec::tools {

void Output::Flush() {
  size_t done = 0;
  while (error_ == 0 && done < text_.size()) {
    const ssize_t now = write(descriptor_, text_.data() + done, text_.size() - done);
    if (now >= 0) {
      done += static_cast<size_t>(now);
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  text_.clear();
}

ExitCode Output::status() const { return error_ == 0 || error_ == EPIPE ? ExitCode::kOk : ExitCode::kCannotWrite; }

ExitCode Output::Report(const std::string& name) const {
  if (status() != ExitCode::kOk) PrintError(fmt::format("{}: {}", name, std::strerror(error_)));
  return status();
}

}  // namespace heaprec::tools

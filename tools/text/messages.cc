#include "tools/text/messages.h"

#include <unistd.h>

#include "tools/text/text.h"

namespace heaprec::tools {

void PrintError(std::string_view sentence) {
  Text line;
  Append(line, "heaprec: ");
  AppendPrintable(line, ToUtf8(sentence));
  line.push_back('\n');
  // Uses one write, so that lines of several processes do not mix. A closed stderr is ignored.
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, line.data(), line.size());
}

ExitCode Fail(ExitCode code, std::string_view sentence) {
  PrintError(sentence);
  return code;
}

}  // namespace heaprec::tools

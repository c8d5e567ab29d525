// What an attaching tool asks of the agent: "start,file=rec.bin", "stop", "flush", "status=FILE", and where the answer
// goes.
//
// `answer=FILE` may stand among the options of any command, and among those of a load at start: the agent then creates
// FILE (O_EXCL, 0600: an existing file or link is never touched) with two lines, "ok", "error" or "unwritten", and what
// there is to say. The protocol of attaching carries a number only.
//
// Context:  setup.
// Failure:  where a file can have no content (disk full, file size limited), FILE is a link that leads to the two
//           lines. An answer that cannot be written at all is not: who waits for it has the number.
// Format:   docs/guide/first-recording.md#how-attaching-works
#pragma once

#include <string>
#include <string_view>

#include "format/bytes/result.h"

namespace heaprec::agent {

enum class CommandKind { kStart, kStop, kFlush, kStatus };

struct Command {
  CommandKind kind = CommandKind::kStart;
  std::string answer;   // the file; empty: none is wanted
  std::string options;  // the agent's options, without what is above
};

// Without a command's name in front it is a start. Error: options after a command that takes none.
format::Result<Command> ParseCommand(std::string_view text);

enum class Reply {
  kOk,
  kError,
  kUnwritten,  // it was done, but some of the recording could not be written
};

// `file` may hold %p. Nothing if it is empty.
void WriteAnswer(const std::string& file, Reply reply, std::string_view sentence);

}  // namespace heaprec::agent

// A command from an attaching tool: "start,file=rec.hrec", "stop", "flush" or "status=FILE", and the file for the
// reply.
//
// `reply=FILE` may be among the options of any command, and among those of the agent at the JVM's start. The agent then
// creates FILE (O_EXCL, 0600: an existing file or link is never touched). Its first line is "ok", "error", "unwritten"
// or "starting"; a sentence and a line feed follow; paths in the sentence may contain line feeds. HotSpot's attach
// protocol returns a number only.
//
// Context:  setup.
// Failure:  if the file cannot be written (disk full, file size limited), FILE becomes a symbolic link whose target is
//           the same text. If that fails, too, the tool gets only the number.
// Format:   docs/guide/first-recording.md#how-attaching-works
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace heaprec::agent {

enum class CommandKind { kStart, kStop, kFlush, kStatus };

struct Command {
  CommandKind kind = CommandKind::kStart;
  std::string reply_file;  // empty: no reply is requested
  std::string options;     // the agent's options, without the command and `reply`
};

// Text that does not begin with a command's name is a start. Error: options for a command that takes none.
Result<Command> ParseCommand(std::string_view text);

enum class ReplyStatus {
  kOk,
  kError,
  kUnwritten,  // done, but a part of the recording could not be written
  kStarting,   // the JVM does not take agents yet: the tool may repeat the command
};

// `file` may contain %p. Does nothing if it is empty.
void WriteReply(const std::string& file, ReplyStatus status, std::string_view sentence);

}  // namespace heaprec::agent

#include "tools/control/named_recording.h"

#include <fmt/format.h>

#include <filesystem>

#include "tools/control/java_process.h"
#include "tools/control/live_recording.h"

namespace heaprec::tools {

format::Result<std::string> NamedRecording(const std::string& word) {
  std::error_code error;
  const bool is_number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || std::filesystem::exists(word, error)) return word;
  const auto fail = [&](const std::string& why) { return format::Error{word + ": no such file; " + why}; };
  const auto java = Find(word);
  if (!java.ok()) return fail(java.error().message);
  const auto live = FindLiveRecording(java->process);
  if (!live) return fail(fmt::format("PID {0} is not being recorded; 'heaprec attach {0}' starts a recording", word));
  if (java->process.same_files && std::filesystem::exists(live->path, error)) return live->path;
  return fail(
      fmt::format("PID {0} is being recorded in its container; copy the recording with "
                  "'heaprec dump {0} -o now.hrec'",
                  word));
}

}  // namespace heaprec::tools

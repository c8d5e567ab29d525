// One walk over the blocks of a recording, for everything that reads it to its end, with its progress on a terminal.
//
//   Walk(&recording, [&](const format::Block& block) { totals.Add(block); });
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "format/reader/reader.h"
#include "tools/input/recording.h"
#include "tools/text/exit_code.h"
#include "tools/text/messages.h"
#include "tools/text/progress.h"

namespace heaprec::tools {

// Calls `visit(block)` for each block, in order. A visitor that returns false ends the walk. Returns whether the end of
// the recording was reached.
template <typename Visit>
bool Walk(Recording* recording, Visit&& visit, Progress::StdoutUse stdout_use = Progress::StdoutUse::kNothing) {
  Progress progress(recording->source().name(), recording->source().size(), stdout_use);
  while (auto block = recording->Next()) {
    if constexpr (std::is_void_v<std::invoke_result_t<Visit&, format::Block&>>) {
      visit(*block);
    } else if (!visit(*block)) {
      return false;
    }
    progress.At(recording->bytes_read());
  }
  return true;
}

// The same from the first block on, whatever was read before. Returns the recording at its end.
template <typename Visit>
Result<std::unique_ptr<Recording>> WalkAgain(const Recording& recording, Visit&& visit) {
  auto again = recording.Again();
  if (again.ok()) Walk(again->get(), visit);
  return again;
}

// Opens one file after the other, and calls `visit(recording)`, which returns an exit code, for each recording in it.
// Ends at the first kUnreadable, which a file that cannot be opened is, too: printed on stderr. Returns the last code
// that is not kOk.
template <typename Visit>
ExitCode WalkFiles(const std::vector<std::string>& paths, Visit&& visit) {
  ExitCode code = ExitCode::kOk;
  for (const std::string& path : paths) {
    const auto recordings = Recording::OpenAll(path);
    if (!recordings.ok()) return Fail(ExitCode::kUnreadable, recordings.error().message);
    for (const auto& recording : *recordings) {
      const ExitCode one = visit(recording.get());
      if (one == ExitCode::kUnreadable) return one;
      if (one != ExitCode::kOk) code = one;
    }
  }
  return code;
}

}  // namespace heaprec::tools

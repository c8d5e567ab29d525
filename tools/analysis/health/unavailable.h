// What a recording lacks though it was asked for, as a sentence that can be printed.
#pragma once

#include <fmt/format.h>

#include <string>

#include "format/model/model.h"
#include "tools/text/text.h"

namespace heaprec::tools {

// Empty: nothing, or it was not asked for.
inline std::string RefusalOfNative(const format::FileHeader& header) {
  if (header.native_unavailable_reason.empty()) return {};
  Text text;
  Append(text,
         header.native.interval_ns > 0 ? "native memory was sampled in part: " : "native memory was not sampled: ");
  AppendPrintable(text, ToUtf8(header.native_unavailable_reason));
  return fmt::to_string(text);
}

}  // namespace heaprec::tools

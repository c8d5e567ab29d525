// A thread's text in a recording: its name, then for each label a zero byte and "key=value".
//
// Format:   docs/format/recording.md#dictionaries (threads)
#pragma once

#include <string_view>

namespace heaprec::format {

inline std::string_view NameOfThread(std::string_view text) { return text.substr(0, text.find('\0')); }

// Calls `visit(key, value)` for each label.
template <typename Visit>
void ForEachLabel(std::string_view text, Visit visit) {
  for (size_t at = text.find('\0'); at != std::string_view::npos;) {
    const size_t end = text.find('\0', at + 1);
    const std::string_view label = text.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    const size_t equals = label.find('=');
    if (equals != std::string_view::npos) visit(label.substr(0, equals), label.substr(equals + 1));
    at = end;
  }
}

}  // namespace heaprec::format

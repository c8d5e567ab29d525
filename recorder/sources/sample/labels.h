// The labels of a thread's samples: for each label a zero byte and "key=value", as in a recording.
//
// Units:    bytes.
// Context:  CurrentLabels: alloc, one load without labels. SetLabel, ForgetLabels: setup (they use the heap).
// Threads:  each function is about its caller's thread only.
// Failure:  SetLabel returns false if there is no room, or the key is invalid; the labels are then unchanged.
// Format:   docs/format/recording.md#dictionaries (threads)
#pragma once

#include <cstddef>
#include <string_view>

namespace heaprec::sources {

inline constexpr size_t kMaxLabelBytes = 255;

// An empty `value` is a value; see ClearLabel.
bool SetLabel(std::string_view key, std::string_view value);
void ClearLabel(std::string_view key);
void ForgetLabels();  // when the thread leaves the JVM; its end frees them, too

// Valid until the caller's thread changes them.
std::string_view CurrentLabels();

}  // namespace heaprec::sources

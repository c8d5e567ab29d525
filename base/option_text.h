// Options as one text, as command lines and environment variables carry them to the agent: "key=value,key=value".
//
// In a part "\," stands for a comma and "\\" for a backslash. Every other character stands for itself.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace heaprec {

inline bool IsEscape(std::string_view text, size_t at) {
  return text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == ',' || text[at + 1] == '\\');
}

// Takes the first part and its comma off the front of `text`. Returns the part as it is written.
inline std::string_view TakePart(std::string_view* text) {
  size_t end = 0;
  while (end < text->size() && (*text)[end] != ',') end += IsEscape(*text, end) ? 2 : 1;
  const std::string_view part = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return part;
}

inline std::string Unescaped(std::string_view part) {
  std::string plain;
  for (size_t at = 0; at < part.size(); ++at) plain += IsEscape(part, at) ? part[++at] : part[at];
  return plain;
}

inline std::string Escaped(std::string_view plain) {
  std::string part;
  for (const char c : plain) {
    if (c == ',' || c == '\\') part += '\\';
    part += c;
  }
  return part;
}

}  // namespace heaprec

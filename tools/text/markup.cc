#include "tools/text/markup.h"

namespace heaprec::tools {
namespace {

constexpr std::string_view kNoCharacter = "\xef\xbf\xbd";

// What stands for a byte; empty: itself.
std::string_view Escape(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    case '\t':
      return "&#9;";
    case '\n':
      return "&#10;";
    case '\r':
      return "&#13;";
    default:
      return static_cast<unsigned char>(c) < 0x20 ? kNoCharacter : std::string_view();
  }
}

// U+FFFE and U+FFFF are characters to UTF-8 but not to XML.
bool IsNoCharacter(std::string_view at) { return at.starts_with("\xef\xbf\xbe") || at.starts_with("\xef\xbf\xbf"); }

}  // namespace

void AppendMarkup(Text& text, std::string_view utf8) {
  for (size_t i = 0; i < utf8.size(); ++i) {
    if (IsNoCharacter(utf8.substr(i))) {
      Append(text, kNoCharacter);
      i += 2;
    } else if (const std::string_view escape = Escape(utf8[i]); !escape.empty()) {
      Append(text, escape);
    } else {
      text.push_back(utf8[i]);
    }
  }
}

}  // namespace heaprec::tools

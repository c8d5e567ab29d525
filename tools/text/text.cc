#include "tools/text/text.h"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace heaprec::tools {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

void Append(uint32_t code, std::string* out) {
  const auto tail = [&](int shift) { out->push_back(static_cast<char>(0x80 | (code >> shift & 0x3f))); };
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out->push_back(static_cast<char>(0xc0 | code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out->push_back(static_cast<char>(0xe0 | code >> 12));
    tail(6);
    tail(0);
  } else {
    out->push_back(static_cast<char>(0xf0 | code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

// Decodes the first character and returns its size. 0: no character.
size_t Decode(std::string_view in, uint32_t* code) {
  const auto lead = static_cast<uint8_t>(in[0]);
  const size_t size = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 0;
  if (size == 0 || in.size() < size) return 0;
  *code = size == 1 ? lead : lead & (0xffu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<uint8_t>(in[i]);
    if ((byte & 0xc0) != 0x80) return 0;
    *code = *code << 6 | (byte & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool modified_zero = size == 2 && *code == 0;
  return (*code >= kLeast[size] || modified_zero) && *code <= 0x10ffff ? size : 0;
}

bool IsHigh(uint32_t code) { return code >= 0xd800 && code < 0xdc00; }
bool IsLow(uint32_t code) { return code >= 0xdc00 && code < 0xe000; }

constexpr uint64_t kSecond = 1'000'000'000;

// `digits` digits with leading zeros.
void AppendPadded(Text& text, uint64_t number, int digits) {
  std::array<char, 20> padded;
  for (int at = digits - 1; at >= 0; --at, number /= 10) padded[static_cast<size_t>(at)] = '0' + number % 10;
  text.append(padded.data(), padded.data() + digits);
}

// The escape of a character below 0x20, without the backslash; 0 if it has no short one.
char ShortEscape(char c) {
  switch (c) {
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

bool IsControl(char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; }

// Returns the code of a non-ASCII character that controls a terminal, in valid UTF-8; 0: none. U+0080 to U+009F are
// controls, some of which xterm obeys; U+202A to U+202E and U+2066 to U+2069 change the reading order of a line.
uint32_t SteeringCode(std::string_view utf8) {
  const auto byte = [&](size_t i) { return i < utf8.size() ? static_cast<uint8_t>(utf8[i]) : uint8_t{0}; };
  if (byte(0) == 0xc2 && byte(1) < 0xa0) return byte(1);
  if (byte(0) != 0xe2 || (byte(1) != 0x80 && byte(1) != 0x81)) return 0;
  const uint32_t code = 0x2000 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu);
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ? code : 0;
}

constexpr std::string_view kNoCharacter = "\xef\xbf\xbd";

// The replacement of a byte; empty: itself.
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

// U+FFFE and U+FFFF are characters in UTF-8 but not in XML.
bool IsNoCharacter(std::string_view at) { return at.starts_with("\xef\xbf\xbe") || at.starts_with("\xef\xbf\xbf"); }

}  // namespace

std::string ToUtf8(std::string_view in) {
  if (std::all_of(in.begin(), in.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; })) return std::string(in);
  std::string out;
  while (!in.empty()) {
    uint32_t code = 0, low = 0;
    const size_t size = Decode(in, &code);
    if (size == 3 && IsHigh(code) && in.size() >= 6 && Decode(in.substr(3), &low) == 3 && IsLow(low)) {
      Append(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), &out);
      in.remove_prefix(6);
      continue;
    }
    Append(size == 0 || IsHigh(code) || IsLow(code) ? kReplacement : code, &out);
    in.remove_prefix(std::max<size_t>(size, 1));
  }
  return out;
}

void AppendBytes(Text& text, double bytes) {
  static constexpr std::string_view kUnits[] = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  if (!(bytes >= 0 && bytes < 1e18)) {
    fmt::format_to(fmt::appender(text), "{:.3g} B", bytes);
    return;
  }
  if (bytes < 1024) {
    Append(text, static_cast<uint64_t>(std::llround(bytes)));
    return Append(text, " B");
  }
  size_t unit = 0;
  for (bytes /= 1024; bytes >= 1024; bytes /= 1024) ++unit;
  const auto tenths = static_cast<uint64_t>(std::llround(bytes * 10));
  Append(text, tenths / 10);
  text.push_back('.');
  text.push_back(static_cast<char>('0' + tenths % 10));
  Append(text, kUnits[unit]);
}

std::string Bytes(double bytes) {
  Text text;
  AppendBytes(text, bytes);
  return fmt::to_string(text);
}

std::string Grouped(uint64_t number) {
  std::string digits = fmt::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string CountOf(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", Grouped(count), noun, count == 1 ? "" : "s");
}

std::string Duration(uint64_t ns) {
  if (ns < 60 * kSecond) return fmt::format("{:.3f} s", static_cast<double>(ns) * 1e-9);
  const uint64_t seconds = ns / kSecond;
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min {:02} s", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

void AppendJsonString(Text& text, std::string_view utf8) {
  text.push_back('"');
  size_t plain = 0;
  for (size_t i = 0; i < utf8.size(); ++i) {
    const char c = utf8[i];
    if (!IsControl(c) && c != '"' && c != '\\') continue;
    Append(text, utf8.substr(plain, i - plain));
    plain = i + 1;
    text.push_back('\\');
    if (c == '"' || c == '\\') {
      text.push_back(c);
    } else if (const char escape = ShortEscape(c)) {
      text.push_back(escape);
    } else {
      fmt::format_to(fmt::appender(text), "u{:04x}", static_cast<uint8_t>(c));
    }
  }
  Append(text, utf8.substr(plain));
  text.push_back('"');
}

void AppendJsonNumber(Text& text, double number) {
  if (std::isfinite(number)) {
    fmt::format_to(fmt::appender(text), "{}", number);
  } else {
    Append(text, "null");
  }
}

void AppendPrintable(Text& text, std::string_view utf8) {
  size_t plain = 0;
  for (size_t i = 0; i < utf8.size(); ++i) {
    const uint32_t steering = SteeringCode(utf8.substr(i));
    if (steering == 0 && !IsControl(utf8[i])) continue;
    Append(text, utf8.substr(plain, i - plain));
    if (steering != 0) {
      fmt::format_to(fmt::appender(text), "\\u{:04x}", steering);
      i += steering < 0x100 ? 1 : 2;
      plain = i + 1;
      continue;
    }
    plain = i + 1;
    if (const char escape = ShortEscape(utf8[i])) {
      text.push_back('\\');
      text.push_back(escape);
    } else {
      fmt::format_to(fmt::appender(text), "\\x{:02x}", static_cast<uint8_t>(utf8[i]));
    }
  }
  Append(text, utf8.substr(plain));
}

void ClockText::Render(int64_t second, bool local, Second* into) {
  if (into->of == second) return;
  const auto when = static_cast<time_t>(second);
  std::tm fields{};
  local ? localtime_r(&when, &fields) : gmtime_r(&when, &fields);
  if (strftime(into->date.data(), into->date.size(), "%Y-%m-%d", &fields) == 0) into->date[0] = '\0';
  if (strftime(into->time.data(), into->time.size(), "%H:%M:%S", &fields) == 0) into->time[0] = '\0';
  into->of = second;
}

void ClockText::AppendLocal(Text& text, uint64_t time_ns) {
  const uint64_t epoch_ns = EpochNs(time_ns);
  Render(static_cast<int64_t>(epoch_ns / kSecond), true, &local_);
  Append(text, local_.time.data());
  text.push_back('.');
  AppendPadded(text, epoch_ns % kSecond / 1000, 6);
  Append(text, " (");
  Append(text, local_.date.data());
  text.push_back(')');
}

std::string ClockText::Iso(uint64_t epoch_ns) {
  Text text;
  ClockText(epoch_ns).AppendIso(text, 0);
  return fmt::to_string(text);
}

void ClockText::AppendIso(Text& text, uint64_t time_ns) {
  const uint64_t epoch_ns = EpochNs(time_ns);
  Render(static_cast<int64_t>(epoch_ns / kSecond), false, &utc_);
  Append(text, utc_.date.data());
  text.push_back('T');
  Append(text, utc_.time.data());
  text.push_back('.');
  AppendPadded(text, epoch_ns % kSecond, 9);
  text.push_back('Z');
}

std::string ShortPercent(double share) {
  const double percent = 100 * share;
  if (percent > 0 && percent < 1e-3) return "<0.001 %";
  return percent < 9.95 ? fmt::format("{:.2g} %", percent) : fmt::format("{:.0f} %", percent);
}

void AppendCsvField(std::string_view utf8, Text& into) {
  // Separate searches are faster than a combined one, because fields are long.
  const bool is_plain = utf8.find(',') == std::string_view::npos && utf8.find('"') == std::string_view::npos &&
                        utf8.find('\n') == std::string_view::npos && utf8.find('\r') == std::string_view::npos;
  if (is_plain) return Append(into, utf8);
  into.push_back('"');
  for (const char c : utf8) {
    if (c == '"') into.push_back('"');
    into.push_back(c);
  }
  into.push_back('"');
}

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

#include "tools/import/jfr/texts.h"

#include <algorithm>

namespace heaprec::tools::jfr {
namespace {

enum class Encoding : uint8_t { kNull = 0, kEmpty = 1, kConstant = 2, kUtf8 = 3, kChars = 4, kLatin1 = 5 };

// One UTF-16 unit as modified UTF-8 has it: zero in two bytes, each half of a pair in three.
void AppendUnit(uint16_t unit, std::string* into) {
  if (unit != 0 && unit < 0x80) {
    into->push_back(static_cast<char>(unit));
  } else if (unit < 0x800) {
    into->push_back(static_cast<char>(0xc0 | unit >> 6));
    into->push_back(static_cast<char>(0x80 | (unit & 0x3f)));
  } else {
    into->push_back(static_cast<char>(0xe0 | unit >> 12));
    into->push_back(static_cast<char>(0x80 | (unit >> 6 & 0x3f)));
    into->push_back(static_cast<char>(0x80 | (unit & 0x3f)));
  }
}

size_t ReadSize(Cursor* at) {
  const int32_t size = at->Int();
  if (size >= 0 && static_cast<size_t>(size) <= at->left()) return static_cast<size_t>(size);
  at->Fail();
  return 0;
}

// A zero byte would end the name of a thread.
std::string WithoutZeros(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) byte == 0 ? AppendUnit(0, &text) : text.push_back(byte);
  return text;
}

}  // namespace

TextOrKey ReadText(Cursor* at) {
  TextOrKey read;
  switch (static_cast<Encoding>(at->Byte())) {
    case Encoding::kNull:
      read.is_null = true;
      break;
    case Encoding::kEmpty:
      break;
    case Encoding::kConstant:
      read.is_key = true;
      read.key = static_cast<uint64_t>(at->Long());
      break;
    case Encoding::kUtf8:
      read.text = WithoutZeros(at->Take(ReadSize(at)));
      break;
    case Encoding::kChars:
      for (size_t left = ReadSize(at); left > 0; --left) AppendUnit(at->Char(), &read.text);
      break;
    case Encoding::kLatin1:
      for (const char byte : at->Take(ReadSize(at))) AppendUnit(static_cast<uint8_t>(byte), &read.text);
      break;
    default:
      at->Fail();
  }
  return read;
}

}  // namespace heaprec::tools::jfr

#include "tools/text/utf8.h"

#include <algorithm>
#include <cstdint>

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

// The character at the front, as its bytes have it; its size. 0: no character.
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

}  // namespace heaprec::tools

// Columns of numbers and a JSON header as one text for a page: zlib, then base64. unpack.js reads it.
//
// Threads:  one.
// Failure:  none.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "tools/render/value.h"

namespace heaprec::tools {

class ColumnPacker {
 public:
  template <typename Value>
  void Add(const char* name, std::span<const Value> values) {
    layout_.emplace_back(render::List{name, TypeName<Value>(), values.size()});
    AddPlanes(reinterpret_cast<const char*>(values.data()), values.size(), sizeof(Value));
  }

  // `header`: what the page gets beside the columns; their layout is added to it.
  std::string Pack(render::Object header) const;

 private:
  template <typename Value>
  static constexpr const char* TypeName();
  // Byte 0 of all values, then byte 1, ...
  void AddPlanes(const char* bytes, size_t count, size_t width);

  render::List layout_;
  std::string planes_;
};

template <>
constexpr const char* ColumnPacker::TypeName<uint8_t>() {
  return "u8";
}
template <>
constexpr const char* ColumnPacker::TypeName<uint32_t>() {
  return "u32";
}
template <>
constexpr const char* ColumnPacker::TypeName<float>() {
  return "f32";
}
template <>
constexpr const char* ColumnPacker::TypeName<double>() {
  return "f64";
}

}  // namespace heaprec::tools

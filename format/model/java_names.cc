#include "format/model/java_names.h"

#include <algorithm>
#include <string_view>

namespace heaprec::format {
namespace {

std::string Dotted(std::string_view name) {
  std::string dotted(name);
  std::ranges::replace(dotted, '/', '.');
  return dotted;
}

bool IsHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// The address of a hidden class follows '+' in symbols, '.' in JVMTI, and '/' in Java.
std::string PlainName(std::string_view name) {
  const size_t mark = name.find_last_of("+.");
  if (mark == std::string_view::npos || mark == 0) return Dotted(name);
  const std::string_view address = name.substr(mark + 1);
  if (!address.starts_with("0x") || address.size() == 2) return Dotted(name);
  if (!std::ranges::all_of(address.substr(2), IsHex)) return Dotted(name);
  return Dotted(name.substr(0, mark)) + "/" + std::string(address);
}

std::string_view PrimitiveName(char code) {
  switch (code) {
    case 'Z':
      return "boolean";
    case 'B':
      return "byte";
    case 'C':
      return "char";
    case 'S':
      return "short";
    case 'I':
      return "int";
    case 'J':
      return "long";
    case 'F':
      return "float";
    case 'D':
      return "double";
    default:
      return {};
  }
}

}  // namespace

std::string JavaClassName(std::string_view internal_name) {
  const size_t dimensions = std::min(internal_name.find_first_not_of('['), internal_name.size());
  if (dimensions == 0) return PlainName(internal_name);
  const std::string_view element = internal_name.substr(dimensions);
  std::string name;
  if (element.size() == 1) name = PrimitiveName(element[0]);
  if (element.size() > 2 && element.front() == 'L' && element.back() == ';') {
    name = PlainName(element.substr(1, element.size() - 2));
  }
  if (name.empty()) return Dotted(internal_name);
  for (size_t i = 0; i < dimensions; ++i) name += "[]";
  return name;
}

}  // namespace heaprec::format

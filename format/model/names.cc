#include "format/model/names.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

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

// Empty: there is no such type.
std::string_view PrimitiveName(char code) {
  constexpr std::pair<char, std::string_view> kNames[] = {{'Z', "boolean"}, {'B', "byte"},  {'C', "char"},
                                                          {'S', "short"},   {'I', "int"},   {'J', "long"},
                                                          {'F', "float"},   {'D', "double"}};
  const auto* const found = std::ranges::find(kNames, code, &std::pair<char, std::string_view>::first);
  return found != std::end(kNames) ? found->second : std::string_view();
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

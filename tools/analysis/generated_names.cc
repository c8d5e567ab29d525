#include "tools/analysis/generated_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace heaprec::tools {
namespace {

constexpr std::string_view kLambda = "$$Lambda";
// Numbers that follow these count what was made in this run.
constexpr std::array<std::string_view, 4> kNumbered{"$Proxy", "jdk.proxy", "GeneratedMethodAccessor",
                                                    "GeneratedConstructorAccessor"};
// A shorter number behind a slash may mean something.
constexpr size_t kFewestDigits = 8;

size_t Digits(std::string_view text, int (*is_digit)(int)) {
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), [&](unsigned char c) { return is_digit(c); }) -
                             text.begin());
}

// Length of the "$141" behind a lambda's name.
size_t Number(std::string_view text) {
  if (!text.starts_with('$')) return 0;
  const size_t digits = Digits(text.substr(1), std::isdigit);
  return digits > 0 ? 1 + digits : 0;
}

// Length of "/0x00007f0f84115150"; older JVMs write it in decimal.
size_t Address(std::string_view text, bool of_lambda) {
  if (text.starts_with("/0x")) {
    const size_t digits = Digits(text.substr(3), std::isxdigit);
    return digits >= kFewestDigits ? 3 + digits : 0;
  }
  if (!of_lambda || !text.starts_with('/')) return 0;
  const size_t digits = Digits(text.substr(1), std::isdigit);
  return digits > 0 ? 1 + digits : 0;
}

// Length of "$Proxy" where a number follows.
size_t Numbered(std::string_view text) {
  for (const std::string_view name : kNumbered) {
    if (text.starts_with(name) && Digits(text.substr(name.size()), std::isdigit) > 0) return name.size();
  }
  return 0;
}

}  // namespace

std::string StripGeneratedSuffix(std::string_view name) {
  std::string kept;
  while (!name.empty()) {
    const bool is_lambda = name.starts_with(kLambda);
    if (is_lambda) {
      kept += kLambda;
      name.remove_prefix(kLambda.size());
      name.remove_prefix(Number(name));
    }
    if (const size_t numbered = Numbered(name); numbered > 0) {
      kept += name.substr(0, numbered);
      name.remove_prefix(numbered);
      name.remove_prefix(Digits(name, std::isdigit));
      continue;
    }
    const size_t address = Address(name, is_lambda);
    name.remove_prefix(address);
    if (is_lambda || address > 0) continue;
    kept += name.front();
    name.remove_prefix(1);
  }
  return kept;
}

}  // namespace heaprec::tools

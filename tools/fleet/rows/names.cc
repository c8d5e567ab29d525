#include "tools/fleet/rows/names.h"

#include <array>
#include <cctype>
#include <span>

#include "format/bytes/layout.h"
#include "tools/analysis/generated_names.h"

namespace heaprec::tools::fleet {
namespace {

// A number, or hexadecimal digits, behind these is made up.
constexpr std::array<std::string_view, 6> kBeforeNumbers{"$Proxy",
                                                         "GeneratedMethodAccessor",
                                                         "GeneratedConstructorAccessor",
                                                         "GeneratedSerializationConstructorAccessor",
                                                         "$HibernateProxy$",
                                                         "$MockitoMock$"};
constexpr std::array<std::string_view, 3> kBeforeHex{"BySpringCGLIB$$", "ByCGLIB$$", "ByGuice$$"};

template <size_t N>
size_t MarkAt(std::string_view name, const std::array<std::string_view, N>& marks) {
  for (const std::string_view mark : marks) {
    if (name.starts_with(mark)) return mark.size();
  }
  return 0;
}

size_t Digits(std::string_view text, int (*is_digit)(int)) {
  size_t count = 0;
  while (count < text.size() && is_digit(static_cast<unsigned char>(text[count])) != 0) ++count;
  return count;
}

}  // namespace

std::string FleetName(std::string_view name) {
  const std::string without = StripGeneratedSuffix(name);
  std::string_view left = without;
  std::string kept;
  while (!left.empty()) {
    size_t mark = MarkAt(left, kBeforeNumbers), made_up = 0;
    if (mark > 0) {
      made_up = Digits(left.substr(mark), std::isdigit);
    } else if ((mark = MarkAt(left, kBeforeHex)) > 0) {
      made_up = Digits(left.substr(mark), std::isxdigit);
    }
    const size_t taken = mark > 0 ? mark : 1;
    kept += left.substr(0, taken);
    left.remove_prefix(taken + made_up);
  }
  return kept;
}

uint64_t NameId(NameKind kind, std::string_view name) {
  const uint64_t hash = format::Hash(std::as_bytes(std::span(name.data(), name.size())), static_cast<uint64_t>(kind));
  return hash != 0 ? hash : 1;
}

}  // namespace heaprec::tools::fleet

#include "tools/fleet/rows/names.h"

#include <span>

#include "format/bytes/layout.h"

namespace heaprec::tools::fleet {

uint64_t NameId(NameKind kind, std::string_view name) {
  const uint64_t hash = format::Hash(std::as_bytes(std::span(name.data(), name.size())), static_cast<uint64_t>(kind));
  return hash != 0 ? hash : 1;
}

}  // namespace heaprec::tools::fleet

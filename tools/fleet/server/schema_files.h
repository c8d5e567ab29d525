// The files of schema/, embedded at build time.
#pragma once

#include <string_view>

namespace heaprec::tools::fleet {

extern const std::string_view kTablesSql, kClusterSql, kModernSql;

}  // namespace heaprec::tools::fleet

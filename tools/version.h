#pragma once

namespace heaprec::tools {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace heaprec::tools

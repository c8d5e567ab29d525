// The kinds of allocation as options, text and exports spell them.
#pragma once

#include "format/model.h"

namespace heaprec::tools {

inline const char* KindName(format::Kind kind) { return kind == format::Kind::kTlab ? "tlab" : "outside"; }

}  // namespace heaprec::tools

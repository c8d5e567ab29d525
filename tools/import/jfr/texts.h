// A text of a JFR file, in any of its encodings.
#pragma once

#include <cstdint>
#include <string>

#include "tools/import/jfr/cursor.h"

namespace heaprec::tools::jfr {

struct TextOrKey {
  bool is_null = false;
  bool is_key = false;  // of a constant of the pool of strings
  uint64_t key = 0;
  std::string text;  // modified UTF-8, as HotSpot has names
};

// An encoding that is not known fails the cursor.
TextOrKey ReadText(Cursor* at);

}  // namespace heaprec::tools::jfr

// The metadata event of a chunk: the schema as the format writes it, a tree of elements with attributes.
#pragma once

#include <string>

namespace heaprec::tools::jfr {

// The whole event; the same in every chunk.
const std::string& MetadataEvent();

}  // namespace heaprec::tools::jfr

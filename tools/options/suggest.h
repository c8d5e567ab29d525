// What somebody may have meant who typed something else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heaprec::tools {

// The candidate nearest to `word`: at most a third of its letters, and two at least, were mistyped (left out, added,
// exchanged with another, or with the next). Empty: none is near.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace heaprec::tools

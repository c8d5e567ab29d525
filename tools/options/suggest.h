// Suggests a valid word for a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heaprec::tools {

// Number of letters to remove, add or replace, and of neighbours to swap, to convert one text to the other (optimal
// string alignment).
size_t EditDistance(std::string_view a, std::string_view b);

// The candidate nearest to `word`; empty: none is near. At most a third of the letters may be mistyped (left out,
// added, replaced, or swapped with the next), but always one in a word of up to four letters and two in a longer word.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

// `message`, and "; did you mean 'CANDIDATE'?" if one is near `word`.
std::string WithSuggestion(std::string message, std::string_view word, const std::vector<std::string>& candidates);

// Returns "message; hint", or "message? Hint" after a question.
std::string WithHint(std::string message, std::string hint);

}  // namespace heaprec::tools

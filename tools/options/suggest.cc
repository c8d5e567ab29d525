#include "tools/options/suggest.h"

#include <algorithm>
#include <cctype>

namespace heaprec::tools {
namespace {

constexpr size_t kLongest = 100;  // maximum length of words to compare
constexpr size_t kShort = 4;      // words up to this length may have only one mistake

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> edits(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      const size_t differs = a[i - 1] != b[j - 1];
      edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + differs});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
      }
    }
  }
  return edits[a.size()][b.size()];
}

std::string Nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string nearest;
  if (word.size() > kLongest) return nearest;
  size_t least = std::max<size_t>(word.size() <= kShort ? 1 : 2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    // Ignores candidates that share no letter.
    if (distance >= least || distance >= std::max(word.size(), candidate.size())) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string WithSuggestion(std::string message, std::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = Nearest(word, candidates);
  return nearest.empty() || nearest == word ? message : message + "; did you mean '" + nearest + "'?";
}

std::string WithHint(std::string message, std::string hint) {
  const bool asks = message.ends_with('?');
  if (asks) hint[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(hint[0])));
  return message + (asks ? " " : "; ") + hint;
}

}  // namespace heaprec::tools

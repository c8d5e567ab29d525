#include "tools/query/filter/name_pattern.h"

#include <utility>

namespace heaprec::tools {
namespace {

using format::Result;

// Greedy with one point to come back to: linear in practice, and no recursion on names of any length.
bool GlobMatches(std::string_view glob, std::string_view name) {
  size_t g = 0, n = 0, star = std::string_view::npos, retry = 0;
  while (n < name.size()) {
    if (g < glob.size() && (glob[g] == '?' || (glob[g] == name[n] && glob[g] != '*'))) {
      ++g, ++n;
    } else if (g < glob.size() && glob[g] == '*') {
      star = g++;
      retry = n;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      n = ++retry;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

bool IsSlashed(std::string_view pattern) {
  return pattern.size() > 2 && pattern.front() == '/' && pattern.back() == '/';
}

}  // namespace

Result<NamePattern> NamePattern::ForNames(std::string_view pattern) {
  NamePattern made;
  made.text_ = pattern;
  if (IsSlashed(pattern)) {
    auto regex = FramePattern::Parse("pattern", pattern.substr(1, pattern.size() - 2));
    if (!regex.ok()) return regex.error();
    made.regex_ = std::move(*regex);
    made.how_ = How::kFind;
  } else if (pattern.find_first_of("*?") != std::string_view::npos) {
    made.how_ = How::kGlob;
  }
  return made;
}

Result<NamePattern> NamePattern::ForFreeText(std::string_view pattern) {
  if (IsSlashed(pattern)) return ForNames(pattern);
  NamePattern made;
  made.text_ = pattern;
  made.how_ = How::kFind;
  // "pool-1 (io" is no regular expression, but still text to look for.
  if (auto regex = FramePattern::Parse("pattern", pattern); regex.ok()) made.regex_ = std::move(*regex);
  return made;
}

bool NamePattern::Matches(std::string_view name) const {
  if (how_ == How::kFind) {
    return (regex_ && regex_->Matches(name)) || name.find(text_) != std::string_view::npos;
  }
  while (true) {
    if (how_ == How::kGlob ? GlobMatches(text_, name) : name == text_) return true;
    const size_t dot = name.find('.');
    if (dot == std::string_view::npos) return false;
    name.remove_prefix(dot + 1);
  }
}

}  // namespace heaprec::tools

#include "tools/name_pattern.h"

#include <fmt/format.h>

namespace heaprec::tools {
namespace {

using format::Error;
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
    try {
      made.regex_.emplace(made.text_.substr(1, made.text_.size() - 2));
    } catch (const std::regex_error& error) {
      return Error{fmt::format("'{}' is no regular expression: {}", pattern, error.what())};
    }
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
  try {
    made.regex_.emplace(made.text_);
  } catch (const std::regex_error&) {
    made.regex_.reset();  // "pool-1 (io" is plain text
  }
  return made;
}

bool NamePattern::Matches(std::string_view name) const {
  if (how_ == How::kFind) {
    return (regex_ && std::regex_search(name.begin(), name.end(), *regex_)) ||
           name.find(text_) != std::string_view::npos;
  }
  while (true) {
    if (how_ == How::kGlob ? GlobMatches(text_, name) : name == text_) return true;
    const size_t dot = name.find('.');
    if (dot == std::string_view::npos) return false;
    name.remove_prefix(dot + 1);
  }
}

}  // namespace heaprec::tools

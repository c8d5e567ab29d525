#include "tools/query/filter/name_pattern.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <string>
#include <utility>

#include "format/model/names.h"
#include "tools/analysis/groups/grouping.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// Escapes the text.
std::string Quoted(std::string_view text) { return re2::RE2::QuoteMeta(re2::StringPiece(text.data(), text.size())); }

bool IsSlashed(std::string_view pattern) {
  return pattern.size() > 2 && pattern.front() == '/' && pattern.back() == '/';
}

// "[B", "[[Lp/A;", but not "[unknown]".
bool IsArrayDescriptor(std::string_view pattern) {
  static const auto* const kDescriptor = new re2::RE2("\\[+([BCDFIJSZ]|L[^;]+;)");
  return re2::RE2::FullMatch(re2::StringPiece(pattern.data(), pattern.size()), *kDescriptor);
}

constexpr size_t kNearest = 3;
constexpr size_t kLongest = 200;  // maximum length of patterns to compare
constexpr std::array<std::string_view, 5> kWords{"class", "method", "package", "thread", "label"};

// Removes pattern characters, and converts to lower case.
std::string Plain(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (std::string_view("*?^\\()|+/").find(c) == std::string_view::npos) plain += c;
  }
  if (plain.ends_with('$')) plain.pop_back();
  std::ranges::transform(plain, plain.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return plain;
}

bool IsSeparator(char c) { return c == '.' || c == '$'; }

// The end of `name` with as many parts as the pattern.
std::string_view EndOf(std::string_view name, size_t parts) {
  for (size_t at = name.size(); at > 0; --at) {
    if (IsSeparator(name[at - 1]) && --parts == 0) return name.substr(at);
  }
  return name;
}

// The recording's names that the pattern may match.
std::set<std::string> NamesFor(const AskedName& asked, Recording* recording) {
  const Named kind = asked.kind;
  const bool is_tid = asked.text.starts_with('#');
  std::set<std::string> names;
  MergedNames merged(/*settles=*/false);
  Names names_of(&merged);
  const auto add_thread = [&](format::Index index) {
    const format::Thread& thread = *names_of.ThreadOf(index);
    if (kind == Named::kLabel) {
      format::ForEachLabel(thread.name, [&](std::string_view key, std::string_view value) {
        names.insert(ToUtf8(key));
        names.insert(ToUtf8(key) + "=" + ToUtf8(value));
      });
    } else if (is_tid) {
      names.insert({fmt::format("#{}", thread.java_tid), fmt::format("#os:{}", thread.os_tid)});
    } else {
      names.emplace(names_of.Thread(index));
    }
  };
  uint32_t chunk = format::kNone;
  format::Index read = 0;  // entries of the chunk that have been read
  Walk(recording, [&](const format::Block& block) {
    names_of.Enter(block);
    const format::Dictionaries& now = *block.dictionaries;
    const size_t size = kind == Named::kClass                               ? now.classes.size()
                        : kind == Named::kMethod || kind == Named::kPackage ? now.methods.size()
                                                                            : now.threads.size();
    if (std::exchange(chunk, block.chunk) != block.chunk || size < read) read = 0;
    for (; read < size; ++read) {
      if (kind == Named::kClass) names.emplace(names_of.Class(read));
      if (kind == Named::kMethod) names.emplace(names_of.Method(read));
      if (kind == Named::kPackage) names.emplace(PackageOf(names_of.Method(read)));
      if (kind == Named::kThread || kind == Named::kLabel) add_thread(read);
    }
  });
  return names;
}

}  // namespace

Result<NamePattern> NamePattern::ForFrames(std::string_view expression) {
  auto regex = std::make_shared<const re2::RE2>(re2::StringPiece(expression.data(), expression.size()), RE2::Quiet);
  if (regex->ok()) return NamePattern(std::move(regex));
  const size_t at = regex->error_arg().empty() ? std::string::npos : expression.find(regex->error_arg());
  const std::string where =
      at == std::string::npos ? "" : fmt::format(" at character {}: '{}'", at + 1, regex->error_arg());
  const std::string& why = regex->error();
  return Error{fmt::format("'{}': {}{}", expression, why.substr(0, why.find(": ")), where)};
}

Result<NamePattern> NamePattern::ForNames(std::string_view pattern) {
  if (IsSlashed(pattern)) return ForFrames(pattern.substr(1, pattern.size() - 2));
  const std::string text = IsArrayDescriptor(pattern) ? format::JavaClassName(pattern) : std::string(pattern);
  // Names of native functions may have parameters.
  const size_t parameters = text.ends_with(')') ? text.find('(') : std::string::npos;
  std::string expression = Quoted(text.substr(0, parameters));
  if (parameters != std::string::npos) expression += "(?:" + Quoted(text.substr(parameters)) + ")?";
  expression = "(?s)(?:^|[.$])" + expression + "$";
  re2::RE2::GlobalReplace(&expression, R"(\\\*)", ".*");
  re2::RE2::GlobalReplace(&expression, R"(\\\?)", ".");
  re2::RE2::GlobalReplace(&expression, R"(\\#)", "(?:#|[0-9]+)");
  return ForFrames(expression);
}

Result<NamePattern> NamePattern::ForFreeText(std::string_view pattern) {
  if (IsSlashed(pattern)) return ForNames(pattern);
  // "pool-1 (io" is not a regular expression, but still a text to search for.
  const std::string text = Quoted(pattern);
  return ForFrames(ForFrames(pattern).ok() ? fmt::format("(?:{})|{}", pattern, text) : text);
}

bool NamePattern::Matches(std::string_view name) const {
  return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *regex_);
}

std::vector<std::string> NearestNames(std::string_view text, const std::set<std::string>& names) {
  const std::string plain = Plain(text);
  if (plain.empty() || plain.size() > kLongest) return {};
  const auto parts = static_cast<size_t>(std::ranges::count_if(plain, IsSeparator)) + 1;
  const size_t most = std::max<size_t>(2, plain.size() / 2);
  std::vector<std::pair<size_t, std::string>> nearest;
  for (const std::string& name : names) {
    const std::string lower = Plain(name);
    const std::string_view end = EndOf(lower, parts);
    size_t distance = EditDistance(plain, lower.substr(0, plain.size()));
    if (end.size() <= plain.size() + most) distance = std::min(distance, EditDistance(plain, end));
    if (lower.find(plain) != std::string::npos) distance = std::min<size_t>(distance, 1);
    if (distance <= most) nearest.emplace_back(distance, name);
  }
  std::ranges::sort(nearest);
  std::vector<std::string> found;
  for (auto& [distance, name] : nearest | std::views::take(kNearest)) found.push_back(std::move(name));
  return found;
}

std::string NoMatchText(std::string_view what, const std::vector<std::string>& nearest) {
  return fmt::format("no {} matches{}{}", what, nearest.empty() ? "" : "; nearest: ", fmt::join(nearest, ", "));
}

std::optional<std::string> WhyNoMatch(const AskedName& asked, const std::vector<std::string>& files) {
  std::set<std::string> names;
  for (const std::string& file : files) {
    if (file == "-") continue;
    auto recordings = Recording::OpenAll(file);
    if (!recordings.ok()) continue;
    for (const auto& recording : *recordings) names.merge(NamesFor(asked, recording.get()));
  }
  if (std::ranges::any_of(names, asked.matches)) return std::nullopt;
  return NoMatchText(kWords[static_cast<size_t>(asked.kind)], NearestNames(asked.text, names));
}

void ReportUnmatched(const std::vector<AskedName>& asked, const std::vector<std::string>& files) {
  for (const AskedName& one : asked) {
    if (const auto why = WhyNoMatch(one, files)) PrintError(one.asked + ": " + *why);
  }
}

void StackMatch::Enter(const format::Block& block, Names* names, bool is_new) {
  if (is_new) {
    frames_.clear();
    passed_over_.clear();
    stacks_.clear();
  }
  names_ = names;
  frames_.resize(block.dictionaries->frames.size());
  passed_over_.resize(block.dictionaries->frames.size());
  stacks_.resize(block.dictionaries->stacks.size());
}

bool StackMatch::Ask(const Test& test, format::Index frame, Matches* known) {
  return IsMatch(known, frame, [&] { return test(names_->Method(*names_->FrameOf(frame))); });
}

// Tests the first frame that is not skipped, or the leaf.
bool StackMatch::Site(format::Index stack) {
  return IsMatch(&stacks_, stack, [&] {
    for (format::Index at = stack;;) {
      const format::StackNode& node = *names_->NodeOf(at);
      if (!Ask(passes_over_, node.frame, &passed_over_)) return OfFrame(node.frame);
      if (node.parent >= at) return OfFrame(names_->NodeOf(stack)->frame);  // kNone, or damaged
      at = node.parent;
    }
  });
}

// The result of a node is that of its frame or of its parent; walks up to a known node, and stores the result for the
// leaf.
bool StackMatch::AnyFrame(format::Index stack) {
  return IsMatch(&stacks_, stack, [&] {
    for (format::Index at = stack;;) {
      const format::StackNode& node = *names_->NodeOf(at);
      if (OfFrame(node.frame)) return true;
      if (node.parent >= at) return false;  // kNone, or damaged
      at = node.parent;
      if (stacks_[at] != Match::kNotLooked) return stacks_[at] == Match::kYes;
    }
  });
}

}  // namespace heaprec::tools

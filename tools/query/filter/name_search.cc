#include "tools/query/filter/name_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "format/model/thread_name.h"
#include "tools/analysis/groups/grouping.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/options/suggest.h"
#include "tools/text/messages.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

constexpr size_t kNearest = 3;
constexpr size_t kLongest = 200;  // of patterns that are compared
constexpr std::array<std::string_view, 5> kWords{"class", "method", "package", "thread", "label"};

// Without what only a pattern has, in lower case.
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

// The end of `name` that has as many parts as the pattern.
std::string_view EndOf(std::string_view name, size_t parts) {
  for (size_t at = name.size(); at > 0; --at) {
    if (IsSeparator(name[at - 1]) && --parts == 0) return name.substr(at);
  }
  return name;
}

// The names of the recording among which the pattern is to be found.
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
  format::Index read = 0;  // entries of the chunk
  while (const auto block = recording->Next()) {
    names_of.Enter(*block);
    const format::Dictionaries& now = *block->dictionaries;
    const size_t size = kind == Named::kClass                               ? now.classes.size()
                        : kind == Named::kMethod || kind == Named::kPackage ? now.methods.size()
                                                                            : now.threads.size();
    if (std::exchange(chunk, block->chunk) != block->chunk || size < read) read = 0;
    for (; read < size; ++read) {
      if (kind == Named::kClass) names.emplace(names_of.Class(read));
      if (kind == Named::kMethod) names.emplace(names_of.Method(read));
      if (kind == Named::kPackage) names.emplace(PackageOf(names_of.Method(read)));
      if (kind == Named::kThread || kind == Named::kLabel) add_thread(read);
    }
  }
  return names;
}

}  // namespace

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

}  // namespace heaprec::tools

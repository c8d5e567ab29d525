#include "tools/query/filter/name_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "format/model/thread_name.h"
#include "tools/analysis/grouping.h"
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

class NameReader {
 public:
  NameReader(Named kind, bool ids) : kind_(kind), ids_(ids) {}

  void Add(const format::Block& block) {
    names_of_.Enter(block);
    const format::Dictionaries& now = *block.dictionaries;
    const size_t size = kind_ == Named::kClass ? now.classes.size()
                        : IsOfMethod()         ? now.methods.size()
                                               : now.threads.size();
    if (block.chunk != chunk_ || size < read_) read_ = 0;
    chunk_ = block.chunk;
    for (; read_ < size; ++read_) AddEntry(static_cast<format::Index>(read_));
  }
  std::set<std::string> Take() { return std::move(names_); }

 private:
  bool IsOfMethod() const { return kind_ == Named::kMethod || kind_ == Named::kPackage; }
  void AddEntry(format::Index index) {
    if (kind_ == Named::kClass) names_.emplace(names_of_.Class(index));
    if (kind_ == Named::kMethod) names_.emplace(names_of_.Method(index));
    if (kind_ == Named::kPackage) names_.emplace(PackageOf(names_of_.Method(index)));
    if (kind_ == Named::kThread && !ids_) names_.emplace(names_of_.Thread(index));
    if (kind_ == Named::kThread && ids_) {
      names_.insert(fmt::format("#{}", names_of_.ThreadOf(index)->java_tid));
      names_.insert(fmt::format("#os:{}", names_of_.ThreadOf(index)->os_tid));
    }
    if (kind_ != Named::kLabel) return;
    format::ForEachLabel(names_of_.ThreadOf(index)->name, [&](std::string_view key, std::string_view value) {
      names_.insert(ToUtf8(key));
      names_.insert(ToUtf8(key) + "=" + ToUtf8(value));
    });
  }

  const Named kind_;
  const bool ids_;
  MergedNames merged_{/*settles=*/false};
  Names names_of_{&merged_};
  std::set<std::string> names_;
  uint32_t chunk_ = format::kNone;
  size_t read_ = 0;  // entries of the current chunk
};

}  // namespace

std::vector<std::string> NearestNames(std::string_view text, const std::set<std::string>& names) {
  const std::string plain = Plain(text);
  const auto parts = static_cast<size_t>(std::ranges::count_if(plain, IsSeparator)) + 1;
  std::vector<std::pair<size_t, std::string>> nearest;
  if (plain.empty() || plain.size() > kLongest) return {};
  const size_t most = std::max<size_t>(2, plain.size() / 2);
  for (const std::string& name : names) {
    const std::string lower = Plain(name);
    const std::string_view end = EndOf(lower, parts);
    size_t distance = EditDistance(plain, lower.substr(0, plain.size()));
    if (end.size() <= plain.size() + most) distance = std::min(distance, EditDistance(plain, end));
    if (lower.find(plain) != std::string::npos) distance = std::min<size_t>(distance, 1);
    if (distance > most) continue;
    nearest.emplace_back(distance, name);
    std::ranges::sort(nearest);
    if (nearest.size() > kNearest) nearest.pop_back();
  }
  std::vector<std::string> found;
  for (auto& [distance, name] : nearest) found.push_back(std::move(name));
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
    for (const auto& recording : *recordings) {
      NameReader reader(asked.kind, asked.kind == Named::kThread && asked.text.starts_with('#'));
      while (const auto block = recording->Next()) reader.Add(*block);
      names.merge(reader.Take());
    }
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

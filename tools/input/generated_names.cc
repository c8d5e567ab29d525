#include "tools/input/generated_names.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// What is made up is in no group. A shorter number behind a slash, or word behind two dollar signs, may mean something;
// older JVMs write the address of a lambda in decimal.
const re2::RE2& MadeUp() {
  static const auto* const made_up = new re2::RE2(
      R"((\$\$Lambda)(?:\$\d+)?(?:/0x[[:xdigit:]]{8,}|/[1-9]\d*)?)"
      R"(|/0x[[:xdigit:]]{8,})"
      R"(|(\$Proxy|jdk\.proxy|jdk\.MHProxy|Generated(?:Method|Constructor|SerializationConstructor)Accessor)\d+\b)"
      R"(|(CGLIB\$\$|ByGuice\$\$)[[:xdigit:]]+\b)"
      R"(|(\$HibernateProxy\$|\$MockitoMock\$|\$ByteBuddy\$|\$auxiliary\$)[[:alnum:]]+\b)"
      R"(|(_\$\$_jvst|_\$\$_javassist_)\w+)"
      R"(|(\$\$)[[:xdigit:]]{8}\b)",
      re2::RE2::Latin1);
  return *made_up;
}

// "com.acme.Script#" of "com.acme.Script1111"; the name itself: it has no template.
std::string TemplateOf(const std::string& name) {
  for (const std::string_view of_jdk : {"java.", "javax.", "jdk.", "sun.", "["}) {
    if (name.starts_with(of_jdk)) return name;
  }
  if (name.find(".so") != std::string::npos) return name;  // a library with its version
  const size_t simple = name.rfind('.') + 1;
  std::string made = name.substr(simple);
  static const auto* const number = new re2::RE2("[0-9]+");
  re2::RE2::GlobalReplace(&made, *number, "#");
  return name.substr(0, simple) + made;
}

}  // namespace

std::string StripGeneratedSuffix(std::string_view name) {
  std::string kept(name);
  if (name.find_first_of("$/0123456789") != std::string_view::npos)
    re2::RE2::GlobalReplace(&kept, MadeUp(), R"(\1\2\3\4\5\6)");
  return kept;
}

std::string MergedNames::Of(std::string_view name, std::string_view label) {
  const auto [known, is_new] = known_.try_emplace(std::string(name).append(1, '\0').append(label));
  if (is_new) known->second = Find(name, label);
  return known->second;
}

std::string MergedNames::Find(std::string_view name, std::string_view label) {
  std::string shown = StripGeneratedSuffix(name);
  if (std::string made = TemplateOf(shown); made != shown) {
    if (one_name_.contains(made)) {
      shown = std::move(made);
    } else if (settles_) {
      families_[made][shown].insert(recording_);
    }
  }
  if (const size_t lambda = label.empty() ? std::string::npos : shown.find(kLambda); lambda != std::string::npos)
    shown.insert(lambda + kLambda.size(), fmt::format("[{}]", label));
  if (shown != name) Note(name, shown);
  return shown;
}

// The JDK's own make no difference that anybody would look for.
void MergedNames::Note(std::string_view name, const std::string& shown) {
  if (name.starts_with("java.") || name.starts_with("jdk.") || name.starts_with("com.sun.proxy.")) return;
  if (seen_.insert(std::string(name) + '\0' + shown).second) ++merged_into_[shown];
}

bool MergedNames::IsOneName(const Family& family) {
  struct Count {
    size_t own = 0, shared = 0;
  };
  std::unordered_map<uint32_t, Count> counts;
  for (const auto& [name, recordings] : family) {
    for (const uint32_t recording : recordings)
      ++(recordings.size() == 1 ? counts[recording].own : counts[recording].shared);
  }
  const auto is_large = [](const auto& of) { return of.second.own + of.second.shared > kMostOfTemplate; };
  const auto is_apart = [](const auto& of) { return of.second.own > of.second.shared; };
  return std::ranges::any_of(counts, is_large) || (counts.size() > 1 && std::ranges::all_of(counts, is_apart));
}

bool MergedNames::Settle() {
  bool is_more = false;
  for (const auto& [made, family] : families_) {
    if (IsOneName(family)) is_more = one_name_.insert(made).second || is_more;
  }
  if (!is_more) return false;
  known_.clear();
  families_.clear();
  seen_.clear();
  merged_into_.clear();
  return true;
}

std::string MergedNames::Text() const {
  uint64_t names = 0, shown = 0;
  for (const auto& [name, count] : merged_into_) {
    if (count > 1) names += count, ++shown;
  }
  if (names == 0) return "";
  return fmt::format("{} generated names of classes are shown as {}; --names exact keeps them apart", Grouped(names),
                     Grouped(shown));
}

}  // namespace heaprec::tools

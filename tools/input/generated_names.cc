#include "tools/input/generated_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

int IsWord(int c) { return std::isalnum(c) != 0 || c == '_' ? 1 : 0; }

// What follows these was made up in this run.
struct Mark {
  std::string_view text;
  int (*is_made_up)(int);
};
constexpr std::array<Mark, 14> kMarks{{{"$Proxy", std::isdigit},
                                       {"jdk.proxy", std::isdigit},
                                       {"jdk.MHProxy", std::isdigit},
                                       {"GeneratedMethodAccessor", std::isdigit},
                                       {"GeneratedConstructorAccessor", std::isdigit},
                                       {"GeneratedSerializationConstructorAccessor", std::isdigit},
                                       {"CGLIB$$", std::isxdigit},
                                       {"ByGuice$$", std::isxdigit},
                                       {"$HibernateProxy$", std::isalnum},
                                       {"$MockitoMock$", std::isalnum},
                                       {"$ByteBuddy$", std::isalnum},
                                       {"$auxiliary$", std::isalnum},
                                       {"_$$_jvst", IsWord},
                                       {"_$$_javassist_", IsWord}}};
// A shorter number behind a slash, or word behind two dollar signs, may mean something.
constexpr size_t kFewestDigits = 8;

size_t Digits(std::string_view text, int (*is_digit)(int)) {
  return static_cast<size_t>(
      std::find_if_not(text.begin(), text.end(), [&](unsigned char c) { return is_digit(c) != 0; }) - text.begin());
}

// The same, if a word ends there.
size_t WholeWord(std::string_view text, int (*is_digit)(int)) {
  const size_t digits = Digits(text, is_digit);
  return digits == text.size() || IsWord(static_cast<unsigned char>(text[digits])) == 0 ? digits : 0;
}

// Length of the "$141" behind a lambda's name.
size_t Number(std::string_view text) {
  if (!text.starts_with('$')) return 0;
  const size_t digits = Digits(text.substr(1), std::isdigit);
  return digits > 0 ? 1 + digits : 0;
}

// Length of "/0x00007f0f84115150"; older JVMs write it in decimal.
size_t Address(std::string_view text, bool of_lambda) {
  if (text.starts_with("/0x")) {
    const size_t digits = Digits(text.substr(3), std::isxdigit);
    return digits >= kFewestDigits ? 3 + digits : 0;
  }
  if (!of_lambda || !text.starts_with('/')) return 0;
  const size_t digits = Digits(text.substr(1), std::isdigit);
  return digits > 0 ? 1 + digits : 0;
}

// Lengths of a mark and of what was made up behind it; {0, 0}: there is none.
std::pair<size_t, size_t> Marked(std::string_view text) {
  for (const Mark& mark : kMarks) {
    if (!text.starts_with(mark.text)) continue;
    if (const size_t digits = WholeWord(text.substr(mark.text.size()), mark.is_made_up); digits > 0)
      return {mark.text.size(), digits};
  }
  constexpr std::string_view kTwo = "$$";
  const bool is_hex = text.starts_with(kTwo) && WholeWord(text.substr(kTwo.size()), std::isxdigit) == kFewestDigits;
  return is_hex ? std::pair{kTwo.size(), kFewestDigits} : std::pair{size_t{0}, size_t{0}};
}

// "com.acme.Script#" of "com.acme.Script1111"; the name itself: it has no template.
std::string TemplateOf(const std::string& name) {
  for (const std::string_view of_jdk : {"java.", "javax.", "jdk.", "sun.", "["}) {
    if (name.starts_with(of_jdk)) return name;
  }
  if (name.find(".so") != std::string::npos) return name;  // a library with its version
  const size_t dot = name.rfind('.');
  const size_t simple = dot == std::string::npos ? 0 : dot + 1;
  std::string made = name.substr(0, simple);
  for (std::string_view rest = std::string_view(name).substr(simple); !rest.empty();) {
    const size_t digits = Digits(rest, std::isdigit);
    made += digits > 0 ? '#' : rest.front();
    rest.remove_prefix(std::max<size_t>(digits, 1));
  }
  return made;
}

}  // namespace

std::string StripGeneratedSuffix(std::string_view name) {
  if (name.find_first_of("$/0123456789") == std::string_view::npos) return std::string(name);
  std::string kept;
  while (!name.empty()) {
    const bool is_lambda = name.starts_with(kLambda);
    if (is_lambda) {
      kept += kLambda;
      name.remove_prefix(kLambda.size());
      name.remove_prefix(Number(name));
    }
    if (const auto [mark, made_up] = Marked(name); mark > 0) {
      kept += name.substr(0, mark);
      name.remove_prefix(mark + made_up);
      continue;
    }
    const size_t address = Address(name, is_lambda);
    name.remove_prefix(address);
    if (is_lambda || address > 0) continue;
    kept += name.front();
    name.remove_prefix(1);
  }
  return kept;
}

std::string MergedNames::Of(std::string_view name, std::string_view label) {
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

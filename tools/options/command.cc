#include "tools/options/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/time.h"

namespace heaprec::tools {
namespace {

template <typename Number>
std::optional<Number> NumberIn(std::string_view word) {
  Number number{};
  if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

template <typename Number>
std::string Store(const std::string& word, Number& into) {
  const auto number = NumberIn<Number>(word);
  if (!number && std::is_unsigned_v<Number>) {
    return fmt::format("'{}' is not a whole number from 0 to {}", word, std::numeric_limits<Number>::max());
  }
  if (!number) return fmt::format("'{}' is not a {}number", word, std::is_integral_v<Number> ? "whole " : "");
  into = *number;
  return "";
}

std::string Store(const std::string& word, std::string& into) {
  into = word;
  return "";
}

template <typename T>
std::string Store(const std::string& word, std::optional<T>& into) {
  T value{};
  std::string wrong = Store(word, value);
  if (wrong.empty()) into = std::move(value);
  return wrong;
}

std::string Store(const std::string& word, std::vector<std::string>& into) {
  into.push_back(word);
  return "";
}

std::vector<std::string> Split(std::string_view names) {
  std::vector<std::string> split;
  for (size_t comma; (comma = names.find(',')) != std::string_view::npos; names.remove_prefix(comma + 1)) {
    split.emplace_back(names.substr(0, comma));
  }
  split.emplace_back(names);
  return split;
}

}  // namespace

Option& Option::OneOf(std::vector<std::string> words) {
  choices = std::move(words);
  return Check([words = choices](const std::string& text) -> std::string {
    const auto takes = [&](const std::string& word) {
      return text == word ? !word.ends_with(':') : word.ends_with(':') && text.starts_with(word);
    };
    if (std::any_of(words.begin(), words.end(), takes)) return "";
    return WithHint(WithSuggestion(fmt::format("'{}' is not valid", text), text, words),
                    fmt::format("valid values: {}", fmt::join(words, ", ")));
  });
}

std::string Option::Help() const {
  const auto says = [this](const std::string& choice) { return text.find(choice) != std::string::npos; };
  if (std::ranges::all_of(choices, says)) return text;
  return fmt::format("{} [{}]", text, fmt::join(choices, ", "));
}

// Runs before the word is stored.
Option& Option::Check(WordRule rule) {
  rules.insert(rules.end() - 1, std::move(rule));
  return *this;
}

Option& Option::InRange(double least, double most) {
  return Check([least, most](const std::string& word) -> std::string {
    const auto number = NumberIn<double>(word);
    if (number && *number >= least && *number <= most) return "";
    const std::string upto = std::isinf(most) ? " or more" : fmt::format(" to {:.10g}", most);
    return fmt::format("'{}' is not valid; use a number: {:.10g}{}", word, least, upto);
  });
}

Option& Option::Positive() {
  return Check([](const std::string& word) -> std::string {
    const auto number = NumberIn<double>(word);
    return number && *number > 0 ? "" : fmt::format("'{}' is not a number above 0", word);
  });
}

Command::Command(std::string its_name, std::string its_text) : name(std::move(its_name)), text(std::move(its_text)) {
  Option& help = Add("-h,--help", "Print this help");
  help.is_help = true;
}

Option& Command::Add(const std::string& names, std::string its_text) {
  Option& option = options.emplace_back();
  option.names = Split(names);
  option.text = std::move(its_text);
  option.is_positional = !names.starts_with('-');
  return option;
}

template <typename T>
Option& Command::AddOption(const std::string& names, T& into, std::string its_text) {
  Option& option = Add(names, std::move(its_text));
  option.value = option.is_positional ? option.names.front() : "VALUE";
  option.is_list = std::is_same_v<T, std::vector<std::string>>;
  option.rules.emplace_back([&into](const std::string& word) { return Store(word, into); });
  return option;
}

template Option& Command::AddOption(const std::string&, std::string&, std::string);
template Option& Command::AddOption(const std::string&, std::vector<std::string>&, std::string);
template Option& Command::AddOption(const std::string&, std::optional<std::string>&, std::string);
template Option& Command::AddOption(const std::string&, int&, std::string);
template Option& Command::AddOption(const std::string&, int64_t&, std::string);
template Option& Command::AddOption(const std::string&, uint32_t&, std::string);
template Option& Command::AddOption(const std::string&, uint64_t&, std::string);
template Option& Command::AddOption(const std::string&, double&, std::string);
template Option& Command::AddOption(const std::string&, std::optional<int64_t>&, std::string);
template Option& Command::AddOption(const std::string&, std::optional<uint32_t>&, std::string);
template Option& Command::AddOption(const std::string&, std::optional<uint64_t>&, std::string);
template Option& Command::AddOption(const std::string&, std::optional<double>&, std::string);

Option& Command::AddFlag(const std::string& names, bool& into, std::string its_text) {
  Option& option = Add(names, std::move(its_text));
  option.set = [&into] { into = true; };
  return option;
}

Option& Command::AddPercent(const std::string& names, double& into, std::string its_text, double most) {
  Option& option = Add(names, std::move(its_text));
  option.rules.emplace_back([&into, most](const std::string& word) -> std::string {
    std::string_view number = word;
    if (number.ends_with('%')) number.remove_suffix(1);
    if (number.ends_with(' ')) number.remove_suffix(1);
    const auto percent = NumberIn<double>(number);
    if (!percent || !(*percent >= 0 && *percent <= 100 * most) || std::isinf(*percent)) {
      return fmt::format("'{}' is not a percentage, such as 1%", word);
    }
    into = *percent / 100;
    return "";
  });
  return option.Value("PERCENT");
}

template <typename T>
Option& Command::AddDuration(const std::string& names, T& into, std::string its_text, uint64_t least, uint64_t most) {
  Option& option = Add(names, std::move(its_text));
  option.rules.emplace_back([&into, least, most](const std::string& word) -> std::string {
    const auto ns = ParseDuration(word);
    if (!ns) return fmt::format("'{}' is not a duration, such as 30s, 1m30s or 500ms", word);
    if (*ns < least) return fmt::format("'{}' is too short; use {} or more", word, DurationText(least));
    if (*ns > most) return fmt::format("'{}' is too long; use {} or less", word, DurationText(most));
    into = *ns;
    return "";
  });
  return option.Value("DURATION");
}

template Option& Command::AddDuration(const std::string&, uint64_t&, std::string, uint64_t, uint64_t);
template Option& Command::AddDuration(const std::string&, std::optional<uint64_t>&, std::string, uint64_t, uint64_t);

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

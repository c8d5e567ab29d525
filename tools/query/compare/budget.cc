#include "tools/query/compare/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace heaprec::tools {
namespace {

constexpr std::array<std::pair<std::string_view, Budget::Subject>, 5> kSubjects{{{"class", Budget::Subject::kClass},
                                                                                 {"site", Budget::Subject::kSite},
                                                                                 {"method", Budget::Subject::kMethod},
                                                                                 {"package", Budget::Subject::kPackage},
                                                                                 {"thread", Budget::Subject::kThread}}};

// In lower case. All powers of 1024, as everywhere in the command.
constexpr std::array<std::pair<std::string_view, double>, 14> kUnits{{{"", 1},
                                                                      {"b", 1},
                                                                      {"k", 0x1p10},
                                                                      {"kb", 0x1p10},
                                                                      {"kib", 0x1p10},
                                                                      {"m", 0x1p20},
                                                                      {"mb", 0x1p20},
                                                                      {"mib", 0x1p20},
                                                                      {"g", 0x1p30},
                                                                      {"gb", 0x1p30},
                                                                      {"gib", 0x1p30},
                                                                      {"t", 0x1p40},
                                                                      {"tb", 0x1p40},
                                                                      {"tib", 0x1p40}}};

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// "--budget 'total<2XB': character 8: ...; example: ..."
Error Wrong(const std::string& text, size_t position, std::string_view what) {
  return {fmt::format(
      "--budget '{}': character {}: {}; examples: 'site:com.acme.*<5MiB/op' 'total<2GiB' 'class:byte[]<10%'", text,
      position + 1, what)};
}

// Cuts "/op" or "/s" off the end.
Budget::Per TakePer(std::string_view* amount) {
  for (const auto& [suffix, per] :
       {std::pair(std::string_view("/op"), Budget::Per::kOp), {std::string_view("/s"), Budget::Per::kSecond}}) {
    if (!amount->ends_with(suffix)) continue;
    amount->remove_suffix(suffix.size());
    return per;
  }
  return Budget::Per::kRecording;
}

std::optional<Error> SetUnit(const std::string& text, std::string_view unit, Budget* budget) {
  const size_t position = unit.empty() ? text.size() : static_cast<size_t>(unit.data() - text.data());
  budget->has_unit = !unit.empty();
  budget->is_of_events = unit == "events" || unit == "event";
  if (unit == "objects" || unit == "object" || budget->is_of_events) {
    budget->unit = Budget::Unit::kObjects;
    return {};
  }
  if (unit == "%") {
    if (budget->per != Budget::Per::kRecording)
      return Wrong(text, position, "a percentage is a share of all bytes; remove /op or /s");
    budget->unit = Budget::Unit::kShare;
    budget->limit /= 100;
    return {};
  }
  std::string lower(unit);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  const auto known = std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& one) { return one.first == lower; });
  if (known == kUnits.end()) {
    return Wrong(
        text, position,
        fmt::format("'{}' is not a unit; use B, KiB, MiB, GiB, TiB, objects, events or %, optionally with /op or /s",
                    unit));
  }
  budget->limit *= known->second;
  return {};
}

std::optional<Error> SetAmount(const std::string& text, std::string_view amount, Budget* budget) {
  const auto position = static_cast<size_t>(amount.data() - text.data());
  budget->per = TakePer(&amount);
  const auto [end, error] = std::from_chars(amount.data(), amount.data() + amount.size(), budget->limit);
  if (error != std::errc() || !(budget->limit >= 0) || !std::isfinite(budget->limit)) {
    return Wrong(text, position, "expected a number");
  }
  const auto rest = static_cast<size_t>(end - amount.data());
  return SetUnit(text, Trimmed(amount.substr(rest)), budget);
}

std::optional<Error> SetSubject(const std::string& text, std::string_view subject, Budget* budget) {
  budget->subject_text = subject;
  if (subject == "total") return {};
  const size_t colon = subject.find(':');
  const auto kind = std::find_if(kSubjects.begin(), kSubjects.end(),
                                 [&](const auto& one) { return one.first == subject.substr(0, colon); });
  if (colon == std::string_view::npos || kind == kSubjects.end()) {
    return Wrong(text, 0, "expected total, or class:, site:, method:, package: or thread: with a pattern");
  }
  std::string_view pattern = subject.substr(colon + 1);
  budget->may_be_absent = pattern.ends_with('?');
  if (budget->may_be_absent) pattern.remove_suffix(1);
  budget->pattern_text = pattern;
  if (pattern.empty()) return Wrong(text, colon + 1, "expected a pattern");
  budget->subject = kind->second;
  auto parsed =
      kind->second == Budget::Subject::kThread ? NamePattern::ForFreeText(pattern) : NamePattern::ForNames(pattern);
  if (!parsed.ok()) return Wrong(text, colon + 1, parsed.error().message);
  budget->pattern = std::move(*parsed);
  return {};
}

}  // namespace

Named Budget::Kind() const {
  if (subject == Subject::kClass) return Named::kClass;
  if (subject == Subject::kThread) return Named::kThread;
  return subject == Subject::kPackage ? Named::kPackage : Named::kMethod;
}

Result<Budget> Budget::Parse(const std::string& text) {
  Budget budget;
  budget.text = text;
  // The last one: names of lambdas and constructors have some.
  const size_t less = text.rfind('<');
  if (less == std::string::npos) return Wrong(text, text.size(), "expected '<'");
  const std::string_view whole(text);
  if (const auto wrong = SetSubject(text, Trimmed(whole.substr(0, less)), &budget)) return *wrong;
  const std::string_view amount = Trimmed(whole.substr(less + 1));
  if (amount.empty()) return Wrong(text, text.size(), "expected an amount");
  if (const auto wrong = SetAmount(text, amount, &budget)) return *wrong;
  return budget;
}

}  // namespace heaprec::tools

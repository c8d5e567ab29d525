// The value of a cell or a field of a report: a number with or without an interval, a text, a list, an object.
//
// Units:    the column or field of the value has its unit (Unit); shares are from 0 to 1.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace heaprec::tools::render {

class Value;
struct Member;
using List = std::vector<Value>;
using Object = std::vector<Member>;

// An estimate with its 95 % interval. Low is NaN: unknown. Value is NaN: only the ends are known.
struct Interval {
  double value = 0, low = 0, high = 0;
  bool is_unknown() const { return std::isnan(low); }
  bool is_range() const { return std::isnan(value) && !is_unknown(); }
};

// From an estimate of any layer.
template <typename T>
concept Estimated = requires(const T& of) {
  { of.value } -> std::convertible_to<double>;
  { of.low } -> std::convertible_to<double>;
  { of.high } -> std::convertible_to<double>;
};

class Value {
 public:
  Value() = default;  // unknown: "unknown" in text, null in JSON
  Value(std::nullptr_t) {}
  Value(std::same_as<bool> auto truth) : is_(truth) {}
  template <typename T>
  requires(std::unsigned_integral<T> && !std::same_as<T, bool>) Value(T number) : is_(static_cast<uint64_t>(number)) {}
  template <std::signed_integral T>
  Value(T number) : is_(static_cast<int64_t>(number)) {}
  Value(double number) : is_(number) {}
  Value(const char* text) : is_(std::string(text)) {}
  Value(std::string_view text) : is_(std::string(text)) {}
  Value(std::string text) : is_(std::move(text)) {}
  Value(List list) : is_(std::move(list)) {}
  Value(Object object) : is_(std::move(object)) {}
  template <Estimated T>
  Value(const T& of) {
    const Interval interval{of.value, of.low, of.high};
    if (!interval.is_unknown()) is_ = interval;
  }
  template <typename T>
  Value(const std::optional<T>& of) {
    if (of) *this = Value(*of);
  }
  template <typename T>
  requires(!std::same_as<T, Value> && !std::same_as<T, Member> && std::convertible_to<T, Value>)
      Value(const std::vector<T>& of)
      : is_(List(of.begin(), of.end())) {}

  bool is_unknown() const { return std::holds_alternative<std::monostate>(is_); }
  template <typename T>
  const T* As() const {
    return std::get_if<T>(&is_);
  }
  // As a number; for an interval its value; nullopt for texts, lists and unknown values.
  std::optional<double> Number() const;

 private:
  std::variant<std::monostate, bool, uint64_t, int64_t, double, std::string, Interval, List, Object> is_;
};

struct Member {
  std::string name;
  Value value;
};

inline std::optional<double> Value::Number() const {
  if (const auto* number = As<uint64_t>()) return static_cast<double>(*number);
  if (const auto* number = As<int64_t>()) return static_cast<double>(*number);
  if (const auto* number = As<double>()) return *number;
  if (const auto* interval = As<Interval>()) return interval->value;
  return {};
}

}  // namespace heaprec::tools::render

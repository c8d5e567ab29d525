// Either a value or an Error with a sentence for the user; a subset of std::expected (C++23).
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace heaprec {

struct Error {
  std::string message;  // one line, says what and where ("rec.bin: offset 4096: block header hash differs")
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result() requires std::is_same_v<T, std::monostate> {}
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor): return value; reads as such
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  // Precondition: ok().
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  // Precondition: !ok().
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// Nothing, or why it failed: `return {};` is success.
using Status = Result<std::monostate>;

}  // namespace heaprec

// Passes failures on to the caller, for functions that return a Result or a Status themselves.
//
//   ASSIGN_OR_RETURN(const std::string text, read(path));
//   RETURN_IF_ERROR(check(text));

// Declares `target`, or assigns to it, the value of a Result; or returns its error from this function.
#define ASSIGN_OR_RETURN(target, ...) HEAPREC_ASSIGN_OR_RETURN(HEAPREC_JOINED(result_, __LINE__), target, __VA_ARGS__)
// Returns the error of a Result or a Status from this function, if it has one.
#define RETURN_IF_ERROR(...) \
  if (const auto& returned = __VA_ARGS__; !returned.ok()) return returned.error()

#define HEAPREC_ASSIGN_OR_RETURN(result, target, ...) \
  auto result = __VA_ARGS__;                          \
  if (!result.ok()) return result.error();            \
  target = std::move(*result)
#define HEAPREC_JOINED(name, line) HEAPREC_JOINED_TEXT(name, line)
#define HEAPREC_JOINED_TEXT(name, line) name##line

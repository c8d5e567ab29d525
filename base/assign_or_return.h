// Passes failures on to the caller, for functions that return a Result or a Status themselves.
//
//   ASSIGN_OR_RETURN(const std::string text, ReadText(path));
//   RETURN_IF_ERROR(Check(text));
#pragma once

#include <utility>

#include "base/result.h"

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

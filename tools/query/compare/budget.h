// Budgets for what is allocated, as given on the command line: "site:com.acme.*<5MiB/op", "total<2GiB",
// "class:byte[]<10%".
//
//   budget   = subject "<" amount
//   subject  = "total" | ("class" | "site" | "method" | "package" | "thread") ":" pattern
//   amount   = number [unit] ["/op" | "/s"]        unit: B KiB MiB GiB TiB (KB and k mean KiB too), objects, events, %
//
// A pattern is that of the filters (name_pattern.h), for names as they are shown (generated_names.h); what it matches
// counts together. "?" at its end: there may be no such name.
//
// Failure:  Parse returns the sentence for the user: what is wrong, where, and an example.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tools/query/filter/name_pattern.h"
#include "tools/query/filter/name_search.h"

namespace heaprec::tools {

struct Budget {
  enum class Subject : uint8_t { kTotal, kClass, kSite, kMethod, kPackage, kThread };
  enum class Unit : uint8_t { kBytes, kObjects, kShare };
  enum class Per : uint8_t { kRecording, kSecond, kOp };

  std::string text;  // as given
  Subject subject = Subject::kTotal;
  std::string subject_text;            // "site:com.acme.*"
  std::string pattern_text;            // "com.acme.*"
  std::optional<NamePattern> pattern;  // nullopt: all
  bool may_be_absent = false;
  double limit = 0;  // bytes, objects, or a part from 0 to 1
  Unit unit = Unit::kBytes;
  bool has_unit = true;       // else it is a plain number, of bytes
  bool is_of_events = false;  // the unit was "events"
  Per per = Per::kRecording;

  // Not for kTotal.
  Named Kind() const;
  bool Matches(std::string_view name) const { return pattern->Matches(name); }

  static Result<Budget> Parse(const std::string& text);
};

}  // namespace heaprec::tools

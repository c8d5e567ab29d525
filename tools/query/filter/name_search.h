// Whether a pattern that took no sample fits any name of the recordings, and which names are nearest: a mistyped or
// renamed name must not look like one that allocates nothing.
//
// Threads:  one.
// Failure:  what cannot be read (again), such as standard input, has no names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heaprec::tools {

enum class Named : uint8_t { kClass, kMethod, kPackage, kThread, kLabel };

struct AskedName {
  Named kind = Named::kClass;
  std::string asked;  // "--class Foo"
  std::string text;   // the pattern
  std::function<bool(std::string_view name)> matches;
};

// At most three of `names` whose ends or beginnings are most like the pattern `text`; the nearest first.
std::vector<std::string> NearestNames(std::string_view text, const std::set<std::string>& names);

// "no class matches", or "no class matches; nearest: A, B".
std::string NoMatchText(std::string_view what, const std::vector<std::string>& nearest);

// NoMatchText's of `asked`, from the dictionaries of all recordings; nullopt: a name matches.
std::optional<std::string> WhyNoMatch(const AskedName& asked, const std::vector<std::string>& files);

// One line on stderr for each that no name matches.
void ReportUnmatched(const std::vector<AskedName>& asked, const std::vector<std::string>& files);

}  // namespace heaprec::tools

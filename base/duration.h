// Durations as users write them, in the options of the agent and of every command.
//
// Units:    ns.
// Failure:  nullopt: the text is not a duration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heaprec {

// "10s", "250ms", "1.5h", "1m30s": numbers with the units ns, us, ms, s, m or min, h, d. Or a number of seconds: "60".
std::optional<uint64_t> ParseDuration(std::string_view text);
// The same, but each number needs a unit.
std::optional<uint64_t> ParseDurationWithUnits(std::string_view text);

// "90s", "250ms": one number with the largest unit up to seconds that it is a multiple of.
std::string DurationText(uint64_t ns);

}  // namespace heaprec

// A span of time in equal steps, for what is shown over it.
//
// Units:    ns since 1970: recordings that overlap are shown beside each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heaprec::tools {

struct TimeAxis {
  uint64_t begin_ns = 0, step_ns = 1;
  size_t steps = 0;

  // 146 years: times of a damaged recording may be anything.
  static constexpr uint64_t kLongest = uint64_t{1} << 62;

  // At most `most` steps, each a multiple of `least_ns`.
  static TimeAxis Of(uint64_t begin_ns, uint64_t end_ns, uint64_t least_ns, size_t most) {
    const uint64_t length = std::clamp<uint64_t>(end_ns - std::min(begin_ns, end_ns), 1, kLongest);
    const uint64_t least = std::clamp<uint64_t>(least_ns, 1, kLongest);
    const uint64_t step = Over(Over(length, least), std::max<uint64_t>(most, 1)) * least;
    return {begin_ns, step, static_cast<size_t>(Over(length, step))};
  }
  // Where `time_ns` lies; what is outside lies in the first step or the last.
  size_t StepOf(uint64_t time_ns) const {
    const uint64_t step = (time_ns - std::min(time_ns, begin_ns)) / step_ns;
    return static_cast<size_t>(std::min<uint64_t>(step, steps > 0 ? steps - 1 : 0));
  }
  double Seconds() const { return static_cast<double>(step_ns) * 1e-9; }

 private:
  // Rounded up.
  static uint64_t Over(uint64_t length, uint64_t part) { return length / part + (length % part > 0); }
};

}  // namespace heaprec::tools

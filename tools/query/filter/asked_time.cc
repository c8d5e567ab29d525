#include "tools/query/filter/asked_time.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "tools/input/recording_kind.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools {

// Returns the time that the file covers: maxsize, maxage and rotation move earlier data to other files.
std::pair<uint64_t, uint64_t> RecordedTime(const Recording& recording, uint64_t last_ns) {
  const format::FileHeader& header = recording.header();
  const uint64_t end_ns = recording.ending() ? recording.ending()->time_ns : last_ns;
  return {std::min(end_ns, BeginNs(header, MainStream(header))), end_ns};
}

std::pair<uint64_t, uint64_t> AskedTime::Add(const Recording& recording, const Filter& filter, uint64_t last_ns) {
  const auto [begin_ns, end_ns] = RecordedTime(recording, last_ns);
  const auto asked = filter.Span(begin_ns, end_ns);
  Note(recording, begin_ns, end_ns, asked.first != asked.second || begin_ns >= end_ns);
  const uint64_t start_ns = recording.header().start_epoch_ns;
  times_.emplace_back(start_ns + asked.first, start_ns + asked.second);
  return asked;
}

// A file begins with a list of what is live, which may be later than its first interval.
void AskedTime::AddInstant(const Recording& recording, const TimePoint& at, uint64_t last_ns) {
  const format::FileHeader& header = recording.header();
  const uint64_t begin_ns = header.start.begin_ns, end_ns = RecordedTime(recording, last_ns).second;
  const int64_t at_ns = at.InRecording(header.start_epoch_ns, end_ns);
  Note(recording, begin_ns, end_ns, std::cmp_greater_equal(at_ns, begin_ns) && std::cmp_less_equal(at_ns, end_ns));
}

void AskedTime::Note(const Recording& recording, uint64_t begin_ns, uint64_t end_ns, bool has_data) {
  has_data_ |= has_data;
  if (has_data) return;
  missed_.push_back(
      fmt::format("{} has data from {} to {}", recording.source().name(), Duration(begin_ns), Duration(end_ns)));
}

void AskedTime::Report(const char* asked) const {
  if (is_beside_data()) PrintError(fmt::format("no data {}: {}", asked, fmt::join(missed_, "; ")));
}

}  // namespace heaprec::tools

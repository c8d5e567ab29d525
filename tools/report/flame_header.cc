#include "tools/report/flame_header.h"

#include <fmt/format.h>

#include "tools/input/stream_traits.h"
#include "tools/report/estimate_format.h"
#include "tools/text/text.h"

namespace heaprec::tools {

std::string HeadlineOf(const GroupEstimates& all, const RecordingScan& scan) {
  const double seconds = scan.scanned().seconds;
  if (scan.of_exceptions()) return fmt::format("{} exceptions", CountText(all.bytes));
  // Of all that was recorded the bytes are counted.
  const Estimate& bytes = scan.chooses_all() ? scan.total() : all.bytes;
  std::string text =
      fmt::format("{} in {}", BytesText(bytes), CountText(all.objects, TraitsOf(scan.stream()).lifecycle.things));
  if (seconds > 0) text += fmt::format(", {}/s", Bytes(all.bytes.value / seconds));
  return text;
}

std::string LiveHeadlineOf(const GroupEstimates& all, const RecordingScan& scan) {
  return fmt::format("{} live in {}", BytesText(all.bytes),
                     CountText(all.objects, TraitsOf(scan.stream()).lifecycle.things));
}

}  // namespace heaprec::tools

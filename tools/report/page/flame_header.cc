#include "tools/report/page/flame_header.h"

#include "tools/input/stream_traits.h"
#include "tools/render/value_format.h"

namespace heaprec::tools {

using namespace render;

std::string HeadlineOf(const GroupEstimates& all, const RecordingScan& scan) {
  const double seconds = scan.scanned().seconds;
  if (scan.of_exceptions()) return FormatLine(Sentence("{} exceptions", {{"", all.bytes, Unit::kCount}}), true);
  // The bytes of the whole recording are counted.
  Line line =
      Sentence(std::string("{} in {} ") + TraitsOf(scan.stream()).lifecycle.things,
               {{"", scan.chooses_all() ? scan.total() : all.bytes, Unit::kBytes}, {"", all.objects, Unit::kCount}});
  if (seconds > 0) {
    line.text += ", {value}";
    line.fields.push_back({"", Scaled(all.bytes, 1 / seconds), Unit::kBytesPerSecond});
  }
  return FormatLine(line, true);
}

std::string LiveHeadlineOf(const GroupEstimates& all, const RecordingScan& scan) {
  return FormatLine(Sentence(std::string("{} live in {} ") + TraitsOf(scan.stream()).lifecycle.things,
                             {{"", all.bytes, Unit::kBytes}, {"", all.objects, Unit::kCount}}),
                    true);
}

}  // namespace heaprec::tools

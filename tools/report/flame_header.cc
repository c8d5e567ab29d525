#include "tools/report/flame_header.h"

#include <fmt/format.h>

#include "tools/analysis/lifecycle_terms.h"
#include "tools/input/program_recording.h"
#include "tools/report/estimate_format.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {

std::string HeadlineOf(const GroupEstimates& all, const RecordingScan& scan) {
  const double seconds = scan.scanned().seconds;
  if (scan.of_exceptions()) return fmt::format("{} exceptions", CountText(all.bytes));
  // Of all that was recorded the bytes are counted.
  const Estimate& bytes = scan.chooses_all() ? scan.total() : all.bytes;
  std::string text = fmt::format("{} in {}", BytesText(bytes), CountText(all.objects, WordsOf(scan.stream()).things));
  if (seconds > 0) text += fmt::format(", {}/s", Bytes(all.bytes.value / seconds));
  return text;
}

std::string LiveHeadlineOf(const GroupEstimates& all, const RecordingScan& scan) {
  return fmt::format("{} live in {}", BytesText(all.bytes), CountText(all.objects, WordsOf(scan.stream()).things));
}

std::vector<std::pair<std::string, std::string>> FactsOf(const LeafVisitor& leaves, const RecordingScan& scan) {
  std::vector<std::pair<std::string, std::string>> facts;
  const ScannedTotals& scanned = scan.scanned();
  if (scanned.recordings > 1) facts.emplace_back("recordings", Grouped(scanned.recordings));
  if (!leaves.headers().empty()) {
    const format::FileHeader& header = leaves.headers().front();
    const std::string program = ProgramOf(header);
    facts.emplace_back(program.empty() ? "JVM" : "program",
                       program.empty() ? fmt::format("{} {}, {}, pid {}", ToUtf8(header.jvm_name),
                                                     ToUtf8(header.jvm_version), ToUtf8(header.gc_name), header.pid)
                                       : fmt::format("{}, pid {}", ToUtf8(program), header.pid));
    Text start;
    ClockText(header.start_epoch_ns).AppendLocal(start, 0);
    facts.emplace_back("start", fmt::to_string(start).substr(0, 8) + fmt::to_string(start).substr(15));
  }
  facts.emplace_back("duration", Duration(static_cast<uint64_t>(scanned.seconds * 1e9)));
  const std::string line = scan.LossLine();
  facts.emplace_back("samples", line.substr(2, line.find('\n') - 2));
  if (!scan.TrustVerdict().empty()) facts.emplace_back("trustworthy", scan.TrustVerdict());
  facts.emplace_back("intervals", "95 %");
  return facts;
}

}  // namespace heaprec::tools

#include "tools/query/scan/stream_trust.h"

#include "tools/analysis/health/trust.h"
#include "tools/analysis/totals/totals.h"

namespace heaprec::tools {

StreamTrust::StreamTrust(const format::FileHeader& header, format::Stream stream, bool has_design)
    : stream_(stream), totals_(header.CapOf(stream).interval_ns, stream) {
  if (stream == format::Stream::kAllocations && !has_design) own_.emplace(header);
}

void StreamTrust::Add(const format::Block& block, bool by_rows) {
  totals_.Add(block, by_rows);
  if (own_) own_->Add(block, by_rows);
}

std::vector<std::string> StreamTrust::Reasons(const Recording& recording, const Design* design) const {
  const Design* const read = own_ ? &*own_ : design;
  std::optional<CountCheck> balance;
  if (stream_ == format::Stream::kAllocations && read != nullptr) {
    Design counted = *read;  // more blocks may come
    counted.CountUnwritten(recording.counters(stream_));
    balance = CheckCounts(counted, recording.counters(stream_));
  }
  return TextsOf(AssessStreamTrust(recording, stream_, totals_, balance ? &*balance : nullptr).reasons);
}

}  // namespace heaprec::tools

// Can the numbers of a recording be relied on? Reasons for no, and notes that do not change a yes.
//
// no: not one block; damaged bytes in the middle; weights of another recorder; of any stream: more than 0.1 %
// of the bytes (or events) lost, counters that do not add up, an interval over its cap; counted bytes that the samples
// cannot have come from; maxsamples=N that are too few for the recording; a ring that could not be read to its end or
// whose names are gone.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "format/model/model.h"
#include "tools/analysis/totals/stream_totals.h"
#include "tools/analysis/totals/totals.h"
#include "tools/input/recording.h"
#include "tools/text/text.h"

namespace heaprec::tools {

// What a remark is about.
enum class TrustTopic : uint8_t {
  kEnd,             // how the recording ended, and whether anything was read
  kDamage,          // bytes that could not be decoded
  kSource,          // where samples came from
  kStacks,          // walked, or asked of the JVM
  kTotal,           // two counts of the same bytes
  kQuotas,          // maxsamples=N
  kLosses,          // points without a sample
  kStreamCounters,  // the recorder's own counts
  kClocks,          // threads without a byte clock
  kCap,             // the most samples of an interval
  kRing,            // what was salvaged
  kNames,           // definitions that are gone
  kExceptions,      // why there are none
};

struct TrustReason {
  TrustTopic about = TrustTopic::kEnd;
  std::string text;
};

struct TrustReport {
  std::vector<TrustReason> reasons;  // empty: trustworthy
  std::vector<TrustReason> notes;
};

inline std::vector<std::string> TextsOf(const std::vector<TrustReason>& remarks) {
  std::vector<std::string> texts;
  for (const TrustReason& remark : remarks) texts.push_back(remark.text);
  return texts;
}

// After the recording was read to its end.
TrustReport AssessTrust(const Recording& recording, const format::PerStream<StreamTotals>& tallies,
                        const CountCheck& balance);
// What is said of one stream's numbers alone. `balance`: of allocations; nullptr: of another stream.
TrustReport AssessStreamTrust(const Recording& recording, format::Stream stream, const StreamTotals& totals,
                              const CountCheck* balance);

// "no, because ...; ...", or "yes", for terminals.
std::string TrustText(const std::vector<std::string>& reasons);

// What a recording lacks though it was asked for, as a sentence that can be printed.

// Empty: nothing, or it was not asked for.
inline std::string RefusalOfNative(const format::FileHeader& header) {
  if (header.native_unavailable_reason.empty()) return {};
  Text text;
  Append(text,
         header.native.interval_ns > 0 ? "native memory was sampled in part: " : "native memory was not sampled: ");
  AppendPrintable(text, ToUtf8(header.native_unavailable_reason));
  return fmt::to_string(text);
}

}  // namespace heaprec::tools

// Assesses whether the numbers of a recording are trustworthy. Returns reasons why not, and notes that do not change
// the verdict.
//
// Not trustworthy: no block at all; damaged bytes in the middle; weights of another recorder; for any stream more than
// 0.1 % of the bytes (or events) lost, counters that do not add up, an interval over its cap; counted bytes that do not
// match the samples; a maxsamples=N that is too small for the recording; a ring that could not be read to its end or
// whose names are lost.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "format/model/model.h"
#include "tools/analysis/totals/totals.h"
#include "tools/input/recording.h"
#include "tools/text/text.h"

namespace heaprec::tools {

// The topic of a reason.
enum class TrustTopic : uint8_t {
  kEnd,             // how the recording ended, and whether anything was read
  kDamage,          // bytes that could not be decoded
  kSource,          // the source of the samples
  kStacks,          // walked, or from JVMTI
  kTotal,           // two counts of the same bytes
  kQuotas,          // maxsamples=N
  kLosses,          // points that did not become samples
  kStreamCounters,  // the recorder's own counters
  kClocks,          // threads without a byte clock
  kCap,             // maximum samples per interval
  kRing,            // the result of salvaging
  kNames,           // lost definitions
  kExceptions,      // why there are no exceptions
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

// Call after the recording was read to its end.
TrustReport AssessTrust(const Recording& recording, const format::PerStream<StreamTotals>& tallies,
                        const CountCheck& balance);
// Assesses the numbers of one stream alone. `balance`: for allocations; nullptr: another stream.
TrustReport AssessStreamTrust(const Recording& recording, format::Stream stream, const StreamTotals& totals,
                              const CountCheck* balance);

// "no, because ...; ...", or "yes", for terminals.
std::string TrustText(const std::vector<std::string>& reasons);

// What a recording lacks although it was requested, as a sentence for the user.

// Empty: nothing is missing, or it was not requested.
inline std::string RefusalOfNative(const format::FileHeader& header) {
  if (header.native_unavailable_reason.empty()) return {};
  Text text;
  Append(text,
         header.native.interval_ns > 0 ? "native memory was sampled in part: " : "native memory was not sampled: ");
  AppendPrintable(text, ToUtf8(header.native_unavailable_reason));
  return fmt::to_string(text);
}

}  // namespace heaprec::tools

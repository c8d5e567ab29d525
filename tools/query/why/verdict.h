// Why a process ended, what grew before, and what to do. The first rule that matches decides:
//
//   1 crash        a hs_err file, a crash signal, or an error that ends the JVM
//   2 signal       SIGTERM, SIGINT or SIGHUP
//   3 exit         System.exit or Runtime.halt
//   4 uncaught     the main thread ended by an exception in the last ten seconds
//   5 normal       an end marker, and nothing of the above; after an error of the last ten seconds that may not have
//                  been caught: error
//   6 killed       no end marker; right after its first errors: error
//
// Units:    bytes, seconds.
// Failure:  none. What is not in the recording is named in `missing`, with what would have told it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/query/live/live_query.h"
#include "tools/query/why/end_facts.h"

namespace heaprec::tools {

enum class Certainty : uint8_t { kCertain, kProbable, kUnknown };
const char* CertaintyName(Certainty certainty);  // "certain", "probable", "not known"

struct EndVerdict {
  std::string id;    // "crash", "out_of_memory", "signal", "exit", "uncaught", "normal", "oom_kill", "killed",
                     // "running", "continues", "stopped", "nothing"
  std::string text;  // one sentence without its full stop
  Certainty certainty = Certainty::kUnknown;
  std::vector<std::string> evidence, missing;
};

EndVerdict EndVerdictOf(const EndFacts& facts);
// What ends of other processes have in common with it: the verdict without times, amounts and threads.
std::string CauseOf(const EndFacts& facts, const EndVerdict& verdict);

// What ran out according to an error.
enum class Resource : uint8_t { kOther, kHeap, kMetaspace, kClassSpace, kDirect, kThreads, kStack, kArray, kGcTime };
Resource ResourceOf(const EndEvent& error);
// The errors of the last ten seconds; nullptr: none.
const EndEvent* LastError(const EndFacts& facts);

// An owner of memory, or a countable resource, in the account.
struct Owner {
  std::string_view id, name;
  bool is_count = false;  // not bytes
  std::optional<format::AccountItem> used, committed, resident, limit;
  bool limits_committed = false;  // the limit is of what is committed
};
// In the order of the table.
const std::vector<Owner>& Owners();

// The amounts of an owner at one time. Amounts that the snapshot itself has are those of the heap, and RSS. What RSS
// has grown by since the mappings were read, and no owner explains, is unexplained.
struct OwnerAmounts {
  format::Amount used, committed, resident, limit;
  bool limits_committed = false;
  // What the owner costs: its used amount, else the committed one, else the resident one.
  std::optional<uint64_t> Main() const;
  // What counts against the limit, and in growth.
  std::optional<uint64_t> Charged() const;
  // Of the limit; 0: not known, or there is none.
  double Share() const;
};
OwnerAmounts AmountsOf(const Owner& owner, const AccountAt& at);

struct GrownOwner {
  const Owner* owner = nullptr;
  Estimate per_second;
  Estimate since_s;  // since the start of the recording; from its first account: low is that account's time
  uint64_t from = 0, to = 0;
};
// The owners whose minimum over time has grown, the fastest first; counts behind bytes. The heap counts only with
// collections, a cgroup only with a limit.
std::vector<GrownOwner> GrowthOf(const EndFacts& facts);

// A command or a setting, and what it is for.
struct NextStep {
  std::string text, reason;
};
std::vector<NextStep> NextStepsOf(const EndFacts& facts, const EndVerdict& verdict,
                                  const std::vector<GrownOwner>& grown, const std::vector<LiveSite>& sites,
                                  const std::string& file);

}  // namespace heaprec::tools

#include "format/codec/process_state_codec.h"

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "format/bytes/columns.h"
#include "format/bytes/layout.h"

namespace heaprec::format {
namespace {

enum StateColumn : size_t {
  kStateId = 0,
  kStateTime = 1,
  kStateKind = 2,
  kStateUsed = 3,
  kStateCommitted = 4,
  kStatePauses = 5,
  kStatePausedNs = 6,
  kStateThreads = 7,
  kStateRss = 8,
  kStateCause = 9,
  kStateCauseBytes = 10,
  kStateCauseText = 11,
  kStateCollections = 12,
  kStateOldCollections = 13,  // plus 1; 0: unknown
  kStateThread = 14,          // these three plus 1; 0: none
  kStateStack = 15,
  kStateClass = 16,
  kStateAccount = 17,  // for snapshots: how many amounts, and these
};
constexpr size_t kStateColumns = 18;
// Larger numbers are skipped, as all that a reader does not know; the limit bounds what it remembers.
constexpr uint64_t kMaxItems = 256;
constexpr uint64_t kNoCause = 0, kNewCause = 1, kFirstCause = 2;
// HotSpot has about thirty causes. Readers refuse more than this.
constexpr size_t kMaxCauses = 1024, kLongestCause = 256;

// The previous row: of any kind, and per kind. All unknown kinds share the last entry.
struct Before {
  uint64_t id = 0, time_ns = 0, collections = 0, old_collections = 0;
  struct Values {
    uint64_t used = 0, committed = 0, threads = 0, rss = 0;
  };
  std::array<Values, kProcessStateKinds + 1> of_kind;
  std::array<uint64_t, kMaxItems> amounts{};
};

void EncodeAccount(const ProcessAccount& account, Before* before, ColumnWriter<kStateColumns>* columns) {
  columns->Varint(kStateAccount, account.taken().size());
  uint64_t next = 0;
  for (const auto& [item, amount] : account.taken()) {
    const auto number = static_cast<uint64_t>(item);
    columns->Varint(kStateAccount, number - std::exchange(next, number + 1));
    columns->Delta(kStateAccount, amount.code(), std::exchange(before->amounts[number], amount.code()));
  }
}

bool DecodeAccount(ByteCursor& column, Before* before, ProcessAccount* account) {
  const uint64_t count = column.Varint();
  if (count > kMaxItems) return false;
  uint64_t number = 0;
  for (uint64_t i = 0; i < count; ++i, ++number) {
    const uint64_t gap = column.Varint();
    if (gap >= kMaxItems - number) return false;
    number += gap;
    before->amounts[number] = column.Delta(before->amounts[number]);
    if (number < kAccountItems) account->Set(static_cast<AccountItem>(number), Amount::OfCode(before->amounts[number]));
    if (number + 1 == kMaxItems && i + 1 < count) return false;
  }
  return true;
}

}  // namespace

void EncodeStates(std::span<const ProcessState> states, ByteBuffer* raw) {
  ColumnWriter<kStateColumns> columns;
  Before before;
  std::unordered_map<std::string, uint64_t> causes;
  for (const ProcessState& state : states) {
    columns.Delta(kStateId, state.id, std::exchange(before.id, state.id));
    columns.Delta(kStateTime, state.time_ns, std::exchange(before.time_ns, state.time_ns));
    columns.Varint(kStateKind, static_cast<uint64_t>(state.kind));
    Before::Values& last = before.of_kind[static_cast<size_t>(state.kind)];
    columns.Delta(kStateUsed, state.used, std::exchange(last.used, state.used));
    columns.Delta(kStateCommitted, state.committed, std::exchange(last.committed, state.committed));
    columns.Varint(kStatePauses, state.pauses);
    columns.Varint(kStatePausedNs, state.paused_ns);
    columns.Delta(kStateThreads, state.threads, std::exchange(last.threads, state.threads));
    columns.Delta(kStateRss, state.rss, std::exchange(last.rss, state.rss));
    columns.Delta(kStateCollections, state.collections, std::exchange(before.collections, state.collections));
    const uint64_t old_collections = state.old_collections ? *state.old_collections + 1 : 0;
    columns.Delta(kStateOldCollections, old_collections, std::exchange(before.old_collections, old_collections));
    columns.Varint(kStateThread, Shifted(state.thread));
    columns.Varint(kStateStack, Shifted(state.stack));
    columns.Varint(kStateClass, Shifted(state.class_id));
    if (state.kind == ProcessStateKind::kSnapshot) EncodeAccount(state.account, &before, &columns);
    const std::string cause = state.cause.substr(0, kLongestCause);
    if (cause.empty() || (causes.size() == kMaxCauses && !causes.contains(cause))) {
      columns.Varint(kStateCause, kNoCause);
      continue;
    }
    const auto [at, is_new] = causes.try_emplace(cause, kFirstCause + causes.size());
    columns.Varint(kStateCause, is_new ? kNewCause : at->second);
    if (!is_new) continue;
    columns.Varint(kStateCauseBytes, cause.size());
    columns.Append(kStateCauseText, AsBytes(cause));
  }
  columns.Finish(static_cast<uint64_t>(Section::kStates), /*critical=*/false, states.size(), raw);
}

bool DecodeStates(Bytes body, const Dictionaries& dictionaries, std::vector<ProcessState>* states, bool* refused) {
  ColumnReader<kStateColumns> columns(body);
  *refused |= columns.unknown_critical();
  if (columns.rows() > kMaxBlockRows) return false;
  Before before;
  std::vector<std::string> causes;
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    ProcessState state;
    state.id = before.id = columns[kStateId].Delta(before.id);
    state.time_ns = before.time_ns = columns[kStateTime].Delta(before.time_ns);
    const uint64_t kind = columns[kStateKind].Varint();
    const bool known = kind < kProcessStateKinds;
    Before::Values& last = before.of_kind[known ? kind : uint64_t{kProcessStateKinds}];
    state.kind = static_cast<ProcessStateKind>(known ? kind : 0);
    state.used = last.used = columns[kStateUsed].Delta(last.used);
    state.committed = last.committed = columns[kStateCommitted].Delta(last.committed);
    state.pauses = columns[kStatePauses].Varint();
    state.paused_ns = columns[kStatePausedNs].Varint();
    state.threads = last.threads = columns[kStateThreads].Delta(last.threads);
    state.rss = last.rss = columns[kStateRss].Delta(last.rss);
    state.collections = before.collections = columns[kStateCollections].Delta(before.collections);
    before.old_collections = columns[kStateOldCollections].Delta(before.old_collections);
    if (before.old_collections > 0) state.old_collections = before.old_collections - 1;
    if (!TakeIndex(columns[kStateThread], dictionaries.threads.size(), &state.thread) ||
        !TakeIndex(columns[kStateStack], dictionaries.stacks.size(), &state.stack) ||
        !TakeIndex(columns[kStateClass], dictionaries.classes.size(), &state.class_id)) {
      return false;
    }
    if (kind == 0 && !DecodeAccount(columns[kStateAccount], &before, &state.account)) return false;
    const uint64_t cause = columns[kStateCause].Varint();
    if (cause == kNewCause) {
      if (causes.size() == kMaxCauses) return false;
      const uint64_t bytes = columns[kStateCauseBytes].Varint();
      if (bytes > kLongestCause) return false;
      causes.emplace_back(AsText(columns[kStateCauseText].Take(bytes)));
      state.cause = causes.back();
    } else if (cause != kNoCause) {
      if (cause - kFirstCause >= causes.size()) return false;
      state.cause = causes[cause - kFirstCause];
    }
    if (known) states->push_back(std::move(state));
  }
  return columns.ok();
}

}  // namespace heaprec::format

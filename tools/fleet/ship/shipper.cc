#include "tools/fleet/ship/shipper.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

#include "base/result.h"

namespace heaprec::tools::fleet {
namespace {

constexpr uint32_t kHour = 3600;
// The insert of a killed shipper ends when the server notices; its rows are then either stored or not.
constexpr int kWaitTries = 600;
constexpr std::chrono::milliseconds kWaitStep{500};
// Beyond this, ids are removed from the cache, and sent again.
constexpr size_t kMaxKnownIds = 200'000;
// How long to wait for an invisible writer: its last slice is complete by then. Later data is in later slices.
constexpr std::chrono::seconds kQuiet{60};
// A lease is renewed in its last two thirds. A claim is short, because other shippers may be claiming it, too.
constexpr std::chrono::seconds kLease{120}, kRenewal{80}, kClaim{10};

uint32_t Now() { return static_cast<uint32_t>(std::time(nullptr)); }

std::string QueryPrefix(uint64_t recording) { return fmt::format("heaprec-{:016x}-", recording); }

}  // namespace

Shipper::Shipper(std::unique_ptr<Recording> recording, Server* server, const Schema& schema, const ShipOptions& options,
                 KnownIds* known, ShipTotals* totals)
    : recording_(std::move(recording)),
      server_(server),
      schema_(schema),
      options_(options),
      known_(*known),
      totals_(*totals),
      info_(InfoOf(recording_->header(), options.labels)),
      reader_(recording_.get(),
              {.slice_seconds = schema.slice_seconds, .samples_per_second = options.samples_per_second}) {
  info_.file = recording_->source().name();
}

Status Shipper::Start() {
  if (is_started_ || options_.dry_run) return {};
  ASSIGN_OR_RETURN(
      auto ended, server_->SelectNumber(fmt::format("SELECT count() AS n FROM {}.{} WHERE recording = {} AND ended = 1",
                                                    server_->database(), Table("recordings"), info_.id)));
  is_done_ = ended > 0;
  RETURN_IF_ERROR(ReadLedger());
  if (is_done_) totals_.slices_there += in_ledger_.size();
  is_started_ = true;
  return {};
}

Status Shipper::ReadLedger() {
  ASSIGN_OR_RETURN(auto answer,
                   server_->Select(fmt::format("SELECT kind, time FROM {}.{} WHERE recording = {} GROUP BY kind, time",
                                               server_->database(), Table("shipped"), info_.id)));
  for (size_t row = 0; row < answer.rows; ++row) {
    in_ledger_.emplace(static_cast<BatchKind>(answer.Number("kind", row)),
                       static_cast<uint32_t>(answer.Number("time", row)));
  }
  return {};
}

// A shipper that writes a claim and then sees no other claim holds the recording: of two concurrent shippers at most
// one does. Inserts of the other one may still arrive, so the ledger must be read again.
Status Shipper::HoldLease() {
  const auto now = std::chrono::steady_clock::now();
  if (now + kRenewal < leased_until_) return {};
  const std::string table = fmt::format("{}.{}", server_->database(), Table("leases"));
  const auto claim = [&](std::chrono::seconds length) {
    return server_->Run(
        fmt::format("INSERT INTO {} (recording, owner, until) SELECT toUInt64({}), toUInt64({}), now() + {}", table,
                    info_.id, options_.owner, length.count()));
  };
  const auto others = [&]() -> Status {
    ASSIGN_OR_RETURN(auto count,
                     server_->SelectNumber(fmt::format(
                         "SELECT count() AS n FROM {} WHERE recording = {} AND owner != {} AND until > now()", table,
                         info_.id, options_.owner)));
    if (count == 0) return {};
    return Error{
        fmt::format("{}: another heaprec ship sends a copy of this recording, or did two minutes ago", info_.file)};
  };
  const bool is_held = now < leased_until_;
  if (!is_held) {
    RETURN_IF_ERROR(others());
    RETURN_IF_ERROR(claim(kClaim));
    RETURN_IF_ERROR(others());
  }
  RETURN_IF_ERROR(claim(kLease));
  leased_until_ = now + kLease;
  if (!is_held) in_doubt_ = true;
  return {};
}

// Waits until everything that was sent before has arrived or failed.
Status Shipper::Settle() {
  if (!in_doubt_) return {};
  RETURN_IF_ERROR(WaitForInserts());
  return ReadLedger();
}

Result<bool> Shipper::Step() {
  RETURN_IF_ERROR(Start());
  if (is_done_) return true;
  bool is_over = false;
  while (true) {
    if (!pending_) pending_ = reader_.Next(is_over);
    if (!pending_ && is_over) break;
    if (!pending_) {
      // The end is known only after everything available has been read.
      is_over = recording_->is_over(std::chrono::seconds(schema_.slice_seconds) + kQuiet);
      // A dump's last slice must wait for the recording, because nothing is ever added to a sent slice.
      if (!is_over && recording_->is_dump()) ++totals_.copies, is_done_ = true;
      if (!is_over) return is_done_;
      continue;
    }
    if (pending_->time / kHour * kHour != hour_.time) {
      RETURN_IF_ERROR(SendHour());
      hour_ = {.time = pending_->time / kHour * kHour, .rows = {}, .slices = {}, .beginning = {}};
    }
    ASSIGN_OR_RETURN(const auto sent, SendSlice(*pending_));
    AddToHour(*pending_, sent);
    pending_.reset();
  }
  RETURN_IF_ERROR(SendHour());
  info_.ended = true;
  info_.seen = reader_.seen();
  RETURN_IF_ERROR(SendRecording());
  is_done_ = true;
  return true;
}

void Shipper::AddToHour(const Slice& slice, bool is_new) {
  for (const auto& [key, sums] : slice.rows) hour_.rows[key] += sums;
  hour_.slices.insert(slice.time);
  if (!reader_.FileBeginsIn(slice) || is_new) return;
  hour_.beginning = SliceSum{.time = slice.time, .rows = slice.rows.size()};
  for (const auto& [key, sums] : slice.rows) hour_.beginning->bytes += sums.bytes;
}

Result<bool> Shipper::SendSlice(const Slice& slice) {
  RETURN_IF_ERROR(SendNames(slice));
  if (slice.time < options_.since) {
    ++totals_.too_old;
    return false;
  }
  if (IsInLedger(BatchKind::kSlice, slice.time)) {
    ++totals_.slices_there;
    return false;
  }
  if (!options_.dry_run) {
    RETURN_IF_ERROR(HoldLease());
    RETURN_IF_ERROR(Settle());
    // Another shipper, or an insert whose answer was lost, has added it just now.
    if (IsInLedger(BatchKind::kSlice, slice.time)) {
      ++totals_.slices_there;
      return false;
    }
  }
  LedgerRow row{.recording = info_.id, .time = slice.time};
  row.totals = slice.minutes.size(), row.sums = slice.rows.size(), row.samples = slice.samples.size();
  if (!options_.dry_run) {
    RETURN_IF_ERROR(InsertOnce("totals", "slice", slice.time, TotalsBlock(info_.id, slice)));
    RETURN_IF_ERROR(InsertOnce("sums", "time", slice.time, SumsBlock(info_.id, slice)));
    RETURN_IF_ERROR(InsertOnce("samples", "slice", slice.time, SamplesBlock(info_.id, slice)));
    RETURN_IF_ERROR(InsertOnce("live", "time", slice.time, LiveBlock(info_, slice)));
    in_doubt_ = false;
    // Never earlier than in the previous row, because the latest row of a recording counts.
    info_.seen = std::min(slice.time + schema_.slice_seconds, reader_.seen());
    RETURN_IF_ERROR(SendRecording());
    RETURN_IF_ERROR(WriteLedger(row));
  }
  in_ledger_.emplace(BatchKind::kSlice, slice.time);
  ++totals_.slices;
  totals_.rows += row.totals + row.sums;
  totals_.samples += row.samples;
  totals_.live += slice.live.size();
  return true;
}

// An hour is rolled up if the complete data of all its slices on the server is available, but not if the recording has
// dropped its oldest part since.
Status Shipper::SendHour() {
  if (hour_.rows.empty() || options_.dry_run || IsInLedger(BatchKind::kHour, hour_.time)) return {};
  for (auto at = in_ledger_.lower_bound({BatchKind::kSlice, hour_.time});
       at != in_ledger_.end() && at->first == BatchKind::kSlice && at->second < hour_.time + kHour; ++at) {
    if (!hour_.slices.contains(at->second)) return {};
  }
  // Not if --since excludes a part of it.
  for (const uint32_t slice : hour_.slices) {
    if (!IsInLedger(BatchKind::kSlice, slice)) return {};
  }
  if (hour_.beginning) {
    ASSIGN_OR_RETURN(auto is_same, IsSame(*hour_.beginning));
    if (!is_same) return {};
  }
  RETURN_IF_ERROR(HoldLease());
  RETURN_IF_ERROR(Settle());
  if (IsInLedger(BatchKind::kHour, hour_.time)) return {};
  RETURN_IF_ERROR(InsertOnce("hours", "time", hour_.time, HoursBlock(info_.id, hour_.time, hour_.rows)));
  in_doubt_ = false;
  LedgerRow row{.recording = info_.id, .time = hour_.time, .kind = BatchKind::kHour};
  row.sums = hour_.rows.size();
  RETURN_IF_ERROR(WriteLedger(row));
  in_ledger_.emplace(BatchKind::kHour, hour_.time);
  return {};
}

// A later part of a rotated recording still has everything that was sent; a file that has dropped its oldest part has
// less. Their headers do not distinguish them.
Result<bool> Shipper::IsSame(const SliceSum& slice) {
  ASSIGN_OR_RETURN(auto answer,
                   server_->Select(fmt::format(
                       "SELECT count() AS n, sum(bytes) AS s FROM {}.{} WHERE recording = {} AND toUInt32(time) = {}",
                       server_->database(), Table("sums"), info_.id, slice.time)));
  // The server sums in a different order.
  return answer.Number("n", 0) == slice.rows && std::abs(answer.Real("s", 0) - slice.bytes) <= 1e-9 * slice.bytes;
}

// Readers use the last row, so the verdict on a recording may change while it grows.
Status Shipper::SendRecording() {
  if (options_.dry_run) return {};
  info_.SetTrust(reader_.TrustReasons());
  info_.SetFull(reader_.Full(), recording_->header().start_epoch_ns);
  return Insert("recordings", RecordingBlock(info_), "recording");
}

Status Shipper::WriteLedger(LedgerRow row) {
  row.at = Now();
  return Insert("shipped", LedgerBlock(row), "ledger");
}

// A slice lists only the names and stacks that no earlier slice lists. Later slices refer to them, so they are sent
// even if nothing else of the slice is.
Status Shipper::SendNames(const Slice& slice) {
  if (options_.dry_run) return {};
  std::vector<NamedId> names;
  for (const NamedId& name : slice.names) {
    if (!known_.contains(name.id)) names.push_back(name);
  }
  std::vector<FleetStack> stacks;
  for (const FleetStack& stack : slice.stacks) {
    if (!known_.contains(stack.id)) stacks.push_back(stack);
  }
  if (!names.empty()) {
    RETURN_IF_ERROR(Insert("names", NamesBlock(names, Now()), "names"));
  }
  if (!stacks.empty()) {
    RETURN_IF_ERROR(Insert("stacks", StacksBlock(stacks, Now()), "stacks"));
  }
  if (known_.size() > kMaxKnownIds) known_.clear();
  for (const NamedId& name : names) known_.insert(name.id);
  for (const FleetStack& stack : stacks) known_.insert(stack.id);
  return {};
}

Status Shipper::WaitForInserts() {
  // On a cluster another shard may have been used before.
  const std::string processes = schema_.cluster.empty()
                                    ? "system.processes"
                                    : fmt::format("cluster({}, system, processes)", Quoted(schema_.cluster));
  const std::string prefix = Quoted(QueryPrefix(info_.id));
  const std::string sql =
      fmt::format("SELECT count() AS n FROM {} WHERE startsWith(query_id, {}) OR startsWith(initial_query_id, {})",
                  processes, prefix, prefix);
  for (int tried = 0; tried < kWaitTries; ++tried) {
    ASSIGN_OR_RETURN(auto running, server_->SelectNumber(sql));
    if (running == 0) return {};
    std::this_thread::sleep_for(kWaitStep);
  }
  return Error{fmt::format("{}: an insert of {} has been running for minutes", server_->name(), info_.file)};
}

Status Shipper::InsertOnce(const std::string& table, const std::string& time_column, uint32_t time,
                           const NativeBlock& block) {
  if (block.rows() == 0) return {};
  if (in_doubt_) {
    ASSIGN_OR_RETURN(auto there, server_->SelectNumber(fmt::format(
                                     "SELECT count() AS n FROM {}.{} WHERE recording = {} AND toUInt32({}) = {}",
                                     server_->database(), Table(table), info_.id, time_column, time)));
    if (there > 0 && there != block.rows()) ++totals_.differing;
    if (there > 0) return {};
  }
  return Insert(table, block, fmt::format("{}-{}", table, time));
}

Status Shipper::Insert(const std::string& table, const NativeBlock& block, const std::string& what) {
  Status inserted = server_->Insert(Table(table), block, QueryPrefix(info_.id) + what);
  if (!inserted) in_doubt_ = true;
  return inserted;
}

}  // namespace heaprec::tools::fleet

// Sends a recording's slices to a server, each exactly once, even if ship or the server is killed at any time.
//
// The server's table `shipped` is the ledger: a slice listed there is complete in all tables. One insert is
// atomic, so after a start or an error it is sufficient to wait until no insert of the recording is running, and to
// count the rows of the slice in each table: either all of them are there, or none. Meanwhile a lease excludes shippers
// of copies of the recording. docs/decisions.md#20-the-ledger-is-on-the-server
//
// Memory:   the current slice, the sums of the current hour.
// Threads:  one per Shipper.
// Failure:  Step returns an Error; the next call tries the same slice again.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>

#include "base/result.h"
#include "tools/fleet/rows/slices.h"
#include "tools/fleet/server/schema.h"
#include "tools/fleet/server/server.h"
#include "tools/fleet/ship/batch.h"
#include "tools/input/recording.h"

namespace heaprec::tools::fleet {

struct ShipTotals {
  uint64_t slices = 0, slices_there = 0;  // slices that were sent; slices that had already arrived
  uint64_t rows = 0, samples = 0, live = 0;
  uint64_t differing = 0;  // batches whose number of rows on the server differs from that of the recording
  uint64_t too_old = 0;    // slices before --since
  uint64_t copies = 0;     // dumps of running recordings; their last slices are incomplete and not sent
};

struct ShipOptions {
  uint32_t since = 0;  // earlier slices are not sent
  double samples_per_second = 5;
  GivenLabels labels;
  bool dry_run = false;  // send nothing
  uint64_t owner = 0;    // of the lease; equal for all shippers of a folder
};

// Names that the server has, over all recordings of a run.
using KnownIds = std::unordered_set<uint64_t>;

class Shipper {
 public:
  // `server`: nullptr with dry_run.
  Shipper(std::unique_ptr<Recording> recording, Server* server, const Schema& schema, const ShipOptions& options,
          KnownIds* known, ShipTotals* totals);

  // Sends finished slices. Returns true if the recording is over and all of it has arrived, or if this is a dump
  // without further finished slices.
  Result<bool> Step();

  // Call if another file's shipper may have sent slices of this recording: reads the ledger again before sending.
  void Doubt() { in_doubt_ = true; }

  const Recording& recording() const { return *recording_; }
  const RecordingInfo& info() const { return info_; }

 private:
  struct SliceSum {
    uint32_t time = 0;
    size_t rows = 0;
    double bytes = 0;  // sum over all rows
  };
  struct Hour {
    uint32_t time = 0;
    std::map<RowKey, Sums> rows;
    std::set<uint32_t> slices;
    // The slice in which the file begins, if it was sent before: the server may have more of it than the file.
    std::optional<SliceSum> beginning;
  };

  Status Start();
  Status ReadLedger();
  Status HoldLease();
  Status Settle();
  // Returns whether it was sent now.
  Result<bool> SendSlice(const Slice& slice);
  Status SendHour();
  // Whether the server has as much of the slice as the file.
  Result<bool> IsSame(const SliceSum& slice);
  Status SendRecording();
  Status WriteLedger(LedgerRow row);
  Status WaitForInserts();
  Status InsertOnce(const std::string& table, const std::string& time_column, uint32_t time, const NativeBlock& block);
  Status Insert(const std::string& table, const NativeBlock& block, const std::string& what);
  Status SendNames(const Slice& slice);
  // `is_new`: it was sent now.
  void AddToHour(const Slice& slice, bool is_new);
  bool IsInLedger(BatchKind kind, uint32_t time) const { return in_ledger_.contains({kind, time}); }
  std::string Table(const std::string& name) const { return schema_.Table(name); }

  const std::unique_ptr<Recording> recording_;
  Server* const server_;
  const Schema schema_;
  const ShipOptions options_;
  KnownIds& known_;
  ShipTotals& totals_;
  RecordingInfo info_;
  SliceReader reader_;
  std::set<std::pair<BatchKind, uint32_t>> in_ledger_;
  std::optional<Slice> pending_;
  Hour hour_;
  std::chrono::steady_clock::time_point leased_until_{};
  bool is_started_ = false, in_doubt_ = true, is_done_ = false;
};

}  // namespace heaprec::tools::fleet

// Ships recordings and folders of recordings: checks every file, once or repeatedly, with one Shipper per growing
// recording.
//
// Memory:   an open recording takes megabytes; above 32 MiB running recordings are closed until the end of their slice,
//           and then read again from the beginning.
// Failure:  reports errors on stderr. Requests to the server are retried, with growing pauses; unreadable files do not
//           end the run.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tools/fleet/server/schema.h"
#include "tools/fleet/server/server.h"
#include "tools/fleet/ship/shipper.h"
#include "tools/input/confined_open.h"
#include "tools/text/messages.h"

namespace heaprec::tools::fleet {

struct ShipRunOptions {
  std::vector<std::string> paths;
  uint32_t tries = 5;   // number of retries
  bool follow = false;  // continue, and retry without limit
  ShipOptions ship;
};

// One shipper per folder, because a second one would send the same slices. Held until the process ends.
class FolderLocks {
 public:
  // Returns false if another process has the lock. A folder that cannot be locked (some network file systems) is used
  // anyway, because the ledger on the server prevents duplicates.
  bool Lock(const std::string& folder);

 private:
  std::map<std::string, bool> is_ours_;
  std::vector<Descriptor> descriptors_;
};

class ShipRun {
 public:
  ShipRun(const ShipRunOptions& options, Server* server, Schema schema)
      : options_(options), server_(server), schema_(std::move(schema)) {}

  // Once IsInterrupted(), ends as soon as a file's slices are sent.
  ExitCode Run();
  const ShipTotals& totals() const { return totals_; }
  uint32_t slice_seconds() const { return schema_.slice_seconds; }
  size_t recordings() const { return senders_.size(); }
  uint64_t unfinished() const { return running_.size(); }
  uint64_t failed() const { return unreadable_.size(); }

 private:
  // Checks every file. A failure of the server ends the round; an unreadable file does not.
  ExitCode Once();

  ExitCode ShipFile(const std::string& file);
  bool IsClosed(const std::string& file) const;
  // Closes the recording. It is opened again when its slice is over.
  void Close(const std::string& file);
  bool IsOurs(const std::string& file);
  ExitCode Advance(const std::string& file);
  // nullopt: gave up. Unsent data stays in the recording, and the next run sends it.
  std::optional<bool> WithRetries(Shipper* shipper);

  const ShipRunOptions& options_;
  Server* const server_;
  const Schema schema_;
  ShipTotals totals_;
  FolderLocks locks_;
  KnownIds known_;
  std::map<std::string, std::vector<std::unique_ptr<Shipper>>> open_;
  std::map<std::string, std::time_t> due_;  // times at which closed files must be read again
  std::set<std::string> running_, done_files_, unreadable_, damaged_;
  std::map<uint64_t, std::string> senders_;  // by recording: the file whose slices were sent last
};

// Finds the schema; retries if the server is down.
Result<Schema> FindSchema(const ShipRunOptions& options, Server* server);

}  // namespace heaprec::tools::fleet

// Ships recordings and folders of recordings: looks at every file, once or again and again, with one Shipper for each
// recording that still grows.
//
// Memory:   what is open of a recording takes megabytes; above 32 MiB those that still run are closed until their slice
//           is over, and read again from their start.
// Failure:  says on stderr what fails. A server is asked again, with growing pauses; files that cannot be read do not
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
#include "tools/text/exit_code.h"

namespace heaprec::tools::fleet {

struct ShipRunOptions {
  std::vector<std::string> paths;
  uint32_t tries = 5;   // before giving up
  bool follow = false;  // go on, and never give up
  ShipOptions ship;
};

// One shipper a folder: a second one would send the same slices. Held until the process ends.
class FolderLocks {
 public:
  // False: another process has it. A folder that cannot be locked (some network file systems) is taken as it is: the
  // ledger on the server remains.
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
  // Looks at every file. A failure of the server ends the round; files that cannot be read do not.
  ExitCode Once();

  ExitCode ShipFile(const std::string& file);
  bool IsClosed(const std::string& file) const;
  // Until its slice is over.
  void Close(const std::string& file);
  bool IsOurs(const std::string& file);
  ExitCode Advance(const std::string& file);
  // nullopt: given up. What was not sent stays in the recording, and is sent by the next run.
  std::optional<bool> WithRetries(Shipper* shipper);

  const ShipRunOptions& options_;
  Server* const server_;
  const Schema schema_;
  ShipTotals totals_;
  FolderLocks locks_;
  KnownIds known_;
  std::map<std::string, std::vector<std::unique_ptr<Shipper>>> open_;
  std::map<std::string, std::time_t> due_;  // when a file that was closed is to be read again
  std::set<std::string> running_, done_files_, unreadable_, damaged_;
  std::map<uint64_t, std::string> senders_;  // by recording: the file of which slices were sent last
};

// Finds the schema; retries if the server is down.
Result<Schema> FindSchema(const ShipRunOptions& options, Server* server);

}  // namespace heaprec::tools::fleet

// `heaprec fleet init` and `prune`: the tables on a server, made, completed, and freed of what is old.
//
// Failure:  returns the sentence for the user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "format/bytes/result.h"
#include "tools/fleet/server/schema.h"
#include "tools/options/command.h"
#include "tools/render/report.h"

namespace heaprec::tools::fleet {

// As given on the command line.
struct TableOptions {
  std::string cluster;
  std::optional<uint64_t> slice_ns;
  Retention retention;
  bool drops = false;

  // The options have a heading of their own in the help.
  void AddTo(Command& command);
  format::Result<SchemaOptions> Schema() const;
};

// The length of --slice, or `otherwise`, in seconds.
format::Result<uint32_t> SliceOf(std::optional<uint64_t> slice_ns, uint32_t otherwise);

format::Result<render::Report> InitTables(Server* server, const SchemaOptions& schema);
format::Result<render::Report> PruneTables(Server* server, const TableOptions& options, uint32_t now);

}  // namespace heaprec::tools::fleet

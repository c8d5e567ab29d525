// Options of all commands that talk to a fleet's server.
//
// Failure:  Resolve returns the sentence for the user: a file that cannot be read, two of what only one can be.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "tools/fleet/server/server.h"
#include "tools/options/command.h"

namespace heaprec::tools::fleet {

struct ConnectionOptions {
  std::string server, user, password_file, token_file, ca_file, proxy;
  bool no_compression = false;
  uint64_t timeout_ns = 300'000'000'000;

  // They have a heading of their own in the help.
  void AddTo(Command& command);
  // User, password and token from files, or from the environment: HEAPREC_FLEET_USER, _PASSWORD, _TOKEN; the address
  // from HEAPREC_FLEET_URL.
  format::Result<ServerOptions> Resolve() const;
  format::Result<std::unique_ptr<Server>> Connect() const;
};

}  // namespace heaprec::tools::fleet

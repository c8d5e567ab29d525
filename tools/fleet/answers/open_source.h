// Opens what `heaprec fleet` reads: a ClickHouse server, or a folder of recordings. OpenedSource owns the connection,
// too.
//
// Threads:  one.
// Failure:  says on stderr why there is none; returns the exit code for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tools/fleet/server/connection_options.h"
#include "tools/fleet/source/source.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools::fleet {

struct OpenedSource {
  std::unique_ptr<Server> server;
  std::unique_ptr<Source> source;
};

// `folder` empty: of the server. `slice_ns`: of --slice. `samples_per_second`: of each recording of a folder.
// kDamaged: there is a source, but some recordings of the folder could not be read.
ExitCode OpenSource(const std::string& folder, std::optional<uint64_t> slice_ns, double samples_per_second,
                    const ConnectionOptions& connection, OpenedSource* into);

}  // namespace heaprec::tools::fleet

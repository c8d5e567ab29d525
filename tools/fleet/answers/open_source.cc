#include "tools/fleet/answers/open_source.h"

#include <utility>

#include "tools/fleet/answers/tables.h"
#include "tools/fleet/source/folder_source.h"
#include "tools/fleet/source/server_source.h"
#include "tools/text/messages.h"

namespace heaprec::tools::fleet {

ExitCode OpenSource(const std::string& folder, std::optional<uint64_t> slice_ns, double samples_per_second,
                    const ConnectionOptions& connection, OpenedSource* into) {
  if (!folder.empty()) {
    const auto seconds = SliceOf(slice_ns, 60);
    if (!seconds.ok()) return Fail(ExitCode::kUsage, seconds.error().message);
    auto source = FolderSource::Open(folder, *seconds, samples_per_second, {});
    if (!source.ok()) return Fail(ExitCode::kUnreadable, source.error().message);
    const bool is_damaged = (*source)->is_damaged();
    into->source = std::move(*source);
    return is_damaged ? ExitCode::kDamaged : ExitCode::kOk;
  }
  auto server = connection.Connect();
  if (!server.ok()) return Fail(ExitCode::kUsage, server.error().message);
  into->server = std::move(*server);
  auto source = ServerSource::Open(into->server.get());
  if (!source.ok()) return Fail(ExitCode::kUnreadable, source.error().message);
  into->source = std::move(*source);
  return ExitCode::kOk;
}

}  // namespace heaprec::tools::fleet

// Creates a recording's first file, and gives up if the file system hangs: the JVM's start and commands wait for this.
//
// Context:  setup. The thread heaprec-open opens the file, and may stay in that call for ever. If it cannot be started,
//           the caller opens the file. A ring that the option `ring` names is not covered: it is on a tmpfs.
// Failure:  as Store::Create; also an Error once `patience` is over. If the file is created later, it is removed.
#pragma once

#include <chrono>

#include "base/result.h"
#include "recorder/writer/store.h"

namespace heaprec::writer {

Result<Store> OpenStore(StoreConfig config, std::chrono::seconds patience);

}  // namespace heaprec::writer

// Creates a recording's first file, and gives up if the file system does not respond, because the JVM's start and
// commands wait for this.
//
// Context:  setup. The thread heaprec-open opens the file, and may stay in that call forever. If it cannot be started,
//           the caller opens the file. A ring named by the option `ring` is not opened this way, because it is on a
//           tmpfs.
// Failure:  as for Store::Create; also an Error after `patience`. If the file is created later, it is removed.
#pragma once

#include <chrono>

#include "base/result.h"
#include "recorder/writer/store.h"

namespace heaprec::writer {

Result<Store> OpenStore(StoreConfig config, std::chrono::seconds patience);

}  // namespace heaprec::writer

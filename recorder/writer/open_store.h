// Creates a recording's first file, and gives up if the file system hangs: the JVM's start and commands wait for this.
//
// Context:  setup. A thread of its own, which may stay in the call to open for ever, opens the file; without a thread
//           the caller does.
// Failure:  as Store::Create. After the time for it an Error; if the file is created later, it is removed.
#pragma once

#include <chrono>

#include "format/bytes/result.h"
#include "recorder/writer/store.h"

namespace heaprec::writer {

format::Result<Store> OpenStore(StoreConfig config, std::chrono::seconds patience);

}  // namespace heaprec::writer

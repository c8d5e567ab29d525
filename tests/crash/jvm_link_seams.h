// What the capture is told of the calling thread, where there is no JVM.
#pragma once

#include "recorder/sources/sample/sample_writer.h"
#include "tests/crash/program.h"

namespace heaprec::crash {

// Of the thread that allocates `object`; until its next object.
sources::CallbackContext ContextOf(const Object& object);

}  // namespace heaprec::crash

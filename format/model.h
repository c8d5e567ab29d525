// What a recording holds, as values: the reader yields these, the writer takes them.
#pragma once

#include "format/census.h"            // IWYU pragma: export
#include "format/file_description.h"  // IWYU pragma: export
#include "format/lifecycle_event.h"   // IWYU pragma: export
#include "format/names.h"             // IWYU pragma: export
#include "format/process_state.h"     // IWYU pragma: export
#include "format/sample.h"            // IWYU pragma: export
#include "format/stream.h"            // IWYU pragma: export
#include "format/stream_counters.h"   // IWYU pragma: export

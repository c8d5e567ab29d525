// The contents of a recording as values: the reader returns these, the writer takes them.
#pragma once

#include "format/model/census.h"            // IWYU pragma: export
#include "format/model/file_description.h"  // IWYU pragma: export
#include "format/model/names.h"             // IWYU pragma: export
#include "format/model/process_state.h"     // IWYU pragma: export
#include "format/model/row.h"               // IWYU pragma: export
#include "format/model/sample.h"            // IWYU pragma: export
#include "format/model/stream.h"            // IWYU pragma: export

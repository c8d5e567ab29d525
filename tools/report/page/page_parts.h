// What the report page says of a recording beside its samples: headlines, facts, findings, and the tabs of other
// reports.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "format/model/file_description.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/query/summary/headlines.h"
#include "tools/render/value.h"

namespace heaprec::tools {

// What the report page says of a recording beside its samples: headlines, facts and findings.
//
// Failure:  none: what the recording does not hold is left out.

// Reads the recording again from its start. `file`: that holds it alone; empty: several do. `use_census`: as for its
// samples. `merged`: as NamePool. `headlines`: of a page that shows a part; empty: those of `heaprec summary`, with the
// command to run next.
//
// {"jvm", "gc", "start_epoch_ns", "trustworthy", "headlines": [{"id", "mood", "text"}], "next": {"command", "reason"},
//  "facts": [[name, value]], "findings": [{"id", "level", "what", "means", "do"}]}
render::Object PageFacts(const Recording& recording, const std::string& file, bool use_census,
                         const std::shared_ptr<MergedNames>& merged, const std::vector<Headline>& headlines);

// The tabs of the report page that are reports of other commands: `live`, `leaks`, `census`, `native`, `top` of
// exceptions, as far as the recording has their data.
//
// Failure:  none: what cannot be read is left out; the command has reported the damage.

// HTML of each tab, by its name on the page. Reads the file again for each; of standard input there are none. Adds to
// `facts` the native bytes that were live over time, if they are known: "native_live".
std::map<std::string, std::string> PageTabs(const std::string& path, const format::FileHeader& header,
                                            render::Object* facts);

}  // namespace heaprec::tools

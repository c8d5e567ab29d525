// The report page's data of a recording in addition to its samples: headlines, facts, findings, and the tabs with other
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

// The report page's data of a recording in addition to its samples: headlines, facts and findings.
//
// Failure:  none: missing data is omitted.

// Reads the recording again from its start. `file`: a file with only this recording; empty: there are several.
// `use_census`: as for its samples. `merged`: as in NamePool. `headlines`: for a page that shows a part; empty: those
// of `heaprec summary`, with the next command.
//
// {"jvm", "gc", "start_epoch_ns", "trustworthy", "headlines": [{"id", "mood", "text"}], "next": {"command", "reason"},
//  "facts": [[name, value]], "findings": [{"id", "level", "what", "means", "do"}]}
render::Object PageFacts(const Recording& recording, const std::string& file, bool use_census,
                         const std::shared_ptr<MergedNames>& merged, const std::vector<Headline>& headlines);

// The tabs of the report page with reports of other commands: `why`, advice, `live`, `leaks`, `paths`, `census`,
// `native`, `top` for exceptions, if the recording has their data.
//
// Failure:  none: unreadable data is omitted; the command has reported the damage.

// Returns HTML of each tab, by its name on the page. Reads the file again for each; none for standard input. Adds
// native live bytes over time to `facts`, if they are known: "native_live".
std::map<std::string, std::string> PageTabs(const std::string& path, const format::FileHeader& header,
                                            render::Object* facts);

}  // namespace heaprec::tools

// The tabs of the report page that are reports of other commands: `live`, `leaks`, `census`, `native`, `top` of
// exceptions, as far as the recording has their data.
//
// Threads:  one.
// Failure:  none: what cannot be read is left out; the command has reported the damage.
#pragma once

#include <map>
#include <string>

#include "format/model/file_description.h"
#include "tools/render/value.h"

namespace heaprec::tools {

// HTML of each tab, by its name on the page. Reads the file again for each; of standard input there are none. Adds to
// `facts` the native bytes that were live over time, if they are known: "native_live".
std::map<std::string, std::string> PageTabs(const std::string& path, const format::FileHeader& header,
                                            render::Object* facts);

}  // namespace heaprec::tools

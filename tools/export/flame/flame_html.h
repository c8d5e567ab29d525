// A flame graph as one page that needs nothing else: no network, no other file, any browser of today.
//
// The page's parts are page.html, page.css and the scripts beside this file; the graph is data in it, which is never
// run: names with markup or code in them stay names. A policy in the page forbids every request.
//
// Failure:  none.
#pragma once

#include "tools/export/flame/flame_graph.h"
#include "tools/text/text.h"

namespace heaprec::tools {

void AppendFlamePage(const FlameGraph& graph, Text& into);

// The graph as the page's scripts read it: no "<" in it, so that it can stand in a script element.
void AppendFlameData(const FlameGraph& graph, Text& into);

}  // namespace heaprec::tools

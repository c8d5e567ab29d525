// All verbs of the command. For main.cc alone: a new verb is no reason to compile the others again.
#pragma once

#include "tools/verb.h"

namespace heaprec::tools {

Verb DeclareAttach(CLI::App& heaprec);
Verb DeclareCensus(CLI::App& heaprec);
Verb DeclareCheck(CLI::App& heaprec);
Verb DeclareCompletion(CLI::App& heaprec);
Verb DeclareDiff(CLI::App& heaprec);
Verb DeclareDoctor(CLI::App& heaprec);
Verb DeclareDump(CLI::App& heaprec);
Verb DeclareEscape(CLI::App& heaprec);
Verb DeclareExport(CLI::App& heaprec);
Verb DeclareFlame(CLI::App& heaprec);
Verb DeclareHistogram(CLI::App& heaprec);
Verb DeclareImport(CLI::App& heaprec);
Verb DeclareLeaks(CLI::App& heaprec);
Verb DeclareList(CLI::App& heaprec);
Verb DeclareLive(CLI::App& heaprec);
Verb DeclareMan(CLI::App& heaprec);
Verb DeclareMerge(CLI::App& heaprec);
Verb DeclareNative(CLI::App& heaprec);
Verb DeclarePrint(CLI::App& heaprec);
Verb DeclareRecord(CLI::App& heaprec);
Verb DeclareRecover(CLI::App& heaprec);
Verb DeclareRedact(CLI::App& heaprec);
Verb DeclareSql(CLI::App& heaprec);
Verb DeclareStatus(CLI::App& heaprec);
Verb DeclareStop(CLI::App& heaprec);
Verb DeclareSummary(CLI::App& heaprec);
Verb DeclareTimeline(CLI::App& heaprec);
Verb DeclareTop(CLI::App& heaprec);
Verb DeclareTree(CLI::App& heaprec);
Verb DeclareTrim(CLI::App& heaprec);
Verb DeclareVerify(CLI::App& heaprec);

}  // namespace heaprec::tools

// The commands of heaprec, for main.cc.
#pragma once

#include "tools/options/command.h"

namespace heaprec::tools {

Command AttachCommand();
Command BenchCommand();
Command CensusCommand();
Command CheckCommand();
Command DiffCommand();
Command DoctorCommand();
Command DumpCommand();
Command EscapeCommand();
Command ExportCommand();
Command FlameCommand();
Command FleetCommand();
Command HistogramCommand();
Command ImportCommand();
Command LeaksCommand();
Command ListCommand();
Command LiveCommand();
Command MergeCommand();
Command NativeCommand();
Command PathsCommand();
Command PrintCommand();
Command RecordCommand();
Command RecoverCommand();
Command RedactCommand();
Command ReportCommand();
Command ShipCommand();
Command SqlCommand();
Command StatusCommand();
Command StopCommand();
Command SummaryCommand();
Command TimelineCommand();
Command TopCommand();
Command TreeCommand();
Command TrimCommand();
Command VerifyCommand();
Command ViewCommand();
Command WhyCommand();

}  // namespace heaprec::tools

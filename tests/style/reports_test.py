"""Reports are declared: no file of tools/report formats a number, or writes JSON or CSV, itself; and a column is declared once."""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
FORBIDDEN = re.compile(r'^\s*#include (?:<(fmt/[^>]*|nlohmann/[^>]*)>|"(tools/text/(?:csv_field|terminal|output|bars|markup)\.h)")', re.M)
# `print` writes events one by one; pictures draw themselves; Prometheus' format is not ours to lay out.
EVENTS = {"event_format.cc", "event_format.h", "state_format.cc", "state_format.h", "prometheus_text.cc"}
JSON = re.compile(r"^\s*#include <nlohmann/json.hpp>", re.M)
# Not declared yet: names without their ending. Take a name out when it is; nothing may be added.
UNDECLARED = {"budget_check", "check_report", "difference_format", "estimate_format",
              "page_facts", "sql_report"}


def violations():
    for source in sorted((ROOT / "tools/report").glob("*.*")):
        if source.suffix not in (".h", ".cc") or source.name in EVENTS or source.stem in UNDECLARED:
            continue
        for match in FORBIDDEN.finditer(source.read_text()):
            yield f"tools/report/{source.name} includes {match.group(1) or match.group(2)}: declare it (tools/render/report.h)"
    for header in sorted((ROOT / "tools").rglob("*.h")):
        if JSON.search(header.read_text()):
            yield f"{header.relative_to(ROOT)} includes nlohmann-json: every file that includes it compiles a second longer"
    for name in sorted(UNDECLARED):
        sources = [ROOT / "tools/report" / f"{name}.{ending}" for ending in ("cc", "h")]
        if not any(FORBIDDEN.search(source.read_text()) for source in sources if source.exists()):
            yield f"{name} is declared: take it out of UNDECLARED"
    shared = (ROOT / "tools/report/group_columns.cc").read_text()
    assert '"mean_size"' in shared
    for source in [ROOT / "tools/commands/top.cc", *(ROOT / "tools/report").glob("t*_report.cc"), *(ROOT / "tools/render").glob("*.cc")]:
        for column in ("objects", "bytes_per_second", "events_per_second"):
            if f'"{column}"' in source.read_text() and source.name != "timeline_report.cc":
                yield f"{source.relative_to(ROOT)} names the column {column}, which group_columns.cc declares"


found = list(violations())
print("\n".join(found) or "reports are declared")
sys.exit(1 if found else 0)

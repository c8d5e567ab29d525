"""Reports are declared: no file of tools/report writes JSON, CSV, a file or a message itself."""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
FORBIDDEN = re.compile(r'^\s*#include (?:<(nlohmann/[^>]*)>|"(tools/text/(?:terminal|output)\.h)")|\b(AppendCsvField|AppendMarkup|PrintError|Fail)\(', re.M)
# `print` writes events one by one; pictures draw themselves; Prometheus' format is not ours to lay out.
EVENTS = {"event_text.cc", "event_text.h", "state_text.cc", "prometheus_text.cc", "memory_picture.cc"}
JSON = re.compile(r"^\s*#include <nlohmann/json.hpp>", re.M)


def violations():
    reports = [path for path in sorted((ROOT / "tools/report").rglob("*.*")) if path.suffix in (".h", ".cc")]
    assert len(reports) >= 25, f"only {len(reports)} files are below tools/report"
    for source in [path for path in reports if path.name not in EVENTS]:
        for match in FORBIDDEN.finditer(source.read_text()):
            what = match.group(1) or match.group(2) or match.group(3)
            yield f"{source.relative_to(ROOT)} uses {what}: declare it (tools/render/report.h)"
    for header in sorted((ROOT / "tools").rglob("*.h")):
        if JSON.search(header.read_text()):
            yield f"{header.relative_to(ROOT)} includes nlohmann-json: every file that includes it compiles a second longer"


found = list(violations())
print("\n".join(found) or "reports are declared")
sys.exit(1 if found else 0)

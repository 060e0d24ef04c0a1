"""Where recorded messages go: testdata of the package that normalizes them, one file
per event, with the name and version of the library that made the message."""

import json
import os
from importlib import metadata

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TESTDATA = os.path.join(ROOT, "internal", "agent", "evidence", "internal", "normal", "testdata")
TIME = "2026-11-17T12:00:00Z"


def version(package):
    return f"{package} {metadata.version(package)}"


def write(form, name, made_by, data, **event):
    """Writes an event as the envelope of ingestion has it."""
    folder = os.path.join(TESTDATA, form)
    os.makedirs(folder, exist_ok=True)
    whole = {"id": name, "source": "//recorded/" + form, "type": "", "time": TIME, **event, "data": data}
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as f:
        json.dump({"made_by": made_by, "event": whole}, f, indent=2, ensure_ascii=False, sort_keys=True)
        f.write("\n")

"""Tries one library for the driver in a process of its own, which the driver may take down.

`python -m orio_py.measure.cuda.drivers.probe LIBRARY` writes one line: the devices as the library sees them, or the
problem.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from orio_py.measure.cuda.drivers.base import DriverProblem
from orio_py.measure.cuda.drivers.libraries import LIBRARIES

MARK = "orio-cuda-driver "
"""Begins the line with the answer; libraries may print lines of their own."""


def main(arguments: list[str]) -> int:
    """Tell of a library.  Returns the exit status."""
    sys.stdout.write(f"\n{MARK}{json.dumps(_answer(arguments[0]))}\n")
    return 0


def _answer(name: str) -> dict[str, Any]:
    library = LIBRARIES[name]
    try:
        found = library.devices()
        if found:
            library.open(0).close()  # a device that cannot be opened is of no use
    except (DriverProblem, ImportError) as problem:
        return {"problem": str(problem)}
    return {"devices": [device.as_json() for device in found]}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The worker process of OpenCL devices: lists them, or serves as `offload.worker` tells."""

from __future__ import annotations

import json
import sys
from typing import Any

from orio_py.measure.offload.problem import VariantProblem
from orio_py.measure.offload.worker import serve_device

MARK = "orio-devices "
"""Begins the line with the devices; drivers may print lines of their own."""

MISSING = 3
"""Exit status without PyOpenCL."""


def main(arguments: list[str]) -> int:
    """List the devices (`devices`), or serve until the pipe is closed.  Returns the exit status."""
    try:
        from orio_py.measure.opencl import (  # PyOpenCL takes time to load, and may be missing
            platforms,
            runtime,
        )
    except ImportError as error:
        sys.stderr.write(f"{error}\n")
        return MISSING
    if arguments == ["devices"]:
        try:
            found = [platform.as_json() for platform in platforms.platforms()]
            answer: dict[str, Any] = {"platforms": found}
        except VariantProblem as problem:
            answer = {"platforms": [], "problem": problem.text}
        sys.stdout.write(f"\n{MARK}{json.dumps(answer)}\n")
        return 0
    serve_device(runtime.Runtime())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

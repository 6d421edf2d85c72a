"""The worker process of OpenCL devices: lists them, or tests them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from orio_py.measure.offload.problem import VariantProblem
from orio_py.measure.opencl.pocl import use_home

MARK = "orio-devices "
"""Begins the lines of an answer; drivers may print lines of their own."""

MISSING = 3
"""Exit status without PyOpenCL."""


def main(arguments: list[str]) -> int:
    """List the devices (`devices`), or run self-tests.  Returns the exit status.

    `self-test PLATFORM DEVICE together|apart FEATURE,…` answers with a line for each feature.
    """
    try:
        from orio_py.measure.opencl import (  # PyOpenCL takes time to load, and may be missing
            platforms,
            self_test,
        )
    except ImportError as error:
        sys.stderr.write(f"{error}\n")
        return MISSING
    use_home()
    match arguments:
        case ["devices"]:
            try:
                found = [platform.as_json() for platform in platforms.platforms()]
                answer: dict[str, Any] = {
                    "platforms": found,
                    "libraries": _loaded("libpocl"),
                    "loaders": _loaded("libOpenCL"),
                }
            except VariantProblem as problem:
                answer = {"platforms": [], "problem": problem.text}
            _say(answer)
        case ["self-test", platform, device, how, features]:
            tests = self_test.run_cases(
                int(platform), int(device), features.split(","), together=how == "together"
            )
            for feature, problem in tests:
                _say({"feature": feature, "problem": problem})
        case _:
            raise ValueError(arguments)
    return 0


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(f"\n{MARK}{json.dumps(answer)}\n")
    sys.stdout.flush()


def _loaded(name: str) -> list[str]:
    """The shared objects of this process with a name that begins so (proc(5), `maps`)."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    paths = {line.split(maxsplit=5)[5] for line in lines if len(line.split(maxsplit=5)) == 6}
    return sorted(path for path in paths if Path(path).name.startswith(name))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

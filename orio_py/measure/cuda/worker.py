"""The worker process of CUDA: tells of its device, or serves as `offload.worker` says.

Its arguments are the factory of the driver, `MODULE:FUNCTION`, and what that is given: the number of a GPU, or an
architecture for the executor on the processor.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

from orio_py.core.diagnostics import EnvironmentProblem
from orio_py.measure.cuda.drivers.base import CudaDriver, DriverProblem
from orio_py.measure.cuda.runtime import CudaRuntime
from orio_py.measure.offload.worker import serve_device

MARK = "orio-cuda "
"""Begins the line with the device; libraries may print lines of their own."""

DESCRIBE = "describe"

NO_DRIVER = 3
"""Exit status without a driver."""


def main(arguments: list[str]) -> int:
    """Tell of the device (`FACTORY WORD describe`), or serve.  Returns the exit status."""
    factory, word, *rest = arguments
    try:
        driver = _driver(factory, word)
    except (EnvironmentProblem, DriverProblem, ImportError) as problem:
        _tell({"problem": _message(problem), "help": _advice(problem)})
        return 0 if rest == [DESCRIBE] else NO_DRIVER
    if rest == [DESCRIBE]:
        found = {"name": driver.name, "has_times": driver.has_times, "device": driver.device.as_json()}
        driver.close()
        _tell(found)
        return 0
    serve_device(CudaRuntime(driver))
    return 0


def _driver(factory: str, word: str) -> CudaDriver:
    module, _, function = factory.partition(":")
    return getattr(import_module(module), function)(int(word) if word.isdecimal() else word)


def _tell(answer: dict[str, Any]) -> None:
    sys.stdout.write(f"\n{MARK}{json.dumps(answer)}\n")


def _message(problem: Exception) -> str:
    return problem.diagnostics[0].message if isinstance(problem, EnvironmentProblem) else str(problem)


def _advice(problem: Exception) -> str | None:
    return problem.diagnostics[0].help if isinstance(problem, EnvironmentProblem) else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

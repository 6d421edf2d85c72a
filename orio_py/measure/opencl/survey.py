"""The OpenCL devices of this machine, each tested once: what its driver cannot do, nobody asks it for.

The answers of the self-test are kept by driver, version and processor.  Where PoCL fails it, the driver is tried
with its other libraries of built-in functions (`measure.opencl.pocl`), and the best one is used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from orio_py.build.detect import cpu_extensions, cpu_name
from orio_py.build.process import Completed
from orio_py.codegen.opencl.self_test import self_test_batches, self_test_cases, self_test_text
from orio_py.core.digest import digest
from orio_py.core.resources import keep, kept
from orio_py.core.units import Seconds
from orio_py.measure.opencl.client import ask, look
from orio_py.measure.opencl.pocl import alternatives
from orio_py.record.device import DriverFault, OpenCLDevice, OpenCLSurvey

TEST_TIMEOUT = Seconds(180.0)
"""For all cases of a device; a driver builds them in seconds."""

CASE_TIMEOUT = Seconds(60.0)


@cache
def survey() -> OpenCLSurvey:
    """The platforms and devices of this machine with what their drivers cannot do, found once per process."""
    found, libraries = look({})
    if not found.devices:
        return found
    identities = [list(device.identity) for device in found.devices]
    name = (
        f"opencl-{digest([_machine(), _questions(), identities, [*map(str, libraries)], found.loader])[:24]}"
    )
    if (content := kept(name)) is not None:
        known = OpenCLSurvey.from_json(json.loads(content))
        if not known.environment or look(known.environment)[0].devices:
            return known
    found = _best(found, libraries)
    keep(name, json.dumps(found.as_json()).encode())
    return found


def _best(found: OpenCLSurvey, libraries: Sequence[Path]) -> OpenCLSurvey:
    """The drivers as they are installed if they pass the test, or with the first setting with which they do.

    Where they never do, each setting is tried in full, which takes a process for each case that crashes.
    """
    tested = _tested(found)
    if not _faults(tested):
        return tested
    others = [
        replace(look(environment)[0], setting=setting) for setting, environment in alternatives(libraries)
    ]
    others = [other for other in others if len(other.devices) == len(found.devices)]
    for other in others:
        tested = _tested(other)
        if not _faults(tested):
            return tested
    return min((_tested(way, in_full=True) for way in (found, *others)), key=_faults)


def _faults(found: OpenCLSurvey) -> int:
    return sum(len(device.faults) for device in found.devices)


def _machine() -> list[str]:
    return [cpu_name(), *sorted(cpu_extensions())]


def _questions() -> list[str]:
    """What the self-test asks, and which PyOpenCL loads the drivers."""
    batches = self_test_batches(self_test_cases(doubles=True))
    module = find_spec("pyopencl")
    return [*(self_test_text(batch, doubles=True) for batch in batches), str(module and module.origin)]


def _tested(found: OpenCLSurvey, *, in_full: bool = False) -> OpenCLSurvey:
    def tested(device: OpenCLDevice) -> OpenCLDevice:
        return _device_tested(device, found.environment, in_full=in_full) if device.is_usable else device

    platforms = (replace(p, devices=tuple(map(tested, p.devices))) for p in found.platforms)
    return replace(found, platforms=tuple(platforms))


def _device_tested(device: OpenCLDevice, environment: Mapping[str, str], *, in_full: bool) -> OpenCLDevice:
    """All cases in one process; `in_full`, those that a crash left unanswered in one process each."""
    features = [case.feature for case in self_test_cases(doubles=device.has_doubles)]
    done, answers = _answers(device, features, environment, together=True)
    left = [feature for feature in features if feature not in answers]
    while left and in_full:
        done, more = _answers(device, left, environment, together=False)
        answers.update(more)
        left = [feature for feature in left if feature not in more]
        if left:
            answers[left.pop(0)] = _how_it_ended(done)
    answers.update(dict.fromkeys(left, _how_it_ended(done)))
    faults = tuple(DriverFault(name, problem) for name in features if (problem := answers[name]) is not None)
    return replace(device, tested=len(features), faults=faults)


def _answers(
    device: OpenCLDevice, features: Sequence[str], environment: Mapping[str, str], *, together: bool
) -> tuple[Completed, dict[str, str | None]]:
    place = (str(device.platform_number), str(device.number))
    words = ("self-test", *place, "together" if together else "apart", ",".join(features))
    timeout = TEST_TIMEOUT if together else CASE_TIMEOUT
    done, answers = ask(words, {"PYOPENCL_NO_CACHE": "1", "POCL_KERNEL_CACHE": "0", **environment}, timeout)
    return done, {answer["feature"]: answer["problem"] for answer in answers}


def _how_it_ended(done: Completed) -> str:
    if done.timed_out or done.signal_name == "SIGXCPU":
        return "does not end"
    reason = next((line for line in done.stderr.splitlines() if "error" in line.lower()), "").strip()
    how = f"ends the process ({done.signal_name or f'exit status {done.returncode}'})"
    return f"{how}: {reason}" if reason else how

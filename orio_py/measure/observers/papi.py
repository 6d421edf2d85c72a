"""PAPI: the Performance Application Programming Interface, where its library is installed.

The library lists presets as available that it cannot count, so each is tried: added to a set, started,
stopped.  The test program loads the library itself; it counts the thread that calls the kernel.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from orio_py.measure.observers.base import Counter

PRESETS: Mapping[str, str] = {
    "instructions": "PAPI_TOT_INS",
    "cycles": "PAPI_TOT_CYC",
    "l1_data_misses": "PAPI_L1_DCM",
    "l2_data_misses": "PAPI_L2_DCM",
    "l3_misses": "PAPI_L3_TCM",
    "branches": "PAPI_BR_INS",
    "branch_misses": "PAPI_BR_MSP",
    "floating_point_operations": "PAPI_DP_OPS",
}

VERSIONS = tuple(f"{major}.{minor}" for major in (8, 7, 6, 5) for minor in range(9, -1, -1))
"""Releases that the library is looked for in, the newest first; their files are named `libpapi.so.7.2`."""

LIBRARIES = ("libpapi.so", *(f"libpapi.so.{version}" for version in VERSIONS))

_NULL = -1
"""`PAPI_NULL`, an event set that is yet to be made."""


def load_library(names: tuple[str, ...] = LIBRARIES) -> tuple[str, ctypes.CDLL] | None:
    """The first of the libraries that can be loaded."""
    for name in names:
        with suppress(OSError):
            return name, ctypes.CDLL(name)
    return None


@dataclass(frozen=True, slots=True)
class Papi:
    """Presets of PAPI; `load` finds the library."""

    name: str = "papi"
    load: Callable[[], tuple[str, ctypes.CDLL] | None] = field(default=load_library, compare=False)

    def counters(self) -> tuple[Counter, ...]:
        """Plain counts."""
        return tuple(Counter(name) for name in PRESETS)

    def available(self) -> str | None:
        """Whether the library is there and counts anything."""
        if (found := self.load()) is None:
            return "the library libpapi was not found (Debian, Ubuntu: `apt install libpapi-dev`)"
        if not _starts(found[1]):
            return "the library libpapi cannot be initialised here"
        if len(_missing(found[1])) == len(PRESETS):
            return "libpapi is installed, but counts nothing on this processor or virtual machine"
        return None

    def missing(self) -> Mapping[str, str]:
        """The presets that cannot be counted."""
        found = self.load()
        if found is None or not _starts(found[1]):
            return dict.fromkeys(PRESETS, self.available() or "")
        return _missing(found[1])

    def job_lines(self) -> tuple[str, ...]:
        """The library and its presets."""
        found, missing = self.load(), self.missing()
        library = found[0] if found is not None else ""
        chosen = [(name, preset) for name, preset in PRESETS.items() if name not in missing]
        return (f"observe library {library}", *(f"observe papi {name} {preset}" for name, preset in chosen))


def _starts(library: ctypes.CDLL) -> bool:
    """Whether the library accepts one of the versions; it answers with the version that it has."""
    for version in VERSIONS:
        major, minor = map(int, version.split("."))
        number = major << 24 | minor << 16
        if library.PAPI_library_init(number) == number:
            return True
    return bool(library.PAPI_is_initialized())


def _missing(library: ctypes.CDLL) -> dict[str, str]:
    return {name: reason for name, preset in PRESETS.items() if (reason := _problem(library, preset))}


def _problem(library: ctypes.CDLL, preset: str) -> str | None:
    """Why a preset cannot be counted, by counting it."""
    code, events, value = ctypes.c_int(), ctypes.c_int(_NULL), ctypes.c_longlong()
    if library.PAPI_event_name_to_code(preset.encode(), ctypes.byref(code)) != 0:
        return f"libpapi does not know {preset}"
    if library.PAPI_create_eventset(ctypes.byref(events)) != 0:
        return "libpapi cannot make an event set"
    try:
        if library.PAPI_add_event(events, code) != 0:
            return f"libpapi cannot count {preset} on this processor"
        if library.PAPI_start(events) != 0:
            return f"libpapi cannot start {preset}"
        library.PAPI_stop(events, ctypes.byref(value))
        return None
    finally:
        library.PAPI_cleanup_eventset(events)
        library.PAPI_destroy_eventset(ctypes.byref(events))

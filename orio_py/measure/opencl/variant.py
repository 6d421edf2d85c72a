"""A variant for an OpenCL device, as a worker process is told of it: a JSON file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from orio_py.codegen.device import DeviceProgram
from orio_py.measure.offload.variant import HostFunction, host_function
from orio_py.record.device import OpenCLDevice


@dataclass(frozen=True, slots=True)
class DeviceVariant:
    """A variant for one device: device texts with build flags, the timed code in C, and its kernels.

    In the timed code the kernels are calls of their host functions.
    """

    platform: int
    device: int
    sources: tuple[str, ...]
    flags: tuple[str, ...]
    host: str
    calls: tuple[HostFunction, ...]

    @classmethod
    def of(cls, device: OpenCLDevice, host: str, programs: Sequence[DeviceProgram]) -> DeviceVariant:
        """The variant with these device programs, each of which is built with the flags of its first plan."""
        return cls(
            device.platform_number,
            device.number,
            tuple(program.source for program in programs),
            tuple(next((p.options.build_flags for p in program.plans), "") for program in programs),
            host,
            HostFunction.all_of(programs),
        )

    @property
    def text(self) -> str:
        """The variant as the worker's file holds it."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def read(cls, path: Path) -> DeviceVariant:
        """The variant in a file."""
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        changed: dict[str, Any] = {
            "sources": tuple(content["sources"]),
            "flags": tuple(content["flags"]),
            "calls": tuple(map(host_function, content["calls"])),
        }
        return cls(**{**content, **changed})

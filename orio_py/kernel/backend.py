"""What a device language is to the rest of the program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class LaunchWords:
    """A language's names of the launch configuration's arguments, and of the memory of a group."""

    items: str
    groups: str
    memory: str


@dataclass(frozen=True, slots=True)
class Backend:
    """A device language: its names, its defaults, and where the parts are that only it has.

    The parts are texts `package.module:name` below `orio_py`, which `load` imports when they are asked for.
    """

    name: str
    """That of the target, the key of `Composite`, and part of the names of host functions and files."""

    title: str
    """That of the transformation that makes its kernels, and its name in messages."""

    words: LaunchWords

    block_sizes: Mapping[int, tuple[int, ...]]
    """Items of a group where nothing is said, fastest dimension first, by the number of dimensions."""

    has_banks: bool
    """Whether the memory of groups has banks, so that tiles get padding."""

    source_ending: str
    """That of the file with host functions."""

    requirements: str
    """What the file with host functions needs, for the comment at its top."""

    build_advice: str
    """How that file is built, for the comment above a region."""

    link_flags: tuple[str, ...]
    """The libraries that its functions need, as options of the linker."""

    positions: tuple[str, ...]
    """The arguments of the transformation that values without names stand for, as a key of `Composite`."""

    summary: str
    """What that key does."""

    transformation: str
    """The `ENTRY` of the transformation."""

    renderer: str
    """A `codegen.languages.Renderer`."""

    measurer: str
    """A `measure.offload.backend.DeviceMeasurer`."""

    @property
    def host_prefix(self) -> str:
        """How every host function's name begins."""
        return f"orio_{self.name}_"

    def load(self, part: str) -> Any:
        """The object that one of the texts names."""
        module, _, name = part.partition(":")
        return getattr(import_module(f"orio_py.{module}"), name)

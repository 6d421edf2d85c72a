"""Where measurements were taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from orio_py.core.digest import digest
from orio_py.core.units import Bytes


@dataclass(frozen=True, slots=True)
class Environment:
    """The machine and the compiler, in words that a person recognises.

    `device` is what kernels ran on, '' where that is the processor.
    """

    cpu: str
    cores: int
    system: str
    compiler: str
    command: str
    device: str = ""


@dataclass(frozen=True, slots=True)
class Host:
    """A machine as its operating system describes it.

    `caches` are `(name, bytes)` such as `("L1d", 32768)`; `cores` is how many this process may use;
    `threading` holds the environment variables that decide how many threads run where.
    """

    name: str
    cpu: str
    cores: int
    architecture: str
    system: str
    release: str
    memory: Bytes
    caches: tuple[tuple[str, Bytes], ...] = ()
    threading: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def digest(self) -> str:
        """What measurements depend on: not the machine's name, its memory or the release of its kernel.

        Machines of one kind share their trials, and a restart or an update does not discard them.
        """
        caches = [[name, int(size)] for name, size in self.caches]
        return digest(
            [
                self.cpu,
                self.cores,
                self.architecture,
                self.system,
                caches,
                dict(sorted(self.threading.items())),
            ]
        )

    @property
    def metadata(self) -> dict[str, str]:
        """The description as text, under the names that TAU uses where it has one; sizes in bytes."""
        return {
            "Hostname": self.name,
            "CPU Type": self.cpu,
            "CPU Cores": str(self.cores),
            "OS Machine": self.architecture,
            "OS Name": self.system,
            "OS Release": self.release,
            "Memory Size": str(self.memory),
            **{f"Cache {name}": str(size) for name, size in self.caches},
            **dict(self.threading),
        }

"""What the messages of ptxas (`-v`) say of kernels, for comparison with what is read from cubins."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass
class Told:
    """Numbers of one kernel; `constant` is None where the messages do not mention constants."""

    registers: int = 0
    shared: int = 0
    stack: int = 0
    barriers: int = 0
    stored: int = 0
    loaded: int = 0
    constant: int | None = None


_ENTRY = re.compile(r"Compiling entry function '(.*)' for")
_FUNCTION = re.compile(r"Function properties for (.*)")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = {
    "registers": re.compile(r"Used (\d+) registers"),
    "barriers": re.compile(r"used (\d+) barriers"),
    "shared": re.compile(r"(\d+) bytes smem"),
    "stack": re.compile(r"(\d+) bytes cumulative stack size"),
}
_CONSTANT = re.compile(r"(\d+) bytes cmem\[[02]\]")


def told_by_ptxas(log: str) -> dict[str, Told]:
    """The kernels by name.  Functions that are called have properties of their own, which are left out."""
    kernels: dict[str, Told] = {}
    current, function = Told(), ""
    for line in log.splitlines():
        if found := _ENTRY.search(line):
            current = kernels[found[1]] = Told()
        elif found := _FUNCTION.search(line):
            function = found[1]
        elif (found := _SPILLS.search(line)) and function in kernels:
            kernels[function].stored, kernels[function].loaded = int(found[2]), int(found[3])
        elif "Used" in line:
            for name, pattern in _USED.items():
                if found := pattern.search(line):
                    setattr(current, name, int(found[1]))
            if sizes := _CONSTANT.findall(line):
                current.constant = sum(map(int, sizes))
    return kernels

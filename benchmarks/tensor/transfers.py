"""Allocations and copies of Nekbone's gradient on a GPU, counted while the generated host code runs.

    python -m benchmarks.tensor.transfers

The kernels are those of the recipe by the thesis' rules: one for the first two statements, one for the third.  Their host
code runs on the processor's executor, with both kernels in one function, and with each in a function of its own.
A. Rivera, thesis, University of Utah, 2014, section 4.3: 6 allocations instead of 8, 9 copies instead of 11.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import orio_py
from benchmarks.tensor.kernels import GRADIENT_AS_PUBLISHED
from orio_py.build.compiler import Artifact
from orio_py.build.cuda_cpu import Check, cuda_on_cpu

_COUNTED = """\
#pragma once
#include <cuda_runtime.h>
extern long allocated, copied;
#define cudaMalloc(...) (allocated++, cudaMalloc(__VA_ARGS__))
#define cudaMemcpyAsync(...) (copied++, cudaMemcpyAsync(__VA_ARGS__))
"""
_MAIN = """\
#include <stdio.h>
#include <string.h>
extern "C" {{
void tuned({parameters});
void plain({parameters});
}}
enum {{ ARRAYS = {arrays}, LARGE = {large} }};
long allocated, copied;
static double first[ARRAYS][LARGE], second[ARRAYS][LARGE];
int main(void)
{{
  int a, k;
  for (a = 0; a < ARRAYS; a++)
    for (k = 0; k < LARGE; k++)
      first[a][k] = second[a][k] = (3 * a + k) % 7;
  tuned({first});
  plain({second});
  printf("%ld %ld %d\\n", allocated, copied, memcmp(first, second, sizeof first) == 0);
  return 0;
}}
"""


@dataclass(frozen=True, slots=True)
class Transfers:
    """What a call costs beside its kernels, and whether it computed what the plain loops do."""

    allocations: int
    copies: int
    is_right: bool

    def __add__(self, other: Transfers) -> Transfers:
        """One call behind the other."""
        copies, is_right = self.copies + other.copies, self.is_right and other.is_right
        return Transfers(self.allocations + other.allocations, copies, is_right)


def transfers(text: str, folder: Path) -> Transfers:
    """The counts of a program of contractions."""
    folder.mkdir()
    source = folder / "program.tensor"
    source.write_text(text)
    options = orio_py.TuneOptions(target="cuda")
    made = orio_py.tensor(source, emit=folder / "annotated.c", by_recipe=True, tuned=False, options=options)
    assert made.exit_code == 0, made.diagnostics
    assert made.program is not None
    written = orio_py.transform(folder / "annotated.c", output=folder / "out.c")
    assert written.exit_code == 0, written.diagnostics
    for name, flags in (("tuned", []), ("plain", ["-DORIO_ORIGINAL"])):
        words = ["gcc", "-O1", "-w", "-ffp-contract=off", f"-D{made.program.name}={name}", *flags]
        subprocess.run([*words, "-c", "out.c", "-o", f"{name}.o"], cwd=folder, check=True)
    subprocess.run(["ar", "rcs", "libboth.a", "tuned.o", "plain.o"], cwd=folder, check=True)
    tensors = made.program.parameters
    (folder / "counted.h").write_text(_COUNTED)
    (folder / "main.cu").write_text(
        _MAIN.format(
            arrays=len(tensors),
            large=max(tensor.size for tensor in tensors),
            parameters=", ".join(["double *"] * len(tensors)),
            first=", ".join(f"first[{k}]" for k in range(len(tensors))),
            second=", ".join(f"second[{k}]" for k in range(len(tensors))),
        )
    )
    built = cuda_on_cpu(folder).build_program(
        [folder / "out_cuda.cu", folder / "main.cu"],
        folder / "program",
        check=Check.ACCESSES,
        flags=["-O1", f"-L{folder}", "-lboth", "-include", str(folder / "counted.h")],
    )
    assert isinstance(built, Artifact), built.log
    done = subprocess.run([str(built.path)], capture_output=True, text=True, check=True)
    allocations, copies, same = done.stdout.split()
    return Transfers(int(allocations), int(copies), same == "1")


def gradient(size: int, elements: int, folder: Path) -> tuple[Transfers, Transfers]:
    """The counts of Nekbone's gradient with each kernel by itself, and as it is generated."""
    text = GRADIENT_AS_PUBLISHED.format(n=size, elements=elements)
    lines = text.splitlines(keepends=True)
    together = transfers(text, folder / "together")
    by_itself = [
        ("first", "".join(lines[:-1]), ("ut",)),
        ("second", "".join([*lines[:-3], lines[-1]]), ("ur", "us", "D")),
    ]
    apart = [transfers(_without(part, unused), folder / name) for name, part, unused in by_itself]
    return apart[0] + apart[1], together


def _without(text: str, unused: tuple[str, ...]) -> str:
    """The program without the declarations of tensors that it does not use."""
    for name in unused:
        shape = "(n, n)" if name == "D" else "(n, n, n, nelt)"
        text = text.replace(f"  {name}: {shape}", "")
    return text


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=10)
    parser.add_argument("--elements", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        apart, together = gradient(given.size, given.elements, Path(folder))
    for title, one in (("each kernel by itself", apart), ("as generated", together)):
        right = "as the plain loops compute" if one.is_right else "WRONG"
        print(f"{title:22} {one.allocations} allocations, {one.copies} copies, {right}")


if __name__ == "__main__":
    main()

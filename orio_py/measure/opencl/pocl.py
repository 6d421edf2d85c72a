"""PoCL with another library of built-in functions than the one that it chooses for a processor.

PoCL's wheels hold the functions of OpenCL C compiled for several processors (`kernel-…-avx2.bc`, …).  The driver
chooses among them by the extensions that the processor has, and compiles kernels for the processor that LLVM takes
it for.  Where LLVM is older than the processor the two differ: LLVM 14 takes Zen 4 for Zen 3, which has no AVX-512,
while PoCL takes the library with AVX-512.  Vectors are then passed in other registers than they are expected in:
wrong results, or `Cannot emit physreg copy instruction`.  No variable of PoCL 3.0 chooses the library, so the driver
is loaded from a folder of links in which one library stands under all names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from orio_py.build.detect import cpu_extensions
from orio_py.build.process import copy_variable
from orio_py.core.digest import digest
from orio_py.core.resources import CACHE_FOLDER

HOME = "ORIO_PYOPENCL_HOME"
"""Names the folder whose `.libs` holds the drivers that PyOpenCL's wheel brings, for worker processes."""

_LIBRARIES = (("avx512", "avx512f"), ("avx2", "avx2"), ("avx", "avx"), ("sse41", "sse4_1"), ("sse2", "sse2"))
"""Kernel libraries of PoCL, the widest vectors first, with the processor's extension that each needs."""

_DATA = Path("pocl_binary_distribution", ".libs")


def use_home() -> None:
    """Let PyOpenCL's loader find the drivers where a survey says; behind the import of PyOpenCL, before its first call.

    The import sets the variable that the loader reads at the first call.
    """
    copy_variable(HOME, "PYOPENCL_HOME")


def alternatives(drivers: Sequence[Path]) -> Iterator[tuple[str, dict[str, str]]]:
    """What to try: in words, and as variables for worker processes.

    `drivers` are PoCL's shared objects that a process has loaded.  Nothing for those of other layouts than the
    wheel's, and where no cache folder is set to hold the links.
    """
    folder = CACHE_FOLDER.get()
    extensions = cpu_extensions()
    for driver in drivers if folder is not None else ():
        data = _site(driver) / _DATA / "share" / "pocl"
        for name, extension in _LIBRARIES:
            if extension in extensions and list(data.glob(f"kernel-*-{name}.bc")):
                assert folder is not None
                home = linked(driver, name, folder / f"pocl-{digest([str(driver), name])[:16]}")
                yield f"PoCL with its kernel library for {name}", {HOME: str(home)}


def linked(driver: Path, library: str, folder: Path) -> Path:
    """Make links to a driver and its files, with one library under all names; what PyOpenCL is told as its home."""
    site = _site(driver)
    home = folder / driver.parent.parent.name
    pairs = [(home / ".libs" / path.name, path) for path in driver.parent.iterdir() if path.suffix != ".icd"]
    pairs += [(folder / _DATA / path.name, path) for path in (site / _DATA).iterdir() if path.name != "share"]
    for path in (site / _DATA / "share" / "pocl").iterdir():
        kind = path.name.rpartition("-")[0]
        to = path.with_name(f"{kind}-{library}.bc") if path.suffix == ".bc" else path
        pairs.append((folder / _DATA / "share" / "pocl" / path.name, to))
    for link, to in pairs:
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(to)
    # With its whole path: the loader would find the name alone beside itself.
    (home / ".libs" / "pocl.icd").write_text(f"{home / '.libs' / driver.name}\n")
    return home


def _site(driver: Path) -> Path:
    """The folder with the packages of the wheels: `SITE/pyopencl/.libs/libpocl-….so`."""
    return driver.parent.parent.parent

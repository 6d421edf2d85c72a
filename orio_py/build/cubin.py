"""Reads from a cubin what its kernels use, without any tool of NVIDIA.

A cubin is an ELF file.  For a kernel NAME there are the sections `.text.NAME` (machine code), `.nv.info.NAME`
(attributes), `.nv.shared.NAME` (static shared memory) and `.nv.constantN.NAME`.  `.nv.info` has attributes of all
functions.  Attributes and their numbers are those that `cuobjdump -elf` prints; what is read here was compared with
the messages of ptxas (`-v`) for sm_70 to sm_120, from CUDA 12.9, 13.0 and 13.5.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from orio_py.build.cuda import INSTALL_CUDA
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem
from orio_py.core.units import Bytes
from orio_py.record.cuda import KernelUsage, ParameterLayout

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

# Attributes of `.nv.info`; the first three hold the number of a symbol and a value.
_REGISTERS, _FRAME_BYTES, _STACK_BYTES = 0x2F, 0x11, 0x12
# Attributes of `.nv.info.NAME`.
_PARAMETER_BYTES, _MAX_THREADS, _REQUIRED_THREADS, _BARRIERS, _ANNOTATIONS = 0x19, 0x05, 0x10, 0x4C, 0x55
_PARAMETER, _PARAMETER_BANK = 0x17, 0x0A
_SIZED = 4
"""The format of an attribute that is followed by as many bytes as it says; others hold their value."""

_UNBOUNDED = 0xFFFFFFFF
"""The stack of a kernel that calls a recursive function."""

_SPILL = 1
"""The kind of an annotated instruction that saves or restores a register."""

_FULL_BYTES = 65_000
"""`.nv.info.NAME` has at most 64 KiB: the assembler leaves out what would be more, which is annotations."""

_INSTRUCTION_BYTES = 16
_STORE_LOCAL, _LOAD_LOCAL = 0x387, 0x983
_WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 8, 6: 16}
"""The size of an access in bytes, by bits 73 to 75 of the instruction's 128 (compute capability 7.0 and later)."""

_SYSTEM_SHARED_BYTES = 1024
"""Shared memory that the system keeps for itself; from compute capability 9.0 on `.nv.shared.NAME` counts it."""


@dataclass(frozen=True, slots=True)
class _Attribute:
    number: int
    data: bytes

    @property
    def words(self) -> tuple[int, ...]:
        return struct.unpack(f"<{len(self.data) // 4}I", self.data[: len(self.data) // 4 * 4])

    @property
    def value(self) -> int:
        return int.from_bytes(self.data, "little")


def read_cubin(cubin: bytes) -> tuple[KernelUsage, ...]:
    """What each kernel uses, in order of their names.

    Raises ValueError for what is no cubin, EnvironmentProblem ORIO-B020 without pyelftools.
    """
    elf = _elf(cubin)
    architecture = _architecture(elf)
    symbols = _symbol_names(elf)
    of_functions: dict[int, dict[str, int]] = {}
    for attribute in _attributes(_section(elf, ".nv.info")):
        if attribute.number in (_REGISTERS, _FRAME_BYTES, _STACK_BYTES):
            symbol, value = attribute.words
            of_functions.setdefault(attribute.number, {})[symbols[symbol]] = value
    sizes = {section.name: int(section["sh_size"]) for section in elf.iter_sections()}
    names = sorted(n for n in of_functions.get(_REGISTERS, {}) if f".nv.constant0.{n}" in sizes)
    return tuple(_usage(elf, name, architecture, of_functions, sizes) for name in names)


def cubin_architecture(cubin: bytes) -> str:
    """The architecture that a cubin is for, such as `sm_90`.  Raises as `read_cubin`."""
    return f"sm_{_architecture(_elf(cubin))}"


@dataclass(frozen=True, slots=True)
class CodeSection:
    """The machine code of a function; `is_relocated` where other places are written into it when it is loaded."""

    name: str
    code: bytes
    is_relocated: bool


def code_sections(cubin: bytes) -> tuple[CodeSection, ...]:
    """The functions in the order of the file.  Raises as `read_cubin`."""
    sections = {section.name: section for section in _elf(cubin).iter_sections()}
    relocated = {
        name.removeprefix(kind)
        for name, section in sections.items()
        for kind in (".rela", ".rel")
        if name.startswith(f"{kind}.text.") and section["sh_size"]
    }
    return tuple(
        CodeSection(name.removeprefix(".text."), bytes(section.data()), name in relocated)
        for name, section in sections.items()
        if name.startswith(".text.")
    )


def parameter_layouts(cubin: bytes) -> dict[str, ParameterLayout]:
    """Where the parameters of each kernel lie.  Raises as `read_cubin`."""
    elf = _elf(cubin)
    names = [section.name for section in elf.iter_sections()]
    kernels = [name.removeprefix(".nv.info.") for name in names if name.startswith(".nv.info.")]
    return {name: _layout(list(_attributes(_section(elf, f".nv.info.{name}")))) for name in kernels}


def _layout(attributes: list[_Attribute]) -> ParameterLayout:
    """From attributes that hold, for each parameter, its number, its offset and, above 18 other bits, its size."""
    base = next(
        (struct.unpack_from("<H", a.data, 4)[0] for a in attributes if a.number == _PARAMETER_BANK), 0
    )
    found: dict[int, tuple[int, int]] = {}
    for attribute in attributes:
        if attribute.number == _PARAMETER:
            _, number, offset, bits = struct.unpack("<IHHI", attribute.data[:12])
            found[number] = (offset, bits >> 18)
    return ParameterLayout(base, tuple(found[number] for number in sorted(found)))


def _usage(
    elf: ELFFile, name: str, architecture: int, of_functions: dict[int, dict[str, int]], sizes: dict[str, int]
) -> KernelUsage:
    information = _section(elf, f".nv.info.{name}")
    own = {attribute.number: attribute for attribute in _attributes(information)}
    stack = of_functions.get(_STACK_BYTES, {}).get(name, of_functions.get(_FRAME_BYTES, {}).get(name, 0))
    shared = sizes.get(f".nv.shared.{name}", 0)
    if architecture >= 90:
        shared = max(0, shared - _SYSTEM_SHARED_BYTES)
    stores, loads = None, None
    if architecture >= 70:
        is_full = len(information) > _FULL_BYTES
        stores, loads = _spilled(own.get(_ANNOTATIONS), is_full, _section(elf, f".text.{name}"))
    limit = own.get(_REQUIRED_THREADS, own.get(_MAX_THREADS))
    constants = (size for n, size in sizes.items() if n.startswith(".nv.constant") and n[13:] == f".{name}")
    return KernelUsage(
        name,
        of_functions[_REGISTERS][name],
        stores,
        loads,
        None if stack == _UNBOUNDED else Bytes(stack),
        Bytes(shared),
        Bytes(sum(constants)),
        Bytes(own[_PARAMETER_BYTES].value if _PARAMETER_BYTES in own else 0),
        own[_BARRIERS].value if _BARRIERS in own else 0,
        _product(limit.words) if limit is not None else None,
    )


def _spilled(annotations: _Attribute | None, is_full: bool, code: bytes) -> tuple[Bytes, Bytes]:
    """How many bytes the annotated instructions store and load.

    Where the list of them `is_full`, all accesses to local memory behind the last one are counted, arrays included.
    """
    words = annotations.words if annotations is not None else ()
    places = [offset for kind, offset in zip(words[::2], words[1::2], strict=True) if kind == _SPILL]
    if is_full and places:
        places += range(places[-1] + _INSTRUCTION_BYTES, len(code), _INSTRUCTION_BYTES)
    spilled = {_STORE_LOCAL: 0, _LOAD_LOCAL: 0}
    for place in places:
        low, high = struct.unpack_from("<QQ", code, place)
        if (operation := low & 0xFFF) in spilled:
            spilled[operation] += _WIDTHS.get(high >> 9 & 7, 0)
    return Bytes(spilled[_STORE_LOCAL]), Bytes(spilled[_LOAD_LOCAL])


def _attributes(data: bytes) -> Iterator[_Attribute]:
    place = 0
    while place + 4 <= len(data):
        form, number, size = struct.unpack_from("<BBH", data, place)
        place += 4
        if form == _SIZED:
            yield _Attribute(number, data[place : place + size])
            place += size
        else:
            yield _Attribute(number, data[place - 2 : place])


def _architecture(elf: ELFFile) -> int:
    """Two or three digits from the file's flags: in another byte since version 8 of the binary interface."""
    flags = int(elf.header["e_flags"])
    return flags >> 8 & 0xFF if elf.header["e_ident"]["EI_ABIVERSION"] >= 8 else flags & 0xFF


def _symbol_names(elf: ELFFile) -> list[str]:
    """The names of the symbols, by number."""
    table = _section(elf, ".symtab")
    text = _section(elf, ".strtab")
    starts = (int.from_bytes(table[place : place + 4], "little") for place in range(0, len(table), 24))
    return [text[start : text.index(b"\0", start)].decode() for start in starts]


def _section(elf: ELFFile, name: str) -> bytes:
    section = elf.get_section_by_name(name)
    return bytes(section.data()) if section is not None else b""


def _product(words: tuple[int, ...]) -> int:
    found = 1
    for word in words:
        found *= word
    return found


def _elf(cubin: bytes) -> ELFFile:
    try:
        from elftools.common.exceptions import ELFError  # of the extra `cuda`; takes time to load
        from elftools.elf.elffile import ELFFile  # of the extra `cuda`; takes time to load
    except ImportError:
        raise EnvironmentProblem(
            Diagnostic(
                "ORIO-B020", "cubins are read with pyelftools, which is not installed", help=INSTALL_CUDA
            )
        ) from None
    try:
        elf = ELFFile(BytesIO(cubin))
    except ELFError as error:
        raise ValueError(f"no cubin: {error}") from None
    if elf.header["e_machine"] != "EM_CUDA":
        raise ValueError("no cubin: an ELF file for another machine")
    return elf

"""A kernel's parameters by name, from its CUDA text, and the values that a launch gives them."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orio_py.core.diagnostics import fail
from orio_py.core.registry import did_you_mean
from orio_py.record.cuda import ParameterLayout

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ATTRIBUTE = re.compile(r"(?:__launch_bounds__|__attribute__|__align__|alignas)\s*\((?:[^()]|\([^()]*\))*\)")
_KERNEL = re.compile(r"__global__\b[^;{}()]*?\b(?P<name>\w+)\s*\((?P<parameters>[^()]*)\)")
_POINTER_SPACING = 40
"""Pointers without a value lie 2^40 bytes apart, further than any array is long."""


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """A parameter: its name, and the type as the text has it; `#0` and no type where only machine code is there."""

    name: str
    type: str

    @property
    def is_pointer(self) -> bool:
        """Whether the type is that of a pointer or an array."""
        return "*" in self.type or "[" in self.type

    @property
    def is_floating(self) -> bool:
        """Whether the type is one of floating-point numbers."""
        return not self.is_pointer and re.search(r"\b(float|double|half|__half)\b", self.type) is not None


def signatures(text: str) -> dict[str, tuple[KernelParameter, ...]]:
    """The parameters of each kernel that a CUDA text defines.

    >>> signatures("__global__ void k(int n, const float *__restrict__ x) {}")["k"][1]
    KernelParameter(name='x', type='const float *')
    """
    bare = _ATTRIBUTE.sub(" ", _COMMENT.sub(" ", text))
    return {found["name"]: tuple(_parameters(found["parameters"])) for found in _KERNEL.finditer(bare)}


def _parameters(text: str) -> list[KernelParameter]:
    found: list[KernelParameter] = []
    for part in text.split(","):
        declaration = part.split("=")[0].strip()
        if not declaration or declaration == "void":
            continue
        words = re.fullmatch(
            r"(?P<type>.*?)(?P<name>\w+)\s*(?P<array>(?:\[[^\]]*\])*)", declaration, re.DOTALL
        )
        if words is None:
            found.append(KernelParameter(f"#{len(found)}", declaration))
            continue
        kind = re.sub(r"\b(?:__restrict__|__restrict|restrict)\b", "", words["type"] + words["array"])
        found.append(KernelParameter(words["name"], " ".join(kind.split())))
    return found


def pointer_address(number: int) -> int:
    """Where an array lies that nobody has placed: that of each argument apart from all others."""
    return (number + 1) << _POINTER_SPACING


def bind_arguments(
    kernel: str, parameters: Sequence[KernelParameter], layout: ParameterLayout, given: Mapping[str, str]
) -> dict[int, int]:
    """The bits of each argument by its number; pointers without a value get places of their own.

    An argument is named as in the text, or by its number from 0 on.  Floating-point numbers without a value stay unknown, as
    do all but pointers of a kernel whose text is not there.  Raises DiagnosticError: ORIO-U051.
    """
    names = {parameter.name: number for number, parameter in enumerate(parameters)}
    found: dict[int, int] = {}
    for name, value in given.items():
        number = int(name) if name.isdecimal() else names.get(name)
        if number is None or number >= len(layout.places):
            known = [p.name for p in parameters]
            fail(
                "ORIO-U051",
                f"`--arg {name}={value}`: `{kernel}` has no parameter `{name}`",
                help=did_you_mean(name, known)
                if known
                else f"its text is not known: parameters have numbers, from 0 to {len(layout.places) - 1}",
            )
        kind = parameters[number] if number < len(parameters) else KernelParameter(name, "")
        found[number] = _bits(name, value, kind, layout.places[number][1])
    for number, (_, size) in enumerate(layout.places):
        kind = parameters[number] if number < len(parameters) else None
        if number in found:
            continue
        if (kind is None and size == 8) or (kind is not None and kind.is_pointer):
            found[number] = pointer_address(number)
        elif kind is not None and not kind.is_floating and size <= 8:
            fail(
                "ORIO-U051",
                f"the argument `{kind.name}` of `{kernel}` has no value",
                help=f"`--arg {kind.name}=…`: trip counts and addresses depend on it",
            )
    return found


def _bits(name: str, value: str, kind: KernelParameter, size: int) -> int:
    try:
        if kind.is_floating or (not kind.type and re.search(r"[.eEn]", value) and not value.startswith("0x")):
            form = {2: "<e", 4: "<f", 8: "<d"}[size]
            return int.from_bytes(struct.pack(form, float(value)), "little")
        number = int(value, 0)
    except (ValueError, KeyError, OverflowError):
        fail(
            "ORIO-U051", f"`--arg {name}={value}`: {value!r} is no value of `{kind.type or f'{size} bytes'}`"
        )
    if not -(1 << 8 * size - 1) <= number < 1 << 8 * size:
        fail("ORIO-U051", f"`--arg {name}={value}`: the parameter has {8 * size} bits")
    return number & (1 << 8 * size) - 1

"""The functions that a kernel can call: those of `math.h` that devices have too.

Sources: ISO C99, 7.12 and 7.20.6; The OpenCL Specification 1.2, section 6.12.2, table 6.8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_UNARY = """sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p
    logb sqrt cbrt fabs floor ceil trunc round rint erf erfc tgamma lgamma"""
_BINARY = "atan2 hypot pow fmax fmin fdim fmod remainder copysign nextafter"
_TESTS = "isnan isinf isfinite isnormal signbit"
_CHOICES: Mapping[str, str] = {
    **dict.fromkeys(["min", "MIN"], "<"),
    **dict.fromkeys(["max", "MAX"], ">"),
}


@dataclass(frozen=True, slots=True)
class DeviceFunction:
    """A function that devices have: its name there, and its parameters' and its result's device types.

    An empty type stands for that of the argument.
    """

    name: str
    parameters: tuple[str, ...]
    result: str


def device_function(name: str) -> DeviceFunction | None:
    """What a C function is on a device, None where there is nothing like it.

    >>> device_function("sqrtf")
    DeviceFunction(name='sqrt', parameters=('float',), result='float')
    """
    return _FUNCTIONS.get(name)


def choice(name: str) -> str | None:
    """The comparison by which a macro such as `max(a, b)` chooses its first argument."""
    return _CHOICES.get(name)


def _table() -> dict[str, DeviceFunction]:
    found: dict[str, DeviceFunction] = {
        "abs": DeviceFunction("abs", ("int",), "int"),
        "labs": DeviceFunction("abs", ("long",), "long"),
        "llabs": DeviceFunction("abs", ("long",), "long"),
    }
    for suffix, kind in (("", "double"), ("f", "float")):
        for names, count in ((_UNARY, 1), (_BINARY, 2), ("fma", 3)):
            for name in names.split():
                found[name + suffix] = DeviceFunction(name, (kind,) * count, kind)
        found["ldexp" + suffix] = DeviceFunction("ldexp", (kind, "int"), kind)
        found["ilogb" + suffix] = DeviceFunction("ilogb", (kind,), "int")
    for name in _TESTS.split():
        found[name] = DeviceFunction(name, ("",), "int")
    return found


_FUNCTIONS: Mapping[str, DeviceFunction] = _table()

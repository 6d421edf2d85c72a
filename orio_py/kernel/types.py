"""The C types that variables on a device can have, and their names there."""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.ctree.ctype import CType, Rank, ctype
from orio_py.ctree.symbols import CDeclaration

NAMES: Mapping[CType, str] = {
    CType(Rank.BOOL): "bool",
    CType(Rank.FLOAT): "float",
    CType(Rank.DOUBLE): "double",
    **{
        CType(rank, unsigned): ("u" if unsigned else "") + word
        for rank, word in ((Rank.CHAR, "char"), (Rank.SHORT, "short"), (Rank.INT, "int"), (Rank.LONG, "long"))
        for unsigned in (False, True)
    },
}
"""OpenCL C's names (1.2, table 6.1) of the types that devices have."""
TYPES: Mapping[str, CType] = {name: kind for kind, name in NAMES.items()}
_LIMITS: Mapping[str, tuple[str, str]] = {
    "char": ("CHAR_MIN", "CHAR_MAX"),
    "uchar": ("0", "UCHAR_MAX"),
    "short": ("SHRT_MIN", "SHRT_MAX"),
    "ushort": ("0", "USHRT_MAX"),
    "int": ("INT_MIN", "INT_MAX"),
    "uint": ("0", "UINT_MAX"),
    "long": ("LONG_MIN", "LONG_MAX"),
    "ulong": ("0", "ULONG_MAX"),
    "float": ("-INFINITY", "INFINITY"),
    "double": ("-INFINITY", "INFINITY"),
}
_BYTES = {"char": 1, "uchar": 1, "bool": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "float": 4}
UPDATED = frozenset({"int", "uint", "long", "ulong", "float", "double"})
"""The device types of elements that an item can update in one step, whatever others do."""

WIDEST = 16
"""The bytes that an item reads at once at most (CUDA C++ Programming Guide, section 5.3.2)."""

_NEUTRAL: Mapping[str, str] = {"+": "0", "*": "1", "&&": "1", "||": "0", "&": "~0", "|": "0", "^": "0"}


def device_type(text: str) -> str | None:
    """The name of a C type in OpenCL C (1.2, table 6.1), None where it has none.

    `long` has 64 bits there, as it has on the hosts that are served (LP64); plain `char` is signed.

    >>> [device_type(t) for t in ("unsigned", "long long int", "size_t", "long double")]
    ['uint', 'long', 'ulong', None]
    """
    if text.startswith("enum "):
        return "int"
    found = ctype(text)
    kind = None if found is None else found.lp64
    return None if kind is None else NAMES.get(kind)


def element_bytes(text: str) -> int:
    """The size of a C type on devices."""
    return _BYTES.get(device_type(text) or "", 8)


def element_type(declared: CDeclaration) -> str | None:
    """The type of an array's elements on the device; None where a buffer cannot hold them.

    A buffer's `bool` would have no size that the host knows.
    """
    found = device_type(declared.type)
    return None if found == "bool" else found


def identity(operator: str, kind: str) -> str:
    """The value that changes nothing when a value of the device type is combined with it.

    The limits are named as OpenCL C names them (1.2, section 6.12.3).
    """
    if operator in {"min", "max"}:
        smallest, largest = _LIMITS[kind]
        return largest if operator == "min" else smallest
    return _NEUTRAL[operator]

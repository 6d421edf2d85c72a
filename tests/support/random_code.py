"""Random loop nests: what a region of a kernel may look like, and what is read after it.

The code holds marks that are taken out (`plain`) or made to record (`recorded`): every subscript
`a[i + 1]` stands as `a[@0{i + 1@}]` with a number for the array and the dimension, and every loop test
`i < n` as `@?i; i < n`.  A run of the recorded code says which elements exist, so that the variant gets
arrays with not one element more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random_real_files import File

WIDTH = 40
"""The row length of the matrices."""

GLOBAL = 64
"""The length of the arrays at file scope."""

PRELUDE = """#include <limits.h>
#include <stddef.h>
#include <math.h>
#define TEN 10
#define HALF(x) ((x) * 0.5)
#define NEXT(x) (x + 1)
void note(long value);
"""
"""What stands at the top of the file of each region; `note` is a function with a side effect."""

INTEGERS = (
    "int",
    "unsigned char",
    "unsigned short",
    "long",
    "short",
    "signed char",
    "unsigned",
    "long long",
)
FLOATS = ("double", "float")
KINDS = ("int", "long", "unsigned", "size_t", "short")
RARE_KINDS = ("unsigned char", "unsigned short", "signed char", "long long")
"""Types of indices that are drawn less often."""

_ACCESS = re.compile(r"@(\d+)\{")
_TEST = re.compile(r"@\?(\w+); ")
_COMMENT = re.compile(r"/\*.*?\*/ ?")


@dataclass(frozen=True, slots=True)
class Array:
    """An array: a pointer (restrict or not), a matrix as parameter, or an array at file scope."""

    name: str
    element: str
    form: str

    @property
    def is_matrix(self) -> bool:
        """Whether it takes two subscripts."""
        return "matrix" in self.form

    @property
    def is_global(self) -> bool:
        """Whether it is declared at file scope."""
        return self.form == "global"

    @property
    def parameter(self) -> str:
        """Its declaration as a parameter."""
        qualifier = "restrict " if "restrict" in self.form else ""
        if self.is_matrix:
            return f"{self.element} (*{qualifier}{self.name})[{WIDTH}]"
        return f"{self.element} *{qualifier}{self.name}"

    @property
    def may_overlap(self) -> bool:
        """Whether another pointer may point into it."""
        return self.form == "pointer"


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: its number, index, header (with marks), the statements of its body, and how it is written.

    `form` is `for`, `while`, `open` for `for (; …; …)`, `stepless` for `for (…; …;)`, `down` for `while (i-- > 0)`,
    `do` for a loop that tests behind its body, or `do_step` for one whose test steps first.
    """

    number: int
    index: str
    header: str
    body: tuple[Item, ...]
    declared: bool
    braces: bool = True
    stride: int = 1
    form: str = "for"


Item = str | Loop


@dataclass(frozen=True, slots=True)
class Run:
    """The values of `s`, `n` and `m`; `shift` lets the pointers overlap by so many elements."""

    s: int
    n: int
    m: int
    shift: int | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """A region, what it works on, and what is read after it; `file` is what else stands in its file, if anything."""

    items: tuple[Item, ...]
    arrays: tuple[Array, ...]
    numbers: tuple[tuple[str, str], ...]
    indices: tuple[tuple[str, str], ...]
    scalars: tuple[tuple[str, str, str], ...]
    live: tuple[str, ...]
    runs: tuple[Run, ...]
    noalias: bool = False
    reassociate: bool = False
    file: File | None = None

    @property
    def loops(self) -> tuple[Loop, ...]:
        """All loops, in the order of the source."""
        return tuple(_loops(self.items))


def _loops(items: tuple[Item, ...]) -> list[Loop]:
    found: list[Loop] = []
    for item in items:
        if isinstance(item, Loop):
            found.extend([item, *_loops(item.body)])
    return found


def nests(code: Code) -> list[list[Loop]]:
    """The maximal perfect nests, each from its outermost loop on."""
    found: list[list[Loop]] = []
    inner: set[int] = set()
    for loop in code.loops:
        if loop.number in inner:
            continue
        chain = [loop]
        while len(chain[-1].body) == 1 and isinstance(only := chain[-1].body[0], Loop):
            chain.append(only)
        inner.update(each.number for each in chain)
        found.append(chain)
    return found


def plain(text: str) -> str:
    """The text without marks."""
    return _TEST.sub("", _ACCESS.sub("", text)).replace("@}", "")


def recorded(text: str) -> str:
    """The text with marks that record."""
    text = _ACCESS.sub(lambda found: f"r_({found[1]}, ", text).replace("@}", ")")
    return _TEST.sub(lambda found: f"t_((long)({found[1]})) && ", text)


def without_comments(text: str) -> str:
    """The text without its comments, which cannot stand inside an annotation."""
    return _COMMENT.sub("", text)


def render(items: tuple[Item, ...], before: dict[int, str] | None = None, indent: str = "  ") -> str:
    """The statements as text with marks; `before` holds what to put before the loops of these numbers."""
    lines: list[str] = []
    for item in items:
        if isinstance(item, str):
            lines.append(indent + item)
            continue
        recipe = (before or {}).get(item.number, "")
        only = item.body[0] if len(item.body) == 1 else None
        single = isinstance(only, Loop) and only.form == "for" and item.form in {"for", "open"}
        brace = "" if single and not item.braces else " {"
        first, head, last, tail = _written(item)
        lines.extend(indent + line for line in first)
        lines.extend(indent + line for line in recipe.splitlines())
        lines.append(f"{indent}{head}{brace}")
        lines.append(render(item.body, before, indent + "  ").rstrip("\n"))
        lines.extend(f"{indent}  {line}" for line in last)
        if brace:
            lines.append(f"{indent}}}{tail}")
    return "".join(line + "\n" for line in lines)


def _written(loop: Loop) -> tuple[list[str], str, list[str], str]:
    """What stands before a loop, its first line, what stands at the end of its body, and behind it."""
    if loop.form == "for":
        return [], f"for ({loop.header})", [], ""
    start, mark, test, step = loop.header.split("; ")
    match loop.form:
        case "while":
            return [f"{start};"], f"while ({mark}; {test})", [f"{step};"], ""
        case "open":
            return [f"{start};"], f"for (; {mark}; {test}; {step})", [], ""
        case "stepless":
            return [], f"for ({start}; {mark}; {test};)", [f"{step};"], ""
        case "do":
            return [f"{start};"], "do", [f"{step};"], f" while ({mark}; {test});"
        case "do_step":
            stepped = re.sub(rf"\b{loop.index}\b", f"{step[-2:]}{loop.index}", test, count=1)
            return [f"{start};"], "do", [], f" while ({mark}; {stepped});"
        case _:
            return [f"{start};"], f"while ({mark}; {loop.index}-- > 0)", [], ""

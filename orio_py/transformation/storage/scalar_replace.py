"""ScalarReplace: keep array elements that are used repeatedly in scalars.

    for (i = 0; i < n; i++)             for (i = 0; i < n; i++)
      for (j = 0; j < n; j++)             for (j = 0; j < n; j++) {
        for (k = 0; k < n; k++)             double scv_1 = c[i][j];
          c[i][j] += a[i][k] * b[k][j];     for (k = 0; k < n; k++)
                                              scv_1 += a[i][k] * b[k][j];
                                            c[i][j] = scv_1;
                                          }

An element moves out of every loop that leaves its place alone, as far as nothing else may touch it there.
Source: D. Callahan, S. Carr, K. Kennedy, "Improving register allocation for subscripted variables",
PLDI 1990.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from orio_py.core.expr import Value
from orio_py.core.names import C_KEYWORDS
from orio_py.ctree.nodes import Node
from orio_py.transformation.arguments import text
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.storage.array_uses.uses import Uses
from orio_py.transformation.storage.scalar_replace_plan import Planner
from orio_py.transformation.storage.scalar_replace_write import Writer

_TYPE = re.compile(r"[A-Za-z_]\w*( [A-Za-z_]\w*)*")
_PREFIX = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class ScalarReplace:
    """Keep repeatedly used array elements in scalars named `prefix` and a number.

    Their types are those of the arrays; `dtype` is that of arrays without a visible declaration.  `force`
    takes differently named arrays and pointers not to overlap.
    """

    dtype: str | None = None
    prefix: str = "scv_"
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The tree with elements in scalars; the same object where there are none to replace.

        Raises Refusal: ORIO-T013, ORIO-T061.
        """
        if self.dtype is not None:
            check_type(self.dtype, "dtype", node)
        check_prefix(self.prefix, "prefix", node)
        uses = Uses.of(node, context)
        plans = Planner(node, uses, context, self.dtype, force=self.force).plans
        if not any(plans.values()):
            return node
        return Writer(node, uses, plans, context, self.prefix).write()


def check_type(word: str, argument: str, node: Node | None) -> None:
    """The text names a type, such as `double` or `unsigned long`.  Raises Refusal: ORIO-T061."""
    words = word.split()
    if not _TYPE.fullmatch(" ".join(words)) or set(words) & (C_KEYWORDS - _TYPE_WORDS):
        refuse(
            "ORIO-T061",
            f"`{argument}` is {word!r}, which is no type of a number",
            node,
            help="for example 'double', 'float' or 'long'",
            argument=argument,
        )


def check_prefix(word: str, argument: str, node: Node | None) -> None:
    """The text can begin the name of a variable.  Raises Refusal: ORIO-T013."""
    if not _PREFIX.fullmatch(word):
        refuse("ORIO-T013", f"{word!r} cannot begin the name of a variable", node, argument=argument)


_TYPE_WORDS = frozenset(
    ["_Bool", "_Complex", "char", "double", "float", "int", "long", "short", "signed", "unsigned"]
)


def type_name(value: Value, name: str) -> str | None:
    """The text of a type, or None.  Raises Refusal: ORIO-T010, ORIO-T061."""
    if value is None:
        return None
    word = text(value, name)
    check_type(word, name, None)
    return " ".join(word.split())


def name_prefix(value: Value, name: str) -> str:
    """The beginning of names of new variables.  Raises Refusal: ORIO-T010, ORIO-T013."""
    word = text(value, name)
    check_prefix(word, name, None)
    return word


ENTRY = Entry(
    "ScalarReplace",
    "keep repeatedly used array elements in scalars",
    (
        ArgumentSpec(
            "dtype",
            "C type, or None",
            "type of elements of arrays without a visible declaration",
            type_name,
            default="None",
        ),
        ArgumentSpec(
            "prefix",
            "beginning of a C identifier",
            "the scalars are named by it and a number",
            name_prefix,
            default="'scv_'",
        ),
        FORCE,
    ),
    ScalarReplace,
)

"""What names that stand for numbers say, where they have these values, which is tested.

    #define HALF 480
    #define ALL (2 * HALF)

    for (i = 0; i < HALF; i++) {              if (HALF == 480 && ALL == 960)
      x[i] *= w[i];                             the transformed loops: no element is used twice
      x[ALL - 1 - i] *= w[i];                 else
    }                                           the loops as they were

A macro may have another value where the file is compiled with other options.  Compilers decide the test.
"""

from __future__ import annotations

from collections.abc import Iterable

from orio_py.ctree.build import binary, const, ident
from orio_py.ctree.ctype import INT
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import declared_names, used_names, walk
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import constant_number, expression_type, parsed_extent
from orio_py.transformation.guards.row_facts import Fact

_LARGEST = 2**31 - 1
_MOST_NAMES = 8


def steady_numbers(parts: Iterable[Node], statement: Node, context: Context) -> dict[str, int]:
    """The names in parts of a statement that keep a value in it that is known beforehand, with these values.

    None where there are too many.
    """
    inside = context.effects(statement)
    changing = inside.scalar_writes | inside.address_taken | declared_names(statement)
    names = used_names(parts, members=False) - changing
    found = {name: _number(name, context) for name in sorted(names)}
    known = {name: value for name, value in found.items() if value is not None}
    return known if len(known) <= _MOST_NAMES else {}


def number_facts(statement: Node, context: Context) -> tuple[Fact, ...]:
    """What names in subscripts, in what these are computed from, and in headers of loops stand for, each behind one test."""
    parts: list[Node] = []
    values: list[tuple[str, Node]] = []
    for part in walk(statement):
        match part:
            case c_ast.ArrayRef(subscript=subscript):
                parts.append(subscript)
            case For(init=init, cond=cond):
                parts += [header for header in (init, cond) if header is not None]
            case (
                c_ast.Decl(name=str(name), init=Node() as value)
                | c_ast.Assignment(lvalue=c_ast.ID(name=name), rvalue=value)
            ):
                values.append((name, value))
            case _:
                pass
    while used := [value for name, value in values if name in used_names(parts)]:
        parts += used
        values = [(name, value) for name, value in values if value not in used]
    found: list[Fact] = []
    for name, value in steady_numbers(parts, statement, context).items():
        above = Polynomial.symbol(name).shifted(-value)
        found += [Fact(above, binary("==", ident(name), const(value))), Fact(above.scaled(-1), None)]
    return tuple(found)


def _number(name: str, context: Context) -> int | None:
    """The value that an `int` has by its definition, if it is positive."""
    declared = context.declarations.get(name)
    if declared is None:
        number = constant_number(ident(name), context)
    elif declared.is_scalar and declared.initialiser and _is_steady(name, context):
        number = constant_number(parsed_extent(declared.initialiser), context)
    else:
        return None
    kind = number.type if number is not None and declared is None else expression_type(ident(name), context)
    if number is None or kind is None or kind.is_floating or kind.promoted != INT:
        return None
    return number.value if isinstance(number.value, int) and 0 < number.value <= _LARGEST else None


def _is_steady(name: str, context: Context) -> bool:
    """Whether nothing that does not name a variable changes it."""
    qualifiers = context.declarations[name].qualifiers
    return "volatile" not in qualifiers and ("const" in qualifiers or name not in context.exposed)

"""Restrict: tell the compiler that arrays do not overlap.

    for (i = 0; i < n; i++)             double *restrict y_r = y;
      for (j = 0; j < n; j++)           const double *restrict x_r = x;
        y[i] += c[i][j] * x[j];         for (i = 0; i < n; i++)
                                          for (j = 0; j < n; j++)
                                            y_r[i] += c[i][j] * x_r[j];

The new pointers live in a block of their own.  What they promise has to be promised by the user.
Source: C99, section 6.7.3.1 (formal definition of `restrict`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orio_py.core.names import C_KEYWORDS
from orio_py.core.source import SourceFile
from orio_py.ctree.build import ident, statements
from orio_py.ctree.nodes import Compound, GuardedPragma, Node, c_ast
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.rewrite import Rewriter, copy_with, declared_names, substitute, walk
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.arguments import texts
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.forms import has_size_taken
from orio_py.transformation.parallel.vectorize import require_arrays
from orio_py.transformation.versions.specialize import DECLARATIONS, require_no_loop_pragma


@dataclass(frozen=True, slots=True)
class Restrict:
    """Reach `arrays` through `restrict` pointers inside a statement."""

    arrays: tuple[str, ...]
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """A block with the new pointers and the statement that uses them; `node` is not modified.

        Raises Refusal: ORIO-T023, T026, T094, T098.
        """
        names = tuple(dict.fromkeys(self.arrays))
        require_arrays(names, node, context, argument="arrays")
        names = tuple(name for name in names if "restrict" not in context.declarations[name].qualifiers)
        if not names:
            return node
        _require_scope(names, node, context)
        self._require_promise(names, node, context)
        supply = context.names(node)
        pointers: dict[str, str] = {}
        for name in names:
            pointers[name] = supply.fresh(f"{name}_r")
        inside = context.effects(node)
        kept = inside.array_writes | inside.scalar_reads
        new = [_pointer(n, pointers[n], context, read_only=n not in kept) for n in names]
        body = node
        for name, pointer in pointers.items():
            body = substitute(body, name, ident(pointer))
        body = _Pragmas(pointers).rewrite(body)
        return Compound([*new, *statements(body)])

    def _require_promise(self, names: tuple[str, ...], node: Node, context: Context) -> None:
        promised = context.assumptions.noalias
        if promised is True:
            return
        missing = [name for name in names if name not in (promised or frozenset())]
        if not missing:
            return
        listed = ", ".join(f"`{name}`" for name in missing)
        if self.force:
            context.overruled.add(f"Restrict: nothing promises that {listed} overlap no other array")
            return
        refuse(
            "ORIO-T098",
            f"nothing promises that {listed} overlap no other array",
            node,
            help="if that is so, say it in the specification: `def assumptions { arg noalias = True; }`",
            argument="arrays",
        )


def _require_scope(names: Sequence[str], node: Node, context: Context) -> None:
    """Every use of the arrays in the statement is seen, and it may stand in a block of its own.

    Raises Refusal: ORIO-T023, T026, T094.
    """
    require_no_loop_pragma("Restrict", node, context)
    if isinstance(node, DECLARATIONS):
        refuse("ORIO-T026", "Restrict cannot put a declaration into a block of its own", node)
    inside = context.effects(node)
    unknown = sorted(inside.calls)
    for name in names:
        declared = context.declarations[name]
        if name in declared_names(node):
            problem = "is also the name of another variable here"
        elif "volatile" in declared.qualifiers:
            problem = "is volatile"
        elif has_size_taken(node, name):
            problem = "has its size taken here"
        elif declared.scope == "global" and unknown:
            problem = f"may be used by `{unknown[0]}`, which is called here"
        else:
            continue
        refuse("ORIO-T094", f"`arrays` names `{name}`, which {problem}", node, argument="arrays")


def _pointer(array: str, name: str, context: Context, *, read_only: bool) -> Node:
    """`double *restrict a_r = a;`, or for several extents `double (*restrict c_r)[8] = c;`."""
    declared = context.declarations[array]
    inner = "".join(f"[{extent}]" for extent in _extents(declared, context))
    stars = "*" * (declared.pointers if declared.dimensions else declared.pointers - 1)
    # To a pointer to arrays of constants C99 converts no other (6.5.16.1).
    plain = not inner and not stars
    const = "const " if "const" in declared.qualifiers or (plain and read_only) else ""
    target = f"{stars}(*restrict {name}){inner}" if inner else f"{stars}*restrict {name}"
    source = SourceFile("restrict", f"{const}{declared.type} {target} = {array};".encode("latin-1"))
    types = frozenset(word for word in declared.type.split() if word not in C_KEYWORDS)
    (new,) = parse_statements(source.text, source=source, start=0, typedefs=types).block_items or []
    for part in walk(new):
        part.coord = None
    return new


def _extents(declared: CDeclaration, context: Context) -> list[str]:
    """The extents of an array without the outermost.

    An extent that is a variable may have another value by now than where the array was declared.
    """
    found: list[str] = []
    element = declared.name
    for extent in declared.dimensions[1:]:
        element += "[0]"
        names = re.findall(r"[A-Za-z_]\w*", extent)
        fixed = all(name in context.macros or _is_constant(name, context) for name in names)
        found.append(extent if fixed else f"sizeof {element} / sizeof {element}[0]")
    return found


def _is_constant(name: str, context: Context) -> bool:
    declared = context.declarations.get(name)
    return declared is not None and "const" in declared.qualifiers


class _Pragmas(Rewriter):
    """Gives arrays their new names in the clauses of pragmas."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Pragma(self, node: c_ast.Pragma) -> Node:
        return self._renamed(node)

    def visit_GuardedPragma(self, node: GuardedPragma) -> Node:
        return self._renamed(node)

    def _renamed(self, node: c_ast.Pragma | GuardedPragma) -> Node:
        if not isinstance(node.string, str):
            return node
        text = re.sub(r"[A-Za-z_]\w*", lambda word: self.names.get(word[0], word[0]), node.string)
        return node if text == node.string else copy_with(node, string=text)


ENTRY = Entry(
    "Restrict",
    "tell the compiler that arrays do not overlap",
    (
        ArgumentSpec("arrays", "array or list of arrays", "arrays that overlap no other array", texts),
        FORCE,
    ),
    Restrict,
)

"""`#pragma orio loop begin`: a Composite recipe made up from the parameters that are defined.

The parameters have fixed names: `T1_I` and `T2_I` are the tile sizes of loop `i`, `U1_I` is its unroll
factor, `SCREP1`, `VEC1` and `OMP1` switch scalar replacement, vectorisation and OpenMP on and off.
"""

from __future__ import annotations

from collections.abc import Collection

from orio_py.core.diagnostics import fail
from orio_py.core.expr import Expr, ListExpr, Literal, Name, TupleExpr
from orio_py.core.source import Position
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.spec.recipe import Argument, RecipeStep

TILE_LEVELS = (1, 2)
_SWITCHES = (
    ("scalarreplace", "SCREP1", "double"),
    ("openmp", "OMP1", "omp parallel for"),
)


def marker_step(tree: Node, known: Collection[str], place: Position) -> RecipeStep:
    """The Composite step for the loops in `tree`.  Raises ORIO-A018 where no parameter is defined."""
    indices = list(dict.fromkeys(_indices(tree)))
    arguments: list[Argument] = []

    def add(name: str, value: Expr) -> None:
        arguments.append(Argument(name, value, place))

    tiles = [
        TupleExpr((Literal(outer), Name(f"T{level}_{index.upper()}", place), Literal(index * (level + 1))))
        for level in TILE_LEVELS
        for index in indices
        for outer in (index * level,)
        if f"T{level}_{index.upper()}" in known
    ]
    if tiles:
        add("tile", ListExpr(tuple(tiles), place))
    unrolled = [index for index in indices if f"U1_{index.upper()}" in known]
    if unrolled:
        names = ListExpr(tuple(Literal(index) for index in unrolled), place)
        factors = ListExpr(tuple(Name(f"U1_{index.upper()}", place) for index in unrolled), place)
        add("unrolljam", TupleExpr((names, factors), place))
    for key, switch, text in _SWITCHES:
        if switch in known:
            add(key, TupleExpr((Name(switch, place), Literal(text)), place))
    if "VEC1" in known:
        pragmas = ListExpr((Literal("ivdep"), Literal("vector always")), place)
        add("vector", TupleExpr((Name("VEC1", place), pragmas), place))
    if not arguments:
        _nothing(indices, place)
    return RecipeStep("Composite", tuple(arguments), place)


def _nothing(indices: list[str], place: Position) -> None:
    wanted = [f"T1_{index.upper()}" for index in indices] + [f"U1_{index.upper()}" for index in indices]
    names = ", ".join([*wanted, "SCREP1", "VEC1", "OMP1"])
    fail(
        "ORIO-A018",
        "no parameter of the specification applies to this `#pragma orio loop` region",
        place,
        help=f"define some of {names} in `def performance_params`",
    )


def _indices(tree: Node) -> list[str]:
    """The index names of the loops in a tree, outermost first, found without recursion."""
    found: list[str] = []
    stack: list[Node] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, For) and (name := _index(node)) is not None:
            found.append(name)
        stack.extend(reversed([child for _, child in node.children()]))
    return found


def _index(loop: For) -> str | None:
    init = loop.init
    if isinstance(init, c_ast.DeclList):
        first = init.decls[0] if init.decls else None
        return str(first.name) if isinstance(first, c_ast.Decl) else None
    if isinstance(init, c_ast.Assignment) and isinstance(init.lvalue, c_ast.ID):
        return str(init.lvalue.name)
    return None

"""Variables that are declared beside loops which unroll-and-jam fuses.

    for (i = 0; i < n; i++) {           for (i = 0; n > 1 && i < n - 1; i += 2) {
      const int stop = m < 8 ? m : 8;     const int stop = m < 8 ? m : 8;
      double s = a[i];                    double s = a[i];
      for (j = 0; j < stop; j++)          double s_1 = a[i + 1];
        b[i][j] = s;                      for (j = 0; j < stop; j++) {
    }                                       b[i][j] = s;
                                            b[i + 1][j] = s_1;
                                          }
                                        }

What has the same value in all copies is computed once, as is what only counts fused loops; each copy has the other
variables for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from orio_py.ctree.build import add, ident, statements
from orio_py.ctree.loops import CanonicalLoop, header_index, is_fusable
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import (
    assigned_names,
    declared_names,
    rename,
    substitute,
    used_names,
    walk_statements,
)
from orio_py.ctree.simplify import simplify
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.forms import start_is_invariant


@dataclass(frozen=True, slots=True)
class JamLocals:
    """What becomes of the declarations beside fused loops.

    `shared` are statements, by identity, that run once for all copies; `renamed` are the names that variables
    have in the copies behind the first.
    """

    shared: frozenset[int] = frozenset()
    renamed: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    @classmethod
    def of(cls, view: CanonicalLoop, factor: int, what: str, context: Context) -> JamLocals:
        """For the body of a loop that is unrolled by `factor`.  Raises Refusal: ORIO-T026."""
        shared: set[int] = set()
        own: list[str] = []
        varying = frozenset(assigned_names(view.body)) | declared_names(view.body) | {view.index}

        @cache
        def keeps_its_value(name: str) -> bool:
            alone = replace(view, start=ident(name))
            return name not in varying and start_is_invariant(alone, context)

        for items, indices in _blocks(view.body, frozenset()):
            declared = _declared(items, what)
            same, names = _shared(
                items, declared, lambda name, i=indices: name in i or keeps_its_value(name), context
            )
            shared |= same
            own += [name for name in declared if name not in names]
        _require_distinct(view, own, what)
        supply = context.names(view.node)
        renamed = {
            name: tuple(supply.fresh(f"{name}_{number}") for number in range(1, factor)) for name in own
        }
        return cls(frozenset(shared), renamed)

    def declaration(self, declared: Node, view: CanonicalLoop, number: int) -> Node:
        """The declaration of a variable in the copy of a number."""
        if number == 0:
            return declared
        names = {name: others[number - 1] for name, others in self.renamed.items()}
        place = add(ident(view.index), number * view.stride)
        return simplify(substitute(rename(declared, names), view.index, place))


def _blocks(body: Node, indices: frozenset[str]) -> Iterator[tuple[list[Node], frozenset[str]]]:
    """The blocks that hold fused loops, each with the indices of the fused loops around it."""
    items = statements(body)
    loops = [item for item in items if is_fusable(item)]
    if loops:
        yield items, indices
    for loop in loops:
        yield from _blocks(loop.stmt, indices | {name for name in [header_index(loop)] if name})


def _declared(items: list[Node], what: str) -> list[str]:
    """The variables that a block declares.  Raises Refusal: ORIO-T026."""
    found: list[str] = []
    for item in items:
        match item:
            case c_ast.Decl(name=str(name)) if not isinstance(item.type, c_ast.FuncDecl):
                found.append(name)
            case c_ast.Decl() | c_ast.DeclList() | c_ast.Typedef():
                refuse("ORIO-T026", f"{what} cannot fuse loops beside this declaration", item)
            case _:
                pass
    return found


def _shared(
    items: list[Node], declared: list[str], steady: Callable[[str], bool], context: Context
) -> tuple[set[int], frozenset[str]]:
    """The statements that give variables of a block one value for all copies, and these variables."""
    names = frozenset(declared)
    beside = [item for item in items if not is_fusable(item)]
    counting = {
        id(item): item.name or ""
        for item in beside
        if isinstance(item, c_ast.Decl)
        and item.init is None
        and all(_only_counts(each, item) for each in items)
    }
    names -= set(counting.values())
    setting: set[int] = set()
    while names:
        setting = {id(item) for item in beside if _sets_only(item, names, steady, context)}
        others = [item for item in items if id(item) not in setting]
        changed = set(assigned_names(*others)) | {
            item.name for item in others if isinstance(item, c_ast.Decl) and item.name
        }
        if names.isdisjoint(changed):
            break
        names -= changed
        setting = set()
    return setting | counting.keys(), names | set(counting.values())


def _only_counts(node: Node, declared: c_ast.Decl) -> bool:
    """Whether code uses a variable for nothing but to count its `for` loops."""
    match node:
        case c_ast.ID(name=name):
            return name != declared.name
        case For(init=c_ast.Assignment(rvalue=start), stmt=body) if header_index(node) == declared.name:
            return _only_counts(start, declared) and declared.name not in assigned_names(body)
        case c_ast.Decl(name=declared.name):
            return node is declared
        case _:
            return all(_only_counts(child, declared) for child in node)


def _sets_only(item: Node, names: frozenset[str], steady: Callable[[str], bool], context: Context) -> bool:
    """Whether a statement only computes some variables, from these and from what keeps its value."""
    match item:
        case c_ast.Decl(name=name, type=c_ast.TypeDecl(), init=value):
            if name not in names or value is None:
                return name in names
            found = context.effects(value)
        case _:
            found, changed = context.effects(item), frozenset(assigned_names(item))
            if not changed or not changed <= names:
                return False
    if found.calls or found.opaque or found.array_reads or found.array_writes or found.address_taken:
        return False
    return all(map(steady, found.reads - names))


def _require_distinct(view: CanonicalLoop, own: list[str], what: str) -> None:
    """Each variable of the copies has a name of its own, and no fused loop counts by it.  Raises Refusal: ORIO-T026."""
    declared: dict[str, list[Node]] = {}
    for part in walk_statements(view.body):
        if isinstance(part, c_ast.Decl) and part.name:
            declared.setdefault(part.name, []).append(part)
    loops = [loop for items, _ in _blocks(view.body, frozenset()) for loop in items if is_fusable(loop)]
    headers = used_names(
        part for loop in loops for part in (loop.init, loop.cond, loop.next) if part is not None
    )
    for name in own:
        if name in headers or len(declared[name]) > 1:
            refuse(
                "ORIO-T026",
                f"{what} cannot fuse loops beside the declaration of `{name}`, of which each copy needs its own",
                declared[name][-1],
            )

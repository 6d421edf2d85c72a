"""Members of single structures, and elements that keep their values, as variables of their own, where a condition at run time asks for addresses.

    struct grid {int n; double *u, *v;} *g;      g->v[i] = g->u[i]   →  g_v[i] = g_u[i]   and back again
    struct {struct grid *in;} *s;                s->in->u[i] = 0     →  s_in_u[i] = 0
    int d[3];                                    x[i * d[1] + j]     →  x[i * d_1 + j]
    struct {double *y;} **v;                     x += v[k]->y[j]     →  x += v_y[k][j]

Only structures that a variable holds or points to, and that the statement reaches by no subscript, are looked at, whole numbers
that nothing in the statement writes, and pointers to numbers that it only reads in the structures of an array, which are rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from orio_py.ctree.build import index, unary
from orio_py.ctree.ctype import ctype
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.dependence.names import NO_NAMES, names_of, references, resolve
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Comment, Node, array_of, c_ast
from orio_py.ctree.rewrite import Rewriter, assigned_names, copy_with, declared_names, walk
from orio_py.ctree.structures import lie_inside, member_name, member_path
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.verdicts import aliases_in

_RESTLESS = frozenset({"volatile", "_Atomic"})


@dataclass(frozen=True, slots=True)
class SingleMembers:
    """A statement over plain variables, and what these stand for.

    `names` are the variables by paths such as `g.u`, `parts` the members by variables, `rows` those in the structures of
    arrays.
    """

    node: Node
    context: Context
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    parts: Mapping[str, Node] = field(default_factory=dict[str, Node])
    rows: Mapping[str, Node] = field(default_factory=dict[str, Node])

    @classmethod
    def of(cls, statement: Node, context: Context) -> SingleMembers:
        """The members of a statement's single structures."""
        steady = steady_elements(statement, context)
        if not steady and not any(isinstance(part, c_ast.StructRef) for part in walk(statement)):
            return cls(statement, context)
        naming = _Naming(statement, context, steady)
        node = naming.rewrite(statement)
        declared = {**context.declarations, **naming.declared, **naming.elements}
        exposed, given = context.exposed | naming.declared.keys(), context.assumptions
        if isinstance(given.noalias, frozenset):
            apart = {naming.names.get(name, name) for name in given.noalias}
            given = replace(given, noalias=given.noalias | apart)
        plain = replace(context, declarations=declared, exposed=exposed, assumptions=given)
        return cls(node, plain, naming.names, naming.parts, naming.rows)

    def array_of(self, name: str) -> str:
        """The array whose elements hold what is named: `g.u` for the numbers `g.u.re` of `g->u[i].re`; else the name itself."""
        dots = [place for place, letter in enumerate(name) if letter == "." and name not in self.names]
        for end in reversed(dots):
            outer = name[:end]
            declared = self.context.declarations.get(self.names.get(outer, outer))
            if declared is None or not declared.is_array_like:
                continue
            inside = lie_inside(self.context.structures, declared.type, name[end + 1 :].split("."))
            return outer if inside else name
        return name

    def are_rows(self, path: str) -> bool:
        """Whether a path leads to rows in the structures of an array, which nothing that is written may be a pointer to."""
        return self.names.get(path) in self.rows

    def members(self, path: str) -> tuple[CDeclaration, ...]:
        """The variables that stand for a member and for those that lead to it, outermost first; none for what is no member."""
        if path not in self.names:
            return ()
        return (*self.members(path.rpartition(".")[0]), self.context.declarations[self.names[path]])

    def pointers_of(self, names: Iterable[str]) -> frozenset[str]:
        """The pointers to structures that the tests may follow, those of the variables and of all numbers, and the elements that they read."""
        numbers = (n for n in self.parts if self.context.declarations[n].is_scalar)
        parts = [self.parts[name] for name in (*names, *numbers) if name in self.parts]
        return frozenset(pointer for part in parts for pointer in _pointers(part))

    def holder(self, name: str) -> Node | None:
        """The address of the structure that has a member; None for what is no member."""
        part = self.parts.get(name)
        if not isinstance(part, c_ast.StructRef):
            return None
        return part.name if part.type == "->" else unary("&", part.name)

    def of_members(self, value: Polynomial) -> Polynomial:
        """A polynomial over the members themselves."""
        names = {name: emit_expression(part) for name, part in self.parts.items()}
        terms = ((tuple(sorted(names.get(n, n) for n in product)), c) for product, c in value.terms.items())
        return Polynomial(dict(terms))

    def restored(self, node: Node) -> Node:
        """An expression or a statement over the members themselves."""
        return _Restoring(self.parts, self.rows).rewrite(node) if self.parts or self.rows else node


class _Naming(Rewriter):
    def __init__(self, statement: Node, context: Context, steady: Mapping[int, CDeclaration]) -> None:
        self.declared: dict[str, CDeclaration] = {}
        self.elements: dict[str, CDeclaration] = {}
        self.names: dict[str, str] = {}
        self.parts: dict[str, Node] = {}
        self.rows: dict[str, Node] = {}
        self._context = context
        self._steady = steady
        self._texts: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        self._set: dict[str, bool] = {}
        found = references(statement, names_of(statement, context.declarations))
        self._written = frozenset(reference.spot for reference, _, is_written in found if is_written)
        self._supply = context.names(statement)
        self._changing = frozenset(assigned_names(statement)) | declared_names(statement)
        self._unfit = self._changing | _indexed(statement)

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        """`d[1]`."""
        array = self._steady.get(id(node))
        if array is None:
            return self.generic(node)
        text = emit_expression(node)
        if text not in self._texts:
            name = self._texts[text] = self._supply.fresh(f"{array.name}_{len(self._texts)}")
            self.parts[name] = node
            self.elements[name] = replace(self._variable(name, array), dimensions=(), pointers=0)
        return c_ast.ID(self._texts[text], node.coord)

    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        """`g->u` and `g.u`, and `v[k]->u`."""
        if (row := self._row(node)) is not None:
            return row
        base, through = self.rewrite(node.name), node.type == "->"
        declared = self._structure(base)
        if declared is None or declared.dimensions or declared.pointers != int(through):
            return self.generic(node)
        members = self._context.structures.get(declared.type, ())
        member = next((m for m in members if m.name == getattr(node.field, "name", None)), None)
        if member is None or member.overlaid or member.width:
            return self.generic(node)
        outer = emit_expression(base)
        path = f"{self._paths.get(outer, outer)}.{member.name}"
        if self.names.get(path) in self.rows:
            return self.generic(node)
        if path not in self.names:
            name = self.names[path] = self._supply.fresh(path.replace(".", "_"))
            self._paths[name] = path
            self.parts[name] = node
            self.declared[name] = self._variable(name, member)
        return c_ast.ID(self.names[path], node.coord)

    def _row(self, node: c_ast.StructRef) -> Node | None:
        """A pointer to numbers in a structure of an array, which leads there by members that the statement leaves alone."""
        steps = [node]
        while isinstance(steps[-1].name, c_ast.StructRef):
            steps.append(steps[-1].name)
        match steps[-1].name:
            case c_ast.ArrayRef(name=c_ast.ID(name=array), subscript=place):
                found = _pointer_in(array, steps, self._context)
            case _:
                return None
        if found is None or array in self._changing:
            return None
        path = ".".join([array, *map(member_name, reversed(steps))])
        followed = [step.name for step in steps if step.type == "->"]
        if path not in self.names and not self._is_written([node, *followed], path):
            name = self.names[path] = self._supply.fresh(path.replace(".", "_"))
            self.rows[name] = node
            self.elements[name] = replace(
                self._variable(name, found), pointers=2, text=f"{found.type} **{name}"
            )
        own = self.names.get(path)
        return index(own, self.rewrite(place)) if own in self.rows else None

    def _is_written(self, pointers: Sequence[Node], path: str) -> bool:
        """Whether the statement may write one of the pointers that lead to a row, or rows.

        Those of several structures may be one, which no test finds out.
        """
        aliases = aliases_in(self._context)
        spots = [found.spot for each in pointers if (found := resolve(each, NO_NAMES)) is not None]
        return any(
            other[0] == path or other in spots or any(aliases.may_overlap(spot, other) for spot in spots)
            for other in self._written
        )

    def _structure(self, base: Node) -> CDeclaration | None:
        """The declaration of a single structure, or of a pointer to one that the statement leaves alone."""
        if not isinstance(base, c_ast.ID) or base.name in self._unfit:
            return None
        declared = self.declared.get(base.name) or self._context.declarations.get(base.name)
        return None if declared is None or (declared.pointers and self._is_set(base.name)) else declared

    def _is_set(self, name: str) -> bool:
        """Whether the statement may write a pointer, which a variable or a member is."""
        if name not in self._set:
            part = self.parts.get(name, c_ast.ID(name))
            aliases, names = aliases_in(self._context), names_of(part, self._context.declarations)
            spot = next(found.spot for found, _, _ in references(part, names))
            self._set[name] = any(
                spot == other or aliases.may_overlap(spot, other) for other in self._written
            )
        return self._set[name]

    def _variable(self, name: str, member: CDeclaration) -> CDeclaration:
        """Anything may point to it, and it may point to anything."""
        types = self._context.types
        kind, qualifiers = types.get(member.type, member.type), member.qualifiers - {"restrict"}
        return replace(member, name=name, type=kind, qualifiers=qualifiers, scope="local")


def steady_elements(statement: Node, context: Context) -> dict[int, CDeclaration]:
    """The places of elements of integer arrays that have one value throughout a statement, with their arrays."""
    done = context.effects(statement)
    if done.calls or done.opaque:
        return {}
    changing = frozenset(assigned_names(statement)) | declared_names(statement)
    found = list(references(statement, names_of(statement, context.declarations)))
    written = [reference.spot for reference, _, is_written in found if is_written]
    addressed = {
        id(part.expr) for part in walk(statement) if isinstance(part, c_ast.UnaryOp) and part.op == "&"
    }
    aliases = aliases_in(context)
    steady: dict[int, CDeclaration] = {}
    for reference, node, is_written in found:
        array = _array(node, changing, context)
        if is_written or array is None or id(node) in addressed:
            continue
        spot = reference.spot
        if not any(spot[0] == other[0] or aliases.may_overlap(spot, other) for other in written):
            steady[id(node)] = array
    return steady


def _array(node: Node, changing: Set[str], context: Context) -> CDeclaration | None:
    """The array of integers of which a node is an element at a fixed place; None for anything else."""
    if not isinstance(node, c_ast.ArrayRef) or not _is_fixed(node.subscript, changing, context):
        return None
    match node.name:
        case c_ast.ID(name=name):
            declared = context.declarations.get(name)
            is_own = declared is not None and bool(declared.dimensions) and declared.scope != "parameter"
            if declared is None or name in changing or (name in context.exposed and not is_own):
                return None
        case c_ast.StructRef(name=c_ast.ID(name=name), field=c_ast.ID(name=field)) if name not in changing:
            outer = context.declarations.get(name)
            is_single = (
                outer is not None and outer.pointers == int(node.name.type == "->") and not outer.dimensions
            )
            members = context.structures.get(outer.type, ()) if outer is not None and is_single else ()
            declared = next((m for m in members if m.name == field and not m.pointers), None)
            if declared is None or declared.overlaid or name in context.exposed:
                return None
        case _:
            return None
    kind = replace(declared, type=context.types.get(declared.type, declared.type))
    is_fit = kind.holds_any_index and len(kind.dimensions) + kind.pointers == 1
    return kind if is_fit and not kind.qualifiers & {"volatile", "_Atomic"} else None


def _is_fixed(node: Node, changing: Set[str], context: Context) -> bool:
    """Whether a subscript is a sum or product of numbers and of variables that nothing changes."""
    match node:
        case c_ast.Constant() | c_ast.BinaryOp(op="+" | "-" | "*"):
            return all(_is_fixed(child, changing, context) for child in node)
        case c_ast.ID(name=name):
            declared = context.declarations.get(name)
            if declared is None:
                return name in context.macros or name in context.enumerators
            return declared.is_scalar and declared.is_integer and name not in changing | context.exposed
        case _:
            return False


class _Restoring(Rewriter):
    def __init__(self, parts: Mapping[str, Node], rows: Mapping[str, Node]) -> None:
        self._parts = parts
        self._rows = rows

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        """A pointer in a structure of an array for a row."""
        match node.name:
            case c_ast.ID(name=name) if name in self._rows:
                return _at(self._rows[name], self.rewrite(node.subscript))
            case _:
                return self.generic(node)

    def visit_ID(self, node: c_ast.ID) -> Node:
        """A member for its variable."""
        return self._parts.get(node.name, node)

    def visit_Comment(self, node: Comment) -> Node:
        """A comment that names members as the code does."""
        text = node.text
        for name, part in self._parts.items():
            text = text.replace(f"`{name}`", f"`{emit_expression(part)}`")
        return node if text == node.text else Comment(text, node.trailing)


def _pointer_in(array: str, steps: Sequence[c_ast.StructRef], context: Context) -> CDeclaration | None:
    """The pointer to numbers that members, the last one first, lead to from an element of an array; None where they do not."""
    member = context.declarations.get(array)
    stars = 0 if member is None else member.pointers + len(member.dimensions) - 1
    for step in reversed(steps):
        path = () if member is None else member_path(context.structures, member.type, member_name(step))
        if len(path) != 1 or stars != int(step.type == "->"):
            return None
        member, stars = path[0], path[0].pointers
        if member.dimensions or member.overlaid or member.width or member.qualifiers & _RESTLESS:
            return None
    is_number = member is not None and ctype(context.types.get(member.type, member.type)) is not None
    return member if stars == 1 and is_number else None


def _at(row: Node, place: Node) -> Node:
    """A pointer in another structure of the array."""
    match row:
        case c_ast.StructRef(name=inner):
            return copy_with(row, name=_at(inner, place))
        case _:
            return copy_with(row, subscript=place)


def _indexed(statement: Node) -> frozenset[str]:
    """The names of structures that stand under a subscript or another operator."""
    found: set[str] = set()
    for part in walk(statement):
        if isinstance(part, c_ast.StructRef) and not _is_reached(part.name):
            found.update(inner.name for inner in walk(part.name) if isinstance(inner, c_ast.ID))
        elif isinstance(part, (c_ast.ArrayRef, c_ast.UnaryOp)):
            inner = array_of(part) if isinstance(part, c_ast.ArrayRef) else part.expr
            found.update([inner.name] if isinstance(inner, c_ast.ID) else [])
    return frozenset(found)


def _pointers(part: Node) -> Iterator[str]:
    """The pointers that lead to a member, as their text, or an element itself."""
    if isinstance(part, c_ast.ArrayRef):
        yield emit_expression(part)
    while isinstance(part, c_ast.StructRef):
        if part.type == "->":
            yield emit_expression(part.name)
        part = part.name


def _is_reached(node: Node) -> bool:
    """Whether a structure is a variable or a member of one, or an element of an array that leads to one by members."""
    base = array_of(node)
    if base is node:
        return isinstance(node, c_ast.ID) or (isinstance(node, c_ast.StructRef) and _is_reached(node.name))
    return isinstance(base, c_ast.StructRef) and (isinstance(base.name, c_ast.ID) or _is_reached(base.name))

"""Arrays of structures, and arrays in structures, as plain arrays: before anything else is decided.

    struct point {double x, y, z;} *p;      p[i].y      →  p[i][1]  of  double (*p)[3]
    struct grid {double *u, *v;} *g;        g->u[i]     →  g_u[i]   of  double *g_u
    struct step {int n; double dt;} s;      s.dt        →  s_dt     of  double s_dt
    struct cell {double x; int n;} *c;      c[i].n      →  c[i][1]  until the kernel is written: see `records`

Where the members of a structure in an array are of one type it is as long as they are together (ISO C99, 6.7.2.1:
members lie in their order, and padding is there for alignment alone), and an array of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from orio_py.ctree.build import add, const, literal_value, unary
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Node, array_of, c_ast, reference_parts
from orio_py.ctree.rewrite import Rewriter, walk
from orio_py.ctree.structures import is_pointer
from orio_py.ctree.symbols import CDeclaration
from orio_py.kernel.plan import Axis, BufferPlan, Direction, ScalarPlan
from orio_py.kernel.records import RecordPlan, record_plan
from orio_py.kernel.types import device_type
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Context, note, refuse

_QUALIFIERS = ("const", "volatile")


@dataclass(frozen=True, slots=True)
class Flattened:
    """The code without structures, what its arrays are, and how the region says it.

    `records` are the arrays of structures that are arrays of numbers, under their own names, `mixed` those that are
    not; `parts` maps names of arrays and scalars in structures to what they stand for.
    """

    node: Node
    context: Context
    records: frozenset[str] = frozenset()
    parts: Mapping[str, Node] = field(default_factory=dict[str, Node])
    mixed: Mapping[str, Mixed] = field(default_factory=dict[str, "Mixed"])

    def in_region(self, buffer: BufferPlan) -> BufferPlan:
        """The buffer with an address, a number of elements and slices that the region can compute."""
        if buffer.name not in self.records and not self.parts:
            return buffer
        slices = buffer.slices
        if slices is not None:
            step, low, reach = map(self.restored, (slices.step, slices.low, slices.reach))
            slices = replace(slices, step=step, low=low, reach=reach)
        address = _Addresses(self, buffer).rewrite(buffer.address)
        return replace(buffer, address=address, count=self.restored(buffer.count), slices=slices)

    def given(self, scalar: ScalarPlan) -> ScalarPlan:
        """The scalar with a value that the region can compute."""
        return replace(scalar, value=self.restored(scalar.value)) if self.parts else scalar

    def along(self, axis: Axis) -> Axis:
        """The axis with a start and a number of iterations that the region can compute."""
        if not self.parts:
            return axis
        return replace(axis, start=self.restored(axis.start), trips=self.restored(axis.trips))

    def restored(self, node: Node) -> Node:
        """An expression or a statement over what the parts stand for."""
        return _Addresses(self, None).rewrite(node) if self.parts else node


@dataclass(frozen=True, slots=True)
class Mixed:
    """An array of structures with members of several types, as declared."""

    declared: CDeclaration
    record: RecordPlan


def flattened_structures(node: Node, what: str, context: Context) -> Flattened:
    """The loops over plain arrays.  Raises Refusal: ORIO-T124."""
    if not any(isinstance(part, c_ast.StructRef) for part in walk(node)):
        return Flattened(node, context)
    flattening = _Flattening(node, what, context)
    result = flattening.rewrite(node)
    for part in walk(result):
        if isinstance(part, _Place):
            refuse(
                "ORIO-T124", f"{what} needs single elements of arrays in structures, not their address", part
            )
    declared = {**context.declarations, **flattening.declared}
    exposed = context.exposed | flattening.exposed
    assumed = flattening.assumed(context.assumptions)
    inner = replace(context, declarations=declared, exposed=exposed, assumptions=assumed)
    _require_kept(result, flattening, what, inner)
    return Flattened(result, inner, frozenset(flattening.records), flattening.parts, flattening.mixed)


def _require_kept(node: Node, flattening: _Flattening, what: str, context: Context) -> None:
    """Scalars in structures are read alone.  Raises Refusal: ORIO-T124."""
    changed = context.effects(node).scalar_writes & flattening.parts.keys()
    for part in walk(node):
        if isinstance(part, c_ast.ID) and part.name in changed:
            refuse(
                "ORIO-T124",
                f"{what} takes scalars in structures that the loops only read",
                part,
                help="assign a variable of the function, and the member behind the loop",
            )


class _Flattening(Rewriter):
    def __init__(self, node: Node, what: str, context: Context) -> None:
        self.declared: dict[str, CDeclaration] = {}
        self.records: set[str] = set()
        self.parts: dict[str, Node] = {}
        self.mixed: dict[str, Mixed] = {}
        self.exposed: set[str] = set()
        self._names: dict[str, str] = {}
        self._paths: dict[str, set[str]] = {}
        self._indexed = _indexed(node)
        self._fresh = context.names(node)
        self._what = what
        self._context = context

    def assumed(self, given: Assumptions) -> Assumptions:
        """The assumptions; what holds for an array in a structure, or for the structure, does for the array alone."""
        noalias = given.noalias
        if isinstance(noalias, bool):
            return given
        names = {name for name, paths in self._paths.items() if not noalias.isdisjoint(paths)}
        return replace(given, noalias=noalias | names) if names else given

    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        """`p[i].x`, and `g.u` of one structure where it is an array."""
        base, through = _pointed(self.rewrite(node.name), node.type == "->")
        name = _base_name(base)
        declared = self._context.declarations.get(name or "")
        members = () if declared is None else self._members(declared)
        member = next(
            (m for m in members if isinstance(node.field, c_ast.ID) and m.name == node.field.name), None
        )
        if declared is None or member is None or member.overlaid:
            return self.generic(node)
        is_one = isinstance(base, c_ast.ID) and declared.pointers == int(through) and not declared.dimensions
        if is_one and member.is_array_like:
            return self._part(node, declared, member)
        if is_one and name not in self._indexed and device_type(member.type) is not None:
            return self._scalar(node, declared, member)
        element = c_ast.ArrayRef(base, const(0), node.coord) if through else base
        if len(reference_parts(element)[1]) == (len(declared.dimensions) or declared.pointers) > 0:
            return self._record(element, declared, members, member, node)
        return self.generic(node)

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        """A subscript of a member that is an array adds to the place of the member."""
        base = self.rewrite(node.name)
        subscript = self.rewrite(node.subscript)
        if isinstance(base, _MixedPlace):
            return c_ast.ArrayRef(
                base.name, c_ast.BinaryOp("+", base.subscript, subscript, node.coord), node.coord
            )
        if isinstance(base, _Place):
            place = add(base.subscript, subscript) if literal_value(base.subscript) != 0 else subscript
            return c_ast.ArrayRef(base.name, place, node.coord)
        return c_ast.ArrayRef(base, subscript, node.coord)

    def _members(self, declared: CDeclaration) -> tuple[CDeclaration, ...]:
        found = self._context.structures.get(declared.type, ())
        types = self._context.types
        return tuple(replace(m, type=types[m.type]) if m.type in types else m for m in found)

    def _record(
        self,
        element: Node,
        declared: CDeclaration,
        members: tuple[CDeclaration, ...],
        member: CDeclaration,
        node: Node,
    ) -> Node:
        """The member as an element of the last dimension.  Raises Refusal: ORIO-T124."""
        sizes = [self._size(m) for m in members]
        kinds = {m.type for m in members}
        if not declared.is_parameter and any(_extent(text) is None for text in declared.dimensions if text):
            refuse(
                "ORIO-T124",
                f"{self._what} takes arrays of structures with extents that are numbers; `{declared.name}` has others",
                node,
            )
        if len(kinds) > 1 or 0 in sizes or device_type(next(iter(kinds))) in {None, "bool"}:
            return self._mixed(element, declared, members, member, node)
        places = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
        name = declared.name
        self.records.add(name)
        outer = declared.dimensions or ("",)
        self.declared[name] = replace(
            declared, type=next(iter(kinds)), dimensions=(*outer, str(places[-1])), pointers=0
        )
        place = const(places[members.index(member)])
        return (_Place if member.dimensions else c_ast.ArrayRef)(element, place, node.coord)

    def _mixed(
        self,
        element: Node,
        declared: CDeclaration,
        members: tuple[CDeclaration, ...],
        member: CDeclaration,
        node: Node,
    ) -> Node:
        """The member by its place among the numbers of a structure.  Raises Refusal: ORIO-T124."""
        record = record_plan(declared.type, members)
        if isinstance(record, str):
            refuse(
                "ORIO-T124",
                f"{self._what} takes arrays of structures that lie in a device's memory as in the host's; "
                f"`{declared.name}` does not: {record}",
                node,
                notes=[note(f"`{declared.type}` holds {', '.join(f'`{m.text}`' for m in members)}", node)],
                help="put what the loops use into arrays of their own",
            )
        self.mixed[declared.name] = Mixed(declared, record)
        outer = declared.dimensions or ("",)
        self.declared[declared.name] = replace(declared, dimensions=(*outer, str(record.places)), pointers=0)
        place = const(record.place(member.name))
        return (_MixedPlace if member.dimensions else c_ast.ArrayRef)(element, place, node.coord)

    def _size(self, member: CDeclaration) -> int:
        """The elements of a member, 0 where it holds something else than numbers."""
        if is_pointer(member) or len(member.dimensions) > 1 or set(_QUALIFIERS) & member.qualifiers:
            return 0
        if member.overlaid or member.width or not member.name:
            return 0
        return 1 if not member.dimensions else _extent(member.dimensions[0]) or 0

    def _scalar(self, node: c_ast.StructRef, declared: CDeclaration, member: CDeclaration) -> Node:
        """A number in a structure, under a name of its own.

        What others point to may be the structure: its scalar can be changed as one whose address is known.
        """
        found = self._part(node, declared, member)
        name = emit_expression(found)
        if "restrict" in declared.qualifiers and declared.pointers:
            self.declared[name] = replace(self.declared[name], scope="local")
        elif declared.pointers:
            self.declared[name] = replace(self.declared[name], scope="global")
        if declared.pointers or declared.name in self._context.exposed:
            self.exposed.add(name)
        return found

    def _part(self, node: c_ast.StructRef, declared: CDeclaration, member: CDeclaration) -> Node:
        """An array in a structure, under a name of its own."""
        text = emit_expression(node)
        if text not in self._names:
            self._names[text] = self._fresh.fresh(f"{declared.name}_{member.name}")
            self.parts[self._names[text]] = node
        name = self._names[text]
        self._paths[name] = {declared.name, f"{declared.name}.{member.name}"}
        qualifiers = member.qualifiers | (declared.qualifiers & set(_QUALIFIERS))
        self.declared[name] = replace(member, name=name, qualifiers=qualifiers, scope=declared.scope)
        return c_ast.ID(name, node.coord)


class _Place(c_ast.ArrayRef):
    """The first element of a member that is an array itself."""


class _MixedPlace(_Place):
    """The same in a structure with members of several types."""


class _Addresses(Rewriter):
    """Addresses of elements in the region's own terms."""

    def __init__(self, flattened: Flattened, buffer: BufferPlan | None) -> None:
        self._flattened = flattened
        self._buffer = buffer

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        match node:
            case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(name=element)) if (
                self._buffer is not None and self._is_record(node.expr)
            ):
                # The first member of a structure, as a pointer to numbers.
                constant = "const " if self._buffer.direction is Direction.IN else ""
                words = c_ast.IdentifierType(f"{constant}{self._buffer.type}".split())
                pointer = c_ast.PtrDecl([], c_ast.TypeDecl(None, [], None, words))
                return c_ast.Cast(c_ast.Typename(None, [], None, pointer), unary("&", self.rewrite(element)))
            case _:
                return self.generic(node)

    def _is_record(self, node: Node) -> bool:
        return _base_name(node) in self._flattened.records

    def visit_ID(self, node: c_ast.ID) -> Node:
        return self._flattened.parts.get(node.name, node)


def _pointed(base: Node, through: bool) -> tuple[Node, bool]:
    """What a member is of: an element or a structure, or what is reached `through` a pointer."""
    if not through and isinstance(base, c_ast.UnaryOp) and base.op == "*":
        base, through = base.expr, True
    match base:
        case c_ast.BinaryOp(op="+", left=c_ast.ID() as pointer, right=offset) if through:
            return c_ast.ArrayRef(pointer, offset, base.coord), False
        case _:
            return base, through


def _indexed(node: Node) -> frozenset[str]:
    """The names with subscripts, `p[i].x` and `(p + i)->x`: of these `p->x` is one element among others."""
    found: set[str | None] = set()
    for part in walk(node):
        if isinstance(part, c_ast.StructRef):
            part, _ = _pointed(part.name, part.type == "->")
        if isinstance(part, c_ast.ArrayRef):
            found.add(_base_name(part))
    return frozenset(name for name in found if name is not None)


def _base_name(node: Node) -> str | None:
    array = array_of(node)
    return array.name if isinstance(array, c_ast.ID) else None


def _extent(text: str) -> int | None:
    """A number of elements."""
    return int(text) if text.isdigit() else None

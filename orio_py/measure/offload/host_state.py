"""The scalars of the timed code and the places in its arrays, while it is followed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Protocol

from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.source import SourceFile
from orio_py.ctree.build import index
from orio_py.ctree.ctype import INT, CType
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.evaluate import (
    NoValueError,
    Number,
    combine,
    convert,
    evaluate,
    number_bytes,
    number_from,
    number_type,
    unknown_function,
)
from orio_py.ctree.nodes import Node, c_ast, reference_parts
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.rewrite import map_children
from orio_py.measure.offload.compiled_loop import CompiledLoop, ContentNeededError
from orio_py.measure.offload.variant import HostData, HostMember, HostVariable


@dataclass(frozen=True, slots=True)
class Pointer:
    """A place in an array, `offset` bytes from its beginning, or a scalar, with offset 0.

    `size` are the bytes of what the pointer points to by its type, the step of its arithmetic; 0 for a scalar's.
    """

    name: str
    offset: int
    size: int = 0


class HostMemory(Protocol):
    """The arrays' contents, between two launches."""

    def read(self, place: Pointer) -> bytes | None:
        """The bytes of the element at a place; None outside of the array."""
        ...

    def write(self, place: Pointer, element: bytes) -> bool:
        """Put an element at a place; whether the array has it."""
        ...

    def declare(self, variable: HostVariable) -> None:
        """Make room for a local array, if there is none."""
        ...

    def run_loop(self, loop: CompiledLoop, scalars: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """Run a loop on the arrays; the scalars that it has changed.  Raises NoValueError."""
        ...


@dataclass(slots=True)
class HostState:
    """The scalars of the timed code; without a `memory` nobody knows what is in arrays, and what loops have `computed` of it."""

    data: HostData
    memory: HostMemory | None = None
    scalars: dict[str, Number] = field(default_factory=dict[str, Number])
    types: dict[str, CType] = field(default_factory=dict[str, CType])
    computed: set[str] = field(default_factory=set[str])
    _waiting: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, data: HostData, memory: HostMemory | None = None) -> HostState:
        """The state before the timed code; what is not fixed by the text is read from the file of inputs."""
        state = cls(data, memory)
        for variable in data.variables:
            if variable.is_array or variable.members or variable.type == "long double":
                continue
            kind = state.types[variable.name] = number_type(variable.type)
            if variable.has_value:
                with Path(data.inputs).open("rb") as file:
                    file.seek(variable.offset)
                    state.scalars[variable.name] = number_from(file.read(variable.bytes), kind)
        for variable in data.variables:
            if variable.initialiser is not None and not variable.is_array:
                value = state.number(expression(variable.initialiser))
                state.scalars[variable.name] = convert(value, state.types[variable.name])
        return state

    def number(self, node: Node) -> Number:
        """The value of an expression.  Raises NoValueError."""
        parts: dict[str, Number | c_ast.ArrayRef] = {}
        plain = self._plain(node, parts)

        def value(name: str) -> Number:
            part = parts.get(name)
            if part is None:
                return self.lookup(name)
            return part if isinstance(part, Number) else self._loaded(part)

        return evaluate(plain, value)

    def store(self, element: c_ast.ArrayRef, op: str, value: Node) -> None:
        """Assign to an element of an array, as `=` or, with `op`, as `+=` and its like do.

        Without a memory the element's place is looked at and nothing is stored.  Raises NoValueError.
        """
        place, kind = self._numbered(element)
        if self.memory is None:
            if (name := unknown_function(value)) is not None:
                raise NoValueError(f"the function `{name}` is not known")
            return
        number = self.number(value)
        if op:
            number = combine(op, self._loaded(element), number)
        if not self.memory.write(place, number_bytes(convert(number, kind))):
            raise NoValueError(f"`{emit_expression(element)}` lies outside of `{place.name}`")

    def run_loop(self, loop: Node) -> None:
        """Run a loop that `is_compiled` on the arrays' contents; without a memory what it changes is not known behind it.

        Raises NoValueError.
        """
        compiled = CompiledLoop.of(loop, self.data, self.types, self.scalars)
        if self.memory is None:
            self.computed |= {*compiled.changed}
            self.scalars = {name: n for name, n in self.scalars.items() if name not in compiled.changed}
            return
        held = {n: self.scalars.get(n, convert(Number(INT, 0), self.types[n])) for n in compiled.scalars}
        after = self.memory.run_loop(compiled, {name: number_bytes(value) for name, value in held.items()})
        self.scalars.update((name, number_from(changed, self.types[name])) for name, changed in after.items())

    def _numbered(self, element: c_ast.ArrayRef) -> tuple[Pointer, CType]:
        """The place and the type of an element.  Raises NoValueError for rows."""
        place = self.pointer(c_ast.UnaryOp("&", element))
        array = self.array(place.name)
        if len(reference_parts(element)[1]) < len(array.dimensions):
            raise NoValueError(f"`{emit_expression(element)}` is a row")
        return place, number_type(array.type)

    def _loaded(self, element: c_ast.ArrayRef) -> Number:
        """The value of an element.  Raises NoValueError."""
        place, kind = self._numbered(element)
        if self.memory is None:
            raise NoValueError(f"`{emit_expression(element)}` has no value here")
        if (held := self.memory.read(place)) is None:
            raise NoValueError(f"`{emit_expression(element)}` lies outside of `{place.name}`")
        return number_from(held, kind)

    def _plain(self, node: Node, parts: dict[str, Number | c_ast.ArrayRef]) -> Node:
        """The expression over scalars alone.

        The sizes of arrays' elements and rows, as in `sizeof(A[0])`, become numbers; members of structures, as in
        `g.n`, `g->n` and `p[0].w[2]`, and elements of arrays names with a dot, whose values come to `parts`: those of
        elements later, as the expression may ask first whether they are there.
        """
        match node:
            case c_ast.UnaryOp(op="sizeof", expr=c_ast.ArrayRef() as element):
                return c_ast.Constant("unsigned long int", f"{self._row_bytes(element)}ul")
            case c_ast.UnaryOp(op="sizeof", expr=c_ast.UnaryOp(op="*", expr=c_ast.ID() as pointer)):
                return c_ast.Constant("unsigned long int", f"{self._row_bytes(index(pointer, 0))}ul")
            case c_ast.BinaryOp(op="!=", left=c_ast.ID(name=name), right=c_ast.Constant(value="0")) if (
                self._is_array(name)
            ):
                return c_ast.Constant("int", "1")  # Arrays are there.
            case c_ast.Cast(expr=pointer) if (address := self._address(pointer)) is not None:
                return c_ast.Constant("unsigned long int", f"{address}ul")
            case c_ast.ArrayRef() if (path := self._array_path(node)) is not None:
                name = f"{path}.{len(parts)}"
                parts[name] = node
                return c_ast.ID(name)
            case c_ast.StructRef() | c_ast.ArrayRef(name=c_ast.StructRef()):
                value = self._member(node)
                name = f"a member.{len(parts)}"
                parts[name] = value
                return c_ast.ID(name)
            case _:
                return map_children(node, lambda child: self._plain(child, parts))

    def _is_array(self, name: str) -> bool:
        return any(variable.name == name and variable.is_array for variable in self.data.variables)

    def _address(self, node: Node) -> int | None:
        """The address that a pointer expression has in a memory where variables lie far apart; None for numbers."""
        if not self._is_address(node):
            return None
        try:
            place = self.pointer(node)
        except NoValueError:
            return None
        numbers = {variable.name: n for n, variable in enumerate(self.data.variables, 1)}
        return numbers[place.name] * _FAR + place.offset

    def _is_address(self, pointer: Node) -> bool:
        """Whether an expression may be a pointer: it begins as in `a`, `a[0] + 3`, `&a[i]`, `&g->n` and `g->u + 3`."""
        match pointer:
            case c_ast.ID():
                return True
            case c_ast.StructRef():
                return self._path(pointer) is not None
            case c_ast.UnaryOp(op="&", expr=c_ast.StructRef()):
                return True
            case c_ast.BinaryOp(left=inner) | c_ast.UnaryOp(op="&", expr=inner) | c_ast.ArrayRef(name=inner):
                return self._is_address(inner)
            case _:
                return False

    def _member(self, node: Node) -> Number:
        """The value of a member, from the file of inputs.  Raises NoValueError where it may change."""
        variable, member, place = self._located(node)
        if variable.written or not variable.has_value:
            raise NoValueError(f"`{variable.name}.{member.name}` may change")
        with Path(self.data.inputs).open("rb") as file:
            file.seek(variable.offset + place)
            return number_from(file.read(member.size), number_type(member.type))

    def _located(self, node: Node) -> tuple[HostVariable, HostMember, int]:
        """The variable and member that a reference stands for, and the byte in the variable.

        Raises NoValueError where there is none.
        """
        subscript = element = 0
        if isinstance(node, c_ast.ArrayRef):
            subscript, node = int(self.number(node.subscript).value), node.name
        if not isinstance(node, c_ast.StructRef):
            raise NoValueError("only members of named structures have a place here")
        base = node.name
        if isinstance(base, c_ast.UnaryOp) and base.op == "*":
            base = base.expr
        if isinstance(base, c_ast.ArrayRef):
            base, element = base.name, int(self.number(base.subscript).value)
        name = base.name if isinstance(base, c_ast.ID) else ""
        wanted = node.field.name if isinstance(node.field, c_ast.ID) else ""
        for variable in self.data.variables:
            member = next((m for m in variable.members if m.name == wanted), None)
            if variable.name != name or member is None:
                continue
            place = element * variable.element + member.offset + subscript * member.size
            if not (0 <= subscript < member.count and 0 <= place < variable.bytes):
                raise NoValueError(f"there is no such element of `{name}`")
            return variable, member, place
        raise NoValueError(f"the value of `{name}.{wanted}` is not known")

    def _row_bytes(self, node: Node) -> int:
        """The bytes of what is left of an array behind subscripts, which C does not evaluate."""
        base, subscripts = reference_parts(node)
        if not isinstance(base, c_ast.ID):
            raise NoValueError("only named arrays have a size here")
        array, given = self.array(base.name), len(subscripts)
        if given > max(1, len(array.dimensions)):
            raise NoValueError(f"`{array.name}` has {len(array.dimensions)} dimensions")
        extents = [int(self.number(expression(extent)).value) for extent in array.dimensions[given:]]
        return array.element * prod(extents)

    def lookup(self, name: str) -> Number:
        """The value of a scalar, macro or constant.  Raises NoValueError."""
        if name in self.scalars:
            return self.scalars[name]
        if name in self.computed:
            raise ContentNeededError(f"the value of `{name}` is not known: arrays say it")
        if name not in self.data.constants or name in self._waiting:
            raise NoValueError(f"the value of `{name}` is not known")
        try:
            self._waiting.add(name)
            return self.number(expression(self.data.constants[name]))
        finally:
            self._waiting.discard(name)

    def array(self, name: str) -> HostVariable:
        """The array of this name.  Raises NoValueError when there is none."""
        for variable in self.data.variables:
            if variable.name == name and variable.is_array:
                return variable
        raise NoValueError(f"`{name}` is not an array of the timed code")

    def pointer(self, node: Node) -> Pointer:
        """The place that an expression points to.  Raises NoValueError."""
        match node:
            case c_ast.ID():
                return Pointer(node.name, 0, self.array(node.name).element)
            case c_ast.Cast():
                return replace(self.pointer(node.expr), size=self._pointed_bytes(node.to_type))
            case c_ast.UnaryOp(op="&", expr=c_ast.ID() as scalar) if scalar.name in self.types:
                return Pointer(scalar.name, 0)
            case c_ast.StructRef() if (path := self._path(node)) is not None:
                return Pointer(path, 0, self.array(path).element)
            case c_ast.UnaryOp(
                op="&", expr=c_ast.ArrayRef(name=c_ast.StructRef() as member, subscript=subscript)
            ) if (path := self._path(member)) is not None:
                element = self.array(path).element
                return Pointer(path, int(self.number(subscript).value) * element, element)
            case (
                c_ast.StructRef()
                | c_ast.UnaryOp(op="&", expr=c_ast.StructRef() | c_ast.ArrayRef(name=c_ast.StructRef()))
            ):
                member = node.expr if isinstance(node, c_ast.UnaryOp) else node
                variable, found, place = self._located(member)
                return Pointer(variable.name, place, found.size)
            case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef() as element):
                return self._element(element)
            case c_ast.ArrayRef():
                return self._row(node)
            case c_ast.BinaryOp(op="+" | "-"):
                base = self.pointer(node.left)
                step = int(self.number(node.right).value) * base.size
                if len(self.array(base.name).dimensions) > 1 and not _points_to_element(node.left):
                    raise NoValueError("arithmetic on a pointer to rows")
                return replace(base, offset=base.offset + (step if node.op == "+" else -step))
            case _:
                raise NoValueError("this pointer is not understood")

    def _path(self, node: c_ast.StructRef) -> str | None:
        """The path of a member, as in `g->u`, that points to an array of one dimension."""
        base = node.name
        if not isinstance(base, c_ast.ID) or not isinstance(node.field, c_ast.ID):
            return None
        path = f"{base.name}.{node.field.name}"
        found = next((v for v in self.data.variables if v.name == path), None)
        owner = next((v for v in self.data.variables if v.name == base.name), None)
        is_one = found is not None and owner is not None and owner.bytes == owner.element
        return path if is_one else None

    def _array_path(self, element: c_ast.ArrayRef) -> str | None:
        """The array that an element is of, a variable's or a member's; None where there is no such array."""
        match reference_parts(element)[0]:
            case c_ast.ID(name=name) if any(v.name == name and v.is_array for v in self.data.variables):
                return name
            case c_ast.StructRef() as member:
                return self._path(member)
            case _:
                return None

    def _row(self, node: Node) -> Pointer:
        """The first element of a row.  Raises NoValueError."""
        base, subscripts = reference_parts(node)
        array = self.array(base.name) if isinstance(base, c_ast.ID) else None
        if array is None or len(subscripts) != len(array.dimensions) - 1:
            raise NoValueError("only rows of named arrays have a place here")
        return self._element(index(node, 0))

    def _element(self, node: Node) -> Pointer:
        base, written = reference_parts(node)
        subscripts = [int(self.number(subscript).value) for subscript in written]
        if not isinstance(base, c_ast.ID):
            raise NoValueError("only elements of named arrays have a place here")
        array = self.array(base.name)
        offset = subscripts[0]
        if len(subscripts) > 1:
            if len(subscripts) != len(array.dimensions):
                raise NoValueError(f"`{array.name}` has {len(array.dimensions)} dimensions")
            for extent, subscript in zip(array.dimensions[1:], subscripts[1:], strict=True):
                offset = offset * int(self.number(expression(extent)).value) + subscript
        return Pointer(array.name, offset * array.element, array.element)

    def _pointed_bytes(self, node: Node) -> int:
        """The bytes of a number that a pointer of this type points to.  Raises NoValueError."""
        match node:
            case c_ast.Typename(
                type=c_ast.PtrDecl(type=c_ast.TypeDecl(type=c_ast.IdentifierType() as words))
            ):
                name = " ".join(word for word in words.names if word != "const")
                return number_type(self.data.types.get(name, name)).bytes
            case _:
                raise NoValueError("this cast of a pointer is not understood")


_FAR = 2**44
"""Bytes between the addresses of two variables."""


def _points_to_element(node: Node) -> bool:
    """Whether a pointer is the address of something with subscripts, which is one element (see `_element`)."""
    while isinstance(node, c_ast.Cast):
        node = node.expr
    if isinstance(node, c_ast.ArrayRef):
        return True  # `pointer` takes the rows of elements only
    return isinstance(node, c_ast.UnaryOp) and node.op == "&" and isinstance(node.expr, c_ast.ArrayRef)


def expression(text: str) -> Node:
    """The tree of a C expression.  Raises NoValueError."""
    try:
        statement = (parsed(f"orio_x = ({text});", frozenset()).block_items or [])[0]
    except DiagnosticError:
        raise NoValueError(f"`{text}` is no expression") from None
    assert isinstance(statement, c_ast.Assignment)
    return statement.rvalue


def parsed(text: str, typedefs: frozenset[str]) -> c_ast.Compound:
    """C statements of the timed code.  Raises DiagnosticError."""
    source = SourceFile("the timed code", text.encode("latin-1"))
    return parse_statements(text, source=source, start=0, typedefs=typedefs)

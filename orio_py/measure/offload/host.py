"""Follows the timed code of a variant: evaluates its scalars and hands over its launches."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from math import prod

from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.source import Position
from orio_py.ctree.build import const
from orio_py.ctree.ctype import INT
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.evaluate import NoValueError, Number, combine, convert, number_type
from orio_py.ctree.nodes import INCREMENTS, Comment, GuardedPragma, Node, Transform, c_ast
from orio_py.ctree.rewrite import copy_with
from orio_py.kernel.call import data_function
from orio_py.measure.offload.compiled_loop import ContentNeededError, is_compiled
from orio_py.measure.offload.host_state import HostState, Pointer, expression, parsed
from orio_py.measure.offload.variant import HostData, HostFunction, HostVariable

MOST_STEPS = 1_000_000
"""Statements that are followed in one run of the timed code."""

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?!pragma\b|line\b)\w+", re.MULTILINE)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w*")
_LINE = re.compile(r"^[ \t]*#[ \t]*line\b.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Launch:
    """One call of a host function: its pointers and its numbers by the parameters' names."""

    call: HostFunction
    pointers: Mapping[str, Pointer]
    numbers: Mapping[str, Number]

    @property
    def trips(self) -> tuple[int, ...]:
        """The axes' numbers of iterations, outermost first."""
        return tuple(int(self.numbers[name].value) for name in self.call.trips)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to launch."""
        return any(n <= 0 for n in self.trips)


@dataclass(frozen=True, slots=True)
class HeldBytes:
    """The bytes of a variable that stay on the device: `size` from byte `offset` on."""

    name: str
    offset: int
    size: int

    @classmethod
    def of(cls, pieces: Sequence[tuple[Pointer, int]]) -> HeldBytes | None:
        """From the first to the last byte of all pieces; None where they have none."""
        found = [(pointer, size) for pointer, size in pieces if size > 0]
        if not found:
            return None
        first = min(pointer.offset for pointer, _ in found)
        return cls(found[0][0].name, first, max(p.offset + size for p, size in found) - first)

    def holds(self, place: Pointer, size: int) -> bool:
        """Whether all of `size` bytes from a place on are among them."""
        is_inside = self.offset <= place.offset and place.offset + size <= self.offset + self.size
        return place.name == self.name and is_inside


@dataclass(frozen=True, slots=True)
class DataBegin:
    """From here on arrays stay on the device: the bytes of each of `call.held`, None where it has none."""

    call: HostFunction
    spans: tuple[HeldBytes | None, ...]


@dataclass(frozen=True, slots=True)
class DataEnd:
    """From here on they do not any more."""

    call: HostFunction


Launcher = Callable[[Launch, "HostState"], None]
DataKeeper = Callable[[DataBegin | DataEnd], None]


@dataclass(slots=True)
class HostCode:
    """The timed code of a variant as a tree; `calls` are the host functions by name."""

    tree: Node
    calls: Mapping[str, HostFunction]
    types: Mapping[str, str]
    _steps: int = 0
    _keeper: DataKeeper | None = None

    @classmethod
    def of(cls, text: str, calls: Mapping[str, HostFunction], types: Mapping[str, str]) -> HostCode:
        """Parse the code.  Raises NoValueError for what is more than statements, DiagnosticError for bad C."""
        text = _without_unused_macros(_LINE.sub("", text))
        if (directive := _DIRECTIVE.search(text)) is not None:
            raise NoValueError(f"`{directive[0].strip()}` is left to the compiler")
        return cls(parsed(text, frozenset(types)), calls, types)

    def run(self, state: HostState, launch: Launcher, keep: DataKeeper | None = None) -> None:
        """Follow the code from `state`, which changes; `launch` does the launches and sets their scalars.

        `keep` lets arrays stay on the device.  Raises NoValueError for a statement that does something else.
        """
        self._steps = 0
        self._keeper = keep
        self._run(self.tree, state, launch)

    def _run(self, node: Node | None, state: HostState, launch: Launcher) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise NoValueError(f"it takes more than {MOST_STEPS} steps")
        match node:
            case None | Comment() | GuardedPragma() | c_ast.Pragma() | c_ast.EmptyStatement():
                return
            case c_ast.Cast(expr=c_ast.ID()):
                # `(void)i;` names a variable that only the original needs.
                return
            case Transform():
                self._run(node.stmt, state, launch)
            case c_ast.Compound():
                for item in node.block_items or []:
                    self._run(item, state, launch)
            case c_ast.DeclList():
                for item in node.decls:
                    self._run(item, state, launch)
            case c_ast.Decl(type=c_ast.FuncDecl()):
                return
            case c_ast.Decl():
                self._declare(node, state)
            case c_ast.Assignment(lvalue=c_ast.ArrayRef() as element):
                state.store(element, node.op[:-1], node.rvalue)
            case c_ast.Assignment(lvalue=c_ast.ID(name=name), rvalue=c_ast.ArrayRef()) if (
                state.memory is None
            ):
                state.scalars.pop(name, None)  # An element that no one knows.
            case c_ast.Assignment():
                self._assign(node.lvalue, node.op[:-1], state.number(node.rvalue), state)
            case c_ast.UnaryOp(op=op, expr=c_ast.ArrayRef() as element) if op in INCREMENTS:
                state.store(element, op.strip("p")[0], const(1))
            case c_ast.UnaryOp(op=op) if op in INCREMENTS:
                self._assign(node.expr, node.op.strip("p")[0], Number(INT, 1), state)
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if (kept := self._kept(name)) is not None:
                self._keep(*kept, node, state)
            case c_ast.FuncCall(name=c_ast.ID() as function) if function.name in self.calls:
                launch(_launch(self.calls[function.name], node, state), state)
            case c_ast.If():
                chosen = node.iftrue if state.number(node.cond).value else node.iffalse
                self._run(chosen, state, launch)
            case _ if is_compiled(node):
                state.run_loop(node)
            case c_ast.While():
                while state.number(node.cond).value:
                    self._run(node.stmt, state, launch)
            case c_ast.For():
                self._run(node.init, state, launch)
                while node.cond is None or state.number(node.cond).value:
                    self._run(node.stmt, state, launch)
                    self._run(node.next, state, launch)
            case _:
                raise NoValueError(f"{_described(node)} is left to the compiler")

    def _kept(self, name: str) -> tuple[HostFunction, bool] | None:
        """The kernel whose arrays stay on the device from a function's call on, or until then; None for other functions."""
        return next(
            (
                (call, ends)
                for call in self.calls.values()
                for ends in (False, True)
                if call.held and name == data_function(call.function, ends=ends)
            ),
            None,
        )

    def _keep(self, call: HostFunction, ends: bool, node: c_ast.FuncCall, state: HostState) -> None:
        given = node.args.exprs if isinstance(node.args, c_ast.ExprList) else []
        pairs = iter(
            (state.pointer(pointer), int(state.number(size).value))
            for pointer, size in zip(given[::2], given[1::2], strict=True)
        )
        change = (
            DataEnd(call)
            if ends
            else DataBegin(call, tuple(HeldBytes.of([*islice(pairs, held.pieces)]) for held in call.held))
        )
        if self._keeper is not None:
            self._keeper(change)

    def _declare(self, node: c_ast.Decl, state: HostState) -> None:
        variable = node.name or ""
        if isinstance(node.type, c_ast.ArrayDecl) and node.init is None:
            self._declare_array(node, state)
            return
        try:
            kind = state.types[variable] = number_type(self._resolved(type_words(node)))
        except NoValueError:
            raise NoValueError(f"the declaration of `{variable}` is left to the compiler") from None
        state.scalars.pop(variable, None)
        if node.init is not None:
            state.scalars[variable] = convert(state.number(node.init), kind)

    def _declare_array(self, node: c_ast.Decl, state: HostState) -> None:
        """A local array of numbers, with nothing in it yet."""
        name, words, extents = _array(node)
        kind = self._resolved(words)
        element = number_type(kind).bytes
        size = element * prod(int(state.number(expression(extent)).value) for extent in extents)
        variable = HostVariable(
            name,
            kind,
            extents,
            0,
            size,
            element,
            is_array=True,
            written=True,
            compared=False,
            has_value=False,
        )
        others = tuple(v for v in state.data.variables if v.name != name)
        state.data = replace(state.data, variables=(*others, variable))
        if state.memory is not None:
            state.memory.declare(variable)

    def _resolved(self, name: str) -> str:
        return self.types.get(name, name)

    def _assign(self, target: Node, op: str, value: Number, state: HostState) -> None:
        if not isinstance(target, c_ast.ID) or target.name not in state.types:
            raise NoValueError("an assignment to something else than a scalar is left to the compiler")
        if op:
            value = combine(op, state.lookup(target.name), value)
        state.scalars[target.name] = convert(value, state.types[target.name])


def followed_launches(
    host: str, functions: Sequence[HostFunction], data: HostData, position: Position
) -> list[Launch]:
    """The launches of timed code, found without a device: reductions keep their first values.

    Raises DiagnosticError ORIO-M017 when the code holds statements that only a compiler can follow, or launches depend on
    what is in arrays.
    """
    try:
        return _followed(host, functions, data, position)
    except ContentNeededError as problem:
        raise _unfollowed(problem, position) from None


def _followed(
    host: str, functions: Sequence[HostFunction], data: HostData, position: Position
) -> list[Launch]:
    launches: list[Launch] = []
    try:
        code = HostCode.of(host, {call.function: call for call in functions}, data.types)
        code.run(HostState.of(data), lambda launch, state: launches.append(launch))
    except ContentNeededError:
        raise
    except NoValueError as problem:
        raise _unfollowed(problem, position) from None
    return launches


def _unfollowed(problem: NoValueError, position: Position) -> DiagnosticError:
    message = f"the code around the kernels cannot be followed: {problem}"
    return DiagnosticError(Diagnostic("ORIO-M017", message, position))


def require_followed(
    host: str, functions: Sequence[HostFunction], data: HostData, position: Position
) -> None:
    """Timed code can be followed, at least once it is known what is in arrays.  Raises DiagnosticError ORIO-M017."""
    with suppress(ContentNeededError):
        _followed(host, functions, data, position)


def _without_unused_macros(text: str) -> str:
    """The code without the macros that it defines, where it uses none of them."""
    code = _DEFINE.sub("", text)
    defined = {found[1] for found in _DEFINE.finditer(text)}
    return code if defined.isdisjoint(_NAME.findall(code)) else text


def _array(node: c_ast.Decl) -> tuple[str, str, tuple[str, ...]]:
    """The name, the type and the extents of a local array.  Raises NoValueError where elements are no numbers."""
    extents: list[str] = []
    kind: Node = node.type
    while isinstance(kind, c_ast.ArrayDecl) and kind.dim is not None:
        extents.append(emit_expression(kind.dim))
        kind = kind.type
    try:
        return node.name or "", type_words(copy_with(node, type=kind)), tuple(extents)
    except NoValueError:
        raise NoValueError(f"the declaration of `{node.name}` is left to the compiler") from None


def type_words(node: c_ast.Decl) -> str:
    """The type in a scalar's declaration, in words.  Raises NoValueError for arrays and pointers."""
    if not isinstance(node.type, c_ast.TypeDecl) or not isinstance(node.type.type, c_ast.IdentifierType):
        raise NoValueError("only scalars can be declared")
    return " ".join(node.type.type.names)


def _launch(call: HostFunction, node: c_ast.FuncCall, state: HostState) -> Launch:
    given = node.args.exprs if isinstance(node.args, c_ast.ExprList) else []
    if len(given) != len(call.parameters):
        raise NoValueError(f"`{call.function}` takes {len(call.parameters)} arguments")
    pointers: dict[str, Pointer] = {}
    numbers: dict[str, Number] = {}
    for (kind, name), argument in zip(call.parameters, given, strict=True):
        if kind.rstrip().endswith("*"):
            pointers[name] = state.pointer(argument)
        else:
            numbers[name] = convert(state.number(argument), number_type(kind))
    return Launch(call, pointers, numbers)


def _described(node: Node) -> str:
    if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
        return f"the call of `{node.name.name}`"
    return f"a {type(node).__name__} statement"

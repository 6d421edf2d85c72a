"""Reads a program of tensor contractions, and reports everything that is wrong with it.

The language is that of the thesis (section 2.2) with its open questions settled: a layout counts for all tensors
alike unless one has its own after its sizes, every index on the left stands on the right, outputs come first in the
signature, and `=`, products of any number of tensors and a number as a factor are allowed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note, has_errors
from orio_py.core.names import C_KEYWORDS, STDLIB_FUNCTIONS, STDLIB_MACROS
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position, SourceFile, Span
from orio_py.frontend.grammars import Parsed, error_offset, offset, parse, rule_name
from orio_py.frontend.messages import found
from orio_py.frontend.tensor.rules import MOST_ELEMENTS, WORDS, statement_problems, word_problems
from orio_py.tensors.contraction import (
    Contraction,
    Pattern,
    SubscriptForm,
    Tensor,
    TensorLayout,
    TensorProgram,
    TensorReference,
)

_CALLED = frozenset(["malloc", "free", "abort"])
"""What the generated code calls, and parameters or loops of these names would hide."""


def read_program(source: SourceFile, span: Span, name: str | None = None) -> TensorProgram:
    """The program in a part of a file; with `name`, one whose function is named outside.

    Raises DiagnosticError with everything that is wrong: ORIO-N001 to N015.
    """
    text = source.text[span.start : span.end]
    try:
        tree = parse("tensor", "program", text)
    except UnexpectedInput as error:
        at = error_offset(error, text)
        message = f"unexpected {found(text, at)} in a program of tensor contractions"
        place = source.position(span.start + at)
        advice = "the form is `NAME  memory: column  define: n = 16  variables: a: (n, n) …  operations: a:(i,j) += …`"
        raise DiagnosticError(Diagnostic("ORIO-N001", message, place, help=advice)) from None
    reader = _Reader(source, span.start)
    program = reader.read(tree, name)
    if has_errors(reader.problems):
        raise DiagnosticError(*sorted(reader.problems, key=lambda p: p.position or Position("", 0, 0)))
    return program


@dataclass(frozen=True, slots=True)
class _Declared:
    """A tensor as declared; without sizes, those of the indices that it is used with count."""

    order: int
    sizes: tuple[int | None, ...] | None
    layout: TensorLayout
    position: Position


@dataclass(slots=True)
class _Reader:
    source: SourceFile
    start: int
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    words: dict[str, str] = field(default_factory=dict[str, str])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    declared: dict[str, _Declared] = field(default_factory=dict[str, _Declared])
    tensors: dict[str, Tensor] = field(default_factory=dict[str, Tensor])
    places: dict[str, Position] = field(default_factory=dict[str, Position])

    def read(self, tree: Parsed, name: str | None) -> TensorProgram:
        function = name
        signature: tuple[Token, ...] = ()
        statements: list[Contraction] = []
        for part in tree.children:
            if isinstance(part, Token):
                function = str(part)
                self._check_word(part, "the function")
                continue
            match rule_name(part):
                case "option":
                    self._option(part)
                case "signature":
                    signature = tuple(_tokens(part))
                case "define":
                    for definition in _trees(part):
                        self._definition(definition)
                case "variables":
                    for declaration in _trees(part):
                        self._declaration(declaration)
                case _:
                    found = [self._statement(statement) for statement in _trees(part)]
                    statements = [statement for statement in found if statement is not None]
                    if not found:
                        self._report("ORIO-N011", "there is no statement: nothing is computed", part)
        if function is None:
            self._report("ORIO-N011", "a program begins with the name of its function", tree)
        listed = tuple(self._listed(name) for name in self.declared)
        self._signature(signature)
        return TensorProgram(
            function or "",
            listed,
            tuple(statements),
            SubscriptForm.LINEARIZED
            if self._word("access").startswith("linear")
            else SubscriptForm.MULTIDIMENSIONAL,
            Pattern(self._word("pattern")),
            self._word("type"),
            tuple(map(str, signature)),
        )

    def _word(self, option: str) -> str:
        return self.words.get(option, WORDS[option][0])

    def _option(self, tree: Parsed) -> None:
        option, word = tree.children
        assert isinstance(option, Token)
        assert isinstance(word, Tree)
        name, value = str(option), _tokens(word)[0]
        self._once(f"option `{name}`", name + ":", option)
        wrong = list(word_problems(name, str(value), self._place(value)))
        if wrong:
            self.problems += wrong
            return
        self.words.setdefault(name, str(value))

    def _definition(self, tree: Parsed) -> None:
        name, value = _tokens(tree)
        self._once(f"size `{name}`", f"{name} =", name)
        if int(value) < 1:
            self._report("ORIO-N004", f"the size `{name}` is {value}; it must be at least 1", value)
        self.sizes.setdefault(name, max(1, int(value)))

    def _declaration(self, tree: Parsed) -> None:
        name, shape, *layout = tree.children
        assert isinstance(name, Token)
        assert isinstance(shape, Tree)
        self._check_word(name, "a tensor")
        self._once(f"tensor `{name}`", str(name), name)
        sizes: tuple[int | None, ...] | None = None
        if rule_name(shape) == "order":
            order = int(str(_tokens(shape)[0]).removeprefix("order"))
        else:
            sizes = tuple(self._size(_tokens(size)[0]) for size in _trees(shape))
            order = len(sizes)
        given = TensorLayout(str(layout[0])) if layout else TensorLayout(self._word("memory"))
        self.declared.setdefault(str(name), _Declared(order, sizes, given, self._place(name)))

    def _size(self, token: Token) -> int | None:
        if token.type == "WHOLE":
            if int(token) < 1:
                self._report("ORIO-N004", f"a size is {token}; it must be at least 1", token)
            return max(1, int(token))
        if token not in self.sizes:
            message = f"the size `{token}` is not defined"
            advice = did_you_mean(token, self.sizes) or f"add `{token} = N` to `define:`"
            self._report("ORIO-N004", message, token, advice)
        return self.sizes.get(str(token))

    def _statement(self, tree: Parsed) -> Contraction | None:
        before = len(self.problems)
        target, operator, *rest = tree.children
        assert isinstance(target, Tree)
        assert isinstance(operator, Token)
        output = self._reference(target)
        sign, numbers, operands = "", list[str](), list[TensorReference | None]()
        for part in rest:
            if isinstance(part, Token):
                sign = "-" if part == "-" else ""
            elif rule_name(part) == "number":
                numbers.append(str(_tokens(part)[0]))
            else:
                operands.append(self._reference(part))
        given = [reference for reference in operands if reference is not None]
        if not operands:
            self._report("ORIO-N011", "a statement needs a tensor on its right-hand side", operator)
        if output is None or len(given) < len(operands) or len(self.problems) > before:
            return None
        factor = sign + " * ".join(numbers) if numbers else "-1" if sign else ""
        statement = Contraction(output, str(operator), tuple(given), factor, self._place(target))
        places = [self._index_places(part) for part in (target, *rest) if isinstance(part, Tree)]
        known = [place for place in places if place is not None]
        diagonals = self._word("diagonal") == "allowed"
        self.problems.extend(statement_problems(statement, known, diagonals=diagonals))
        return statement if len(self.problems) == before else None

    def _index_places(self, tree: Parsed) -> tuple[Position, ...] | None:
        """Where a tensor and its indices stand; None for a number."""
        if rule_name(tree) == "number":
            return None
        name, *indices = tree.children
        listed = _tokens(indices[0]) if indices and isinstance(indices[0], Tree) else []
        return (self._place(name), *map(self._place, listed))

    def _reference(self, tree: Parsed) -> TensorReference | None:
        name, *rest = tree.children
        assert isinstance(name, Token)
        indices = _tokens(rest[0]) if rest and isinstance(rest[0], Tree) else []
        declared = self.declared.get(str(name))
        if declared is None:
            advice = did_you_mean(name, self.declared) or f"declare it: `{name}: (…)` below `variables:`"
            self._report("ORIO-N005", f"the tensor `{name}` is not declared", name, advice)
            return None
        if len(indices) != declared.order:
            message = f"`{name}` has {declared.order} dimensions and is used with {len(indices)} indices"
            note = Note("it is declared here", declared.position)
            self.problems.append(Diagnostic("ORIO-N006", message, self._place(name), notes=(note,)))
            return None
        for index in indices:
            self._check_word(index, "an index")
            if str(index) in self.declared:
                message = f"the index `{index}` has the name of a tensor"
                self._report("ORIO-N014", message, index, "in C the loop over it would hide the tensor")
        tensor = self._tensor(str(name), declared, indices)
        return None if tensor is None else TensorReference(tensor, tuple(map(str, indices)))

    def _tensor(self, name: str, declared: _Declared, indices: list[Token]) -> Tensor | None:
        """The tensor with its extents, which without sizes are those of the indices of its first use."""
        if name in self.tensors:
            return self.tensors[name]
        sizes = declared.sizes
        if sizes is None:
            sizes = tuple(self.sizes.get(f"{index}u", self.sizes.get(str(index))) for index in indices)
            for index, size in zip(indices, sizes, strict=True):
                if size is None:
                    message = f"the size of the index `{index}` is not defined"
                    advice = f"add `{index}u = N` to `define:`, or the sizes of `{name}` to its declaration"
                    self._report("ORIO-N004", message, index, advice)
        known = tuple(size for size in sizes if size is not None)
        if len(known) < len(sizes):
            return None
        tensor = Tensor(name, known, declared.layout)
        if tensor.size > MOST_ELEMENTS:
            message = f"`{name}` has {tensor.size} elements, more than an `int` counts"
            self.problems.append(Diagnostic("ORIO-N012", message, declared.position))
        self.tensors[name] = tensor
        return tensor

    def _listed(self, name: str) -> Tensor:
        """A declared tensor; what no statement uses must have sizes."""
        declared = self.declared[name]
        if name not in self.tensors and declared.sizes is None and declared.order and not self.problems:
            message = f"no statement uses `{name}`, so that its sizes are not known"
            self.problems.append(Diagnostic("ORIO-N004", message, declared.position))
        sizes = tuple(size or 1 for size in declared.sizes or ())
        return self.tensors.get(name) or Tensor(name, sizes, declared.layout)

    def _signature(self, names: tuple[Token, ...]) -> None:
        seen: set[str] = set()
        for name in names:
            if name in seen:
                self._report("ORIO-N003", f"`{name}` stands twice in the signature", name)
            elif name not in self.declared:
                message = f"the tensor `{name}` is not declared"
                self._report("ORIO-N005", message, name, did_you_mean(name, self.declared))
            seen.add(str(name))
        missing = [name for name in self.declared if name not in seen]
        if names and missing:
            self._report("ORIO-N015", f"the signature lacks `{missing[0]}`", names[-1])

    def _check_word(self, token: Token, what: str) -> None:
        library = STDLIB_FUNCTIONS | {"main"} if what == "the function" else _CALLED
        if token in C_KEYWORDS | STDLIB_MACROS | library:
            whose = "C" if token in C_KEYWORDS else "C's library"
            self._report("ORIO-N014", f"`{token}` is a word of {whose}; it cannot name {what}", token)

    def _once(self, what: str, key: str, token: Token) -> None:
        place = self._place(token)
        first = self.places.setdefault(key, place)
        if first != place:
            note = Note("the first one is here", first)
            self.problems.append(
                Diagnostic("ORIO-N003", f"the {what} is defined twice", place, notes=(note,))
            )

    def _place(self, token: Token | Parsed) -> Position:
        return self.source.position(self.start + offset(token))

    def _report(self, code: str, message: str, token: Token | Parsed, help: str | None = None) -> None:
        self.problems.append(Diagnostic(code, message, self._place(token), help=help))


def _tokens(tree: Parsed) -> list[Token]:
    return [child for child in tree.children if isinstance(child, Token) and child.type != "SIGNATURE"]


def _trees(tree: Parsed) -> list[Parsed]:
    return [child for child in tree.children if isinstance(child, Tree)]

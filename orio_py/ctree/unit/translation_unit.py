"""A translation unit: types, variables, functions and macros of a file and of what it includes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

from orio_py.core.source import Span
from orio_py.ctree.ctype import ctype
from orio_py.ctree.known_functions import ALLOCATES_BY_ADDRESS
from orio_py.ctree.macros import Macro, MacroChange, changes_between, macros_at
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.ctree.structures import Structures, is_pointer
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.ctree.unit.allocations import LIBRARY, allocating_functions
from orio_py.ctree.unit.borrowed_pointers import Borrowed, borrowed_parameters
from orio_py.ctree.unit.external_declarations import (
    Declared,
    Preprocessed,
    constant,
    parse_items,
)
from orio_py.ctree.unit.function import Function
from orio_py.ctree.unit.named_types import NamedTypes
from orio_py.ctree.unit.purity import pure_functions, with_callees
from orio_py.ctree.unit.segments import Segments
from orio_py.ctree.unit.structure_types import structures_of

Preprocess = Callable[[Segments], str]
"""What makes preprocessed text of a file with marked segments."""

_UNITS_REMEMBERED = 4
_LONGEST_CHAIN = 16
"""Macros that stand for each other, one after the other."""


@dataclass(frozen=True, eq=False)
class TranslationUnit:
    """A file as its compiler sees it.

    Function bodies are parsed where an annotation stands in them; of headers only what the file mentions is.
    What no parser reads is left out.  `changes` are those of macros, `places` where in the preprocessed text
    each segment begins, `end` is the end of that text; `lines` are lines of the file where compiled code begins.
    `thread_private` are variables of which OpenMP gives each thread its own.
    """

    segments: Segments
    declared: tuple[Declared, ...]
    changes: tuple[MacroChange, ...]
    places: Mapping[int, int]
    end: int
    lines: frozenset[int] = frozenset()
    thread_private: frozenset[str] = frozenset()

    @cached_property
    def typedefs(self) -> Mapping[str, c_ast.Typedef]:
        """The types that typedefs name."""
        return {node.name: node for node in self._nodes() if isinstance(node, c_ast.Typedef)}

    @cached_property
    def number_types(self) -> Mapping[str, str]:
        """The names that typedefs and macros give to arithmetic types, with those types; not those of C's own headers."""
        found = {name: self.named_types.number(name) for name in self.typedefs if ctype(name) is None}
        macros = {m.name: m for m in self.macros_at(self.end).values() if m.arguments is None}
        bodies = {name: macro.body for name, macro in macros.items()}
        own = (name for name, macro in macros.items() if not macro.is_system)
        found |= {name: self.named_types.number(_followed(name, bodies)) for name in own}
        return {name: kind for name, kind in found.items() if kind is not None}

    @cached_property
    def named_types(self) -> NamedTypes:
        """What the names of types stand for."""
        return NamedTypes(self.typedefs)

    @cached_property
    def structures(self) -> Structures:
        """The members of structures and unions, by their tags (`struct one`) and by the names of typedefs."""
        return structures_of(tuple(self._nodes()), self._member)

    def _member(self, declared: CDeclaration) -> CDeclaration:
        number = self.number_types.get(declared.type)
        if number is not None:
            return replace(declared, type=number)
        declared = self.named_types.of(declared)
        return replace(declared, element=self.named_types.number(declared.type, arrays=True) or "")

    @cached_property
    def enumerators(self) -> Mapping[str, int | None]:
        """The constants of enumerations, with their values where these are evident."""
        found: dict[str, int | None] = {}
        for node in self._nodes():
            for part in walk(node):
                if isinstance(part, c_ast.EnumeratorList):
                    _add_enumerators(part, found)
        return found

    @cached_property
    def functions(self) -> Mapping[str, Function]:
        """The functions whose bodies were parsed."""
        return {
            declared.name: Function(
                node,
                declared,
                self.segments.mentioned,
                self.borrowed_parameters,
                self.allocating_functions,
            )
            for declared in self.declared
            for node in declared.nodes
            if isinstance(node, c_ast.FuncDef)
        }

    @cached_property
    def own_functions(self) -> frozenset[str]:
        """The functions that the file and the project's headers define or declare."""
        found = {d.name for d in self.declared if d.name and not d.is_system}
        return frozenset(found).union(
            node.name
            for declared in self.declared
            if not declared.is_system
            for node in declared.nodes
            if isinstance(node, c_ast.Decl) and node.name and isinstance(node.type, c_ast.FuncDecl)
        )

    def borrowed_parameters(self) -> Borrowed:
        """For functions of the unit, and one of the library, the places of parameters that they only follow."""
        return self._borrowed

    def allocating_functions(self) -> frozenset[str]:
        """The functions of the unit that give back memory of its own; none where the file has allocators of its own."""
        return self._allocating

    @cached_property
    def _borrowed(self) -> Borrowed:
        found = borrowed_parameters(self.functions.values(), self._is_number)
        is_own = ALLOCATES_BY_ADDRESS in self.own_functions
        return found if is_own else {**found, ALLOCATES_BY_ADDRESS: frozenset({0})}

    @cached_property
    def _allocating(self) -> frozenset[str]:
        is_known = self.own_functions.isdisjoint(LIBRARY)
        return allocating_functions(self.functions.values(), self._is_number) if is_known else frozenset()

    def _is_number(self, kind: str) -> bool:
        return self.named_types.number(kind) is not None

    @cached_property
    def pure_functions(self) -> frozenset[str]:
        """The functions of the project that compute a value from those of their arguments, and do nothing else."""
        return pure_functions(
            self.functions.values(),
            self._constants,
            self.own_functions,
            self._holds_numbers,
        )

    def _holds_numbers(self, kind: str) -> bool:
        """Whether a type is a number, an enumeration, the address of a function or a structure of numbers: it leads to no other memory."""
        named = self.typedefs.get(kind)
        if named is not None and isinstance(named.type, c_ast.PtrDecl):
            return isinstance(named.type.type, c_ast.FuncDecl)
        is_enumeration = named is not None and isinstance(getattr(named.type, "type", None), c_ast.Enum)
        if self.named_types.number(kind) is not None or kind.startswith("enum ") or is_enumeration:
            return True
        members = self.structures.get(kind, ())
        return bool(members) and not any(is_pointer(m) or not self._holds_numbers(m.type) for m in members)

    @cached_property
    def _constants(self) -> frozenset[str]:
        """The names that stand for the same value everywhere."""
        variables = (declaration_of(node) for node in self.variables(self.end))
        fixed = {v.name for v in variables if "const" in v.qualifiers and "volatile" not in v.qualifiers}
        return frozenset(fixed | self.enumerators.keys() | self.macros_at(self.end).keys())

    def variables(self, before: int) -> tuple[Node, ...]:
        """The declarations of variables that stand before an offset of the preprocessed text."""
        return tuple(
            node
            for declared in self.declared
            if declared.end <= before
            for node in declared.nodes
            if isinstance(node, c_ast.Decl)
            and node.name is not None
            and not isinstance(node.type, c_ast.FuncDecl)
        )

    def declared_in(self, inside: range) -> tuple[Node, ...]:
        """The declarations of variables outside functions in some segments of the file."""
        return tuple(
            node
            for declared in self.declared
            for node in declared.nodes
            if isinstance(node, c_ast.Decl) and declared.segment_of(node) in inside
        )

    def macros_at(self, offset: int) -> dict[str, Macro]:
        """The macros that are defined at an offset of the preprocessed text."""
        return macros_at(self.changes, offset)

    def place_of(self, extent: Span) -> int:
        """Where in the preprocessed text a part of the file begins; its end if that part is left out."""
        found = (self.places[segment] for segment in self.segments.within(extent) if segment in self.places)
        return min(found, default=self.end)

    def macros_in(self, extent: Span) -> dict[str, Macro]:
        """The macros that are defined where a part of the file begins, and inside it."""
        found = [self.places[segment] for segment in self.segments.within(extent) if segment in self.places]
        return {**self.macros_at(self.place_of(extent)), **self.macros_at(max(found, default=self.end))}

    def changes_around(self, extent: Span) -> tuple[tuple[MacroChange, ...], tuple[MacroChange, ...]]:
        """The changes of macros in the function around a part of the file, before that part and behind it."""
        place = self.place_of(extent)
        function = self.function_at(place)
        if function is None:
            return (), ()
        following = self.places.get(self.segments.within(extent).stop, function.declared.end)
        return (
            changes_between(self.changes, function.declared.start, place),
            changes_between(self.changes, following, function.declared.end),
        )

    def left_out(self, extent: Span) -> list[Span]:
        """The preprocessor's conditions in a part of the file, and the code that they leave out."""
        found: list[Span] = []
        for group in self.segments.conditional(extent):
            for (token, line), (following, end) in pairwise(group):
                first = line + token.text.count("\n") + 1
                is_compiled = any(number in self.lines for number in range(first, end))
                found.append(Span(token.start, token.end if is_compiled else following.start))
            found.append(Span(group[-1][0].start, group[-1][0].end))
        return found

    def function_at(self, place: int) -> Function | None:
        """The function around an offset of the preprocessed text."""
        number = bisect_right(self._by_start, place, key=lambda function: function.declared.start) - 1
        found = self._by_start[number] if number >= 0 else None
        return found if found is not None and place < found.declared.end else None

    @cached_property
    def _by_start(self) -> list[Function]:
        return sorted(self.functions.values(), key=lambda function: function.declared.start)

    def _nodes(self) -> Iterator[Node]:
        for declared in self.declared:
            yield from declared.nodes


def translation_unit(
    text: str,
    *,
    boundaries: Iterable[int] = (),
    codes: Mapping[int, str] | None = None,
    preprocess: Preprocess | None = None,
) -> TranslationUnit:
    """The unit that a C file is.

    `boundaries` are offsets that will be asked about, besides those of annotations; `codes` is C code that
    annotations hold, by the offsets where it counts as standing; `preprocess` is the preprocessor (default: one
    that needs no compiler and reads no header).
    """
    if preprocess is None:
        return _unit(text, tuple(boundaries), tuple((codes or {}).items()))
    return _read(Segments.of(text, boundaries, codes), preprocess)


@lru_cache(maxsize=_UNITS_REMEMBERED)
def _unit(text: str, boundaries: tuple[int, ...], codes: tuple[tuple[int, str], ...]) -> TranslationUnit:
    return _read(Segments.of(text, boundaries, dict(codes)), _without_compiler)


def _without_compiler(segments: Segments) -> str:
    # Files without conditions do not need this, which takes time to load.
    from orio_py.ctree.unit.preprocess import preprocess

    return preprocess(segments.marked(masked=True))


def _read(segments: Segments, preprocess: Preprocess) -> TranslationUnit:
    text = Preprocessed.of(preprocess(segments) if segments.needs_preprocessor else segments.marked())
    declared = tuple(parse_items(text, has_body=with_callees(text)))
    # Units travel to other processes: tokens stay behind.
    return TranslationUnit(
        replace(segments, tokens=()),
        declared,
        text.changes,
        text.places,
        len(text.text),
        text.lines,
        text.thread_private,
    )


def _followed(name: str, bodies: Mapping[str, str]) -> str:
    """What stands for a macro in the end: its text may be another macro's name."""
    for _ in range(_LONGEST_CHAIN):
        if name not in bodies:
            break
        name = bodies[name].strip()
    return name


def _add_enumerators(listed: c_ast.EnumeratorList, found: dict[str, int | None]) -> None:
    value: int | None = -1
    for enumerator in listed.enumerators:
        if enumerator.value is None:
            value = None if value is None else value + 1
        else:
            value = constant(enumerator.value, {n: v for n, v in found.items() if v is not None})
        found[enumerator.name] = value

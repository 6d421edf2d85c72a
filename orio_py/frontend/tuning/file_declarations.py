"""The variables that the files of a specification declare, as the compiler of its build command sees them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from orio_py.core.source import SourceFile, Span
from orio_py.ctree.emit import emit_expression
from orio_py.ctree.file_scope import surroundings
from orio_py.ctree.known_functions import ALLOCATORS, called_name
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.ctree.symbols import CDeclaration
from orio_py.ctree.unit.translation_unit import TranslationUnit, translation_unit
from orio_py.spec.inputs import Declaration, ExternalFile, Storage
from orio_py.spec.target import BuildSpec

_INIT = re.compile(r"\binit_input_vars\s*\([^(){};]*\)\s*\{")


def file_declarations(files: Sequence[ExternalFile], build: BuildSpec) -> tuple[Declaration, ...]:
    """What files that are compiled one after the other declare outside their functions.

    The extent of a pointer is what their functions allocate for it; without that, pointers have none.
    """
    if not files:
        return ()
    text = "".join([*_definitions(build), *(f"{file.text}\n" for file in files)])
    source = SourceFile(files[0].path, text.encode("latin-1"))
    boundaries = [found.end() for found in _INIT.finditer(text)]
    unit = translation_unit(text, boundaries=[*boundaries, len(text)])
    scope = surroundings(source, Span(len(text), len(text)), unit)
    allocated = _allocated(unit)
    return tuple(_declaration(d, allocated.get(d.name)) for d in scope.globals)


def _definitions(build: BuildSpec) -> list[str]:
    """The macros of the build command, but for those that depend on parameters."""
    try:
        words = shlex.split(build.command)
    except ValueError:  # `build.compiler` reports a command that cannot be split
        return []
    given = (w.removeprefix("-D").partition("=") for w in words if w.startswith("-D") and "@" not in w)
    return [f"#define {name} {body if equals else '1'}\n" for name, equals, body in given]


def _declaration(declared: CDeclaration, elements: str | None) -> Declaration:
    if declared.pointers == 1 and not declared.dimensions and elements is not None:
        return Declaration(declared.name, declared.type, Storage.GIVEN, (elements,))
    storage = Storage.STATIC if declared.dimensions else Storage.SCALAR
    storage = Storage.DYNAMIC if declared.pointers else storage
    return Declaration(declared.name, declared.type, storage, declared.dimensions)


def _allocated(unit: TranslationUnit) -> dict[str, str]:
    """How many elements pointers get, where every allocation for one says the same."""
    found: dict[str, set[str | None]] = {}
    for function in unit.functions.values():
        for node in walk(function.node.body):
            match node:
                case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=str(name)), rvalue=value):
                    if (call := _allocation(value)) is not None:
                        found.setdefault(name, set()).add(_elements(call))
                case _:
                    pass
    return {
        name: text for name, texts in found.items() if len(texts) == 1 for text in texts if text is not None
    }


def _allocation(value: Node) -> c_ast.FuncCall | None:
    while isinstance(value, c_ast.Cast):
        value = value.expr
    return value if isinstance(value, c_ast.FuncCall) and called_name(value) in ALLOCATORS else None


def _elements(call: c_ast.FuncCall) -> str | None:
    """The number of elements that an allocation is for: its bytes without the factor `sizeof`."""
    arguments: Sequence[Node] = call.args.exprs if isinstance(call.args, c_ast.ExprList) else ()
    match called_name(call), arguments:
        case (
            ("malloc" | "valloc", [size])
            | ("aligned_alloc" | "memalign", [_, size])
            | ("_mm_malloc", [size, _])
        ):
            factors = list(_factors([size]))
        case "calloc", [_, _]:
            factors = list(_factors(arguments))
        case _:
            return None
    sizes = [factor for factor in factors if _is_size(factor)]
    others = [f"({emit_expression(factor)})" for factor in factors if not _is_size(factor)]
    return " * ".join(["(size_t)1", *others]) if len(sizes) == 1 else None


def _factors(values: Iterable[Node]) -> Iterator[Node]:
    for value in values:
        if isinstance(value, c_ast.BinaryOp) and value.op == "*":
            yield from _factors([value.left, value.right])
        else:
            yield value


def _is_size(factor: Node) -> bool:
    return isinstance(factor, c_ast.UnaryOp) and factor.op == "sizeof"

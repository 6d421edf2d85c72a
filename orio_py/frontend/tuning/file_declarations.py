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
from orio_py.ctree.rewrite import used_names, walk
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
    return tuple(_declaration(d, allocated.get(d.name, ())) for d in scope.globals)


def _definitions(build: BuildSpec) -> list[str]:
    """The macros of the build command, but for those that depend on parameters."""
    try:
        words = shlex.split(build.command)
    except ValueError:  # `build.compiler` reports a command that cannot be split
        return []
    given = (w.removeprefix("-D").partition("=") for w in words if w.startswith("-D") and "@" not in w)
    return [f"#define {name} {body if equals else '1'}\n" for name, equals, body in given]


def _declaration(declared: CDeclaration, allocations: Sequence[c_ast.FuncCall | None]) -> Declaration:
    if declared.pointers == 1 and not declared.dimensions:
        extents = {call and _elements(call, declared) for call in allocations}
        if len(extents) == 1 and (extent := extents.pop()) is not None:
            return Declaration(declared.name, declared.type, Storage.GIVEN, (extent,))
    storage = Storage.STATIC if declared.dimensions else Storage.SCALAR
    storage = Storage.DYNAMIC if declared.pointers else storage
    return Declaration(declared.name, declared.type, storage, declared.dimensions)


def _allocated(unit: TranslationUnit) -> dict[str, list[c_ast.FuncCall | None]]:
    """What is assigned to the file's variables: None for what is no allocation that means the same outside its function."""
    found: dict[str, list[c_ast.FuncCall | None]] = {}
    for function in unit.functions.values():
        own = {node.name for node in walk(function.node) if isinstance(node, c_ast.Decl)}
        for node in walk(function.node.body):
            match node:
                case c_ast.Assignment(lvalue=c_ast.ID(name=str(name)), rvalue=value) if name not in own:
                    call = _allocation(value)
                    means_same = (
                        call is not None and call.args is not None and not used_names([call.args]) & own
                    )
                    found.setdefault(name, []).append(call if means_same else None)
                case _:
                    pass
    return found


def _allocation(value: Node) -> c_ast.FuncCall | None:
    while isinstance(value, c_ast.Cast):
        value = value.expr
    return value if isinstance(value, c_ast.FuncCall) and called_name(value) in ALLOCATORS else None


def _elements(call: c_ast.FuncCall, of: CDeclaration) -> str | None:
    """The number of elements of a pointer's type that an allocation is for."""
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
    sizes = [factor for factor in factors if _is_size(factor, of)]
    others = [f"({emit_expression(factor)})" for factor in factors if factor not in sizes[:1]]
    elements = " * ".join(["(size_t)1", *others])
    return elements if sizes else f"{elements} / sizeof({of.type})"


def _factors(values: Iterable[Node]) -> Iterator[Node]:
    for value in values:
        if isinstance(value, c_ast.BinaryOp) and value.op == "*":
            yield from _factors([value.left, value.right])
        else:
            yield value


def _is_size(factor: Node, of: CDeclaration) -> bool:
    """Whether a factor is the size of an element."""
    if not isinstance(factor, c_ast.UnaryOp) or factor.op != "sizeof":
        return False
    return emit_expression(factor.expr) in {of.type, f"*{of.name}", f"{of.name}[0]"}

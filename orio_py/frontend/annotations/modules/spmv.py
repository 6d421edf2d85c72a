"""SpMV: the leader names the parts of a sparse matrix in compressed rows, and how its product with a vector is computed.

    out_vector = y;  in_vector = x;  in_matrix = aa;  row_inds = ai;  col_inds = aj;  total_rows = n;
    out_unroll_factor = 2;  in_unroll_factor = 4;  num_threads = T;

    transform Composite(openmp=(T > 1, 'omp parallel for num_threads(…)'))       stands for
    transform Unroll(ufactor=2)
    for (int row = 0; row < n; row++) {
      double sum = 0.0;
      transform Unroll(ufactor=4)
      for (int k = ai[row]; k < ai[row + 1]; k++) sum += aa[k] * x[aj[k]];
      y[row] = sum;
    }

Source for the arguments and their defaults: Orio 0.6.1, module `spmv`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note, fail
from orio_py.core.expr import Binary, Call, Compare, Expr, ListExpr, Literal, TupleExpr
from orio_py.core.names import NameSupply
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position
from orio_py.frontend.annotations.module import Annotation, CodeModule, RegionParts
from orio_py.frontend.expressions import parse_expression
from orio_py.frontend.grammars import error_offset, offset, parse
from orio_py.frontend.messages import found
from orio_py.spec.recipe import Argument, MarkedRecipe, RecipeStep

_DEFAULTS = {
    "out_vector": "y",
    "in_vector": "x",
    "in_matrix": "aa",
    "row_inds": "ai",
    "col_inds": "aj",
    "data_type": "double",
    "init_val": "0.0",
    "total_rows": "total_rows",
    "total_inodes": "total_inodes",
    "inode_sizes": "inode_sizes",
    "inode_rows": "inode_rows",
    "out_unroll_factor": "1",
    "in_unroll_factor": "1",
    "num_threads": "1",
    "simd": "'none'",
    "block_structure": "'none'",
}
_CHOICES = {
    "simd": ("none", "gcc", "sse", "xlc"),
    "block_structure": ("none", "inode"),
}
_ATOM = re.compile(r"[A-Za-z_]\w*|\d+")
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class _Text:
    """What an argument says, as it stands in the leader."""

    text: str
    position: Position


@dataclass(frozen=True, slots=True)
class _Product:
    """The arguments of a leader; those that are not given have their defaults, at the leader's place."""

    given: Mapping[str, _Text]
    position: Position

    def text(self, name: str) -> str:
        """C text of an argument, in parentheses where it is more than a name or number."""
        text = self.given[name].text if name in self.given else _DEFAULTS[name]
        return text if name == "data_type" or _ATOM.fullmatch(text) else f"({text})"

    def place(self, name: str) -> Position:
        """Where an argument is given."""
        return self.given[name].position if name in self.given else self.position

    def value(self, name: str) -> Expr:
        """An argument as an expression over the parameters.  Raises ORIO-E…, A023."""
        text = self.given[name].text if name in self.given else _DEFAULTS[name]
        value = parse_expression(text, position=self.place(name))
        if name in _CHOICES and isinstance(value, Literal) and value.value not in _CHOICES[name]:
            known = _CHOICES[name]
            listed = ", ".join(f"'{choice}'" for choice in known)
            message = f"`{name}` is {text}; it must be one of {listed}"
            fail("ORIO-A023", message, self.place(name), help=did_you_mean(str(value.value), known))
        return value

    def loops(self) -> _Loops:
        """The loops of the product.  Raises ORIO-E…, A023."""
        operands = [self.text(name) for name in _DEFAULTS]
        supply = NameSupply(name for text in operands for name in _NAME.findall(text))
        row, k, total = (supply.fresh(name) for name in ("row", "k", "sum"))
        y, x, values, starts, columns = map(self.text, list(_DEFAULTS)[:5])
        first, end = self._rows()
        return _Loops(
            f"for (int {row} = {first}; {row} < {end}; {row}++) ",
            f"{{ {self.text('data_type')} {total} = {self.text('init_val')}; ",
            f"for (int {k} = {starts}[{row}]; {k} < {starts}[{row} + 1]; {k}++) ",
            f"{total} += {values}[{k}] * {x}[{columns}[{k}]]; {y}[{row}] = {total}; }}",
            total,
        )

    def _rows(self) -> tuple[str, str]:
        """The first row and the one behind the last: all rows, or those of the blocks (inodes)."""
        structure = self.value("block_structure")
        if isinstance(structure, Literal) and structure.value == "inode" and "total_rows" not in self.given:
            rows = self.text("inode_rows")
            return f"{rows}[0]", f"{rows}[{self.text('total_inodes')}]"
        return "0", self.text("total_rows")

    def steps(self, total: str) -> tuple[RecipeStep, RecipeStep, RecipeStep, RecipeStep]:
        """Two steps on the outer loop and two on the inner one.  Raises ORIO-E…, A023."""
        threads, simd = self.value("num_threads"), self.value("simd")
        count = Call("str", (threads,), self.place("num_threads"))
        opening = Binary("+", Literal("omp parallel for num_threads("), count)
        parallel = TupleExpr((Compare(threads, ((">", Literal(1)),)), Binary("+", opening, Literal(")"))))
        kinds = ListExpr(tuple(map(Literal, _CHOICES["simd"][1:])))
        sums = ListExpr((Literal(f"omp simd reduction(+:{total})"),))
        vector = TupleExpr((Compare(simd, (("in", kinds),)), sums))
        return (
            self._step("Composite", "openmp", parallel, "num_threads"),
            self._step("Unroll", "ufactor", self.value("out_unroll_factor"), "out_unroll_factor"),
            self._step("Composite", "vector", vector, "simd"),
            self._step("Unroll", "ufactor", self.value("in_unroll_factor"), "in_unroll_factor"),
        )

    def _step(self, transformation: str, name: str, value: Expr, argument: str) -> RecipeStep:
        place = self.place(argument)
        return RecipeStep(transformation, (Argument(name, value, place),), place)


@dataclass(frozen=True, slots=True)
class _Loops:
    """The text of the product in pieces: headers of both loops, with what stands between and behind."""

    outer: str
    opening: str
    inner: str
    body: str
    total: str
    """The variable of the sum."""

    def written(self) -> tuple[str, tuple[int, ...]]:
        """The code, and the places in it where the steps stand."""
        opening = f"  {self.outer}{self.opening}"
        return f"{opening}  {self.inner}{self.body}", (0, 1, len(opening), len(opening) + 1)


def _read(annotation: Annotation) -> RegionParts:
    """Problems: ORIO-A023, C…, E…."""
    product = _Product(_arguments(annotation), annotation.position)
    loops = product.loops()
    text, places = loops.written()
    start = annotation.leader.body.start
    marks = {start + place: step for step, place in enumerate(places)}
    try:
        tree, plain = annotation.parsed(text, start, marks), annotation.parsed(text, start)
    except DiagnosticError as error:
        place = annotation.position
        moved = (replace(problem, position=place, notes=()) for problem in error.diagnostics)
        raise DiagnosticError(*moved) from None
    return RegionParts(tree, MarkedRecipe(product.steps(loops.total)), plain)


def _arguments(annotation: Annotation) -> dict[str, _Text]:
    """What the leader says.  Raises ORIO-A023."""
    body = annotation.leader.body
    text = annotation.source.text[body.start : body.end]
    try:
        tree = parse("spmv", "arguments", text)
    except UnexpectedInput as error:
        at = error_offset(error, text)
        message = f"expected arguments such as `out_vector = y;`, found {found(text, at)}"
        fail("ORIO-A023", message, annotation.source.position(body.start + at))
    given: dict[str, _Text] = {}
    for argument in tree.children:
        assert isinstance(argument, Tree)
        name, value = argument.children
        assert isinstance(name, Token)
        assert isinstance(value, Token)
        place = annotation.source.position(body.start + offset(name))
        if str(name) not in _DEFAULTS:
            message = f"SpMV has no argument `{name}`"
            fail("ORIO-A023", message, place, help=did_you_mean(str(name), _DEFAULTS))
        if str(name) in given:
            note = Note("the first one is here", given[str(name)].position)
            message = f"argument `{name}` is given twice"
            raise DiagnosticError(Diagnostic("ORIO-A014", message, place, notes=(note,)))
        given[str(name)] = _Text(str(value).strip(), annotation.source.position(body.start + offset(value)))
    return given


MODULE = CodeModule("SpMV", _read)

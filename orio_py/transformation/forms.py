"""What a loop has to look like before its iterations may be copied, grouped or moved."""

from __future__ import annotations

import re

from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.known_functions import STORING_FUNCTIONS, called_name
from orio_py.ctree.loops import CanonicalLoop, first_write, jumps_out, reasons, stray_case
from orio_py.ctree.nodes import Comment, Compound, For, GuardedPragma, Node, c_ast
from orio_py.ctree.rewrite import walk, walk_statements
from orio_py.transformation.base import Context, note, refuse
from orio_py.transformation.overwriting import first_call, other_use, overwritten
from orio_py.transformation.types import index_type, index_type_problem, wraps_at_the_start

LOOP_PRAGMAS = frozenset(
    [
        "acc",
        "clang",
        "GCC",
        "ivdep",
        "loop",
        "loop_count",
        "nounroll",
        "nounroll_and_jam",
        "novector",
        "omp",
        "simd",
        "swp",
        "unroll",
        "unroll_and_jam",
        "vector",
    ]
)
"""First words of pragmas that belong to the loop they precede."""

_NAME = re.compile(r"[A-Za-z_]\w*")
_STANDALONE_OMP = frozenset({"barrier", "flush", "taskwait", "taskyield"})


def sole_statement(node: Node) -> Node:
    """`node`, or the only statement of a block that has just one besides comments."""
    while isinstance(node, Compound):
        items = [item for item in node.block_items or [] if not isinstance(item, Comment)]
        if len(items) != 1:
            return node
        node = items[0]
    return node


def loop_view(node: Node, what: str, context: Context) -> CanonicalLoop:
    """The canonical loop that `what` works on.  Raises Refusal: ORIO-T020, T021, T022, T023."""
    if not isinstance(node, For):
        refuse("ORIO-T020", f"{what} needs a `for` loop; this is {_kind(node)}", node)
    if (view := CanonicalLoop.match(node)) is None:
        refuse(
            "ORIO-T021",
            f"{what} needs a loop such as `for (i = L; i < U; i += S)` with a constant step: {reasons(node)}",
            node,
        )
    if (problem := index_type_problem(view, context)) is not None:
        refuse("ORIO-T022", f"{what} needs an integer loop index; `{view.index}` {problem}", node)
    require_start_that_fits(view, what, context)
    require_no_loop_pragma(node, what, context)
    return view


def require_no_loop_pragma(node: Node, what: str, context: Context) -> None:
    """No pragma that is about the loop stands before it.  Raises Refusal: ORIO-T023."""
    for text in context.pragmas:
        words = text.replace("(", " ").split()
        standalone = words[:1] == ["omp"] and words[1:2] and words[1] in _STANDALONE_OMP
        if words and words[0] in LOOP_PRAGMAS and not standalone:
            refuse(
                "ORIO-T023",
                f"{what} would separate the loop from the pragma before it: `#pragma {text}`",
                node,
                help="remove the pragma and let the recipe insert it: `pragma=`, `openmp=` or `vector=`",
            )


def require_start_that_fits(view: CanonicalLoop, what: str, context: Context) -> None:
    """The index begins with the value of the start.  Raises Refusal: ORIO-T022."""
    if wraps_at_the_start(view, context):
        kind = index_type(view, context)
        refuse(
            "ORIO-T022",
            f"{what} needs a loop index that holds its start; `{emit_expression(view.start)}` may be negative or too "
            f"large for `{kind} {view.index}`",
            view.node,
            help=f"begin with `({kind})({emit_expression(view.start)})`, or take an `int` as the index",
        )


def has_stable_index(view: CanonicalLoop, context: Context) -> bool:
    """Whether the body leaves the index alone."""
    inside = context.effects(view.body)
    if view.index in inside.writes | inside.address_taken:
        return False
    return view.declared_type is not None or other_use(view.body, view.index, context) is None


def require_stable_index(view: CanonicalLoop, what: str, context: Context) -> None:
    """The body leaves the index alone.  Raises Refusal: ORIO-T024."""
    inside = context.effects(view.body)
    if view.index in inside.writes | inside.address_taken:
        place = first_write(view.index, view.body) or view.body
        refuse("ORIO-T024", f"{what} needs a loop whose body leaves the index alone: `{view.index}`", place)
    if view.declared_type is not None:
        return
    if (place := other_use(view.body, view.index, context)) is not None:
        refuse(
            "ORIO-T024",
            f"{what} needs a loop whose index is used by its own name only: this may use or change `{view.index}`",
            place,
            help="take a variable as the index whose address nobody has",
        )


def require_no_jumps(view: CanonicalLoop, what: str, harmless: tuple[type[Node], ...] = ()) -> None:
    """The body runs from its start to its end, or to a jump of a harmless kind.  Raises Refusal: ORIO-T025."""
    if (jump := jumps_out(view.body, harmless)) is not None:
        refuse(
            "ORIO-T025", f"{what} needs a body that runs to its end: {_jump_name(jump)} is in the way", jump
        )


def index_ends_with_function(view: CanonicalLoop, context: Context) -> bool:
    """Whether nothing can read the index once the function has returned."""
    if view.declared_type is not None:
        return True
    declared = context.declarations.get(view.index)
    if declared is None or view.index in context.exposed:
        return False
    return declared.scope != "global" and declared.storage.isdisjoint({"static", "extern"})


def require_copyable(body: Node, what: str) -> None:
    """The body of a loop may stand in the program more than once.  Raises Refusal: ORIO-T026."""
    for node in walk_statements(body):
        declared = node.decls if isinstance(node, c_ast.DeclList) else (node,)
        for part in declared:
            if isinstance(part, c_ast.Decl) and "static" in (part.storage or []):
                refuse("ORIO-T026", f"{what} cannot copy the `static` variable `{part.name}`", part)
        if isinstance(node, c_ast.Label):
            refuse("ORIO-T026", f"{what} cannot copy the label `{node.name}`", node)
    if (case := stray_case(body)) is not None:
        refuse("ORIO-T026", f"{what} cannot copy a `case` label of a `switch` outside the loop", case)


def require_invariant_bound(view: CanonicalLoop, what: str, context: Context, *, force: bool) -> None:
    """The bound keeps its value while the loop runs.  Raises Refusal: ORIO-T027, T028."""
    for part in (view.bound, view.start):
        require_pure(part, what, context, force=force)
    problem = _what_changes(view.bound, view, context, force=force)
    if problem is not None:
        name, place = problem
        called = called_name(place) if isinstance(place, c_ast.FuncCall) else None
        by, why = "", context.obstacles.get(called) if called is not None else None
        if called is not None and called not in STORING_FUNCTIONS:
            by = f" by the call of `{called}`, whose effects are not known"
        notes = [note(f"its body cannot stand in place of the call: {why}", place)] if why else []
        refuse(
            "ORIO-T027",
            f"{what} needs a bound that keeps its value: the body may change `{name}`{by}",
            place,
            notes=[note("the bound is read here", view.bound), *notes],
            help="copy the bound into a variable of its own before the loop",
        )


def start_is_invariant(view: CanonicalLoop, context: Context) -> bool:
    """Whether the start expression still has its value in the loop's test."""
    names = context.effects(view.start).reads
    return view.index not in names and _what_changes(view.start, view, context, force=False) is None


def bound_is_invariant(view: CanonicalLoop, context: Context) -> bool:
    """Whether the bound keeps its value while the loop runs, and reading it changes nothing."""
    used = context.effects(view.bound)
    pure = not (used.writes or used.opaque or used.calls)
    return pure and _what_changes(view.bound, view, context, force=False) is None


def is_invariant(part: Node, view: CanonicalLoop, context: Context) -> bool:
    """Whether an expression without effects keeps its value while the loop runs."""
    return _what_changes(part, view, context, force=False) is None


def _what_changes(
    part: Node, view: CanonicalLoop, context: Context, *, force: bool
) -> tuple[str, Node] | None:
    inside = context.effects(view.body)
    used = context.effects(part)
    if view.index in used.reads:
        return view.index, view.node
    names = used.reads - _constants(used.reads, context)
    direct = used.scalar_reads & inside.scalar_writes | names & inside.address_taken
    for name in sorted(direct | used.array_reads & (inside.scalar_writes | inside.escaping)):
        return name, _first_change(name, view.body)
    for name in sorted(names):
        declared = context.declarations.get(name)
        if declared is not None and "volatile" in declared.qualifiers:
            return name, part
    if used.array_reads and inside.opaque:
        return min(used.array_reads), view.body
    if (found := overwritten(part, view, context)) is not None:
        return found
    unknown = inside.calls
    if unknown and not force:
        for name in sorted(names - {view.index}):
            declared = context.declarations.get(name)
            if name in context.exposed or (declared is not None and declared.is_array_like):
                return name, first_call(view.body, unknown) or view.body
    return None


def _constants(names: frozenset[str], context: Context) -> set[str]:
    """The names of numbers that are declared `const`, which nothing may write to (C99 6.7.3p5)."""
    found = {name: context.declarations[name] for name in names & context.declarations.keys()}
    return {
        name
        for name, declared in found.items()
        if "const" in declared.qualifiers
        and "volatile" not in declared.qualifiers
        and declared.is_scalar
        and (declared.is_integer or declared.is_floating)
    }


def require_pure(part: Node, what: str, context: Context, *, force: bool) -> None:
    """An expression may be evaluated more than once.  Raises Refusal: ORIO-T028."""
    found = context.effects(part)
    if found.writes or found.opaque:
        refuse(
            "ORIO-T028", f"{what} evaluates the bounds more than once, and this one has a side effect", part
        )
    if (unknown := found.calls) and not force:
        names = ", ".join(f"`{name}`" for name in sorted(unknown))
        refuse(
            "ORIO-T028",
            f"{what} evaluates the bounds more than once, and this one calls {names}",
            part,
            help="copy the bound into a variable before the loop, or add `force=True`",
        )


def has_size_taken(node: Node, name: str) -> bool:
    """Whether `sizeof` or `_Generic`, which ask for a type alone, is applied to something with the variable in it."""
    asked: list[Node] = []
    for part in walk(node):
        match part:
            case c_ast.UnaryOp(op="sizeof", expr=operand) | c_ast.GenericSelection(expr=operand):
                asked.append(operand)
            case _:
                pass
    return any(isinstance(inner, c_ast.ID) and inner.name == name for part in asked for inner in walk(part))


def names_in_pragmas(code: Node) -> frozenset[str]:
    """The words in the pragmas of some code, the names of variables in their clauses among them."""
    texts = (str(part.string) for part in walk(code) if isinstance(part, (c_ast.Pragma, GuardedPragma)))
    return frozenset(word for text in texts for word in _NAME.findall(text))


def refuse_if_live(view: CanonicalLoop, what: str, context: Context) -> None:
    """Nothing reads the index after the loop.  Raises Refusal: ORIO-T029."""
    if view.declared_type is None and view.index in context.live_after:
        refuse(
            "ORIO-T029",
            f"{what} can leave another value in `{view.index}`, which is read after the loop",
            view.node,
            help=f"assign `{view.index}` before it is read again, or use another variable as the loop index",
        )


def _first_change(name: str, body: Node) -> Node:
    if (found := first_write(name, body)) is not None:
        return found
    for node in walk(body):
        if isinstance(node, c_ast.Assignment) and _base(node.lvalue) == name:
            return node
    return body


def _base(target: Node) -> str | None:
    """The variable through which an assignment writes."""
    while isinstance(target, (c_ast.ArrayRef, c_ast.StructRef, c_ast.UnaryOp)):
        target = target.expr if isinstance(target, c_ast.UnaryOp) else target.name
    return target.name if isinstance(target, c_ast.ID) else None


def _jump_name(node: Node) -> str:
    match node:
        case c_ast.Break():
            return "a `break`"
        case c_ast.Continue():
            return "a `continue`"
        case c_ast.Return():
            return "a `return`"
        case c_ast.Goto():
            return f"`goto {node.name}`"
        case c_ast.Label():
            return f"the label `{node.name}`"
        case c_ast.Case() | c_ast.Default():
            return "a `case` label of a `switch` outside of the loop"
        case _:
            return "a jump"


def _kind(node: Node) -> str:
    names: list[tuple[type[Node], str]] = [
        (Compound, "a block of several statements"),
        (c_ast.While, "a `while` loop"),
        (c_ast.DoWhile, "a `do` loop"),
        (c_ast.If, "an `if`"),
        (c_ast.Switch, "a `switch`"),
        (c_ast.Assignment, "an assignment"),
        (c_ast.Decl, "a declaration"),
    ]
    return next((text for kind, text in names if isinstance(node, kind)), "another statement")

"""Loops that count without a header that says so get one.

    while (i < n) {                     const int i_first = i;
      y[i] = x[i];                      for (i = i_first; i < n; i++)
      i++;                                y[i] = x[i];
    }

    for (i = n; i-- > 0;)               for (i = n - 1; i >= 0; i--)
      y[i] = 0;                           y[i] = 0;

    for (p = x; p < x + n; p += 2)      for (long p_at = 0; p_at < n; p_at += 2) {
      *p = 0;                             double *p = x + p_at;
                                          *p = 0;
                                        }

`while (i-- > 0)` and `while (p < end)` are the second and the third from where the variable is; `i > 0 && i--`, which leaves
0 behind, is one of the second kind.  `while (1)` and `for (;;)` with `if (i >= n) break;` first in their bodies test that.
"""

from __future__ import annotations

from orio_py.ctree.build import (
    add,
    assign,
    binary,
    block,
    const,
    declare,
    flat_block,
    for_,
    ident,
    literal_value,
    statements,
    sub,
    ternary,
    unary,
)
from orio_py.ctree.ctype import INT, Rank, ctype
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop, jumps_out, unmarked
from orio_py.ctree.nodes import NEGATED, For, Node, c_ast
from orio_py.ctree.rewrite import assigned_names, copy_with, declared_names, substitute, used_names, walk
from orio_py.ctree.simplify import simplify
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.forms import bound_is_invariant, has_size_taken
from orio_py.transformation.overwriting import other_use
from orio_py.transformation.simpler.counted_steps import SteppedLoop, step_of, with_steps_apart
from orio_py.transformation.sites import marked_like, rewrite_marked

_LEAVING = (c_ast.Break, c_ast.Return, c_ast.Goto)


def with_counted_loops(tree: Node, context: Context) -> Node:
    """The tree whose loops set, test and step their indices in headers; the same object where all do."""

    def is_odd(loop: Node) -> bool:
        view = SteppedLoop.match(loop) if isinstance(loop, (For, c_ast.While)) else None
        declared = None if view is None else context.declarations.get(view.loop.index)
        pointer = declared is not None and declared.pointers > 0
        return isinstance(loop, (For, c_ast.While)) and (view is None or pointer)

    return rewrite_marked(tree, is_odd, _counted, context)


def _counted(statement: Node, context: Context) -> Node:
    match _with_test(unmarked(statement), context):
        case c_ast.While(cond=test, stmt=body):
            found = _stepped(None, test, body, context) or _downwards(None, test, body, context)
        case For(init=None, cond=Node() as test, next=Node() as step, stmt=body):
            found = _from_where_it_is(test, step, body, context)
        case For(init=init, cond=Node() as test, next=None, stmt=body):
            found = _downwards(init, test, body, context) or _stepped(init, test, body, context)
        case For() as loop:
            counts = loop is not unmarked(statement) and SteppedLoop.match(loop) is not None
            found = _by_places(loop, context) or ([loop] if counts else None)
        case _:
            found = None
    if found is None:
        return statement
    whole = [marked_like(statement, part) if isinstance(part, For) else part for part in found]
    return flat_block(*whole) if len(whole) > 1 else whole[0]


def _with_test(loop: Node, context: Context) -> Node:
    """A loop without end whose body begins with `if (c) break;`, with the contrary of `c` as its test; others as they are."""
    match loop:
        case For(cond=test, stmt=body) | c_ast.While(cond=test, stmt=body) if test is None or literal_value(
            test
        ):
            pass
        case _:
            return loop
    match statements(body):
        case [
            c_ast.If(
                cond=c_ast.BinaryOp(op=op, left=left, right=right) as leaving, iftrue=then, iffalse=None
            ),
            *rest,
        ] if rest and op in NEGATED and [type(item) for item in statements(then)] == [c_ast.Break]:
            kinds = [
                INT if literal_value(s) is not None else expression_type(s, context) for s in (left, right)
            ]
            if any(kind is None or kind.is_floating for kind in kinds):
                return loop  # A comparison with NaN has no contrary.
            contrary = c_ast.BinaryOp(NEGATED[op], left, right, leaving.coord)
            return copy_with(loop, cond=contrary, stmt=block(*rest))
        case _:
            return loop


def _stepped(init: Node | None, test: Node, body: Node, context: Context) -> list[Node] | None:
    """A loop whose body steps what it tests, with nothing behind that uses it."""
    items = statements(body)
    for name in sorted(used_names([test])):
        items = list(with_steps_apart(items, name))
    steps = [
        item for item in items if (found := step_of(item)) is not None and found[0] in used_names([test])
    ]
    if not steps or jumps_out(body, _LEAVING) is not None:
        return None
    name, amount, _ = step_of(steps[-1]) or ("", test, True)
    behind = items[items.index(steps[-1]) + 1 :]
    rest = flat_block(*(item for item in items if item is not steps[-1]))
    if name in used_names(behind) or not used_names([amount]).isdisjoint(assigned_names(*behind)):
        return None
    if init is None:
        return _from_where_it_is(test, steps[-1], rest, context)
    loop = for_(init, test, steps[-1], rest)
    return [loop] if SteppedLoop.match(loop) is not None else None


def _from_where_it_is(test: Node, step: Node, body: Node, context: Context) -> list[Node] | None:
    """A loop whose index begins with the value that it has."""
    if (found := step_of(step)) is None:
        return None
    index = found[0]
    declared = context.declarations.get(index)
    if declared is None or not (_is_counter(declared) or _is_pointer(declared)):
        return None
    if _is_pointer(declared):
        return _by_places(for_(assign(index, ident(index)), test, step, body), context)
    first = context.names(test, step, body).fresh(f"{index}_first")
    loop = for_(assign(index, ident(first)), test, step, body)
    if SteppedLoop.match(loop) is None and not _compares_sum(test, index):
        return None
    return [_kept(index, first, declared, context), loop]


def _kept(index: str, name: str, declared: CDeclaration, context: Context) -> Node:
    """A variable with the value of an index; compilers warn of what a constant truth value never equals."""
    kind = ctype(context.types.get(declared.type, declared.type))
    is_truth = kind is not None and kind.rank is Rank.BOOL
    return declare(declared.type if is_truth else f"const {declared.type}", name, ident(index))


def _compares_sum(test: Node, index: str) -> bool:
    """Whether a test compares a sum of an index: `i + 3 < n`."""
    match test:
        case c_ast.BinaryOp(op="<" | "<=" | ">" | ">=", left=left, right=right):
            return any(isinstance(s, c_ast.BinaryOp) and index in used_names([s]) for s in (left, right))
        case _:
            return False


def _is_counter(declared: CDeclaration) -> bool:
    return declared.is_scalar and declared.is_integer and not declared.qualifiers & {"volatile", "_Atomic"}


def _is_pointer(declared: CDeclaration) -> bool:
    return declared.pointers == 1 and not declared.dimensions and "volatile" not in declared.qualifiers


def _downwards(init: Node | None, test: Node, body: Node, context: Context) -> list[Node] | None:
    """`for (i = n; i-- > 0;)`, whose index is one less in the body and behind the loop; `while (i--)` as well."""
    if (found := _decremented(test)) is None:
        return None
    index, positive, stops = found
    declared = context.declarations.get(index)
    if declared is None or not _is_counter(declared) or index in declared_names(body):
        return None
    if jumps_out(body, (*_LEAVING, c_ast.Continue)) is not None:
        return None
    before: list[Node] = []
    match init:
        case None:
            first = context.names(test, body).fresh(f"{index}_first")
            before.append(_kept(index, first, declared, context))
            start = ident(first)
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=start) if name == index:
            pass
        case _:
            return None
    back = unary("p--", ident(index))
    if positive and not declared.is_unsigned and not stops:
        init = assign(index, simplify(sub(start, 1)))
        return [*before, for_(init, binary(">=", ident(index), 0), back, body)]
    # The index is 1 more than in the user's loop, and never less than 0.
    inside = context.effects(body)
    if index in inside.writes | inside.address_taken or has_size_taken(body, index):
        return None
    if other_use(body, index, context) is not None:
        return None  # What another name leads to would be 1 more in the body.
    inner = substitute(body, index, sub(ident(index), 1))
    is_read = index in context.live_after and not stops
    if is_read and jumps_out(body, (c_ast.Continue,)) is not None:
        return None
    loop = for_(assign(index, start), binary(">" if positive else "!=", ident(index), 0), back, inner)
    return [*before, loop, *([back] if is_read else [])]


def _decremented(test: Node) -> tuple[str, bool, bool] | None:
    """The variable that a test makes 1 less, whether it has to have been positive or just not 0, and whether it else stays."""
    match test:
        case c_ast.BinaryOp(op="&&", left=first, right=c_ast.UnaryOp(op="p--", expr=c_ast.ID(name=index))):
            match first:
                case c_ast.BinaryOp(op=">" | "!=" as relation, left=c_ast.ID(name=name), right=zero) if (
                    name == index and equal(zero, const(0))
                ):
                    return index, relation == ">", True
                case _:
                    return None
        case (
            c_ast.BinaryOp(op=">", left=c_ast.UnaryOp(op="p--", expr=c_ast.ID(name=index)), right=zero)
            | c_ast.BinaryOp(op=">=", left=c_ast.UnaryOp(op="--", expr=c_ast.ID(name=index)), right=zero)
        ) if equal(zero, const(0)):
            return index, True, False
        case c_ast.BinaryOp(op="!=", left=c_ast.UnaryOp(op="p--", expr=c_ast.ID(name=index)), right=zero) if (
            equal(zero, const(0))
        ):
            return index, False, False
        case c_ast.UnaryOp(op="p--", expr=c_ast.ID(name=index)):
            return index, False, False
        case _:
            return None


def _by_places(node: For, context: Context) -> list[Node] | None:
    """A loop over the elements of an array by a pointer, as one over their numbers."""
    stepped = SteppedLoop.match(node)
    if stepped is None or not stepped.loop.upward or isinstance(node.init, c_ast.DeclList):
        return None
    pointer, first, end = stepped.loop.index, stepped.loop.start, stepped.loop.bound
    declared = context.declarations.get(pointer)
    if declared is None or not _is_pointer(declared):
        return None
    inside, parts = context.effects(node.stmt), (end, stepped.step)
    stays = isinstance(first, c_ast.ID) and first.name == pointer
    parts = parts if stays else (first, *parts)
    if pointer in inside.scalar_writes | inside.address_taken | context.exposed | used_names(parts):
        return None
    if has_size_taken(node.stmt, pointer) or pointer in declared_names(node.stmt):
        return None
    if stepped.unequal and jumps_out(node.stmt, (c_ast.Continue,)) is not None:
        return None  # Nobody knows whether the pointer would come to its end.
    if not all(_is_steady(part, node, context) for part in parts):
        return None
    supply = context.names(node)
    at, before, count = supply.fresh(f"{pointer}_at"), list[Node](), _count(first, end)
    if count is None:
        before = [declare("const long", name := supply.fresh(f"{pointer}_count"), sub(end, first))]
        count = ident(name)
    behind = _last_place(stepped, count, context)
    if behind is None:
        return None
    here = supply.fresh(f"{pointer}_here") if stays else pointer
    own = declare(_pointer_type(declared), here, add(first, ident(at)))
    relation = "!=" if stepped.unequal else stepped.loop.relation
    new = for_(
        declare("long", at, const(0)),
        binary(relation, ident(at), count),
        stepped.advanced(at),
        flat_block(own, *statements(substitute(node.stmt, pointer, ident(here)))),
    )
    return [*before, new, *behind]


def _last_place(stepped: SteppedLoop, count: Node, context: Context) -> list[Node] | None:
    """What gives the pointer its value behind the loop, if that is read; None where nobody can say it."""
    loop = stepped.loop
    if loop.index not in context.live_after:
        return []
    if jumps_out(loop.body, (c_ast.Continue,)) is not None:
        return None
    if stepped.unequal:
        return [assign(loop.index, loop.bound)]
    if literal_value(stepped.step) != 1 or loop.relation != "<":
        return None
    trips = ternary(binary(">", count, 0), count, 0)
    if isinstance(loop.start, c_ast.ID) and loop.start.name == loop.index:
        return [assign(loop.index, trips, "+=")]
    return [assign(loop.index, add(loop.start, trips))]


def _is_steady(part: Node, loop: For, context: Context) -> bool:
    """Whether a part of the header has one value throughout, and is a variable or a sum with one, or a number."""
    plain = all(
        isinstance(each, (c_ast.ID, c_ast.Constant))
        or (isinstance(each, c_ast.BinaryOp) and each.op in {"+", "-", "*"})
        for each in walk(part)
    )
    view = CanonicalLoop(loop, "", None, const(0), "<", part, 1, loop.stmt)
    return plain and bound_is_invariant(view, context)


def _count(first: Node, end: Node) -> Node | None:
    """The number of elements from `x` to `x + n`; None for other pointers."""
    match end:
        case c_ast.BinaryOp(op="+", left=left, right=count) if equal(left, first):
            return count
        case _:
            return None


def _pointer_type(declared: CDeclaration) -> str:
    constant = "const " if "const" in declared.qualifiers else ""
    return f"{constant}{declared.type} *"

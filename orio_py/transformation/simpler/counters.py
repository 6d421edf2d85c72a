"""Of a loop that counts by several variables, one is left in the header; the others follow from it.

    for (int k = 64 * b, i = 0; i < n; i++, k++)        for (int i = 0; i < n; i++) {
      x[k] += f[i];                                       int k = 64 * b + i;
                                                          x[k] += f[i];
                                                        }

What does not follow from literals, as with `k += s` or `mask <<= 4`, is stepped at the end of the body: see `body_counters`.  What a
header sets and never steps, `for (sum = 0, i = 0; i < n; i++)` or `for (sum = 0; i < n; i++)`, is set before the loop.

Source: for the idea, induction variable substitution; M. Wolfe, "Beyond induction variables", PLDI 1992.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orio_py.ctree.build import (
    add,
    assign,
    binary,
    declare,
    flat_block,
    ident,
    literal_value,
    mul,
    statements,
    sub,
)
from orio_py.ctree.ctype import Rank, ctype
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.expression_effects import is_repeatable
from orio_py.ctree.loops import CanonicalLoop, ends_iterations, jumps_out, unmarked
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import assigned_names, copy_with, declared_names, used_names, walk
from orio_py.transformation.base import Context
from orio_py.transformation.simpler.counted_steps import step_of
from orio_py.transformation.sites import marked_like, rewrite_marked


@dataclass(frozen=True, slots=True)
class _Counter:
    """A variable that a header sets to `start` and changes by `step`; `declared` where the header declares it."""

    name: str
    start: Node
    step: int
    declared: c_ast.Decl | None


def with_single_counters(tree: Node, context: Context) -> Node:
    """The tree whose loops count by one variable each, where that keeps what they do."""
    return rewrite_marked(tree, _several, _single, context)


def _several(loop: Node) -> bool:
    if not isinstance(loop, For):
        return False
    sets_more = isinstance(loop.init, c_ast.ExprList) or (
        isinstance(loop.init, c_ast.DeclList) and len(loop.init.decls) > 1
    )
    stepped = None if loop.next is None else step_of(loop.next)
    sets_others = (
        stepped is not None
        and isinstance(loop.init, c_ast.Assignment)
        and stepped[0] not in used_names([loop.init])
    )
    return isinstance(loop.next, c_ast.ExprList) or (sets_more and loop.next is not None) or sets_others


def _single(statement: Node, context: Context) -> Node:
    node = unmarked(statement)
    assert isinstance(node, For)
    new = _computed(statement, node, context) if isinstance(node.next, c_ast.ExprList) else statement
    return _stepped_in_body(statement, node, context) if new is statement else new


def _computed(statement: Node, node: For, context: Context) -> Node:
    """The loop in whose body the other variables are computed from the index; as it was where they cannot be."""
    assert isinstance(node.next, c_ast.ExprList)
    found, tested = _counters(node), used_names([] if node.cond is None else [node.cond])
    # The condition tells which variable counts the iterations.
    main = [counter for counter in found if counter.name in tested]
    if len(main) != 1 or len(found) != len(node.next.exprs):
        return statement
    loop, others = CanonicalLoop.match(_header(node, main[0])), [c for c in found if c is not main[0]]
    if loop is None or not _are_steady(loop, found, context):
        return statement
    values = [_value(counter, main[0], loop, context) for counter in others]
    last = [c for c in others if c.declared is None and c.name in context.live_after]
    # Behind the loop its index has the value that gives the others theirs.
    if any(value is None for value in values) or (last and ends_iterations(loop.body)):
        return statement
    known = [value for value in values if value is not None]
    new = copy_with(loop.node, stmt=flat_block(*known, *statements(node.stmt)))
    names = {counter.name for counter in last}
    behind = [assign(value.name or "", value.init or 0) for value in known if value.name in names]
    whole = marked_like(statement, new)
    return flat_block(whole, *behind) if behind else whole


def _stepped_in_body(statement: Node, node: For, context: Context) -> Node:
    """The loop that sets the other variables before it and steps them at the end of its body; as it was where it cannot."""
    match node.next:
        case c_ast.ExprList(exprs=stepping):
            pass
        case step:
            stepping = [step] if step is not None else []
    steps = {found[0]: (part, found[1]) for part in stepping if (found := _changed(part)) is not None}
    tested = used_names([] if node.cond is None else [node.cond])
    main = [name for name, (part, _) in steps.items() if name in tested and step_of(part) is not None]
    if (
        not tested.isdisjoint(steps.keys() - set(main))
        or len(steps) != len(stepping)
        or len(main) != 1
        or (len(steps) > 1 and jumps_out(node.stmt, (c_ast.Break, c_ast.Return)))
    ):
        return statement
    name = main[0]
    others = [each for each in steps if each != name]
    local = declared_names(node.stmt)
    amounts = [steps[each][1] for each in others]
    if name in used_names(amounts) or not local.isdisjoint({*others, *used_names(amounts)}):
        return statement
    before, init = _apart(node.init, name)
    if any(name in used_names([part]) for part in before) or (
        init is not None and not _is_set_apart(init, [*before, *map(ident, others)], context)
    ):
        return statement
    if isinstance(init, c_ast.ExprList):
        # What else is set follows from the index's first value, `i = f, p = &x[i]`, which is set once more then.
        assert isinstance(node.init, c_ast.ExprList)
        before, init = list(node.init.exprs), init.exprs[0]
    body = flat_block(*statements(node.stmt), *(steps[each][0] for each in others))
    whole = marked_like(statement, copy_with(node, init=init, next=steps[name][0], stmt=body))
    return flat_block(*before, whole) if before else whole


def _changed(part: Node) -> tuple[str, Node] | None:
    """The variable that an expression does nothing but change, and what that takes: `mask` and 4 of `mask <<= 4`."""
    if (step := step_of(part)) is not None:
        return step[0], step[1]
    match part:
        case c_ast.Assignment(lvalue=c_ast.ID(name=name), rvalue=value) if is_repeatable(value):
            return name, value
        case _:
            return None


def _is_set_apart(init: Node, before: Sequence[Node], context: Context) -> bool:
    """Whether what sets the index may stand behind what sets other variables, wherever it stood among them."""
    first, *following = init.exprs if isinstance(init, c_ast.ExprList) else [init]
    own, others = context.effects(first), context.effects(flat_block(*before, *following))
    names = {part.name for part in before if isinstance(part, (c_ast.ID, c_ast.Decl))}
    if following and not (_may_be_set_twice(first, context) and own.writes.isdisjoint(others.writes)):
        return False
    if own.calls or own.opaque or not own.reads.isdisjoint(others.writes | own.writes | names):
        return False
    simple = not (others.calls or others.opaque or others.array_writes or others.writes & context.exposed)
    return simple or not (own.array_reads or own.reads & context.exposed)


def _may_be_set_twice(part: Node, context: Context) -> bool:
    """Whether a variable gets the same value once more."""
    declared = [context.declarations.get(name) for name in used_names([part])]
    steady = all(each is not None and "volatile" not in each.qualifiers for each in declared)
    return isinstance(part, c_ast.Assignment) and part.op == "=" and steady and is_repeatable(part.rvalue)


def _apart(init: Node | None, name: str) -> tuple[list[Node], Node | None]:
    """What a header sets beside a variable, and what is left of the header's first part."""
    match init:
        case c_ast.DeclList(decls=parts):
            own = [part for part in parts if name in declared_names(part)]
            left = copy_with(init, decls=own) if own else None
            return [part for part in parts if name not in declared_names(part)], left
        case c_ast.ExprList(exprs=parts):
            own = [part for part in parts if name in used_names([part])]
            left = own[0] if len(own) == 1 else None if not own else copy_with(init, exprs=own)
            return [part for part in parts if name not in used_names([part])], left
        case c_ast.Assignment() if name not in used_names([init]):
            return [init], None
        case _:
            return [], init


def _counters(node: For) -> list[_Counter]:
    """The variables that a header both sets and steps; none where it does anything else."""
    steps = _steps(node.next)
    found = list(_starts(node.init))
    names = {name for name, _, _ in found}
    if names != set(steps) or len(names) < len(found):
        return []
    return [_Counter(name, start, steps[name], decl) for name, start, decl in found]


def _starts(init: Node | None) -> Iterator[tuple[str, Node, c_ast.Decl | None]]:
    match init:
        case c_ast.DeclList(decls=parts) | c_ast.ExprList(exprs=parts):
            pass
        case _:
            return
    for part in parts:
        match part:
            case c_ast.Decl(name=str(name), type=c_ast.TypeDecl() | c_ast.PtrDecl(), init=Node() as start):
                yield name, start, part
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=start):
                yield name, start, None
            case _:
                yield "", part, None  # matches no step


def _steps(after: Node | None) -> dict[str, int]:
    """By how much each variable changes; empty where anything else happens."""
    found: dict[str, int] = {}
    for part in after.exprs if isinstance(after, c_ast.ExprList) else []:
        match part:
            case c_ast.UnaryOp(op="p++" | "++" | "p--" | "--" as op, expr=c_ast.ID(name=name)):
                step: int | None = 1 if "+" in op else -1
            case c_ast.Assignment(op="+=", lvalue=c_ast.ID(name=name), rvalue=value):
                step = literal_value(value)
            case _:
                return {}
        if not step or name in found:
            return {}
        found[name] = step
    return found


def _header(node: For, main: _Counter) -> For:
    """The loop with one variable in its header."""
    init: Node = c_ast.Assignment("=", ident(main.name), main.start, node.coord)
    if main.declared is not None:
        init = c_ast.DeclList([main.declared], node.coord)
    assert isinstance(node.next, c_ast.ExprList)
    step = next(part for part in node.next.exprs if main.name in used_names([part]))
    return copy_with(node, init=init, next=step)


def _are_steady(loop: CanonicalLoop, found: Sequence[_Counter], context: Context) -> bool:
    """Whether the variables are set by the header alone, and start from what the body leaves alone."""
    header, body = {counter.name for counter in found}, loop.body
    changed = {*assigned_names(body), *declared_names(body)}
    starts = [counter.start for counter in found]
    plain = all(isinstance(part, _PLAIN) for start in starts for part in walk(start))
    read = used_names(starts)
    return (
        plain
        and read.isdisjoint(changed | header | context.exposed)
        and changed.isdisjoint(header)
        and context.effects(body).address_taken.isdisjoint(header)
        and all(c.declared is not None or c.name not in context.exposed for c in found)
    )


_PLAIN = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp)


def _value(counter: _Counter, main: _Counter, loop: CanonicalLoop, context: Context) -> c_ast.Decl | None:
    """The declaration of a variable in the body; None where its value may not be computed so.

    No sum or product is larger than a value that the variable has itself, as both are of one type.
    """
    first = literal_value(loop.start)
    if first is None or first < 0 or loop.stride < 0:
        return None
    moved = sub(ident(loop.index), first) if first else ident(loop.index)
    if counter.step % loop.stride == 0:
        factor = abs(counter.step // loop.stride)
        far = mul(moved, factor)
    else:
        factor = abs(counter.step)
        far = mul(binary("/", moved, loop.stride), factor)
    begins = literal_value(counter.start)
    if factor > 1 and (counter.step < 0 or begins is None or begins < 0):
        return None
    value = (add if counter.step > 0 else sub)(counter.start, far)
    if counter.declared is not None:
        kind = counter.declared.type
        pointer = isinstance(kind, c_ast.PtrDecl)
        fits = pointer or _counts(emit_type(kind.type), context)
        return copy_with(counter.declared, init=value) if fits else None
    known, index = context.declarations.get(counter.name), context.declarations.get(main.name)
    if known is None or index is None or known.dimensions or known.qualifiers or known.pointers > 1:
        return None
    fits = known.pointers == 1 or (known.type == index.type and _counts(known.type, context))
    return declare(f"{known.type} {'*' * known.pointers}", counter.name, value) if fits else None


def _counts(kind: str, context: Context) -> bool:
    """Whether a type is an integer of more than one bit."""
    known = ctype(context.types.get(kind, kind))
    return known is not None and not known.is_floating and known.rank > Rank.BOOL

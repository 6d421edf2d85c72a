"""Calls of the file's own functions are replaced by what these do, where that can be written as statements.

    static double pixel(const double *im, int w, int x, int y)
    {
      if (x < 0 || x >= w) return 0;
      return im[y * w + x];
    }

    for (x = 0; x < w; x++)             for (x = 0; x < w; x++) {
      out[x] = pixel(im, w, x - 1, y);    double pixel_value;
                                          {
                                            int x_2 = x - 1;
                                            if (x_2 < 0 || x_2 >= w)
                                              pixel_value = 0;
                                            else
                                              pixel_value = im[y * w + x_2];
                                          }
                                          out[x] = pixel_value;
                                        }

Functions that change memory are put where a call is all that a statement does, others where the call is
certain to be evaluated.  Source: for the idea, S. Muchnick, "Advanced Compiler Design and Implementation", 1997, 15.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce

from orio_py.core.names import NameSupply
from orio_py.ctree.build import binary, block, declare, ident, index
from orio_py.ctree.ctype import CType, ctype, literal_type
from orio_py.ctree.effects import effects
from orio_py.ctree.known_functions import CHECKS, called_name
from orio_py.ctree.nodes import Compound, For, Node, OwnFunction, Transform, c_ast, reference_parts
from orio_py.ctree.rewrite import (
    Replacement,
    Rewriter,
    assigned_names,
    copy_with,
    declared_names,
    map_children,
    rename,
    substitute,
    targets,
    walk,
)
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.ctree.unit.callees import Callee
from orio_py.transformation.base import Context
from orio_py.transformation.simpler.accessors import with_places
from orio_py.transformation.simpler.lent_addresses import lent_variable, with_followed
from orio_py.transformation.simpler.local_pointers import with_value
from orio_py.transformation.simpler.returns import chosen_with, without_returns

_LARGEST = 4000
"""Nodes of the bodies that stand in place of calls, altogether."""

_POINTER_PARTS = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp)


def with_inlined_calls(tree: Node, context: Context) -> Node:
    """The tree without the calls of functions of the file that statements can be written for; the same object where none is."""
    plain = with_places(tree, context)
    is_called = any(_callee(part, context.functions) for part in walk(plain))
    return _Statements(plain, context).rewrite(plain) if is_called else plain


def _callee(node: Node, functions: Mapping[str, Callee]) -> Callee | None:
    match node:
        case c_ast.FuncCall(name=c_ast.ID(name=name) | OwnFunction(function=name), args=arguments):
            found = functions.get(name)
            given = len(list(arguments)) if arguments is not None else 0
            fits = found is not None and found.place is None and len(found.parameters) == given
            return found if fits else None
        case _:
            return None


class _Statements(Rewriter):
    """Goes through the statements of blocks; `_inside` are the functions whose bodies are being written."""

    def __init__(self, root: Node, context: Context) -> None:
        self._context = context
        self._names = context.names(root)
        self._inside: list[str] = []
        self._left = _LARGEST

    def visit(self, node: Node) -> Replacement:
        match node:
            case Compound() | Transform():
                return self.generic(node)
            case c_ast.If():
                before, condition = self._hoisted(node.cond)
                ways = {"iftrue": self._way(node.iftrue), "iffalse": self._way(node.iffalse)}
                same = all(way is getattr(node, name) for name, way in ways.items()) and not before
                return node if same else [*before, copy_with(node, cond=condition, **ways)]
            case For() | c_ast.While() | c_ast.DoWhile():
                body = self._way(node.stmt)
                return node if body is node.stmt else copy_with(node, stmt=body)
            case c_ast.Assignment() | c_ast.FuncCall() | c_ast.UnaryOp():
                return self._statement(node)
            case c_ast.Decl(init=Node()) if not node.storage:
                return self._statement(node)
            case _:
                return node

    def _way(self, node: Node | None) -> Node | None:
        """The body of a loop or of a branch."""
        found = self.visit(node) if node is not None else None
        return block(*found) if isinstance(found, list) else found

    def _statement(self, node: Node) -> Replacement:
        """A statement, behind what its calls do."""
        if (whole := self._whole(node)) is not None:
            return whole
        before, new = self._hoisted(node)
        return [*before, new] if before else node

    def _whole(self, node: Node) -> list[Node] | None:
        """What a call does that is all of a statement, its value going to a variable if anywhere."""
        match node:
            case c_ast.FuncCall():
                return self._written(node, None)
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=c_ast.FuncCall() as call):
                declared = self._context.declarations.get(name)
                if declared is None or name in self._context.exposed or declared.scope == "global":
                    return None
                value = self._fresh_value(call)
                body = self._written(call, value) if value else None
                return None if body is None else [*body, copy_with(node, rvalue=ident(str(value)))]
            case _:
                return None

    def _hoisted(self, node: Node) -> tuple[list[Node], Node]:
        """What the calls in an expression do that are certain to be evaluated and change nothing, and what is left."""
        before: list[Node] = []
        known: list[tuple[Node, str]] = []

        def visit(part: Node) -> Node:
            if isinstance(part, c_ast.TernaryOp):
                found, condition = len(known), visit(part.cond)
                return part if condition is part.cond else chosen_with(part, condition, known[found:])
            is_check = isinstance(part, c_ast.FuncCall) and called_name(part) in CHECKS
            is_size = isinstance(part, c_ast.UnaryOp) and part.op == "sizeof"
            if is_check or is_size or isinstance(part, (c_ast.ExprList, c_ast.Compound)):
                return part
            if isinstance(part, c_ast.BinaryOp) and part.op in {"&&", "||"}:
                left = visit(part.left)
                return part if left is part.left else copy_with(part, left=left)
            match part:
                case c_ast.FuncCall(args=c_ast.ExprList(exprs=given) as args):
                    found = [visit(argument) for argument in given]
                    same = all(one is two for one, two in zip(found, given, strict=True))
                    new = part if same else copy_with(part, args=copy_with(args, exprs=found))
                case _:
                    new = map_children(part, visit)
            callee = _callee(new, self._context.functions)
            if callee is None or callee.stores:
                return new
            value = self._fresh_value(new)
            body = self._written(new, value) if value else None
            if body is None:
                return new
            before.extend(body)
            known.append((part, str(value)))
            return ident(known[-1][1])

        return before, visit(node)

    def _fresh_value(self, call: Node) -> str | None:
        callee = _callee(call, self._context.functions)
        return self._names.fresh(f"{callee.name}_value") if callee is not None and callee.result else None

    def _written(self, call: Node, value: str | None) -> list[Node] | None:
        """The statements that do what a call does, and set a variable to its value; None where there are none."""
        callee = _callee(call, self._context.functions)
        if callee is None or callee.name in self._inside or (callee.result is None) != (value is None):
            return None
        size = sum(1 for _ in walk(callee.body))
        if size > self._left:
            return None
        assert isinstance(call, c_ast.FuncCall)
        arguments = list(call.args) if call.args is not None else []
        returned = without_returns(list(callee.body.block_items or []), value)
        entered = (
            _entered(callee, arguments, block(*returned), self._context, self._names)
            if returned is not None
            else None
        )
        if entered is None:
            return None
        self._left -= size
        self._inside.append(callee.name)
        around, self._context = self._context, _within(entered, self._context)
        body = self.rewrite(_Placed(call.coord).rewrite(entered))
        self._context = around
        self._inside.pop()
        assert isinstance(body, Compound)
        items = body.block_items or []
        match items:
            case [c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=result)] if name == value:
                return [declare(str(callee.result), name, result)]
            case _:
                declared = [declare(callee.result, value)] if callee.result and value else []
                is_open = not any(isinstance(item, c_ast.Decl) for item in items)
                return [*declared, *(items if is_open else [body])]


def _within(body: Node, context: Context, parameters: Sequence[CDeclaration] = ()) -> Context:
    """The context of calls in the body of a function, which has variables of its own."""
    own = [declaration_of(d) for d in walk(body) if isinstance(d, c_ast.Decl) and d.name] + [*parameters]
    return replace(
        context,
        declarations={**context.declarations, **{d.name: d for d in own}},
        exposed=context.exposed | effects(body).address_taken,
    )


class _Placed(Rewriter):
    """Gives all of a body the place of the call."""

    def __init__(self, coord: object) -> None:
        self._coord = coord

    def visit(self, node: Node) -> Node:
        return copy_with(self.generic(node), coord=self._coord)


def _entered(
    callee: Callee, arguments: Sequence[Node], body: Compound, context: Context, names: NameSupply
) -> Compound | None:
    """The body with its own variables renamed and its parameters set; None where an argument does not fit."""
    parameters = [replace(parameter, name=names.fresh(parameter.name)) for parameter in callee.parameters]
    own = {name: names.fresh(name) for name in sorted(declared_names(body))}
    own |= {old.name: new.name for old, new in zip(callee.parameters, parameters, strict=True)}
    body = _with_own_values(rename(body, own), parameters, names)
    renamed: Node = body
    inside = _within(body, context, parameters)
    set_first: list[Node] = []
    lent = {
        p.name: v for p, a in zip(parameters, arguments, strict=True) if (v := lent_variable(p, a, context))
    }
    for parameter, argument in zip(parameters, map(_sum, arguments), strict=True):
        if (variable := lent.get(parameter.name)) is not None:
            if (followed := with_followed(renamed, parameter.name, variable)) is None:
                return None
            renamed = followed
            continue
        passed = effects(_Subscripted().rewrite(argument))
        if passed.writes or passed.calls or passed.opaque:
            return None
        is_changed = not passed.reads.isdisjoint(lent.values())
        same = None if is_changed else _same_value(parameter, argument, callee, context)
        if same is not None and _keeps_its_value(parameter, body, context):
            pointed = parameter.is_array_like
            put = partial(with_value, context=inside) if pointed else substitute
            renamed = put(renamed, parameter.name, same)
        elif parameter.dimensions[1:] or not (parameter.is_array_like or _is_copied(parameter, context)):
            return None
        else:
            stars = "*" * _depth(parameter)
            words = [*sorted(parameter.qualifiers & {"const"}), parameter.type, stars]
            set_first.append(declare(" ".join(words), parameter.name, argument))
    assert isinstance(renamed, Compound)
    return copy_with(renamed, block_items=[*set_first, *(renamed.block_items or [])])


class _Subscripted(Rewriter):
    """`x[i + 1]` for `*(x + i + 1)`, whose effects are known."""

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        places: list[Node] = []
        base = self.rewrite(node.expr)
        while node.op == "*" and isinstance(base, c_ast.BinaryOp) and base.op == "+":
            base, place = base.left, base.right
            places.append(place)
        is_plain = bool(places) and isinstance(base, c_ast.ID)
        return index(base, reduce(partial(binary, "+"), places)) if is_plain else self.generic(node)


def _sum(argument: Node) -> Node:
    """The argument, with `&a[i]` as `a + i`."""
    match argument:
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(name=base, subscript=place)):
            return binary("+", base, place)
        case _:
            return argument


def _with_own_values(body: Node, parameters: Sequence[CDeclaration], names: NameSupply) -> Compound:
    """The body with variables of their own for the values that its first statements set numbers among its parameters to."""
    kinds = {p.name: p.type for p in parameters if not p.is_array_like and ctype(p.type) is not None}
    assert isinstance(body, Compound)
    done: list[Node] = []
    rest = list(body.block_items or [])
    while rest:
        match rest[0]:
            case c_ast.Assignment(op=op, lvalue=c_ast.ID(name=name) as old, rvalue=amount) if (
                name in kinds and not effects(amount).writes | effects(amount).calls
            ):
                new = names.fresh(name)
                value = amount if op == "=" else binary(op.removesuffix("="), old, amount)
                done.append(declare(kinds[name], new, value))
                left = substitute(block(*rest[1:]), name, ident(new))
                assert isinstance(left, Compound)
                rest, kinds = list(left.block_items or []), {**kinds, new: kinds[name]}
            case c_ast.Decl():
                done.append(rest.pop(0))
            case _:
                break
    return copy_with(body, block_items=[*done, *rest])


def _number(declared: CDeclaration, context: Context) -> CType | None:
    return None if declared.is_array_like else ctype(context.types.get(declared.type, declared.type))


def _is_copied(parameter: CDeclaration, context: Context) -> bool:
    """Whether a call copies a number, or a structure."""
    return _number(parameter, context) is not None or bool(context.structures.get(parameter.type))


def _keeps_its_value(parameter: CDeclaration, body: Node, context: Context) -> bool:
    """Whether a body leaves its copy of an argument as it is."""
    inside = effects(body)
    if parameter.name in inside.address_taken:
        return False
    if parameter.is_array_like or _number(parameter, context) is not None:
        return parameter.name not in assigned_names(body)
    members = {m.name: m for m in context.structures.get(parameter.type, ())}
    return all(_is_behind_pointer(target, parameter.name, members) for target in targets(body))


def _is_behind_pointer(target: Node, name: str, members: Mapping[str, CDeclaration]) -> bool:
    """Whether what is assigned is no part of a structure itself."""
    match target:
        case c_ast.ArrayRef(name=c_ast.StructRef(name=c_ast.ID(name=found), field=c_ast.ID(name=field))) if (
            found == name
        ):
            return field in members and members[field].pointers > 0 and not members[field].dimensions
        case c_ast.StructRef(name=inner, type=".") | c_ast.ArrayRef(name=inner):
            return _is_behind_pointer(inner, name, members)
        case c_ast.ID(name=found):
            return found != name
        case _:
            return True


def _same_value(parameter: CDeclaration, argument: Node, callee: Callee, context: Context) -> Node | None:
    """What can stand where a parameter does that keeps its value: an argument of its type that nothing changes meanwhile."""
    parts = list(walk(argument))
    names = {part.name for part in parts if isinstance(part, c_ast.ID)}
    known = ((name, context.declarations.get(name)) for name in names)
    # An array is where it is, whatever its elements are set to.
    names -= {name for name, d in known if d is not None and d.dimensions and d.scope != "parameter"}
    if callee.stores and names & context.exposed:
        return None
    if parameter.is_array_like:
        return argument if _points_alike(parameter, argument, context) else None
    match argument:
        case c_ast.ID(name=name) if name in context.declarations:
            declared = context.declarations[name]
            kinds = (context.types.get(d.type, d.type) for d in (parameter, declared))
            return argument if len(set(kinds)) == 1 and not declared.is_array_like else None
        case c_ast.Constant(type=kind, value=text) if literal_type(kind, text) == _number(parameter, context):
            return argument
        case _:
            return None


def _points_alike(parameter: CDeclaration, argument: Node, context: Context) -> bool:
    """Whether an argument is a pointer to elements of the parameter's type, or the sum of one and numbers."""
    place: list[Node] = []
    if isinstance(argument, c_ast.BinaryOp) and isinstance(argument.left, c_ast.ArrayRef):
        place, argument = [argument.right], argument.left
    array, subscripts = reference_parts(argument)
    levels = len(subscripts)
    parts = [part for each in (array, *subscripts, *place) for part in walk(each)]
    if not all(isinstance(part, _POINTER_PARTS) for part in parts):
        return False
    if not all(part.op in {"+", "-", "*"} for part in parts if isinstance(part, c_ast.BinaryOp)):
        return False
    declared = [context.declarations.get(part.name) for part in parts if isinstance(part, c_ast.ID)]
    pointers = [d for d in declared if d is not None and d.is_array_like]
    if None in declared or len(pointers) != 1 or (levels and not isinstance(array, c_ast.ID)):
        return False
    kinds = {context.types.get(d.type, d.type) for d in (parameter, pointers[0])}
    # What is behind pointers in an array would be read again where it is used.
    return (
        len(kinds) == 1
        and not (levels and pointers[0].pointers)
        and _depth(parameter) == _depth(pointers[0]) - levels
        and parameter.dimensions[1:] == pointers[0].dimensions[levels + 1 :]
    )


def _depth(declared: CDeclaration) -> int:
    return declared.pointers + len(declared.dimensions)

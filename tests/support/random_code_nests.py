"""Draws the loops and statements of random code."""

from __future__ import annotations

from dataclasses import dataclass

from random_code import FLOATS, INTEGERS, Array, Item, Loop
from random_code_choices import Choices
from random_code_forms import NO_FORMS, PLACE_SCALARS, Forms
from random_code_shapes import PLAIN, Shape

UNSIGNED = frozenset({"unsigned", "size_t"})
"""Types of indices in which a difference wraps around."""

NOT_NEGATIVE = UNSIGNED | {"unsigned char", "unsigned short"}
"""Types of indices that are never below 0."""

SHORT = frozenset({"signed char", "unsigned char", "short", "unsigned short"})
"""Types of indices that are converted to `int` wherever they are used."""

BRANCHES = [(9, "if"), (4, "switch"), (5, "block")]


@dataclass(slots=True)
class Maker:
    """Makes one region; `outer` are the indices in scope with their types."""

    choices: Choices
    arrays: tuple[Array, ...]
    kinds: dict[str, str]
    declared: dict[str, bool]
    edge: bool
    exact: bool
    shape: Shape = PLAIN
    forms: Forms = NO_FORMS
    loops: int = 0

    def nest(self, names: list[str], depth: int, outer: tuple[str, ...], like: Loop | None = None) -> Loop:
        """A loop with `depth` loops in all, one inside the other; `like` is a loop with the same header."""
        choose = self.choices
        name = names[len(outer)]
        number = self.loops
        self.loops += 1
        stride = like.stride if like else choose.weighted((60, 1), (16, 2), (12, 3), (12, 4))
        header = like.header if like else self.header(name, stride, outer)
        scope = (*outer, name)
        body: list[Item] = []
        if depth == 1:
            count = max(self.shape.statements, choose.weighted((5, 1), (3, 2), (2, 3)))
            body.extend(self.statement(scope) for _ in range(count))
            if self.shape.reduces:
                body[choose.integer(0, count - 1)] = self.reduction(scope)
        else:
            twin = next((item for item in like.body if isinstance(item, Loop)), None) if like else None
            inner = self.nest(names, depth - 1, scope, twin)
            body.append(inner)
            if choose.chance(self.shape.beside):
                body.insert(choose.integer(0, 1), self.statement(scope))
            if choose.chance(self.shape.beside // 3):
                body.append(self.nest(names, 1, scope, inner if choose.chance(70) else None))
        if depth == 1 and choose.chance(12):
            body.insert(0, f"/* {choose.pick(['each element', 'as in the paper', 'hot'])} */")
        return Loop(number, name, header, tuple(body), self.declared[name], choose.chance(70), stride)

    def header(self, name: str, stride: int, outer: tuple[str, ...]) -> str:
        choose = self.choices
        upward = not choose.chance(28)
        # A short unsigned index that steps over 0 wraps around, within its array: code that means this is not drawn.
        upward = upward or (stride > 1 and self.kinds[name] in SHORT & NOT_NEGATIVE)
        strict = not choose.chance(30)
        unsigned = self.kinds[name] in NOT_NEGATIVE
        low, high = self.ends(outer, unsigned=unsigned)
        if low == high and not choose.chance(15):
            high = f"{high} + 3"
        start, bound = (low, high) if upward else (high, low)
        if unsigned and not upward:
            strict = strict or bound == "0"
        if not self.edge:
            signed = not upward or (not unsigned and choose.chance(70))
            start = self.forms.start(choose, start, signed=signed)
            bound = self.forms.bound(choose, bound, signed=signed)
        relation = ("<" if upward else ">") + ("" if strict else "=")
        sign = "+" if upward else "-"
        step = choose.pick([f"{name} {sign}= {stride}", f"{name} = {name} {sign} {stride}"])
        if stride == 1:
            step = choose.weighted((6, f"{name}{sign}{sign}"), (1, f"{sign}{sign}{name}"), (1, step))
        step = self.forms.step(choose, name, stride, sign, step)
        flipped = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[relation]
        test = f"{name} {relation} {bound}"
        if choose.chance(8):
            test = f"{bound} {flipped} {name}"
        if upward and stride == 1 and self.forms.unequal(choose):
            test = f"{name} != {bound}"
        kind = f"{self.kinds[name]} " if self.declared[name] else ""
        return f"{kind}{name} = {start}; @?{name}; {test}; {step}"

    def ends(self, outer: tuple[str, ...], *, unsigned: bool) -> tuple[str, str]:
        """The low and the high end of a loop."""
        choose = self.choices
        if self.edge and not outer:
            return "s", "n"
        if self.edge:
            return "0", choose.pick(["3", "m", "TEN"])
        if self.shape.short and choose.chance(88):
            low = choose.weighted((5, "0"), (2, "1"), (2, "s"))
            return low, f"s + {choose.integer(1, 9)}" if low == "s" else str(choose.integer(2, 13))
        lows: list[tuple[int, str]] = [(50, "0"), (8, "1"), (6, "2"), (10, "s"), (4, "s + 1")]
        highs: list[tuple[int, str]] = [
            (40, "n"), (20, "m"), (6, "n - 1"), (8, str(choose.integer(1, 13))), (4, "TEN"), (3, "n / 2 + 1"),
            (2, "(n < 7 ? n : 7)"),
        ]  # fmt: skip
        lows.append((2, "s - 1") if unsigned else (4, "-3"))
        for each in outer[-2:]:
            lows += [(8, each), (4, f"{each} + 1"), *([] if unsigned else [(3, f"{each} - 2")])]
            highs += [
                (8, each),
                (5, f"{each} + 1"),
                (5, f"{each} + 3"),
                (3, f"n - {each}"),
                (2, f"2 * {each}"),
            ]
        if any(array.name == "w" for array in self.arrays):
            at = outer[-1] if outer else "1"
            slot = self.slot("w")
            highs.append((2, f"w[@{slot}{{{at}@}}]"))
        return choose.weighted(*lows), choose.weighted(*highs)

    def slot(self, name: str, dimension: int = 0) -> int:
        return 2 * [array.name for array in self.arrays].index(name) + dimension

    def subscript(self, scope: tuple[str, ...], *, simple: bool = False) -> str:
        choose = self.choices
        x = scope[-1 - choose.weighted((6, 0), (3, 1), (1, 2)) % len(scope)]
        y = choose.pick(list(reversed(scope)))
        if self.edge:
            base = f"{x} - s" if x == scope[0] else x
            return choose.weighted((5, base), (1, f"{base} + 1"), (1, "2"))
        if self.shape.calm and choose.chance(70):
            return choose.pick((scope[0], x))
        signed = self.kinds[x] not in UNSIGNED
        offset = choose.integer(1, 3)
        options = [
            (40, x),
            (12, f"{x} + {offset}"),
            (12 if signed else 2, f"{x} - {offset}"),
            (3, str(offset)),
        ]
        if not simple:
            options += [
                (5, f"2 * {x}"),
                (3, f"2 * {x} + 1"),
                (6, f"{x} + {y}"),
                (5 if signed else 1, f"{x} - {y}"),
                (3, f"n - {x}"),
                (3, f"{x} * 8 + {y}"),
                (3, f"{x} * m + {y}"),
                (1, f"NEXT({x})"),
            ]
            if any(array.name == "w" for array in self.arrays):
                options.append((5, f"w[@{self.slot('w')}{{{x}@}}]"))
        return self.forms.subscript(choose, choose.weighted(*options), x, y)

    def target(self, scope: tuple[str, ...]) -> str:
        """A floating-point element to write."""
        return self.reference(self.choices.pick(self.floating(scope)[:1] + self.written(scope)), scope)

    def written(self, scope: tuple[str, ...]) -> list[Array]:
        """The arrays that are written: in calm code not those that are read."""
        found = self.floating(scope)
        return found[::2][1:] if self.shape.calm else found[1:]

    def read(self, scope: tuple[str, ...]) -> list[Array]:
        """The arrays that are read: in calm code mostly not those that are written."""
        found = self.floating(scope)
        return found[1::2] if self.shape.calm and found[1:] and self.choices.chance(75) else found

    def reference(self, array: Array, scope: tuple[str, ...]) -> str:
        if array.is_matrix and self.shape.calm and len(scope) > 1 and self.choices.chance(60):
            row, column = self.subscript(scope[:-1], simple=True), self.subscript(scope[-1:], simple=True)
            slots = self.slot(array.name), self.slot(array.name, 1)
            return f"{array.name}[@{slots[0]}{{{row}@}}][@{slots[1]}{{{column}@}}]"
        first = self.subscript(scope, simple=array.is_matrix)
        text = f"{array.name}[@{self.slot(array.name)}{{{first}@}}]"
        if array.is_matrix:
            second = self.subscript(scope, simple=True)
            text += f"[@{self.slot(array.name, 1)}{{{second}@}}]"
        return text

    def floating(self, scope: tuple[str, ...] = ()) -> list[Array]:
        found = [array for array in self.arrays if array.element in FLOATS]
        matrices = [array for array in found if array.is_matrix]
        if self.shape.calm and len(scope) > 1 and len(matrices) > 1 and self.choices.chance(70):
            return matrices
        return found

    def integral(self) -> list[Array]:
        return [array for array in self.arrays if array.element in INTEGERS and array.name != "w"]

    def real(self, scope: tuple[str, ...]) -> str:
        """A floating-point expression."""
        choose = self.choices
        one = self.reference(choose.pick(self.read(scope)), scope)
        other = self.reference(choose.pick(self.read(scope)), scope)
        x = choose.pick(scope)
        index = f"({x} - s)" if self.edge and x == scope[0] else x
        value = choose.weighted(
            (10, one),
            (8, f"{one} + {other}"),
            (6, f"{one} * 0.5 + {other}"),
            (4, f"{one} - {other} / 3"),
            (3, f"0.25 * ({one} + {other})"),
            (3, f"{one} + {index} * 0.5"),
            (2, f"{one} + {index} / 2 * 1.0"),
            (2, f"fabs({one})"),
            (1, f"HALF({one})"),
            (1, f"({one} > 0.5 ? {one} : {other})" if not self.exact else one),
            (1, f"-{one}"),
            (1, f"(double){index} - {one}"),
        )
        return self.forms.real(choose, value, one, index, exact=self.exact)

    def whole(self, scope: tuple[str, ...]) -> str:
        """An integer expression with a small value."""
        choose = self.choices
        one = self.reference(choose.pick(self.integral()), scope)
        other = self.reference(choose.pick(self.integral()), scope)
        x = choose.pick(scope)
        value = choose.weighted(
            (6, f"({one} + {other}) % 1009"),
            (4, f"({one} * 3 + 1) % 101"),
            (3, f"{one} % 64 - {x} % 7"),
            (2, f"{one} % 50 + 7 / 2"),
            (2, f"({one} & 15) << 1"),
            (2, f"{one} > {other} ? 1 : 2"),
            (2, str(choose.integer(0, 9))),
        )
        return self.forms.whole(choose, value, one, x)

    def statement(self, scope: tuple[str, ...], depth: int = 0) -> str:
        choose = self.choices
        reducing = 2 if self.shape.calm and not self.shape.reduces else 14
        options: list[tuple[int, str]] = [
            (40, "real"),
            (reducing, "reduce"),
            (2 if self.shape.calm else 8, "temporary"),
        ]
        if self.integral():
            options += [(6, "whole"), (2, "count")] if self.shape.calm else [(14, "whole"), (5, "count")]
        if depth < 2:
            options += [(4, "if"), (1, "switch"), (2, "block")] if self.shape.calm else BRANCHES
        if depth == 0 and not self.shape.calm:
            options += [(2, "note"), (1, "jump"), (2, "stepped")]
        if self.forms.mixed:
            options.append((sum(weight for weight, _ in options) // 3, "mixed"))
        if self.forms.places:
            options.append((sum(weight for weight, _ in options) // 2, "placed"))
        match choose.weighted(*options):
            case "real":
                target = self.target(scope)
                operator = choose.weighted((10, "="), (5, "+="), (1, "-="))
                return f"{target} {operator} {self.real(scope)};"
            case "reduce":
                return self.reduction(scope)
            case "temporary":
                target = self.target(scope)
                value = self.real(scope)
                return choose.pick([f"{{ t = {value}; {target} = t * 0.5; }}", f"t = {value};"])
            case "whole":
                target = self.reference(choose.pick(self.integral()), scope)
                return f"{target} = {self.whole(scope)};"
            case "count":
                return choose.pick(["count += ", "count -= ", "count = 7 - "]) + self.whole(scope) + ";"
            case "if":
                return self.branch(scope, depth)
            case "switch":
                first, second = self.statement(scope, depth + 1), self.statement(scope, depth + 1)
                last = self.statement(scope, depth + 1)
                zero, one = self.forms.number(choose, "0"), self.forms.number(choose, "1")
                return (
                    f"switch ({scope[-1]} % 3) {{ case {zero}: {first} break; "
                    f"case {one}: {second} break; default: {last} }}"
                )
            case "block":
                target = self.target(scope)
                kind = (
                    choose.pick(["float", "const double"])
                    if self.forms.casts and not self.exact
                    else "double"
                )
                return f"{{ {kind} u = {self.real(scope)}; /* half */ {target} = u * 0.5; acc = acc + u; }}"
            case "stepped":
                return self.stepped(scope)
            case "mixed":
                return self.mixed(scope)
            case "placed":
                return self.placed(scope)
            case "note":
                return f"note({scope[-1]} % 5);"
            case _:
                return f"if ({self.condition(scope)}) {choose.pick(['continue', 'break'])};"

    def stepped(self, scope: tuple[str, ...]) -> str:
        """A statement that changes a scalar and uses its value."""
        array = self.choices.pick(self.floating())
        target = self.reference(array, scope)
        options = [f"{target} = (acc += {self.real(scope)});", f"if (count++ % 2) {{ {target} = 1.5; }}"]
        if not array.is_matrix:
            options.append(f"{array.name}[@{self.slot(array.name)}{{count++@}}] = 0.5;")
        return self.choices.pick([f"{target} = count++ * 0.5;", *options])

    def mixed(self, scope: tuple[str, ...]) -> str:
        """An assignment between numbers of different widths."""
        choose = self.choices
        small = self.whole(scope) if self.integral() else f"{choose.pick(scope)} % 50"
        target = self.target(scope)
        options = [f"h += {small};", f"u8 = u8 * 3 + ({small});", f"u8 -= {small};", f"big += {small};"]
        options += [
            f"big ^= {small};",
            "h /= 2;",
            "u8 >>= 1;",
            "u8 <<= 1;",
            "h %= 11;",
            "count >>= 1;",
            "count %= 77;",
        ]
        options += [
            f"{target} += u8;",
            f"{target} = h * 0.5 + u8 / 2;",
            f"{target} -= big % 9;",
            f"{target} /= 2;",
        ]
        options += [
            f"{target} *= 0.5f;",
            f"h = (short)(h + ({small}));",
            f"big = big % 1000 + h * ({small});",
        ]
        if not self.exact:
            value = self.real(scope)
            options += [f"f += {value};", f"f = {value};", f"{target} = f + {value};", "acc += f; f *= 0.5;"]
            options += [f"acc = acc + {self.forms.clamped(choose, value)};"]
        if self.integral():
            one = self.reference(choose.pick(self.integral()), scope)
            options += [f"{one} {operator}= {small};" for operator in ("+", "-", "^", "|", "&")]
            options += [f"{one} = h + {small};", f"h = {one};", f"u8 += {one};", f"{one} /= 3;"]
        return choose.pick(options)

    def placed(self, scope: tuple[str, ...]) -> str:
        """An assignment to or from the element at a place that a variable holds."""
        choose = self.choices
        name, kind, _ = choose.pick(PLACE_SCALARS)
        place = self.subscript(scope)
        array = choose.pick([array for array in (*self.floating(), *self.integral()) if not array.is_matrix])
        own = choose.chance(40)
        held = f"own_{name}" if own else name
        element = f"{array.name}[@{self.slot(array.name)}{{{held}@}}]"
        value = self.whole(scope) if array.element in INTEGERS else self.real(scope)
        use = choose.weighted(
            (5, f"{element} = {value};"),
            (2, f"{element} += {value};"),
            (4, f"{self.target(scope)} = {element} * 0.5;"),
            (1, f"acc += {element} * 0.25;"),
        )
        first = choose.pick([f"{kind} {held}", f"{kind} {held}; {held}"]) if own else held
        return f"{{ {first} = {place}; {use} }}"

    def branch(self, scope: tuple[str, ...], depth: int) -> str:
        then = self.statement(scope, depth + 1)
        condition = self.condition(scope)
        if self.choices.chance(40):
            return f"if ({condition}) {{ {then} }} else {{ {self.statement(scope, depth + 1)} }}"
        return f"if ({condition}) {{ {then} }}"

    def reduction(self, scope: tuple[str, ...]) -> str:
        value = self.real(scope)
        options = [(8, f"acc += {value};"), (3, f"acc = acc + {value};"), (2, f"acc -= {value};")]
        options.append((2, f"acc *= 1.0 + 0.001 * ({value});"))
        if not self.exact:
            one = self.reference(self.choices.pick(self.floating()), scope)
            options += [(2, f"if ({one} > top) {{ top = {one}; }}"), (1, f"top = {one} > top ? {one} : top;")]
            place, better = self.choices.pick(scope), self.choices.pick([">", ">="])
            options.append((3, f"if ({one} {better} top) {{ top = {one}; count = {place}; }}"))
        return self.choices.weighted(*options)

    def condition(self, scope: tuple[str, ...]) -> str:
        choose = self.choices
        x, y = scope[-1], choose.pick(scope)
        options = [(5, f"{x} % 2 == 0"), (3, f"{x} % 3 != 1")]
        if not self.edge:
            options += [
                (4, f"{x} < {y} + 2"),
                (3, f"{x} == {choose.integer(0, 4)}"),
                (2, f"{x} > 2 && n > 3"),
            ]
        if self.integral():
            one = self.reference(choose.pick(self.integral()), scope)
            options += [(4, f"{one} % 2 != 0"), (2, f"{one} > 3")]
        if not self.exact:
            options.append((4, f"{self.reference(choose.pick(self.floating()), scope)} > 0.25"))
        return self.forms.condition(choose, choose.weighted(*options), x, y)

    def between(self, names: list[str]) -> str:
        """A statement between two nests, which may read an index after its loop."""
        outside = [name for name in names if not self.declared[name]]
        options = ["acc = acc * 0.5;", "t = acc + 1.0;"]
        if outside and not self.edge:
            options += [f"acc += {name} % 100 * 0.25;" for name in outside]
        return self.choices.pick(options)

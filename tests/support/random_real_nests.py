"""Draws loops and statements with the forms of code that people have written: macros, calls, shared names.

`REAL_FORMS` names the forms.  A region has some of them; the rest of its loops and statements are those of
`random_code_nests`.  The functions, macros and variables that are used here stand in `random_real_files`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import random_real_images as images
import random_real_structures as structures
from random_code import Item, Loop
from random_code_nests import Maker

REAL_FORMS = (
    "overlap",
    "time_loop",
    "outer_scalars",
    "macros",
    "macro_bounds",
    "type_macros",
    "effects_in_bounds",
    "pure_calls",
    "impure_calls",
    "global_index",
    "index_address",
    "narrow_index",
    "bool_index",
    "pointer_bounds",
    "member_bounds",
    "global_bounds",
    "changed_bounds",
    "shadowed",
    "conditional_text",
    "jumps",
    "gotos",
    "declarations",
    "own_names",
    "sizeof_index",
    "thread_local",
    "named_steps",
    "met_ends",
    "counting_while",
    "beside",
    "walks",
    "passed_scalars",
    "tables",
    "do_loops",
    *structures.STATEMENTS,
    *images.STATEMENTS,
)
"""The forms, by the names that the tables of results use."""

BOUNDS: Mapping[str, tuple[str, ...]] = {
    "macro_bounds": ("EXTENT", "LAST", "SMALLER(n, m)", "LARGER(n, 3)", "HALVES(n)", "LEAST(n, m)"),
    "effects_in_bounds": ("COUNTED(n)", "COUNTED(m)"),
    "pure_calls": ("smaller_of(n, m)", "twice(m)"),
    "impure_calls": ("asked(n)",),
    "pointer_bounds": ("*limit", "*limit - 1"),
    "member_bounds": ("box->n", "store.n", "box->inner.m"),
    "global_bounds": ("extent", "extent - 1"),
    "own_names": ("min(n, m)",),
    **structures.BOUNDS,
    **images.BOUNDS,
}
"""Upper bounds of loops that a form adds."""

STEPS = ("gap", "gap", "wide", "box->n", "store.n", "odd")
"""Steps of loops that are no numbers; that of `odd` may be 0 or less."""

_ELEMENT = re.compile(r"\b([ab])\[@(\d+)\{([^@]*)@\}\]")


@dataclass(slots=True)
class RealMaker(Maker):
    """Makes one region with the forms `drawn`.

    `inner` are the scalars that the loops around have set, and `in_row` is whether they have set a row of bytes.
    """

    drawn: frozenset[str] = frozenset()
    inner: tuple[str, ...] = ()
    in_row: bool = False
    labels: list[str] = field(default_factory=list[str])
    jumped: set[str] = field(default_factory=set[str])

    def nest(self, names: list[str], depth: int, outer: tuple[str, ...], like: Loop | None = None) -> Loop:
        name = names[len(outer)]
        before, added = (self.inner, self.in_row), self._carried() if depth > 1 else ()
        self.inner += added
        sets_row = "byte_rows" in self.drawn and depth > 1 and self.choices.chance(60)
        self.in_row = self.in_row or sets_row
        behind = self._label() if "gotos" in self.drawn else ""
        loop = Maker.nest(self, names, depth, outer, like)
        self.inner, self.in_row = before
        scope = (*outer, name)
        first: list[Item] = []
        last: list[Item] = []
        for each in added:
            value = self.real_value(scope)
            apart = each in "vu" and self.choices.chance(40)
            kind = "double " if each in "vu" else ""
            first += [f"double {each};", f"{each} = {value};"] if apart else [f"{kind}{each} = {value};"]
            if each not in "vu" or self.choices.chance(60):
                last.append(f"{self.target(scope)} = {each};")
        if sets_row:
            first.append(f"unsigned char *row = {self.choices.pick(images.ROWS).replace('INDEX', name)};")
        if behind in self.jumped:
            last.insert(0, f"{behind}: ;")
        self.labels.remove(behind) if behind else None
        if "beside" in self.drawn and depth > 1 and self.choices.chance(40):
            first.append("at = 2;")
        if "walks" in self.drawn and depth > 1 and self.choices.chance(30):
            first.append("walk = pool;")
        elif "walks" in self.drawn and depth > 1 and self.choices.chance(40):
            last.append(self.choices.pick(["walk += gap;", "walk++;", "walk += 2; *walk = acc; walk--;"]))
        loop = replace(loop, body=(*first, *loop.body, *last))
        return replace(loop, form=self._form(loop))

    def _form(self, loop: Loop) -> str:
        """How a loop is written; a `continue` would leave out the step of another one than `for`."""
        if loop.declared or "continue" in str(loop.body) or not self.drawn & {"counting_while", "do_loops"}:
            return "for"
        if "do_loops" in self.drawn and self.choices.chance(70):
            stepping = loop.header.endswith((f"{loop.index}--", f"{loop.index}++"))
            return self.choices.pick(["do", *["do_step"] * stepping])
        if "counting_while" not in self.drawn or loop.header.count("; ") != 3 or not self.choices.chance(70):
            return "for"
        unit = loop.header.endswith((f"{loop.index}--", f"--{loop.index}"))
        return self.choices.pick(["while", "open", "stepless", *["down"] * 3 * unit])

    def _label(self) -> str:
        """A new label for the end of a loop's body."""
        self.labels.append(f"skip_{self.loops}")
        return self.labels[-1]

    def _carried(self) -> tuple[str, ...]:
        """What a loop sets, or declares, before its inner loops."""
        names: list[str] = []
        if "outer_scalars" in self.drawn and self.choices.chance(70):
            names.append(self.choices.pick(["t1", "t2"]))
        if "declarations" in self.drawn and self.choices.chance(70):
            names.append("u" if "v" in self.inner else "v")
        return tuple(name for name in names if name not in self.inner)

    def header(self, name: str, stride: int, outer: tuple[str, ...]) -> str:
        if self.kinds[name] == "_Bool":
            kind = "_Bool " if self.declared[name] else ""
            return f"{kind}{name} = 0; @?{name}; {name} < 1; {name}++"
        text = Maker.header(self, name, stride, outer)
        if "met_ends" in self.drawn and self.choices.chance(60):
            text = self._meeting(name, stride, outer)
        elif "named_steps" in self.drawn and self.choices.chance(60):
            sign = "-" if f"{name} >" in text or f"< {name}" in text or f"<= {name}" in text else "+"
            step = self.choices.pick(STEPS)
            text = (
                text.rpartition("; ")[0]
                + "; "
                + self.choices.pick([f"{name} {sign}= {step}", f"{name} = {name} {sign} {step}"])
            )
        if "beside" in self.drawn and self.choices.chance(25):
            text += self.choices.pick([", at++", ", at += 2", ", at += gap"])
        if "type_macros" in self.drawn and self.declared[name] and self.kinds[name] == "int":
            text = text.replace("int ", "INDEX ", 1)
        return text

    def _meeting(self, name: str, stride: int, outer: tuple[str, ...]) -> str:
        """A header with `!=` whose index comes to its bound."""
        choose = self.choices
        low = choose.pick(["0", "s", *outer])
        step = (
            choose.pick(["gap", "box->n"])
            if "named_steps" in self.drawn and choose.chance(50)
            else str(stride)
        )
        far = f"{low} + {step} * {choose.pick(['n', 'm', '3'])}"
        start, bound, sign = (low, far, "+") if choose.chance(60) else (far, low, "-")
        kind = f"{self.kinds[name]} " if self.declared[name] else ""
        advance = f"{name}{sign}{sign}" if step == "1" else f"{name} {sign}= {step}"
        return f"{kind}{name} = {start}; @?{name}; {name} != {bound}; {advance}"

    def ends(self, outer: tuple[str, ...], *, unsigned: bool) -> tuple[str, str]:
        low, high = Maker.ends(self, outer, unsigned=unsigned)
        options = [bound for form in sorted(self.drawn) for bound in BOUNDS.get(form, ())]
        if outer and "sizeof_index" in self.drawn:
            options.append(f"(int)sizeof({outer[-1]})")
        if options and self.choices.chance(60):
            low, high = self.choices.pick(["0", "1"]), self.choices.pick(options)
        if outer and "named_steps" in self.drawn and self.choices.chance(40):
            low, high = self._block(outer)
        return low, high

    def _block(self, outer: tuple[str, ...]) -> tuple[str, str]:
        """The ends of a block of an outer index whose size is no number; some overlap, or leave gaps."""
        pick, around = self.choices.pick, self.choices.pick(outer)
        size = pick(["gap", "wide", "box->n"])
        low = pick([around, f"{around} * {size}"])
        far = f"{low} + {pick([size, size, size, 'gap', '3'])}"
        return low, pick([far, far, f"{far} + 1", f"{far} - 1", f"({far} < n ? {far} : n)"])

    def real_value(self, scope: tuple[str, ...]) -> str:
        """A floating-point expression, perhaps with a scalar of the loops around and with macros."""
        value = Maker.real(self, scope)
        if self.inner and self.choices.chance(50):
            value = f"{value} + {self.choices.pick(self.inner)}"
        return value

    def real_scalar(self, scope: tuple[str, ...]) -> str:
        """A read of one element, or of a scalar of the loops around."""
        return self.reference(self.choices.pick(self.read(scope)), scope)

    def statement(self, scope: tuple[str, ...], depth: int = 0) -> str:
        makers = [_STATEMENTS[form] for form in sorted(self.drawn) if form in _STATEMENTS]
        if makers and depth < 2 and self.choices.chance(50):
            text = self.choices.pick(makers)(self, scope)
        elif self.inner and self.choices.chance(50):
            name = self.choices.pick(self.inner)
            text = f"{name} {self.choices.pick(['+=', '='])} {self.real_value(scope)};"
        else:
            text = Maker.statement(self, scope, depth)
        return self.with_macros(text) if "macros" in self.drawn else text

    def with_macros(self, text: str) -> str:
        """The statement with some of its elements written as macros."""
        return _ELEMENT.sub(
            lambda found: f"AT_{found[1]}({found[3]})" if self.choices.chance(50) else found[0], text
        )


Statement = Callable[[RealMaker, tuple[str, ...]], str]


def _macros(make: RealMaker, scope: tuple[str, ...]) -> str:
    one, target = make.real_scalar(scope), make.target(scope)
    options = [f"{target} = SQUARE({one});", f"{target} = LARGER({one}, 0.25);", f"ADD_TO({target}, {one});"]
    options += [
        f"{target} = LEAST({one}, {make.real_value(scope)});",
        f"{target} = LEAST(acc, {make.choices.pick(scope)});",
    ]
    options += [f"{target} = CURRENT * 0.5;", f"BELOW = {one};", f"SWAP({target}, {one});", "SUM_UP;"]
    return make.choices.pick(options)


def _pure_calls(make: RealMaker, scope: tuple[str, ...]) -> str:
    one, target, value = make.real_scalar(scope), make.target(scope), make.real_value(scope)
    x = make.choices.pick(scope)
    options = [f"{target} = half({value});", f"acc += half({one});", f"{target} = sum_of(a, {x});"]
    options += [f"b[@{make.slot('b')}{{twice({x})@}}] = {value};", f"{target} = blend({one}, {value});"]
    return make.choices.pick(options)


def _impure_calls(make: RealMaker, scope: tuple[str, ...]) -> str:
    one, target, value = make.real_scalar(scope), make.target(scope), make.real_value(scope)
    options = [f"{target} = counted({value});", f"told({make.choices.pick(scope)} % 7);"]
    if "float" not in {array.element for array in make.arrays}:
        options.append(f"put(&{target}, {value});")
    return make.choices.pick([*options, f"{target} = {one} + remembered();", f"remember({one});"])


def _index_address(make: RealMaker, scope: tuple[str, ...]) -> str:
    target, value = make.target(scope), make.real_value(scope)
    slot = make.slot("b")
    often = [f"{target} = {value} + *where;", "acc += *where;", f"b[@{slot}{{*where@}}] = {value};"]
    return make.choices.pick([*often, f"if ({scope[-1]} == 2) {{ ++*where; }}"])


def _global_index(make: RealMaker, scope: tuple[str, ...]) -> str:
    options = ["acc += at_index();", f"{make.target(scope)} = {make.real_value(scope)} + at_index();"]
    return make.choices.pick([*options, f"if ({scope[-1]} == 2) {{ next_index(); }}"])


def _changed_bounds(make: RealMaker, scope: tuple[str, ...]) -> str:
    x = scope[-1]
    options = [f"if ({x} == 1) {{ shrink(); }}", f"if ({x} == 2) {{ *limit = 3; }}"]
    options += [f"if ({x} == 1) {{ box->n = 2; }}", "box->v += 0.5;", f"store.weight[1] = {x};"]
    options += [f"if ({x} == 2) {{ n = m; }}", f"box->inner.m = {x} < 3 ? 4 : 3;"]
    return make.choices.pick(options)


def _shadowed(make: RealMaker, scope: tuple[str, ...]) -> str:
    target, value, x = make.target(scope), make.real_value(scope), scope[-1]
    slot = make.slot("b")
    options = [f"{{ double acc = {value}; {target} = acc * 2.0; }}"]
    options += [f"{{ int n = 3; if ({x} < n) {{ {target} = {value}; }} }}"]
    options += [f"{{ int {x} = 1; b[@{slot}{{{x}@}}] += 0.5; }}", f"{{ double t = {value}; acc += t; }}"]
    return make.choices.pick(options)


def _conditional_text(make: RealMaker, scope: tuple[str, ...]) -> str:
    taken, other = make.target(scope), make.target(scope)
    value = make.real_value(scope)
    test = make.choices.pick(["#ifdef FLAG", "#if FLAG > 1", "#ifndef FLAG", "#if defined(FLAG) && 0"])
    rest = f"#else\n    {other} = {value};\n" if make.choices.chance(60) else ""
    return f"\n{test}\n    {taken} = {value} * 0.5;\n{rest}#endif\n"


def _jumps(make: RealMaker, scope: tuple[str, ...]) -> str:
    condition = make.condition(scope)
    early = f"if ({condition}) {{ {make.choices.pick(['continue', 'break'])}; }}"
    return f"{early} {make.target(scope)} = {make.real_value(scope)};"


def _gotos(make: RealMaker, scope: tuple[str, ...]) -> str:
    target, value = make.target(scope), make.real_value(scope)
    label = make.choices.pick(make.labels)
    make.jumped.add(label)
    first = f"{make.target(scope)} = {value};" if make.choices.chance(40) else ""
    return f"if ({make.condition(scope)}) {{ {first} goto {label}; }} {target} = {value};"


def _own_names(make: RealMaker, scope: tuple[str, ...]) -> str:
    target, value, x = make.target(scope), make.real_value(scope), scope[-1]
    options = [f"{target} = max({value}, 0.25);", f"{target} = {value} + min({x}, 3);"]
    options += [f"sin = {value}; {target} = sin * 2.0;", f"{target} = exp + {value};"]
    return make.choices.pick(options)


def _sizeof_index(make: RealMaker, scope: tuple[str, ...]) -> str:
    target, value = make.target(scope), make.real_value(scope)
    x = make.choices.pick(scope)
    options = [f"{target} = {value} + (double)sizeof({x});", f"{target} = {value} * sizeof {x};"]
    return make.choices.pick([*options, f"acc += sizeof({x} + 1);"])


def _beside(make: RealMaker, scope: tuple[str, ...]) -> str:
    slot, value = make.slot("b"), make.real_value(scope)
    step = make.choices.pick(["at++;", "at += 2;", "at += gap;", "at -= 1;", "++at;"])
    element = f"b[@{slot}{{at@}}]"
    options = [f"{element} = {value}; {step}", f"acc += {element}; {step}", f"{step} {element} += 0.5;"]
    options += [
        f"b[@{slot}{{at++@}}] = {value};",
        f"{make.target(scope)} = {value} + at;",
        f"{element} = {value};",
    ]
    return make.choices.pick(options)


def _walks(make: RealMaker, scope: tuple[str, ...]) -> str:
    target, value = make.target(scope), make.real_value(scope)
    options = [f"*walk++ = {value};", f"*walk = {value}; walk += gap;", f"{target} = *walk++ + {value};"]
    options += [f"*walk++ = {value}; *walk++ = 0.5;", f"if (*walk++ > 1.0) {target} = {value};"]
    return make.choices.pick([*options, f"walk[0] = walk[1] + {value}; walk++;", f"*++walk = {value};"])


def _passed_scalars(make: RealMaker, scope: tuple[str, ...]) -> str:
    one, value, target, other = (
        make.real_scalar(scope), make.real_value(scope), make.target(scope), make.target(scope),
    )  # fmt: skip
    name = make.choices.pick(["t", "top", "acc"])
    first = [
        f"{name} = {value};",
        f"{name} += {one};",
        f"if ({make.condition(scope)}) {{ {name} = {value}; }} else {{ {name} = 1.0; }}",
    ]
    return f"{make.choices.pick(first)} {target} = {name} * 0.5; {other} = {name} + {one};"


def _tables(make: RealMaker, scope: tuple[str, ...]) -> str:
    """Counts and largest numbers by class, sums, flags, and values that an iteration keeps for itself."""
    x, target, value = make.choices.pick(scope), make.target(scope), make.real_value(scope)
    slot = make.slot("c")
    number = make.choices.pick([f"c[@{slot}{{{x}@}}]", f"(int){x}", f"({x} % 5 + 3)"])
    place = make.choices.pick([f"({x} % 7 + 7) % 7", f"{x} & 7", "3", f"(unsigned)({number}) % 8"])
    counts = [f"tally[{place}] += {number};", f"tally[{place}]++;", f"tally[{place}] -= {number} % 3;"]
    counts.append(f"if ({make.condition(scope)}) {{ tally[{place}] += 2; }}")
    counts.append(f"tally[{place}] = tally[{place}] + {number};")
    rooms = [
        f"room[0] = {value}; room[1] = room[0] * 0.5; {target} = room[1];",
        f"for (int q = 0; q < 4; q++) room[q] = {value}; {target} = room[3] + room[0];",
        f"for (int q = 0; q < 3; q++) room[q] = {value}; {target} = room[2] + room[3];",
        f"if ({make.condition(scope)}) {{ room[0] = {value}; }} {target} = room[0];",
        f"if ({make.condition(scope)}) {{ room[0] = {value}; }} else {{ room[0] = 2.0; }} {target} = room[0];",
    ]
    sums = [
        f"*total += {number};",
        f"sums.n += {number} % 4;",
        f"if ({make.condition(scope)}) {{ sums.inner.m++; *total -= 2; }}",
        f"if ({make.condition(scope)}) {{ raised = 1; }}",
        f"if ({make.condition(scope)}) {{ raised = 1; sums.n = 5; }} {target} = {value} + raised;",
    ]
    return make.choices.pick([*counts, *rooms, *sums])


_STATEMENTS: Mapping[str, Statement] = {
    "macros": _macros,
    "pure_calls": _pure_calls,
    "impure_calls": _impure_calls,
    "index_address": _index_address,
    "global_index": _global_index,
    "changed_bounds": _changed_bounds,
    "shadowed": _shadowed,
    "conditional_text": _conditional_text,
    "jumps": _jumps,
    "gotos": _gotos,
    "own_names": _own_names,
    "sizeof_index": _sizeof_index,
    "beside": _beside,
    "walks": _walks,
    "passed_scalars": _passed_scalars,
    "tables": _tables,
    **structures.STATEMENTS,
    **images.STATEMENTS,
}

"""Structures, and functions of the file that store, loop, return early or take structures, in random regions.

Elements of arrays of structures are marked as those of the array `c`, whose number is 2: what the marks record keeps
the subscripts inside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random_real_nests import RealMaker

DEFINITIONS: tuple[tuple[str, str], ...] = (
    (
        "cell",
        "struct cell {\n  double v;\n  int n;\n  struct { double w[3]; int m; } in;\n"
        "  union { int whole; float part; } u;\n  unsigned low : 3, high : 5;\n};",
    ),
    (
        "grid",
        "struct grid {\n  int n;\n  double *x, *y;\n  struct cell *cells;\n"
        "  struct { int lo, hi; } span;\n  double own[16];\n};",
    ),
    ("links", "struct links { int n; struct grid *one, *two, in; };"),
    ("stock", "static struct cell stock[1100];"),
    ("line_", "static double line_[2400];"),
    ("field", "static struct grid field;"),
    ("bump", "static void bump(ELEMENT *to, int at, double x) { to[@2{at@}] += x; }"),
    (
        "smooth",
        "static void smooth(ELEMENT *to, int from, int count) {\n"
        "  for (int q = 0; q < count; q++)\n    to[@2{from + q@}] = to[@2{from + q@}] * 0.5 + q;\n}",
    ),
    (
        "first_over",
        "static int first_over(const ELEMENT *x, int from, double least) {\n"
        "  for (int q = 0; q < 4; q++)\n    if (x[@0{from + q@}] > least)\n      return q;\n  return -1;\n}",
    ),
    (
        "clip",
        "static double clip(ELEMENT *to, int at, double most) {\n  if (to[@2{at@}] <= most)\n    return 0.0;\n"
        "  to[@2{at@}] = most;\n  calls++;\n  return 1.0;\n}",
    ),
    (
        "track",
        "static double track(double x) {\n  double last[2] = {0.5, x};\n  int at = (int)(calls & 1);\n"
        "  last[at] += x;\n  calls = at + 1;\n  return last[0] + last[1];\n}",
    ),
    ("add_to", "static void add_to(double *sum, double x) { *sum += x; }"),
    ("step_by", "static int step_by(int *from, int by) { return *from += by; }"),
    (
        "pair_sum",
        "static double pair_sum(const ELEMENT *x, int n) {\n  const ELEMENT *p = x + n;\n  double sum = 0.0;\n"
        "  while (n-- > 0)\n    sum += x[@0{n@}];\n  (void)p;\n  return sum;\n}",
    ),
    (
        "weight_of",
        "static double weight_of(struct cell one) {\n  one.v *= 2.0;\n  one.in.w[2] += one.v;\n"
        "  return one.in.w[2] + one.in.w[0] + one.n;\n}",
    ),
    (
        "push",
        "static void push(struct cell *one, double x) {\n  if (one->n > 3) {\n    one->n = 0;\n    return;\n  }\n"
        "  one->v += x;\n  one->n++;\n}",
    ),
    (
        "made",
        "static struct cell made(int n, double v) {\n  struct cell one = stock[3];\n  one.v = v;\n  one.n = n;\n"
        "  return one;\n}",
    ),
    (
        "spread",
        "static void spread(struct grid *to, int at) {\n  for (int q = 0; q < to->span.lo + 1; q++)\n"
        "    to->x[@4{at + q@}] += to->y[@4{at@}];\n}",
    ),
    ("narrow", "static void narrow(void) { field.n = 3; }"),
    ("put_x", "static void put_x(struct grid *to, int at, double x) { to->x[@4{at@}] = x; }"),
    ("set_v", "static void set_v(struct cell *one, double x) { one->v = x; }"),
    ("keep", "static double keep(double x) {\n  field.own[1] += x;\n  return field.own[2];\n}"),
    (
        "swap_v",
        "static void swap_v(struct cell *x, struct cell *y) {\n  double old = x->v;\n  x->v = y->v;\n  y->v = old;\n}",
    ),
    ("span_of", "static int span_of(const struct grid *g) { return g->span.hi - g->span.lo; }"),
    ("lower", "static void lower(struct grid *g) {\n  if (g->n > 2)\n    g->n--;\n}"),
)
"""What stands at file scope, as in `random_real_files`."""

LOCALS: tuple[tuple[str, str], ...] = (
    ("cells", "  struct cell *cells = stock + 520;"),
    ("held", "  struct grid held = {5, line_ + 520, line_ + 1700, stock + 520, {1, 6}, {0.5, 1.5}};"),
    ("grid", "  struct grid *grid = &held;"),
    (
        "links",
        "  struct links links = {4, &held, &field, {5, line_ + 540, line_ + 1720, stock + 520, {1, 6}, {0.5, 1.5}}};",
    ),
    ("chain", "  struct links *chain = &links;"),
)

NEEDS: tuple[tuple[str, str], ...] = (
    ("chain", "links"),
    ("links", "held field stock line_"),
    ("grid", "held"),
    ("held", "stock line_"),
    ("narrow", "field"),
    ("keep", "field"),
    ("field", "stock line_"),
    ("cells", "stock"),
    ("made", "stock"),
    ("clip", "calls"),
    ("track", "calls"),
)
"""What the function around the region has to set where a name is used."""

STARTS: tuple[tuple[str, str], ...] = (
    (
        "stock",
        "  for (int q_ = 0; q_ < 1100; q_++) {\n    stock[q_].v = q_ % 7 * 0.5;\n    stock[q_].n = q_ % 5 + 1;\n"
        "    stock[q_].in.w[0] = stock[q_].in.w[1] = stock[q_].in.w[2] = q_ % 3;\n    stock[q_].in.m = q_ % 4;\n"
        "    stock[q_].u.whole = q_;\n    stock[q_].low = q_ & 7;\n    stock[q_].high = q_ & 31;\n  }",
    ),
    ("line_", "  for (int q_ = 0; q_ < 2400; q_++)\n    line_[q_] = q_ % 11 * 0.25;"),
    (
        "field",
        "  field = (struct grid){6, line_ + 520, line_ + 1700, stock + 520, {1, 5}, {0.5, 1.5, 2.5}};",
    ),
)

READS: tuple[tuple[str, str], ...] = (
    (
        "stock",
        "  for (int q_ = 0; q_ < 1100; q_++) {\n    struct cell *at_ = stock + q_;\n"
        "    out_[16] += (q_ % 7 + 1) * (at_->v + 3 * at_->in.w[0] + 5 * at_->in.w[1] + 7 * at_->in.w[2]);\n"
        "    last_[16] = (long)((unsigned long)last_[16] * 31u + (unsigned long)(at_->n + 5 * at_->in.m));\n"
        "    last_[17] = (long)((unsigned long)last_[17] * 31u + (unsigned long)at_->u.whole);\n"
        "    last_[18] = (long)((unsigned long)last_[18] * 31u + at_->low * 32u + at_->high);\n  }",
    ),
    ("line_", "  for (int q_ = 0; q_ < 2400; q_++)\n    out_[17] += (q_ % 7 + 1) * line_[q_];"),
    (
        "held",
        "  last_[19] = held.n + 100 * held.span.lo + 1000 * held.span.hi;\n  last_[20] = held.x - line_;\n"
        "  for (int q_ = 0; q_ < 16; q_++)\n    out_[18] += (q_ + 1) * held.own[q_];",
    ),
    (
        "field",
        "  last_[21] = field.n + 100 * field.span.lo + 1000 * field.span.hi;\n"
        "  for (int q_ = 0; q_ < 16; q_++)\n    out_[19] += (q_ + 1) * field.own[q_];",
    ),
    (
        "links",
        "  last_[21] += 7 * links.in.span.lo;\n"
        "  for (int q_ = 0; q_ < 16; q_++)\n    out_[17] += (q_ + 1) * links.in.own[q_];",
    ),
)

BOUNDS: Mapping[str, tuple[str, ...]] = {
    "structure_members": (
        "grid->n",
        "held.n",
        "grid->span.hi",
        "held.span.hi - 1",
        "field.n",
        "field.span.hi",
    ),
    "structure_arrays": ("cells[@4{1@}].n", "stock[523].n + 2", "grid->cells[@4{2@}].in.m"),
    "structure_chains": ("chain->one->n", "links.two->span.hi", "chain->in.n", "chain->n"),
    "structure_calls": ("span_of(grid)", "span_of(&held)"),
    "storing_calls": ("first_over(a, 0, 0.5) + 3",),
}


def _number(make: RealMaker, scope: tuple[str, ...]) -> str:
    """A number in a structure, or one that a pointer in a structure leads to."""
    choose = make.choices
    x = choose.pick(scope)
    at = f"@4{{{choose.weighted((60, x), (25, f'{x} + 1'), (15, f'{x} - 1'))}@}}"
    members = [f"grid->x[{at}]", f"grid->y[{at}]", f"held.x[{at}]", "held.own[2]", f"grid->own[{x} & 15]"]
    members += [f"field.y[{at}]", "field.own[1]"]
    arrays = [f"cells[{at}].v", f"cells[{at}].in.w[1]", f"stock[{at} + 520].v", f"cells[{at}].in.w[{x} & 1]"]
    found = members * ("structure_members" in make.drawn) + arrays * ("structure_arrays" in make.drawn)
    if {"structure_members", "structure_arrays"} <= make.drawn:
        found += [f"grid->cells[{at}].v", f"held.cells[{at}].in.w[0]"]
    return choose.pick(found or [*members, *arrays])


def _whole(make: RealMaker, scope: tuple[str, ...]) -> str:
    x = make.choices.pick(scope)
    return f"cells[@4{{{x}@}}].{make.choices.pick(['n', 'in.m', 'u.whole'])}"


def _members(make: RealMaker, scope: tuple[str, ...]) -> str:
    number, value, target, x = _number(make, scope), make.real_value(scope), make.target(scope), scope[-1]
    options = [
        f"{number} = {value};",
        f"{number} += {value};",
        f"{target} = {number} * 0.5;",
        f"acc += {number};",
    ]
    options += [f"{number} = {_number(make, scope)} + {value};", f"t = {number}; {target} = t + 1.0;"]
    options += [f"if ({x} == 2) {{ grid->n = 3; }}", "held.span.lo = 2;", "grid->own[1] += 0.5;"]
    options += [f"field.own[{x} & 15] = {value};", f"if ({x} == 3) {{ field.n = 4; }}"]
    options += [
        f"if ({x} == 1) {{ grid->x = grid->y; }}",
        f"{{ double *row = grid->x; row[@4{{{x}@}}] = {value}; }}",
    ]
    return make.choices.pick(options)


def _arrays(make: RealMaker, scope: tuple[str, ...]) -> str:
    number, value, target, x = _number(make, scope), make.real_value(scope), make.target(scope), scope[-1]
    whole, element, next_ = _whole(make, scope), f"cells[@4{{{x}@}}]", f"cells[@4{{{x} + 1@}}]"
    options = [
        f"{number} = {value};",
        f"{number} += {value};",
        f"{target} = {number} * 0.5;",
        f"acc += {number};",
    ]
    options += [
        f"{whole} = {x} % 5;",
        f"{whole} += 1;",
        f"{target} = {value} + {whole};",
        f"{element} = {next_};",
    ]
    options += [f"{{ struct cell one = {element}; one.v *= 0.5; {target} = one.v + one.in.w[0]; }}"]
    options += [
        f"{{ struct cell *one = &{element}; one->v = {value}; one->n++; }}",
        f"{next_}.v = {element}.v;",
    ]
    return make.choices.pick(options)


def _unions(make: RealMaker, scope: tuple[str, ...]) -> str:
    target, value, x = make.target(scope), make.real_value(scope), make.choices.pick(scope)
    element, next_ = f"cells[@4{{{x}@}}]", f"cells[@4{{{x} + 1@}}]"
    options = [f"{element}.low = {x} & 7;", f"{element}.high += 1;", f"{target} = {value} + {element}.low;"]
    options += [
        f"{element}.u.whole = {x};",
        f"{element}.u.part = (float){x};",
        f"count += {element}.u.whole;",
    ]
    options += [f"{next_}.low = {element}.high;", f"{target} = {value} + {element}.u.whole % 5;"]
    options += [f"{element}.u.part = 0.5f; {next_}.u.whole = {element}.u.whole;"]
    return make.choices.pick(options)


def _storing_calls(make: RealMaker, scope: tuple[str, ...]) -> str:
    one, value, target, x = make.real_scalar(scope), make.real_value(scope), make.target(scope), scope[-1]
    options = [
        f"bump(b, (int){x}, {value});",
        f"smooth(b, (int){x}, 3);",
        f"smooth(b, (int){x}, (int)m % 4);",
    ]
    options += [f"{target} = {value} + first_over(a, (int){x}, 0.5);", f"acc += clip(b, (int){x}, {one});"]
    options += [f"clip(b, (int){x} + 1, 0.75);", f"{target} = track({value});", f"add_to(&acc, {value});"]
    options += [f"b[@{make.slot('b')}{{step_by(&at, 1)@}}] = {value};", f"{target} = pair_sum(a, (int){x});"]
    options += [
        f"if ({make.condition(scope)}) {{ bump(b, (int){x}, 0.5); }}",
        f"add_to(&t, {one}); {target} = t;",
    ]
    return make.choices.pick(options)


def _structure_calls(make: RealMaker, scope: tuple[str, ...]) -> str:
    value, target, x = make.real_value(scope), make.target(scope), scope[-1]
    element = f"cells[@4{{{make.choices.pick([x, f'{x} + 1'])}@}}]"
    options = [
        f"{target} = weight_of({element}) + {value};",
        f"push(&{element}, {value});",
        "spread(grid, 1);",
    ]
    options += [
        f"{element} = made((int){x}, {value});",
        f"spread(grid, (int){x});",
        f"acc += span_of(&held) + {value};",
    ]
    options += [
        f"if ({x} == 1) {{ lower(grid); }}",
        f"acc += weight_of({element});",
        f"push(cells, {value});",
    ]
    options += [
        f"if ({x} == 2) {{ narrow(); }}",
        f"put_x(grid, (int){x}, {value});",
        f"{target} = keep({value});",
    ]
    options += [f"set_v(&{element}, {value});", f"set_v(cells + 2, {value});", f"acc += keep({value});"]
    options += [f"swap_v(&{element}, &cells[@4{{{x} + 2@}}]);", f"put_x(&field, (int){x} + 1, {value});"]
    return make.choices.pick(options)


def _chains(make: RealMaker, scope: tuple[str, ...]) -> str:
    """Structures behind pointers in structures, and sums in memory that stay at one place."""
    value, target, x = make.real_value(scope), make.target(scope), make.choices.pick(scope)
    at = f"@4{{{make.choices.pick([x, f'{x} + 1', f'{x} - 1'])}@}}"
    outer = make.choices.pick(["chain->", "links."])
    numbers = [
        f"{outer}one->x[{at}]",
        f"{outer}two->y[{at}]",
        f"{outer}in.x[{at}]",
        f"{outer}one->own[{x} & 15]",
    ]
    number, other = make.choices.pick(numbers), make.choices.pick(numbers)
    fixed = make.choices.pick(
        [f"{outer}one->x[@4{{3@}}]", f"{outer}two->own[2]", f"b[@{make.slot('b')}{{2@}}]"]
    )
    options = [
        f"{number} = {value};",
        f"{number} = {other} * 0.5 + {value};",
        f"{target} = {number} + {other};",
    ]
    options += [
        f"{fixed} += {value};",
        f"{fixed} += {number};",
        f"{fixed} -= {x};",
        f"{outer}in.own[1] += {other};",
    ]
    options += [f"if ({x} == 2) {{ {outer}one->n = 3; }}", f"{outer}in.span.lo += (int){x} & 1;"]
    options += [
        f"if ({x} == 1) {{ {outer}one = {outer}two; }}",
        f"if ({x} == 3) {{ {outer}one->x = {outer}two->y; }}",
    ]
    return make.choices.pick(options)


STATEMENTS: Mapping[str, Callable[[RealMaker, tuple[str, ...]], str]] = {
    "storing_calls": _storing_calls,
    "structure_calls": _structure_calls,
    "structure_members": _members,
    "structure_chains": _chains,
    "structure_arrays": _arrays,
    "unions": _unions,
}
"""The forms with the statements that they add."""

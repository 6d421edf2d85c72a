"""Random loop nests over arrays of all element types, with random kernels to make of them.

A nest stays inside its arrays, its integers do not overflow, and no conversion is out of range, so that what
the original computes is defined.  Most cases compute with small whole numbers, for which floating-point sums are
exact in any order; the others with fractions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from random import Random
from typing import Protocol

from random_kernel_parts import (
    CONSTANTS,
    FLOATING,
    INTEGERS,
    SIDE,
    UNSIGNED,
    Header,
    header,
    index_type,
    neighbouring,
    opencl_launch,
    triangular,
    with_members,
)

from orio_py.kernel.plan import Layout
from orio_py.transformation.offload.cuda import CUDA
from orio_py.transformation.offload.opencl import OpenCL

ELEMENTS = (*INTEGERS, *FLOATING, "double", "double", "double", "double", "float", "float", "int", "int")
READ = ("x", "a", "c", "p", "b")
WRITTEN = ("y", "z", "q", "d")
REDUCED = ("s", "mx", "mn", "pr", "an", "of", "xo", "la", "lo")


@dataclass(frozen=True)
class RandomKernel:
    """A region's code with the C types of its variables, and the transformation to apply to it.

    `arrays` and `scalars` map names to element types, `bounds` the symbols `n`, `m`, `l` to theirs, `indices` the
    loops' indices to theirs.  `side` is the extent of matrices as it is declared.  `exact` says that all values are whole numbers; `large` that sizes may exceed
    the matrices' sides; `live` names what is read afterwards.  `records` are arrays of structures with three
    members of their element type, `m0`, `m1` and `m2`.
    """

    code: str
    arrays: dict[str, str]
    scalars: dict[str, str]
    bounds: dict[str, str]
    indices: dict[str, str]
    live: tuple[str, ...]
    transformation: OpenCL | CUDA
    side: str
    depth: int
    exact: bool
    large: bool
    records: frozenset[str] = frozenset()


class Launch(Protocol):
    """Draws a transformation for a nest of some depth; tiles with a probability of `stage`."""

    def __call__(self, draw: Random, depth: int, *, stage: float = 0.4) -> OpenCL | CUDA: ...


def random_kernel(seed: int, launch: Launch = opencl_launch) -> RandomKernel:
    """The case of a seed, the same each time."""
    return _Nest(Random(f"kernel {seed}"), launch).made()


class _Nest:
    """Draws one case."""

    def __init__(self, draw: Random, launch: Launch) -> None:
        self.draw = draw
        self.launch = launch
        self.exact = draw.random() < 0.75
        kinds = ELEMENTS if self.exact else FLOATING
        self.arrays = {name: draw.choice(kinds) for name in (*READ, *WRITTEN)}
        self.arrays["c"] = draw.choice(INTEGERS)
        self.is_product = draw.random() < 0.15
        self.depth = 3 if self.is_product else draw.choice((1, 1, 2, 2, 2, 3, 3))
        self.scalars = self._scalar_types()
        self.bounds = {"n": "int", "m": "int", "l": "int"}
        for name in self.bounds:
            if draw.random() < 0.3:
                self.bounds[name] = draw.choice(("long", "unsigned", "size_t", "short"))
        self.indices: dict[str, str] = {}
        self.used: set[str] = set()
        self.private = 0

    def _scalar_types(self) -> dict[str, str]:
        draw = self.draw
        wide = ("int", "unsigned", "long", "unsigned long", "short", "unsigned char", "long long")
        kinds = {name: draw.choice(wide) for name in REDUCED}
        numbers = (*FLOATING, "double", *(wide if self.exact else ()))
        for name in ("s", "mx", "mn"):
            kinds[name] = draw.choice((*numbers, "double", "double"))
        kinds["pr"] = draw.choice((*FLOATING, "unsigned", "unsigned long"))
        return kinds

    def made(self) -> RandomKernel:
        """The case."""
        draw = self.draw
        headers = self._headers()
        body = " ".join(self._statement() for _ in range(draw.choice((1, 2, 2, 3, 4))))
        if self.is_product:
            body = self._product()
        opened = "".join(f"{each.text} " for each in headers[:-1])
        code = f"{opened}{headers[-1].text} {{ {body} }}"
        if self.depth > 1 and draw.random() < 0.1:
            # A statement beside the inner loops: only the outermost loop can be mapped.
            self.used.add("y")
            inner = code[len(headers[0].text) :]
            code = f"{headers[0].text} {{ {inner} {self._element('y', ('i',))} += 1; }}"
        live = [name for name in self.indices if draw.random() < 0.15]
        depth, stage = (2, 0.8) if self.is_product else (self.depth, 0.4)
        transformation = self.launch(draw, depth, stage=stage)
        if transformation.vectorWidth > 1 and draw.random() < 0.7:
            code = neighbouring(code)
        if re.search(r"\b[pq]\[", code) and draw.random() < 0.4:
            transformation = replace(transformation, layout=Layout.COLUMN)
        rare = draw.random() < 0.35
        records = frozenset(name for name in ("x", "a", "y") if rare and draw.random() < 0.6)
        code = with_members(code, records)
        if records and draw.random() < 0.6:
            transformation = replace(transformation, layout=Layout.SOA)
        words = {name for name in (*READ, *WRITTEN) if f"{name}[" in code or f"({name} " in code}
        return RandomKernel(
            code=code,
            arrays={name: self.arrays[name] for name in (*READ, *WRITTEN) if name in words},
            scalars={name: self.scalars[name] for name in REDUCED if name in self.used},
            bounds=self.bounds,
            indices=self.indices,
            live=tuple(live),
            transformation=transformation,
            side=draw.choice((str(SIDE), "w")),
            depth=self.depth,
            exact=self.exact,
            large=self.depth == 1 and not words & {"p", "q", "b", "d"},
            records=records & words,
        )

    def _headers(self) -> list[Header]:
        draw = self.draw
        found: list[Header] = []
        for level, name in enumerate("ijk"[: self.depth]):
            symbol = "nml"[level]
            kind = index_type(draw)
            self.indices[name] = kind
            if level == 0 or self.is_product or draw.random() < 0.85:
                constant = draw.choice(CONSTANTS) if draw.random() < 0.15 else None
                found.append(header(draw, name, kind, symbol, self.bounds[symbol], constant))
            else:
                self.indices[name] = self.indices["ijk"[level - 1]] = "int"
                self.bounds[symbol] = "int"
                # The index around it has another type now: its header is drawn again.
                outer, around = "ijk"[level - 1], "nml"[level - 1]
                found[-1] = header(draw, outer, "int", around, self.bounds[around], None)
                found.append(triangular(draw, name, outer, symbol))
        return found

    def _element(self, name: str, subscripts: tuple[str, ...] | None = None) -> str:
        """A reference to an array, inside it for all sizes."""
        draw = self.draw
        i, j, k = "i", "j" if self.depth > 1 else "i", "k" if self.depth > 2 else "i"
        if name in {"p", "q"}:
            rows = (f"{i}", f"{i} + 1", "2") if self.depth == 1 else (i, i, f"{i} + 1", j)
            columns = ("0", "3", f"{i}") if self.depth == 1 else (j, j, f"{j} + 1", i, k)
            if name == "q":
                first, second = (i, draw.choice(("0", "3"))) if self.depth == 1 else (i, j)
            else:
                first, second = draw.choice(rows), draw.choice(columns)
            return f"{name}[{first}][{second}]"
        if name in {"b", "d"}:
            if name == "d" or draw.random() < 0.6:
                return f"{name}[{i}][{j if self.depth > 1 else '1'}][{k if self.depth > 2 else '2'}]"
            return f"{name}[{i} + 1][{j}][{k} + 1]"
        if name == "z":
            return f"z[{self._flat()}]"
        if subscripts is None:
            subscripts = (
                i,
                i,
                f"{i} + 1",
                f"3 * {i} + 1",
                j,
                f"{i} + {j}",
                k,
                f"2 * {i} + {j}",
                "0",
                "4",
                f"{i} + 5",
            )
            if name == "y":
                subscripts = (i, i, i, f"{i} + 1", f"3 * {i} + 1", f"2 * {i}")
        subscript = draw.choice(subscripts)
        if draw.random() < 0.1:
            return f"*({name} + ({subscript}))"
        return f"{name}[{subscript}]"

    def _flat(self) -> str:
        draw = self.draw
        if self.depth == 1:
            return draw.choice(("i", "3 * i + 1", "i * 2", "i + 2", "4 * i"))
        if self.depth == 2:
            return draw.choice(("i * m + j", "i * m + j", "j * n + i", f"i * {SIDE} + j", "j + m * i"))
        return draw.choice(("(i * m + j) * l + k", "(i * m + j) * l + k", "i * m * l + j * l + k"))

    def _operand(self) -> tuple[str, bool]:
        """An operand as C text, and whether it is floating."""
        draw = self.draw
        kind = draw.random()
        if kind < 0.1:
            return draw.choice(("3", "2", "n", "7", "(int)i", "'\\3'")), False
        names = ("x", "a", "c", "x", "a") if self.depth == 1 else ("x", "a", "c", "p", "p", "b")
        name = draw.choice(("p", "b", *names))
        text, element = self._element(name), self.arrays[name]
        floating = element in FLOATING
        if kind < 0.17:
            text = f"({draw.choice(('i > 1', 'c[i] > 4', 'i == 2', 'x[i] > 3', '(int)i % 2'))} ? {text} : 1)"
        elif kind < 0.26:
            text, floating = (f"fabs({text} - 4)", True) if element not in UNSIGNED else (text, floating)
        elif kind < 0.3:
            text, floating = f"(int){text}", False
        elif kind < 0.33:
            text, floating = f"({draw.choice(FLOATING)}){text}", True
        elif kind < 0.36:
            text, floating = f"!({text} > 3)", False
        elif kind < 0.38 and not floating and element not in UNSIGNED:
            text = f"abs({text} - 5)" if element not in {"long", "long long"} else f"labs({text} - 5)"
        return (f"(int){text}" if element in UNSIGNED and "(int)" not in text else text), floating

    def _value(self) -> tuple[str, bool]:
        """An expression of a size below some hundreds, and whether it is floating."""
        draw = self.draw
        first, one = self._operand()
        if draw.random() < 0.2:
            return first, one
        second, two = self._operand()
        text = f"{first} {draw.choice(('+', '-', '*', '+ 2 *', '- 3 *'))} {second}"
        if not one and not two and draw.random() < 0.15:
            text = f"({text}) {draw.choice(('% 5', '/ 3', '& 6', '| 1', '^ 3', '* 4 >> 1'))}"
        return text, one or two

    def _converted(self, value: tuple[str, bool], kind: str) -> str:
        """A value for a variable of a type: through `int` where a conversion could be out of range."""
        text, floating = value
        return f"(int)({text})" if floating and kind not in FLOATING else text

    def _test(self) -> str:
        draw = self.draw
        tests = ["c[i] > 4", "i > 0", "i % 3 != 1", "i != 2", "!(i < 2)", "i == 0 || c[i] > 3"]
        # No iteration may be left for small sizes.
        tests += ["i == 0", "i > 4", "i == n - 1", "i != n - 1", "i < n - 2"]
        tests += [f"{self._operand()[0]} > 3", f"{self._operand()[0]} <= {self._operand()[0]}"]
        if self.depth > 1:
            tests += ["j > 1", "(int)i < (int)j", "i > 0 && j > 0"]
        return draw.choice(tests)

    def _statement(self) -> str:
        draw = self.draw
        kind = draw.random()
        if kind < 0.45:
            return self._reduction()
        if kind < 0.53:
            value = self._value()
            name = draw.choice(("double", "float", "int", "long"))
            target = draw.choice(self._targets())
            self.private += 1
            t = f"t{self.private}"
            # Twice a private value, declared inside.
            twice = self._converted((f"{t} * 2", name in FLOATING), self.arrays[target])
            return f"{{ {name} {t} = {self._converted(value, name)}; {self._target(target)} = {twice}; }}"
        if kind < 0.6 and self.depth == 1:
            return self._inner_loop()
        target = draw.choice(self._targets())
        value = self._converted(self._value(), self.arrays[target])
        store = f"{self._target(target)} {draw.choice(('=', '=', '=', '+=', '-='))} {value};"
        if kind < 0.78:
            other = draw.choice(("", "", f"else {store.replace('= ', '= 1 + ', 1)}"))
            return f"if ({self._test()}) {{ {store} }} {other}"
        return store

    def _product(self) -> str:
        """A term of a product of matrices."""
        draw = self.draw
        first = draw.choice(("p[i][k]", "p[i][k + 1]", "b[i][k][1]", "x[i]"))
        second = draw.choice(("p[k][j]", "p[j][k]", "a[k]", "b[k][j + 1][2]", "c[j + k]"))
        value = f"{first} * {second}", self.arrays[first[0]] in FLOATING or self.arrays[second[0]] in FLOATING
        test = draw.choice(("", "", "if (c[i] > 2) "))
        return f"{test}q[i][j] {draw.choice(('+=', '-='))} {self._converted(value, self.arrays['q'])};"

    def _targets(self) -> tuple[str, ...]:
        """Arrays to write, those first choice whose elements each belong to one iteration."""
        return {1: ("z", "y", "q", "d"), 2: ("q", "q", "q", "d", "z", "y")}.get(
            self.depth, ("d", "d", "d", "z")
        )

    def _inner_loop(self) -> str:
        """A sum over a short loop inside the iteration."""
        draw = self.draw
        name = draw.choice(("double", "int", "float"))
        self.private += 1
        t = f"t{self.private}"
        value = self._converted(self._value(), name)
        head = draw.choice(("int e = 0; e < 5; e++", "int e = 4; e > 0; e -= 2", "int e = 0; e < n; e++"))
        stored = self._converted((t, name in FLOATING), self.arrays["y"])
        plus = draw.choice(("x", "a"))
        extra = self._converted((f"{plus}[e]", self.arrays[plus] in FLOATING), name)
        return f"{{ {name} {t} = 0; for ({head}) {{ {t} += {value}; {t} += {extra}; }} y[i] = {stored}; }}"

    def _target(self, name: str) -> str:
        return self._element(name, ("i", "i", "i + 1", "3 * i + 1") if name == "y" else None)

    def _reduction(self) -> str:
        draw = self.draw
        name = draw.choice(("s", "s", *REDUCED))
        if name in self.used:
            return f"{self._target(self._targets()[0])} = 2;"
        self.used.add(name)
        kind = self.scalars[name]
        e = self._converted(self._value(), kind)
        whole, _ = self._operand()
        bit = f"((int)({whole}) & 15)"
        flag = f"{whole} > 2"
        bits = {"an": ("&", f"({bit} | 9)"), "of": ("|", bit), "xo": ("^", bit)}
        if name in bits:
            operator, value = bits[name]
            return draw.choice((f"{name} {operator}= {value};", f"{name} = {name} {operator} {value};"))
        match name:
            case "s":
                forms = (
                    f"s += {e};",
                    f"s -= {e};",
                    f"s = s + ({e});",
                    f"if ({self._test()}) s += {e};",
                    "s++;",
                )
            case "pr" if kind in FLOATING:
                factors = f"({self._test()} ? -1 : 1)" if self.depth > 2 else f"({self._test()} ? 2 : 0.5)"
                forms = (f"pr *= {factors};", f"pr = pr * {factors};")
            case "pr":
                forms = (f"pr *= {bit} + 1;", f"pr = pr * ({bit} | 1);")
            case "mx" | "mn":
                forms = self._extreme_forms(name, kind, e)
            case "la":
                forms = (f"la = la && {flag};", f"la = {flag} && la;")
            case _:
                forms = (f"lo = lo || {flag};", f"lo = {flag} || lo;")
        return draw.choice(forms)

    def _extreme_forms(self, name: str, kind: str, e: str) -> tuple[str, ...]:
        less, function = (">", "max") if name == "mx" else ("<", "min")
        suffix = "f" if kind == "float" else ""
        forms = (f"if (({e}) {less} {name}) {name} = {e};", f"{name} = ({e}) {less} {name} ? ({e}) : {name};")
        if kind in FLOATING:
            forms += (f"{name} = f{function}{suffix}({name}, {e});",)
        return forms

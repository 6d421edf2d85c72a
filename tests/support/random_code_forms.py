"""Rarer ways to write the numbers of random code: casts, spellings of literals, signs, conditional values.

Most regions use none or one of the groups of `Forms`, and write only some of their expressions with it, so
that what else they hold is drawn as often as without.  Each form is defined in C for the values that occur;
where it changes a value, as `(unsigned char)260` does, the recorded run of the original sees that too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from random_code_choices import Choices

CASTS = (
    (6, "int"),
    (5, "long"),
    (3, "short"),
    (2, "size_t"),
    (2, "unsigned"),
    (2, "unsigned char"),
    (1, "signed char"),
    (1, "char"),
    (1, "unsigned short"),
    (1, "long long"),
    (1, "unsigned long"),
)
"""Types of casts of integers."""

SIGNED_CASTS = ((6, "int"), (4, "long"), (3, "short"), (1, "signed char"), (1, "long long"))
"""Those that keep a number that is compared with an index that counts down to it."""

CHANGED = (
    "(unsigned char)260",
    "(short)65541",
    "(unsigned char)-250",
    "(signed char)259",
    "(int)4294967303",
    "(unsigned)4294967300",
    "(char)262",
)
"""Casts of a number that make another of it, between 3 and 7."""

MIXED_SCALARS = (
    ("h", "short", "3"),
    ("u8", "unsigned char", "200"),
    ("big", "long long", "5"),
    ("f", "float", "0.5f"),
)
"""Scalars of types in which C does not compute, or seldom."""

PLACE_SCALARS = (
    ("at", "int", "0"),
    ("low", "unsigned char", "1"),
    ("near", "short", "2"),
    ("tiny", "signed char", "0"),
    ("wide", "long", "3"),
)
"""Scalars that hold subscripts, and those too short to hold every one."""

_LITERAL = re.compile(r"(?<![\w.@\\'])(\d+)(?![\w.{])")
_DECIMAL = re.compile(r"(?<![\w.])(\d+\.\d+)(?![\w.])")
_ATOM = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Forms:
    """The groups of rare forms that a region uses."""

    casts: bool = False
    literals: bool = False
    conditionals: bool = False
    headers: bool = False
    signs: bool = False
    mixed: bool = False
    places: bool = False

    def start(self, choose: Choices, text: str, *, signed: bool) -> str:
        """The start of a loop, perhaps in another form."""
        if self.casts and choose.chance(25):
            text = _cast(choose, text, SIGNED_CASTS if signed else CASTS)
        if self.conditionals and choose.chance(25):
            text = choose.pick(
                [f"({text} > 1 ? {text} : 1)", f"(m > 3 ? {text} : 1)", f"({text} < 0 ? 0 : {text})"]
            )
        return self._signed(choose, self._spelled(choose, text, whole=True))

    def bound(self, choose: Choices, text: str, *, signed: bool) -> str:
        """The bound of a loop, perhaps in another form; `signed` asks for one that is no unsigned number."""
        if self.casts and choose.chance(40):
            kinds = SIGNED_CASTS if signed else CASTS
            options = [(12, _cast(choose, text, kinds)), (2, choose.pick(CHANGED[:5]))]
            options += [(1, "(int)sizeof(double)"), (1, f"(double)({text}) / 2"), (1, f"({text}) * 0.75")]
            options += [
                (1, f"(int)(({text}) * 0.75)"),
                (1, f"(long){text}"),
                (1, f"{_in_brackets(text)} - (short)1"),
            ]
            options += [] if signed else [(2, "sizeof(double)"), (1, "sizeof(int) + m")]
            text = choose.weighted(*options)
        if self.conditionals and choose.chance(35):
            text = choose.pick(
                [
                    f"({text} < 9 ? {text} : 9)",
                    f"(n > m ? m : {text})",
                    f"(n < m ? (n < 7 ? n : 7) : (m < 5 ? m : {text}))",
                    f"(m < 3 ? 3 : {text})",
                    f"(n > 4 && m > 2 ? {text} : 2)",
                    f"({text} > 6 ? ({text} > 11 ? 11 : {text}) : 6)",
                ]
            )
        return self._signed(choose, self._spelled(choose, text, whole=True))

    def step(self, choose: Choices, name: str, stride: int, sign: str, text: str) -> str:
        """The step of a loop, perhaps in another form."""
        if not self.headers or not choose.chance(50):
            return self._spelled(choose, text)
        other = "+" if sign == "-" else "-"
        options = [f"{name} {other}= -{stride}", f"{name} = {name} {other} -{stride}"]
        options += [f"{name} = -{stride} + {name}" if sign == "-" else f"{name} = {stride} + {name}"]
        return self._spelled(choose, choose.pick(options))

    def unequal(self, choose: Choices) -> bool:
        """Whether a loop that counts up by one has a test `!=`."""
        return self.headers and choose.chance(12)

    def subscript(self, choose: Choices, text: str, x: str, y: str) -> str:
        """A subscript that is drawn as `text`, of the indices `x` and `y`, perhaps in another form."""
        if self.casts and choose.chance(25):
            near = re.sub(rf"\b{x}\b", _cast(choose, x, CASTS), text, count=1)
            options = [(8, _cast(choose, text, CASTS)), (5, near), (1, f"{x} + {choose.pick(CHANGED)}")]
            options += [(1, f"(int)({x} * 1.0)"), (1, f"(int)(0.5 * {x})"), (1, f"{x} + (int)sizeof(char)")]
            options += [(1, f"{x} + sizeof(short)"), (1, f"(long)(int){_in_brackets(text)}")]
            return choose.weighted(*options)
        if self.conditionals and choose.chance(20):
            options = [
                f"({x} > 3 ? {x} : 3)",
                f"({x} < n ? {x} : n)",
                f"{x} + ({y} > 2)",
                f"{y} > 2 ? {text} : {x}",
            ]
            options += [
                f"{x} % 4 + 4",
                f"({x} & 7)",
                f"{x} / 2",
                f"({x} < 4 ? ({x} < 0 ? 0 : {x}) : 4) + {y}",
            ]
            return choose.pick(options)
        if self.signs and choose.chance(20):
            return choose.pick(
                [f"+{_in_brackets(text)}", f"{x} + !{y}", f"-(-{x})", f"{x} - -1", f"-1 + {x}"]
            )
        return self._spelled(choose, text)

    def real(self, choose: Choices, text: str, one: str, index: str, *, exact: bool) -> str:
        """A floating-point value drawn as `text`; if `exact`, without what makes rounding errors larger."""
        if self.casts and choose.chance(25):
            kind = choose.weighted(*CASTS)
            options = [
                f"(double){index} * 0.25 + {one}",
                f"({kind})({index}) + {one}",
                f"(unsigned char)({index} + 250) * {one}",
                f"{one} + (double)({index} / 2)",
                f"{one} + (double)n / 2",
                f"{one} / (int)sizeof(int)",
                f"{choose.pick(CHANGED)} * {one}",
                f"(double)({text})",
            ]
            if not exact:
                options += [f"(float)({text})", f"(float)({index}) / 3 + {one}", f"(double)(float){one}"]
                options += [f"{self.clamped(choose, one)} * 0.5 + {one}"]
            return choose.pick(options)
        if self.signs and choose.chance(25):
            options = [f"+{one}", f"-(-{one})", f"!{index} + {one}", f"({index} > 1) - {one}", f"-({text})"]
            return choose.pick(options)
        if self.conditionals and choose.chance(20):
            return choose.pick([f"({index} > 3 ? {text} : {one})", f"{one} * ({index} % 2 ? 0.5 : 2)"])
        return self._spelled(choose, text)

    def whole(self, choose: Choices, text: str, one: str, index: str) -> str:
        """An integer of a small value, drawn as `text`, perhaps in another form."""
        if self.casts and choose.chance(35):
            options = [
                f"(unsigned char)({text})",
                f"(short)({text})",
                f"(int){one} % 77",
                f"(signed char){one} / 2",
                f"(long){one} % 77L",
                f"(unsigned short)({one} + {index}) % 91",
                f"(char)({text})",
                f"{one} % (int)sizeof(double)",
            ]
            return choose.pick(options)
        if self.signs and choose.chance(25):
            return choose.pick(
                [f"+({text})", f"!{one} + {index} % 3", f"~{one} & 7", f"-({one} & 63)", f"{one} % 9 ^ 5"]
            )
        return self._spelled(choose, text)

    def condition(self, choose: Choices, text: str, x: str, y: str) -> str:
        """A condition drawn as `text`, perhaps in another form."""
        if self.casts and choose.chance(35):
            kind = choose.weighted(*CASTS)
            options = [f"({kind}){x} % 2 == 0", f"({kind})({x} - {y}) < 2", f"(unsigned char)({x} - 3) > 4"]
            return choose.pick(
                [*options, f"{x} > {choose.pick(CHANGED)}", f"(double){x} / 2 > 1.5", f"(int)({text})"]
            )
        if self.signs and choose.chance(35):
            return choose.pick(
                [f"!({text})", f"{x}", f"!{x}", f"-{x} < -2", f"({x} > 2) == ({y} > 2)", f"{x} && !{y}"]
            )
        if self.conditionals and choose.chance(25):
            return choose.pick(
                [f"({text}) || {x} == 2", f"{x} > 2 ? {text} : {y} < 5", f"!({text}) && {y} != 3"]
            )
        return self._spelled(choose, text)

    def clamped(self, choose: Choices, one: str) -> str:
        """A floating-point number as a small integer."""
        return f"({choose.pick(['int', 'long', 'signed char', 'short'])})fmin(fmax({one}, -8.0), 8.0)"

    def number(self, choose: Choices, text: str) -> str:
        """A number, perhaps spelled in another way."""
        return self._spelled(choose, text)

    def _signed(self, choose: Choices, text: str) -> str:
        if self.signs and choose.chance(20):
            return choose.pick([f"+{_in_brackets(text)}", f"-(-{_in_brackets(text)})", f"{text} - !m"])
        return text

    def _spelled(self, choose: Choices, text: str, *, whole: bool = False) -> str:
        if not self.literals:
            return text
        text = _LITERAL.sub(lambda found: _spelling(choose, found), text)
        return text if whole else _DECIMAL.sub(lambda found: _decimal(choose, found[1]), text)


NO_FORMS = Forms()


def random_forms(choices: Choices) -> Forms:
    """The rare forms of a region: in two of five cases none."""
    return Forms(
        casts=choices.chance(22),
        literals=choices.chance(12),
        conditionals=choices.chance(12),
        headers=choices.chance(12),
        signs=choices.chance(10),
        mixed=choices.chance(14),
        places=choices.chance(14),
    )


def _cast(choose: Choices, text: str, kinds: tuple[tuple[int, str], ...]) -> str:
    inner = _in_brackets(text)
    again = f"({choose.weighted(*kinds)})" if choose.chance(10) else ""
    return f"({choose.weighted(*kinds)}){again}{inner}"


def _in_brackets(text: str) -> str:
    return text if _ATOM.fullmatch(text) else f"({text})"


def _spelling(choose: Choices, found: re.Match[str]) -> str:
    """A literal of the same value; one of two that are chosen from has a sign, as the other one is a variable that has."""
    digits = found[1]
    if not choose.chance(55):
        return digits
    value = int(digits)
    options = [(4, f"0x{value:X}"), (2, f"0{value:o}"), (3, f"{value}L"), (2, f"{value}u"), (1, f"{value}UL")]
    options += [(1, f"{value}LL"), (1, f"0x{value:x}L"), *([(2, f"'\\{value:o}'")] if value < 128 else [])]
    spelled = choose.weighted(*options)
    is_chosen = found.string[: found.start()].endswith(": ")
    return digits if is_chosen and "u" in spelled.lower() else spelled


def _decimal(choose: Choices, digits: str) -> str:
    """A floating-point literal of about the same value."""
    if not choose.chance(40):
        return digits
    other = {"0.5": "0x1p-1", "0.25": "0x1p-2", "1.0": "1.", "0.001": "1e-3"}.get(digits, digits)
    return choose.pick([other, f"{digits}f", f"{digits}e0", f"{digits}L"])

"""Values of C expressions: against the compiler on random expressions, and case by case."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from orio_py.core.source import SourceFile
from orio_py.ctree.ctype import INT, UNSIGNED
from orio_py.ctree.evaluate import NoValueError, Number, combine, convert, evaluate, number_type
from orio_py.ctree.nodes import Node
from orio_py.ctree.parse import parse_statements

VARIABLES = {
    "c": Number(number_type("signed char"), -7),
    "uc": Number(number_type("unsigned char"), 250),
    "s": Number(number_type("short"), -300),
    "i": Number(number_type("int"), 12345),
    "j": Number(number_type("int"), -3),
    "u": Number(number_type("unsigned int"), 4000000000),
    "k": Number(number_type("long"), -5000000000),
    "m": Number(number_type("unsigned long"), 2**63 + 5),
    "f": Number(number_type("float"), 0.10000000149011612),
    "d": Number(number_type("double"), -2.75),
}
CONSTANTS = ("1", "7", "0x1F", "010", "3u", "5L", "9UL", "2147483648", "0.5", "1.5f", "1e3", "'A'")
INTEGER_TYPES = ("signed char", "unsigned short", "int", "unsigned", "long", "size_t")


def parsed(text: str) -> Node:
    block = parse_statements(f"x = {text};", source=SourceFile("t.c", b""), start=0)
    return block.block_items[0].rvalue


def value(text: str) -> Number:
    return evaluate(parsed(text), VARIABLES.__getitem__)


def random_expression(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice([*VARIABLES, *CONSTANTS])
    left, right = random_expression(rng, depth - 1), random_expression(rng, depth - 1)
    match rng.randrange(8):
        case 0:
            return f"({rng.choice('+-!')}{left})"
        case 1:
            return f"(({rng.choice([*INTEGER_TYPES, 'float', 'double'])}){left})"
        case 2:
            third = random_expression(rng, depth - 1)
            return f"({left} {rng.choice(['<', '<=', '==', '!='])} {right} ? {left} : {third})"
        case 3:
            return f"((long){rng.choice(['i', 'j', 'k', 's'])} {rng.choice('/%')} {rng.choice(['i', 'j', '7', 'uc'])})"
        case 4:
            operator = rng.choice(["&", "|", "^", "<< 3", ">> 2"])
            whole = f"((int){rng.choice(['i', 'j', 's', 'uc'])}) {operator}"
            return f"({whole})" if operator[0] in "<>" else f"({whole} {rng.choice(['i', 'u', 'k', '0x1F'])})"
        case 5:
            return f"({left} {rng.choice(['&&', '||'])} {right})"
        case _:
            return f"({left} {rng.choice('+-*')} {right})"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_values_are_those_of_the_compiler(tmp_path: Path) -> None:
    """Random expressions; conversions of floating values that do not fit, which C leaves open, are left out."""
    rng = random.Random(20261122)
    expected: list[tuple[str, Number]] = []
    while len(expected) < 400:
        text = random_expression(rng, 3)
        if _is_open(text):
            continue
        try:
            expected.append((text, value(text)))
        except NoValueError:
            continue
    declared = "".join(
        f"volatile {n.type.words} {name} = {n.value!r};\n".replace(str(2**63 + 5), f"{2**63 + 5}UL")
        for name, n in VARIABLES.items()
    )
    kind = (
        '_Generic((X), int: "int", unsigned: "unsigned int", long: "long", unsigned long: "unsigned long", \
float: "float", double: "double", default: "other")'
    )
    shown = '_Generic((X), float: "%s %a\\n", double: "%s %a\\n", unsigned long: "%s %lu\\n", default: "%s %ld\\n")'
    wide = "_Generic((X), float: (double)(X), double: (X), unsigned long: (X), default: (long)(X))"
    lines = "".join(f"  SHOW({text});\n" for text, _ in expected)
    code = f"""#include <stdio.h>
#include <stddef.h>
{declared}
#define SHOW(X) printf({shown}, {kind}, {wide})
int main(void) {{
{lines}  return 0;
}}
"""
    (tmp_path / "t.c").write_text(code)
    flags = ["-w", "-O0", "-fwrapv", "-ffp-contract=off"]
    subprocess.run(["gcc", *flags, "-o", "t", "t.c"], cwd=tmp_path, check=True, timeout=120)
    told = subprocess.run(
        [str(tmp_path / "t")], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    wrong = [
        (text, found, line)
        for (text, found), line in zip(expected, told, strict=True)
        if _shown(found) != _read(line)
    ]
    assert wrong == []


def _is_open(text: str) -> bool:
    """Whether a floating value is cast to an integer type, or may be."""
    return any(f"({kind})" in text for kind in INTEGER_TYPES) and any(
        name in text for name in ("f)", "d)", "f ", "d ", ".", "e3")
    )


def _shown(number: Number) -> tuple[str, float | int]:
    """The type as the program names it, and the value."""
    words = "unsigned int" if number.type == UNSIGNED else number.type.words
    return "other" if number.type.is_narrow else words, number.value


def _read(line: str) -> tuple[str, float | int]:
    name, text = line.rsplit(" ", 1)
    return name, float.fromhex(text) if name in ("float", "double") else int(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("j / 2", Number(number_type("int"), -1)),
        ("j % 2", Number(number_type("int"), -1)),
        ("u + 1000000000", Number(number_type("unsigned int"), 705032704)),
        ("i * 1000000", Number(number_type("int"), -539901888)),
        ("sizeof(double) * 2", Number(number_type("unsigned long"), 16)),
        ("(char)300", Number(number_type("char"), 44)),
        ("fmax(d, 1)", Number(number_type("double"), 1.0)),
        ("sqrtf(2.25f)", Number(number_type("float"), 1.5)),
        ("j != 0 && 7 / j < 0", Number(number_type("int"), 1)),
        ("0 && 1 / 0", Number(number_type("int"), 0)),
        ("1 ? 2 : 1 / 0", Number(number_type("int"), 2)),
        ("1 ? 2 : 1.5 / (j / 0)", Number(number_type("double"), 2.0)),
        ("sizeof(j / 0)", Number(number_type("size_t"), 4)),
        ("d / 0.0", Number(number_type("double"), float("-inf"))),
    ],
)
def test_a_value(text: str, expected: Number) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    "text", ["1 / 0", "1 % 0", "i++", "a[1]", "unknown(1)", "i << 40", "~d", "d % 2", "&i", "(struct s *)0"]
)
def test_what_has_no_value(text: str) -> None:
    with pytest.raises(NoValueError):
        value(text)


def test_types_have_one_spelling() -> None:
    kinds = [number_type(t).words for t in ("unsigned", "long long int", "uint8_t", "const double", "char")]
    assert kinds == ["unsigned", "long", "unsigned char", "double", "signed char"]
    with pytest.raises(NoValueError, match="`struct s` is no number"):
        number_type("struct s")


def test_infinity_is_no_integer() -> None:
    with pytest.raises(NoValueError, match="inf has no value as `int`"):
        convert(Number(number_type("double"), float("inf")), INT)


def test_numbers_are_combined_in_the_wider_type() -> None:
    assert combine("+", Number(number_type("float"), 0.5), Number(number_type("int"), 1)) == Number(
        number_type("float"), 1.5
    )

"""Arguments of transformations: what is taken, what is refused, and with which code."""

from __future__ import annotations

from typing import Any

import pytest

from orio_py.transformation import arguments
from orio_py.transformation.base import Refusal
from orio_py.transformation.loop_names import LoopName

OUTER, INNER = LoopName(("i",)), LoopName(("j",))


@pytest.mark.parametrize(
    ("converter", "value", "expected"),
    [
        (arguments.positive_int, 1, 1),
        (arguments.positive_int, 2, 2),
        (arguments.boolean, True, True),
        (arguments.boolean, False, False),
        (arguments.boolean, 1, True),
        (arguments.boolean, 0, False),
        (arguments.text, "i", "i"),
        (arguments.new_index, "_i2", "_i2"),
        (arguments.texts, "i", ("i",)),
        (arguments.texts, "", ()),
        (arguments.texts, ["i", " ", "j"], ("i", "j")),
        (arguments.texts, ("i",), ("i",)),
        (arguments.texts, [], ()),
        (arguments.loop_name, "i", OUTER),
        (arguments.loop_name, ("ii", "i"), LoopName(("ii", "i"))),
        (arguments.loop_name, ["i"], LoopName(("i",), optional=True)),
        (arguments.sequence, ["i", "j"], (OUTER, INNER)),
        (arguments.sequence, ("i",), (OUTER,)),
        (arguments.sequences, [["i", "j"]], ((OUTER, INNER),)),
        (arguments.sequences, (("i",), ("j",)), ((OUTER,), (INNER,))),
        (arguments.sequences, [], ()),
        (arguments.unroll_factors, (["i", "j"], [4, 2]), (("i", 4), ("j", 2))),
        (arguments.unroll_factors, [("i",), (4,)], (("i", 4),)),
        (arguments.unroll_factors, ([], []), ()),
    ],
)
def test_taken(converter: Any, value: Any, expected: object) -> None:
    result = converter(value, "key")
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("converter", "value", "code"),
    [
        (arguments.positive_int, True, "ORIO-T010"),
        (arguments.positive_int, 1.0, "ORIO-T010"),
        (arguments.positive_int, "1", "ORIO-T010"),
        (arguments.positive_int, 0, "ORIO-T011"),
        (arguments.positive_int, -1, "ORIO-T011"),
        (arguments.boolean, 2, "ORIO-T010"),
        (arguments.boolean, -1, "ORIO-T010"),
        (arguments.boolean, 1.0, "ORIO-T010"),
        (arguments.boolean, "True", "ORIO-T010"),
        (arguments.text, 4, "ORIO-T010"),
        (arguments.text, ["i"], "ORIO-T010"),
        (arguments.new_index, 4, "ORIO-T010"),
        (arguments.new_index, "2i", "ORIO-T013"),
        (arguments.new_index, "i j", "ORIO-T013"),
        (arguments.texts, 4, "ORIO-T010"),
        (arguments.texts, ["i", 4], "ORIO-T010"),
        (arguments.loop_name, 4, "ORIO-T010"),
        (arguments.loop_name, (), "ORIO-T010"),
        (arguments.loop_name, [], "ORIO-T010"),
        (arguments.loop_name, ("i", 4), "ORIO-T010"),
        (arguments.sequence, "ij", "ORIO-T010"),
        (arguments.sequence, [], "ORIO-T010"),
        (arguments.sequence, 4, "ORIO-T010"),
        (arguments.sequence, ["i", 4], "ORIO-T010"),
        (arguments.sequences, "ij", "ORIO-T010"),
        (arguments.sequences, ["i", "j"], "ORIO-T010"),
        (arguments.sequences, [["i"], "j"], "ORIO-T010"),
        (arguments.sequences, 4, "ORIO-T010"),
        (arguments.sequences, [[]], "ORIO-T010"),
        (arguments.unroll_factors, (["i", "j"], [4]), "ORIO-T010"),
        (arguments.unroll_factors, (["i"], [4, 2]), "ORIO-T010"),
        (arguments.unroll_factors, (["i"],), "ORIO-T010"),
        (arguments.unroll_factors, (["i"], [4], [4]), "ORIO-T010"),
        (arguments.unroll_factors, ("i", [4]), "ORIO-T010"),
        (arguments.unroll_factors, (["i"], 4), "ORIO-T010"),
        (arguments.unroll_factors, "ab", "ORIO-T010"),
        (arguments.unroll_factors, ([1], [4]), "ORIO-T010"),
        (arguments.unroll_factors, (["i"], ["4"]), "ORIO-T010"),
        (arguments.unroll_factors, (["i"], [True]), "ORIO-T010"),
        (arguments.unroll_factors, (["i", "i"], [4, 2]), "ORIO-T016"),
    ],
)
def test_refused(converter: Any, value: Any, code: str) -> None:
    with pytest.raises(Refusal) as caught:
        converter(value, "key")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert caught.value.argument == "key"

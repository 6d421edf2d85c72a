"""Refusals of Skew, of Tile for bands, and of Permut for bounds that depend on each other.

Each has its code and the place that it names (marked by `@` in the code).
"""

from __future__ import annotations

import pytest
from c_trees import context, statement

from orio_py.core.diagnostics import Diagnostic
from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Context, Refusal, Transformation
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.loop_names import LoopName
from orio_py.transformation.tiling.permute import Permut
from orio_py.transformation.tiling.skew import Skew
from orio_py.transformation.tiling.tile import Tile

DECLARATIONS = """int i, j, k, t, n, m, w, *row; unsigned u, v, q, r; long l; short h; double x, s, a[99], b[99], c[9][9];
volatile int z;"""

FOR_I = "for (i = 0; i < n; i++)"
FOR_J = "for (j = 0; j < m; j++)"


def names(*loops: str) -> tuple[LoopName, ...]:
    return tuple(LoopName((loop,)) for loop in loops)


def band(*sizes: int, loops: str = "ij", force: bool = False) -> Tile:
    return Tile(sizes, tuple(loop * 2 for loop in loops), names(*loops), force)


BAND = band(4, 8)
JI = Permut(names("j", "i"))
SKEW = Skew("j", "i")

CASES: tuple[tuple[Transformation, str, str], ...] = (
    (Skew("k", "i"), "ORIO-T015", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (Skew("j", "k"), "ORIO-T015", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (Skew("i", "j"), "ORIO-T082", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (Skew("i", "i"), "ORIO-T082", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (SKEW, "ORIO-T030", f"@{FOR_I} {{ a[i] = 0; {FOR_J} c[i][j] = 0; }}"),
    (SKEW, "ORIO-T022", "for (i = 0; i < n; i++) @for (double j = 0; j < n; j += 1) s += j;"),
    (SKEW, "ORIO-T022", f"@for (double i = 0; i < n; i += 1) {FOR_J} c[0][j] = i;"),
    (SKEW, "ORIO-T024", f"{FOR_I} {FOR_J} @j = j + 1;"),
    (SKEW, "ORIO-T024", f"{FOR_I} {FOR_J} @i = i + 1;"),
    (SKEW, "ORIO-T027", f"{FOR_I} for (j = @j; j < n; j++) c[i][j] = 0;"),
    (Skew("h", "i"), "ORIO-T080", f"{FOR_I} @for (h = 0; h < n; h++) c[i][h] = 0;"),
    (Skew("j", "l"), "ORIO-T080", "for (l = 0; l < n; l++) @for (j = 0; j < n; j++) c[l][j] = 0;"),
    (Skew("j", "u"), "ORIO-T080", "for (u = 0; u < n; u++) @for (j = 0; j < n; j++) c[u][j] = 0;"),
    (Skew("u", "v", -1), "ORIO-T080", "for (v = 0; v < 9; v++) @for (u = 0; u < 9; u++) c[u][v] = 0;"),
    (SKEW, "ORIO-T080", f"{FOR_I} @for (j = 0; j < u; j++) c[i][j] = 0;"),
    (SKEW, "ORIO-T081", f"{FOR_I} @for (j = 0; j < m; j++) {{ int i = 4; c[i][j] = i; }}"),
    (Tile((4, 8), ("ii", "jj")), "ORIO-T010", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (Tile((4,), ("ii", "jj"), names("i", "j")), "ORIO-T010", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (Tile(4, "ii", names("i", "j")), "ORIO-T010", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (band(0, 8), "ORIO-T011", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (Tile((4, 8), ("ii", "ii"), names("i", "j")), "ORIO-T013", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (Tile((4, 8), ("ii", "i"), names("i", "j")), "ORIO-T013", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (Tile((4, 8), ("ii", "n"), names("i", "j")), "ORIO-T013", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (BAND, "ORIO-T014", f"{FOR_I} @for (j = 0; j < n; j += 3) c[i][j] = 0;"),
    (band(4, 8, loops="ik"), "ORIO-T015", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (band(4, 8, loops="ii"), "ORIO-T016", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (BAND, "ORIO-T022", f"{FOR_I} @for (double j = 0; j < n; j += 1) c[i][0] = j;"),
    (BAND, "ORIO-T024", f"{FOR_I} {FOR_J} @j = j + 1;"),
    (BAND, "ORIO-T025", f"{FOR_I} {FOR_J} {{ if (a[i] > 0) @break; }}"),
    (BAND, "ORIO-T027", f"{FOR_I} {FOR_J} @m = 4;"),
    (BAND, "ORIO-T027", f"{FOR_I} @for (j = row[i]; j < n; j++) row[j] = 4;"),
    (BAND, "ORIO-T028", f"{FOR_I} for (j = 0; j < @g(n); j++) c[i][j] = 4;"),
    (BAND, "ORIO-T030", f"@{FOR_I} {{ a[i] = 0; {FOR_J} c[i][j] = 0; }}"),
    (band(4, 8, loops="ji"), "ORIO-T030", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (band(4, 8, loops="ik"), "ORIO-T030", f"@{FOR_I} {FOR_J} for (k = 0; k < n; k++) c[i][j] = 0;"),
    (BAND, "ORIO-T031", f"{FOR_I} @for (j = row[i]; j < row[i + 1]; j++) c[i][j] = 0;"),
    (BAND, "ORIO-T031", f"{FOR_I} @for (j = i; j < n; j += 2) c[i][j] = 0;"),
    (BAND, "ORIO-T031", f"{FOR_I} @for (j = i; j < u; j++) c[i][j] = 0;"),
    (BAND, "ORIO-T031", "for (int i = 0; i < n; i++) @for (int j = (int)sizeof(i); j > 0; j--) c[i][j] = 0;"),
    (band(4, 4, loops="ih"), "ORIO-T031", f"{FOR_I} @for (h = i; h < n; h++) c[i][h] = 0;"),
    (band(4, 4, loops="uv"), "ORIO-T031", "for (u = 0; u < 9; u++) @for (v = u; v > 0; v--) c[u][v] = 0;"),
    (band(4, 4, loops="uv"), "ORIO-T031", "@for (u = m; u > 0; u--) for (v = u; v < 9; v++) c[u][v] = 0;"),
    (
        BAND,
        "ORIO-T040",
        f"{FOR_I} {FOR_J} @c[i][j] = c[i - 1][j + 1] + c[i][j];",
    ),
    (BAND, "ORIO-T040", f"{FOR_I} {FOR_J} @s += c[i][j];"),
    (BAND, "ORIO-T041", f"{FOR_I} {FOR_J} @a[i * j] = a[i + j];"),
    (JI, "ORIO-T031", f"@{FOR_I} for (j = row[i]; j < row[i + 1]; j++) c[i][j] = 0;"),
    (JI, "ORIO-T031", "@for (i = 0; i < n; i += 2) for (j = 0; j < i; j++) c[i][j] = 0;"),
    (JI, "ORIO-T031", f"{FOR_I} @for (j = i; j < n; j += 2) c[i][j] = 0;"),
    (JI, "ORIO-T031", f"{FOR_I} @for (j = i; j < u; j++) c[i][j] = 0;"),
    (
        Permut(names("h", "i")),
        "ORIO-T031",
        f"@{FOR_I} for (h = 2 * i; h < 2 * i + n; h++) c[i][h - 2 * i] = 0;",
    ),
    (JI, "ORIO-T031", "@for (i = w; i < n; i++) for (j = -m; j < 2 * i; j++) c[i][j] = 0;"),
    (
        Permut(names("v", "u")),
        "ORIO-T031",
        "for (u = 0; u < 9; u++) @for (v = 0; v < u - 4; v++) c[u][v] = 0;",
    ),
    (
        Permut(names("v", "u")),
        "ORIO-T031",
        "for (u = 1; u < q; u++) @for (v = u + r; v > 0; v--) c[u][v] = 0;",
    ),
    (JI, "ORIO-T040", f"{FOR_I} for (j = 0; j <= i; j++) @c[i + 1][j] = c[i][j + 1];"),
    (JI, "ORIO-T041", f"{FOR_I} for (j = 0; j <= i; j++) @a[i * j] = a[i + j];"),
)


def around(live: str = "a b c s x", **fields: object) -> Context:
    return context(DECLARATIONS, live=live, **fields)


def refusal_of(transformation: Transformation, text: str, inner: Context) -> Diagnostic:
    node = statement(text)
    before = structure_digest(node)
    with pytest.raises(Refusal) as caught:
        transformation.apply(node, inner)
    assert structure_digest(node) == before
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


@pytest.mark.parametrize(("transformation", "code", "text"), CASES)
def test_refusal(transformation: Transformation, code: str, text: str) -> None:
    diagnostic = refusal_of(transformation, text.replace("@", ""), around())
    assert diagnostic.code == code, diagnostic.headline()
    assert diagnostic.position is not None
    place = (diagnostic.position.line, diagnostic.position.column)
    assert place == (1, text.index("@") + 1), diagnostic.headline()


@pytest.mark.parametrize(
    ("transformation", "text"),
    [
        (Tile(4, "ii"), "@for (i = 0; i < s; i++) a[i] = 0;"),
        (Tile(4, "ii"), "@for (i = row[0]; i < n; i++) row[i] = 0;"),
        (band(4, 4, loops="ij"), f"{FOR_I} for (j = i; j < n; j++) @for (k = 0; k < n; k++) c[i][j] = k;"),
        (JI, f"{FOR_I} for (j = 0; j < i; j++) @for (k = 0; k < n; k++) c[i][j] = k;"),
    ],
)
def test_final_index_that_cannot_be_written(transformation: Transformation, text: str) -> None:
    diagnostic = refusal_of(transformation, text.replace("@", ""), around("i j k a c"))
    assert diagnostic.code == "ORIO-T029"
    assert diagnostic.position is not None
    assert diagnostic.position.column == text.index("@") + 1


def test_a_jump_leaves_no_final_index() -> None:
    text = f"{FOR_I} {FOR_J} {{ if (a[j] > 0) break; a[j] = 1; }}"
    assert refusal_of(SKEW, text, around("j a")).code == "ORIO-T025"
    assert "a[j - i] > 0" in emit(SKEW.apply(statement(text), around("a")))


def test_permut_names_a_legal_order() -> None:
    text = f"{FOR_I} {FOR_J} for (k = 0; k < n; k++) b[k + i] = b[k + i] + d[i][j];"
    refused = refusal_of(Permut(names("k", "j", "i")), text, around())
    assert refused.code == "ORIO-T040"
    assert refused.help == "legal here: seq=['i', 'k', 'j']"


def test_permut_names_no_order_where_none_is_legal() -> None:
    text = f"{FOR_I} {FOR_J} c[i][j] = c[i - 1][j + 1];"
    refused = refusal_of(JI, text, around())
    assert (refused.code, refused.help) == ("ORIO-T040", None)


@pytest.mark.parametrize(
    ("loops", "body", "advice"),
    [
        ("ij", "c[i][j] = c[i - 1][j + 1] + c[i][j - 1];", "Skew(loop='j', by='i')"),
        ("ij", "c[i][j] = c[i - 1][j + 2] + c[i][j - 1];", "Skew(loop='j', by='i', factor=2)"),
        (
            "tij",
            "c[i][j] += c[i + 1][j] + c[i][j + 1];",
            "Skew(loop='i', by='t'), then Skew(loop='j', by='t')",
        ),
    ],
)
def test_tile_names_the_skews_that_make_it_legal(loops: str, body: str, advice: str) -> None:
    headers = {"t": "for (t = 0; t < w; t++)", "i": FOR_I, "j": FOR_J}
    text = " ".join(headers[loop] for loop in loops) + " " + body
    refused = refusal_of(band(*(4 for _ in loops), loops=loops), text, around())
    assert refused.code == "ORIO-T040"
    assert refused.help == f"legal after {advice}"


def test_tile_names_no_skew_where_none_helps() -> None:
    refused = refusal_of(BAND, f"{FOR_I} {FOR_J} a[m - j] = a[j] * 0.5 + i;", around())
    assert (refused.code, refused.help) == ("ORIO-T040", None)


def test_force_and_promises_overrule_dependences() -> None:
    text = f"{FOR_I} {FOR_J} s += c[i][j];"
    inner = around()
    band(4, 4, force=True).apply(statement(text), inner)
    assert len(inner.overruled.texts) == 1
    promised = around(assumptions=Assumptions(reassociate=True))
    band(4, 4).apply(statement(text), promised)
    JI.apply(statement(text), promised)
    assert promised.overruled.texts == ()


@pytest.mark.parametrize(
    ("transformation", "text"),
    [
        (Skew("j", "i", 0), f"{FOR_I} {FOR_J} c[i][j] = 0;"),
        (band(1, 1), f"{FOR_I} {FOR_J} c[i][j] = 0;"),
        (Tile((4,), ("kk",), (LoopName(("k",), optional=True),)), f"{FOR_I} {FOR_J} c[i][j] = 0;"),
    ],
)
def test_identities_return_the_same_object(transformation: Transformation, text: str) -> None:
    node = statement(text)
    assert transformation.apply(node, around()) is node


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Skew", {"loop": "j", "by": "i", "factor": True}),
        ("Skew", {"loop": "j", "by": "i", "factor": "1"}),
        ("Skew", {"loop": ["j"], "by": "i"}),
        ("Tile", {"tsize": ["4"], "tindex": ["ii"], "loops": ["i"]}),
        ("Tile", {"tsize": [4], "tindex": [4], "loops": ["i"]}),
        ("Tile", {"tsize": [4], "tindex": ["ii"], "loops": "i"}),
    ],
)
def test_arguments_of_the_wrong_type(name: str, values: dict[str, object]) -> None:
    with pytest.raises(Refusal) as caught:
        TRANSFORMATIONS[name].make(values)  # type: ignore[arg-type]
    assert [d.code for d in caught.value.diagnostics] == ["ORIO-T010"]

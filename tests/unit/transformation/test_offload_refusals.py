"""What kernels for devices refuse, with code and place (marked by `@` in the code)."""

from __future__ import annotations

import pytest
from c_trees import context, statement

from orio_py.codegen.languages import device_programs
from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.expr import Value
from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.kernel.call import kernel_plans
from orio_py.kernel.plan import Distribution, Layout, Layouts
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.offload.opencl import OpenCL

DECLARATIONS = """int i, j, n, m, t, count, row[99]; unsigned u; double s, a[99], b[99], c[9][9], *p, **rows;
double *restrict x, *restrict y; long double wide[9], big; volatile double hot; struct point { double v; } at[9]; struct pair { int k; double v; } both[9];
struct grid { double *u; int n; } g; struct four { double v[4]; } *fours;
struct node { double v; struct node *next; } *nodes; struct far { long double v; int k; } *fars; struct yes { _Bool b; int k; } *yeses;
struct pair *lone; struct wide { int k; double v[2][2]; } *wides;
_Bool flag, flags[9]; unsigned char bytes[99], *restrict open; int long_marks[5000];"""
FOR_I = "for (i = 0; i < n; i++)"
NEST = f"{FOR_I} for (j = 0; j < m; j++)"

ROW = f"{FOR_I} {{ for (j = 0; j < m; j++)"

WIDE = OpenCL(vectorWidth=4)
ROWS = OpenCL(rowThreads=8)


def around(live: str = "a b c x y p s count flag", **fields: object) -> Context:
    assumptions = fields.pop("assumptions", Assumptions(reassociate=True))
    return context(DECLARATIONS, live=live, assumptions=assumptions, **fields)


def assert_refused(transformation: OpenCL, code: str, text: str, inner: Context) -> Refusal:
    node = statement(text.replace("@", ""))
    before = structure_digest(node)
    with pytest.raises(Refusal) as caught:
        transformation.apply(node, inner)
    assert structure_digest(node) == before
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code, diagnostic.headline()
    assert diagnostic.position is not None
    found = diagnostic.position.line, diagnostic.position.column
    assert found == (1, text.index("@") + 1), diagnostic.headline()
    return caught.value


CASES: tuple[tuple[OpenCL, str, str], ...] = (
    (OpenCL(coarsen=0), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (OpenCL(dataOnDevice=True, streamCount=2), "ORIO-T144", f"@{FOR_I} a[i] = 0;"),
    (OpenCL(dataOnDevice=True, layout=Layout.COLUMN), "ORIO-T144", f"@{NEST} c[i][j] = 0;"),
    (OpenCL(dataOnDevice=True), "ORIO-T144", f"@{FOR_I} s += a[i];"),
    (OpenCL(loop="k"), "ORIO-T015", f"@{FOR_I} a[i] = 0;"),
    (OpenCL(), "ORIO-T020", "@while (n--) t++;"),
    (OpenCL(), "ORIO-T021", "@for (i = 0; i != n; i += 2) a[i] = 0;"),
    (OpenCL(), "ORIO-T021", "@for (i = 0; i != 9; i += 2) a[i] = 0;"),
    (OpenCL(), "ORIO-T021", "@for (i = 9; i != 3; i++) a[i] = 0;"),
    (OpenCL(), "ORIO-T021", "@for (i = m; i != u; i++) a[i] = 0;"),
    (OpenCL(), "ORIO-T021", "@for (u = m; u != n; u++) a[u] = 0;"),
    (OpenCL(), "ORIO-T021", "@for (i = 0; i != n; i++) { a[i] = 0; n = row[i]; }"),
    (OpenCL(), "ORIO-T021", "@for (i = 0; i != n; i++) { a[i] = 0; if (b[i] > 1) break; }"),
    (OpenCL(), "ORIO-T025", f"{FOR_I} {{ if (a[i] > 0) @break; a[i] = 1; }}"),
    (OpenCL(nd=2), "ORIO-T025", f"{NEST} {{ if (c[i][j] > 0) @continue; c[i][j] = 1; }}"),
    (OpenCL(), "ORIO-T040", f"{FOR_I} @a[i + 1] = a[i];"),
    (OpenCL(nd=2), "ORIO-T040", f"{NEST} @c[i][0] = a[j];"),
    (OpenCL(), "ORIO-T041", f"{FOR_I} @a[row[i]] = 0;"),
    (OpenCL(), "ORIO-T041", f"{FOR_I} b[i] = @a[row[i]]++;"),
    (OpenCL(), "ORIO-T040", f"{FOR_I} {{ a[row[i]] += 1; @a[t] *= 2; }}"),
    (OpenCL(), "ORIO-T041", f"{FOR_I} {{ @a[row[i]] += 1; b[i] = a[0]; }}"),
    (OpenCL(), "ORIO-T041", f"{FOR_I} @row[b[i] > 0] += b[i];"),
    (OpenCL(), "ORIO-T041", f"{FOR_I} @open[(int)x[i]]++;"),
    (
        OpenCL(),
        "ORIO-T041",
        f"{FOR_I} {{ if (bytes[row[i]] < 256) @bytes[row[i]]++; }}",
    ),  # begins again from 0
    (OpenCL(), "ORIO-T041", f"{FOR_I} {{ if (bytes[row[i]] < n) @bytes[row[i]]++; }}"),
    (
        OpenCL(),
        "ORIO-T041",
        f"{FOR_I} {{ if (bytes[row[i]] < 9) @bytes[row[i]]++; if (bytes[i] < 8) bytes[i]++; }}",
    ),
    (OpenCL(), "ORIO-T041", f"{FOR_I} {{ if (bytes[row[i]] < 9) @bytes[row[i]]++; a[i] = bytes[3]; }}"),
    (OpenCL(), "ORIO-T041", f"{FOR_I} {{ if (bytes[row[i]] < 9) @bytes[row[i]] += 2; }}"),
    (
        OpenCL(),
        "ORIO-T041",
        "for (long w = 0; w < n; w++) { if (bytes[row[w]] < 9) @bytes[row[w]]++; }",
    ),  # more often than 2^32
    (OpenCL(), "ORIO-T041", f"{FOR_I} @both[row[i]].k++;"),
    (OpenCL(), "ORIO-T041", f"{FOR_I} @a[row[i]] = a[row[i]] + b[i] + 1;"),
    (OpenCL(), "ORIO-T123", f"{FOR_I} @p[row[i]] += a[i];"),
    (OpenCL(registerTile=(2,)), "ORIO-T127", f"{FOR_I} @a[row[i]] += b[i];"),
    (WIDE, "ORIO-T141", f"{FOR_I} @a[row[i]] += b[i];"),
    (OpenCL(rowThreads=0), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (ROWS, "ORIO-T132", f"@{FOR_I} a[i] = 0;"),
    (ROWS, "ORIO-T132", f"@{FOR_I} {{ for (j = 1; j < m; j++) c[i][j] = c[i][j - 1]; }}"),
    (ROWS, "ORIO-T132", f"@{FOR_I} {{ t = 0; for (j = 0; j < m; j++) t = 2 * t + row[j]; a[i] = t; }}"),
    (ROWS, "ORIO-T132", f"@{FOR_I} {{ double v[9]; for (j = 0; j < 9; j++) v[j] = b[j]; a[i] = v[3]; }}"),
    (ROWS, "ORIO-T132", f"@{FOR_I} {{ for (j = 0; j < m; j++) c[i][j] = 1; a[i] = j; }}"),
    (
        ROWS,
        "ORIO-T132",
        f"@{FOR_I} {{ t = 0; for (j = 0; j < m; j++) {{ t = row[j]; c[i][j] = t; }} a[i] = t; }}",
    ),
    (ROWS, "ORIO-T132", f"{FOR_I} for (j = 0; j < m; j++) @s += c[i][j];"),
    (ROWS, "ORIO-T132", f"{ROW} c[i][j] = 0; @a[i] = (t = 3); b[i] = t; }}"),
    (ROWS, "ORIO-T132", f"{FOR_I} @while (row[i] > 0) {{ row[i]--; for (j = 0; j < m; j++) c[i][j] = 0; }}"),
    (ROWS, "ORIO-T132", f"{ROW} c[i][j] = 0; @switch (t) {{ case 0: a[i] = 0; }} }}"),
    (
        OpenCL(rowThreads=8, workItemsPerGroup=(8,)),
        "ORIO-T127",
        f"@{FOR_I} for (j = 0; j < m; j++) c[i][j] = 0;",
    ),
    (OpenCL(rowThreads=8, coarsen=2), "ORIO-T127", f"@{FOR_I} for (j = 0; j < m; j++) c[i][j] = 0;"),
    (OpenCL(rowThreads=8, streamCount=2), "ORIO-T127", f"@{FOR_I} for (j = 0; j < m; j++) c[i][j] = 0;"),
    (OpenCL(coarsen=2), "ORIO-T127", f"@{FOR_I} {{ s += b[i]; a[i] = s; }}"),
    (OpenCL(workItemsPerGroup=(0,)), "ORIO-T127", f"@{FOR_I} {{ s += b[i]; a[i] = s; }}"),
    (OpenCL(cacheBlocks=True), "ORIO-T127", f"@{FOR_I} {{ s += b[i]; a[i] = s; }}"),
    (OpenCL(), "ORIO-T040", f"{FOR_I} {{ count += row[i]; @row[i + 1] = count; }}"),
    (OpenCL(), "ORIO-T040", f"{FOR_I} {{ a[i] *= 2; @s += a[i]; b[i] = s; }}"),
    (OpenCL(), "ORIO-T041", f"{FOR_I} {{ s += a[i]; @p[i] = s; }}"),
    (OpenCL(cacheUpdates=True), "ORIO-T130", f"@{FOR_I} a[i] += b[i];"),
    (OpenCL(cacheUpdates=True), "ORIO-T130", f"@{FOR_I} for (j = 0; j < n; j++) x[j] += i;"),
    (OpenCL(cacheUpdates=True), "ORIO-T130", f"@{FOR_I} long_marks[row[i]]++;"),
    (OpenCL(cacheUpdates=True, workItemsPerGroup=(0,)), "ORIO-T127", f"@{FOR_I} a[row[i]] += b[i];"),
    (OpenCL(nd=4), "ORIO-T120", f"@{FOR_I} a[i] = 0;"),
    (OpenCL(nd=2), "ORIO-T120", f"@{FOR_I} a[i] = 0;"),
    (OpenCL(nd=("j",)), "ORIO-T120", f"@{NEST} c[i][j] = 0;"),
    (OpenCL(nd=2), "ORIO-T120", f"{FOR_I} @for (j = 0; j <= i; j++) c[i][j] = 0;"),
    (OpenCL(), "ORIO-T120", "@for (i = t; i < u; i++) a[i] = 0;"),
    (OpenCL(), "ORIO-T121", f"{FOR_I} {{ @count = row[i]; a[i] = count; }}"),
    (OpenCL(), "ORIO-T121", "for (i = 0; i < 1; i++) { @count = 2 * count + 1; a[i] = count; }"),
    (OpenCL(), "ORIO-T122", f"{FOR_I} y[i] = @x[row[i]];"),
    (OpenCL(), "ORIO-T122", f"{FOR_I} y[i] = i * i < n ? @x[i] : 0;"),
    (OpenCL(), "ORIO-T122", f"{FOR_I} {{ y[i] = 0; for (j = 1; j < m; j *= 2) y[i] += @x[j]; }}"),
    (
        OpenCL(),
        "ORIO-T122",
        f"{FOR_I} for (j = 0; j < m; j++) {{ if (j == m - 1) continue; y[i] += @x[j + 1]; }}",
    ),
    (OpenCL(), "ORIO-T122", f"{FOR_I} switch (i) {{ case 0: y[i] = @x[i]; }}"),
    (OpenCL(), "ORIO-T123", f"{FOR_I} @p[i] = a[i];"),
    (OpenCL(), "ORIO-T124", f"{FOR_I} @rows[i][0] = 0;"),
    (OpenCL(), "ORIO-T124", f"{FOR_I} @wide[i] = 0;"),
    (OpenCL(), "ORIO-T124", f"{FOR_I} @flags[i] = 0;"),
    (OpenCL(), "ORIO-T124", f"{FOR_I} a[i] = @big;"),
    (OpenCL(), "ORIO-T124", f"{FOR_I} @nodes[i].v = 0;"),
    (OpenCL(), "ORIO-T124", f"{FOR_I} a[i] = @fars[i].k;"),
    (OpenCL(), "ORIO-T124", f"{FOR_I} a[i] = @yeses[i].k;"),
    (OpenCL(), "ORIO-T124", f"{FOR_I} a[i] = @wides[i].k;"),
    (OpenCL(), "ORIO-T124", f"{FOR_I} {{ a[i] = both[i].v; both[i] = @both[i]; }}"),
    (WIDE, "ORIO-T141", f"{FOR_I} a[i] = @both[i].v;"),
    (OpenCL(layout=Layout.SOA), "ORIO-T142", f"@{FOR_I} a[i] = both[i].v;"),
    (OpenCL(), "ORIO-T123", f"{FOR_I} p[i] = @lone->v;"),
    (OpenCL(), "ORIO-T124", f"{FOR_I} {{ a[i] = at[i].v; at[i] = @at[i]; }}"),
    (OpenCL(), "ORIO-T124", f"{FOR_I} @g.n = i;"),
    (OpenCL(), "ORIO-T124", f"{FOR_I} @g.n += row[i];"),
    (OpenCL(), "ORIO-T124", f"{FOR_I} a[i] = *@fours[i].v;"),
    (OpenCL(layout=Layout.SOA), "ORIO-T142", f"@{FOR_I} a[i] = c[i][0];"),
    (OpenCL(layout=Layout.COLUMN), "ORIO-T142", f"@{FOR_I} a[i] = at[i].v;"),
    (OpenCL(layout=Layouts(named=(("a", Layout.COLUMN),))), "ORIO-T142", f"@{FOR_I} a[i] = c[i][0];"),
    (
        OpenCL(layout=Layouts(named=(("both", Layout.SOA),))),
        "ORIO-T142",
        f"@{FOR_I} a[i] = both[i].v + at[i].v;",
    ),
    (OpenCL(layout=Layouts(Layout.COLUMN, (("z", Layout.ROW),))), "ORIO-T142", f"@{FOR_I} a[i] = c[i][0];"),
    (WIDE, "ORIO-T140", f"{FOR_I} a[i] = @fours[i].v[0];"),
    (OpenCL(), "ORIO-T124", f"{FOR_I} a[i] = @c[i] != 0;"),
    (OpenCL(), "ORIO-T124", f"{FOR_I} {{ @flag = row[i] && flag; }}"),
    (OpenCL(), "ORIO-T125", f"{FOR_I} a[i] = @work(b[i]);"),
    (OpenCL(), "ORIO-T125", f"{FOR_I} {{ static int @z; a[i] = z; }}"),
    (OpenCL(), "ORIO-T125", f"{FOR_I} {{ double @v[n]; v[0] = i; a[i] = v[0]; }}"),
    (OpenCL(), "ORIO-T125", f"{FOR_I} {{ double @*v = b; a[i] = v[i]; }}"),
    (OpenCL(), "ORIO-T126", f"{FOR_I} a[i] = @unheard;"),
    (OpenCL(), "ORIO-T126", f"{FOR_I} @elsewhere[i] = 0;"),
    (OpenCL(), "ORIO-T126", f"{FOR_I} a[i] = @CALL;"),
    (OpenCL(), "ORIO-T126", f"{FOR_I} {{ {{ double s = 1; a[i] = @s; }} b[i] = s; }}"),
    (OpenCL(workGroups=(2, 2)), "ORIO-T127", f"@{FOR_I} a[i] = 0;"),
    (OpenCL(nd=2, workGroups=(8,)), "ORIO-T127", f"@{NEST} c[i][j] = 0;"),
    (OpenCL(workItemsPerGroup=(2, 2)), "ORIO-T127", f"@{FOR_I} a[i] = 0;"),
    (OpenCL(spread=Distribution.BLOCKED), "ORIO-T127", f"@{FOR_I} a[i] = 0;"),
    (OpenCL(localTile=(64,)), "ORIO-T127", f"@{FOR_I} a[i] = b[i] + b[i + 1];"),
    (OpenCL(cacheBlocks=True, localTile=(65,)), "ORIO-T127", f"@{FOR_I} a[i] = b[i] + b[i + 1];"),
    (OpenCL(cacheBlocks=True, localTile=(64, 2)), "ORIO-T127", f"@{FOR_I} a[i] = b[i] + b[i + 1];"),
    (OpenCL(streamCount=33), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (OpenCL(march=4), "ORIO-T127", f"@{FOR_I} a[i] = b[i] + b[i + 1];"),
    (OpenCL(nd=2, march=4, registerTile=(2, 1)), "ORIO-T127", f"@{NEST} c[i][j] = 0;"),
    (OpenCL(nd=2, march=4, workItemsPerGroup=(8, 2)), "ORIO-T127", f"@{NEST} c[i][j] = 0;"),
    (OpenCL(nd=2, march=4, workItemsPerGroup=(0,)), "ORIO-T127", f"@{NEST} c[i][j] = 0;"),
    (
        OpenCL(nd=2, march=4),
        "ORIO-T127",
        "@for (i = n - 1; i > 0; i--) for (j = 0; j < m; j++) a[i * m + j] = b[i * m + j] + b[(i - 1) * m + j];",
    ),
    (OpenCL(nd=2, march=4), "ORIO-T130", f"@{NEST} c[i][j] = b[i * m + j];"),
    (OpenCL(nd=2, march=4), "ORIO-T130", f"@{NEST} c[i][j] = b[i * m + j] + b[i * m + j + 1];"),
    (OpenCL(workGroups=(2,), blockCount=(2,)), "ORIO-T129", f"@{FOR_I} a[i] = 0;"),
    (OpenCL(workItemsPerGroup=(2,), threadCount=(2,)), "ORIO-T129", f"@{FOR_I} a[i] = 0;"),
    (OpenCL(cacheBlocks=True, localTile=(64,)), "ORIO-T130", f"@{FOR_I} a[i] = b[i];"),
    (OpenCL(cacheBlocks=True, localTile=(64,)), "ORIO-T130", f"@{FOR_I} a[i] = b[0] + b[row[i]] + i % 2;"),
    (OpenCL(cacheBlocks=True, localTile=(64,)), "ORIO-T130", f"@{FOR_I} a[i] = b[i] + b[i + 64];"),
    (OpenCL(cacheBlocks=True, localTile=(64,)), "ORIO-T130", f"@{FOR_I} a[i] = b[i] + b[2 * i];"),
    (OpenCL(cacheBlocks=True, localTile=(64,)), "ORIO-T130", f"@{FOR_I} a[i] = b[i * i] + b[i * i + 1];"),
    (OpenCL(cacheBlocks=True, localTile=(64,)), "ORIO-T130", f"@{FOR_I} a[i] = b[i] + b[i + t];"),
    (
        OpenCL(cacheBlocks=True, localTile=(64,)),
        "ORIO-T130",
        "@for (i = 0; i < n; i += 2) a[i] = b[i] + b[i + 1];",
    ),
    (
        OpenCL(cacheBlocks=True, localTile=(64,)),
        "ORIO-T130",
        f"@{FOR_I} for (j = 0; j < m; j++) a[i] += c[i][j];",
    ),
    (
        OpenCL(cacheBlocks=True, localTile=(1,), workItemsPerGroup=(1,)),
        "ORIO-T130",
        f"@{FOR_I} a[i] = b[i] + b[i + 1];",
    ),
    (
        OpenCL(cacheBlocks=True, coarsen=2, spread=Distribution.BLOCKED),
        "ORIO-T130",
        f"@{FOR_I} a[i] = b[i] + b[i + 1];",
    ),
    (WIDE, "ORIO-T140", f"{FOR_I} a[i] = @b[2 * i];"),
    (WIDE, "ORIO-T140", f"{FOR_I} @a[i] = b[n - i];"),
    (WIDE, "ORIO-T140", f"{FOR_I} a[i] = @b[i * i];"),
    (WIDE, "ORIO-T140", f"{FOR_I} a[i] = @b[i * t];"),
    (WIDE, "ORIO-T140", f"{FOR_I} a[i] = @b[i % 2];"),
    (WIDE, "ORIO-T140", f"{FOR_I} a[i] = @b[row[i]];"),
    (WIDE, "ORIO-T140", f"{FOR_I} for (j = 0; j < m; j++) a[i] += @c[i][j];"),
    (WIDE, "ORIO-T140", "for (i = 0; i < n; i += 2) @a[i] = 0;"),
    (WIDE, "ORIO-T140", "for (i = 0; i < 1; i++) @a[j] = i;"),
    (WIDE, "ORIO-T140", f"{FOR_I} a[i] = b[i] > 0 ? @row[i] : 0;"),
    (WIDE, "ORIO-T140", f"{FOR_I} y[i] = i > 0 ? @x[i - 1] : 0;"),
    (WIDE, "ORIO-T140", f"{FOR_I} if (b[i] > 0) @a[i] = 0;"),
    (
        WIDE,
        "ORIO-T140",
        f"{FOR_I} {{ for (j = 0; j < 3; j++) a[i] = b[j]; for (j = 0; j < m; j++) a[i] += row[i] ? @b[j] : 0; }}",
    ),
    (WIDE, "ORIO-T140", "for (i = 0; i < 50; i++) { y[i + 50] = x[i]; if (row[i]) @y[i] = 0; }"),
    (WIDE, "ORIO-T140", f"{FOR_I} if (row[i]) {{ int k; k = i; y[i] = @x[k]; }}"),
    (OpenCL(nd=("j", "i"), vectorWidth=2), "ORIO-T140", f"{NEST} @c[i][j] = 0;"),
    (WIDE, "ORIO-T141", f"{FOR_I} {{ double @v[2]; v[0] = b[i]; a[i] = v[0]; }}"),
    (WIDE, "ORIO-T141", f"{FOR_I} {{ _Bool @v = b[i]; a[i] = v; }}"),
    (WIDE, "ORIO-T141", f"{FOR_I} @for (j = 0; j < i; j++) a[i] += b[i];"),
    (WIDE, "ORIO-T141", f"{FOR_I} {{ int k = 0; @while (k < i) k++; a[i] = k; }}"),
    (WIDE, "ORIO-T141", f"{FOR_I} {{ a[i] = 0; if (b[i] > 0) @for (j = 0; j < m; j++) a[i] += 1; }}"),
    (WIDE, "ORIO-T141", f"{FOR_I} for (j = 0; j < m; j++) {{ if (b[i] > 0) @break; a[i] += 1; }}"),
    (WIDE, "ORIO-T141", f"{FOR_I} @switch (t) {{ case 0: a[i] = 0; }}"),
    (WIDE, "ORIO-T141", f"{FOR_I} {{ int k; a[i] = (@k = 1); }}"),
    (WIDE, "ORIO-T141", f"{FOR_I} a[i] = @sizeof(i);"),
    (WIDE, "ORIO-T141", f"{FOR_I} {{ row[i] += 1; a[i] = row[i] ? @t / row[i] : 0; }}"),
    (OpenCL(layout=Layout.COLUMN), "ORIO-T142", f"@{FOR_I} a[i] = b[i];"),
    (
        OpenCL(vectorWidth=2, cacheBlocks=True),
        "ORIO-T141",
        f"@{FOR_I} a[i] = b[i] + b[i + 1];",
    ),
)


@pytest.mark.parametrize(("transformation", "code", "text"), CASES)
def test_refused(transformation: OpenCL, code: str, text: str) -> None:
    assert_refused(transformation, code, text, around(macros={"CALL": "f(2)"}))


@pytest.mark.parametrize(
    ("localTile", "body", "reason"),
    [
        (
            (64,),
            "for (j = 0; j <= i; j++) a[i] += b[j];",
            "`j` cannot run in blocks: its bounds are not the same",
        ),
        ((64,), "for (j = 0; j < m; j++) { if (b[j] > 2) break; a[i] += b[j]; }", "it is left early"),
        ((64,), "for (j = 0; j < m; j++) a[i] += b[j]; a[i] *= j;", "its index is read behind it"),
        ((64,), "for (j = 1; j < m; j *= 2) a[i] += b[j];", "its header is not canonical"),
        (
            (64,),
            "double v[2] = {0, 1}; for (j = 0; j < m; j++) v[1] += b[j]; a[i] = v[1];",
            "the array `v` would",
        ),
        (
            (128,),
            "double v = 0; for (j = 0; j < m; j++) v += b[j]; a[i] = v;",
            "`v` would have to keep its value",
        ),
        ((128,), "t = 0; for (j = 0; j < m; j++) t += row[j]; a[i] = t;", "`t` would have to keep its value"),
    ],
)
def test_why_a_loop_cannot_run_in_blocks(localTile: tuple[int, ...], body: str, reason: str) -> None:
    code = f"@{FOR_I} {{ {body} }}"
    wanted = OpenCL(cacheBlocks=True, localTile=localTile)
    refusal = assert_refused(wanted, "ORIO-T130", code, around(live="a"))
    assert any(reason in text.message for text in refusal.diagnostics[0].notes), refusal.diagnostics[0].notes


@pytest.mark.parametrize(
    "body",
    [
        "@s += a[i];",
        "{ @s += a[i]; b[i] = s; }",
        "@a[row[i]] += b[i];",
        "@if (b[i] < a[row[i]]) a[row[i]] = b[i];",
    ],
)
def test_sums_of_floating_values_need_a_promise(body: str) -> None:
    code = f"{FOR_I} {body}"
    assert_refused(OpenCL(), "ORIO-T090", code, around(assumptions=Assumptions()))


def test_sums_of_a_row_need_a_promise() -> None:
    code = (
        f"{FOR_I} {{ t = 0; s = 0; for (j = 0; j < m; j++) {{ t += row[j]; @s += c[i][j]; }} a[i] = s + t; }}"
    )
    inner = around(live="a", assumptions=Assumptions())
    assert_refused(ROWS, "ORIO-T090", code, inner)
    assert OpenCL().apply(statement(code.replace("@", "")), inner)


@pytest.mark.parametrize("promise", [OpenCL(force=True), OpenCL()], ids=["force", "noalias"])
def test_arrays_that_are_promised_to_be_apart_are_taken(promise: OpenCL) -> None:
    noalias = not promise.force
    inner = around(assumptions=Assumptions(noalias=noalias))
    result = promise.apply(statement("for (int k = 0; k < n; k++) p[k] = a[k];"), inner)
    assert "orio_opencl_region_0(" in emit(result)
    assert bool(inner.overruled.texts) == promise.force


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"workGroups": "many"}, "ORIO-T010"),
        ({"workGroups": [1, 2, 3, 4]}, "ORIO-T010"),
        ({"workGroups": False}, "ORIO-T010"),
        ({"workGroups": [0, 1]}, "ORIO-T011"),
        ({"workItemsPerGroup": -1}, "ORIO-T011"),
        ({"localTile": 0}, "ORIO-T011"),
        ({"nd": 0}, "ORIO-T011"),
        ({"spread": "wide"}, "ORIO-T010"),
        ({"vecHint": 3}, "ORIO-T010"),
        ({"vectorWidth": 3}, "ORIO-T010"),
        ({"layout": "diagonal"}, "ORIO-T010"),
        ({"layout": "p:diagonal"}, "ORIO-T010"),
        ({"layout": ["p:soa", "p:row"]}, "ORIO-T010"),
        ({"layout": ["row", "soa"]}, "ORIO-T010"),
        ({"layout": ["p q:soa"]}, "ORIO-T010"),
        ({"layout": [3]}, "ORIO-T010"),
        ({"layout": 3}, "ORIO-T010"),
        ({"vectorWidth": True}, "ORIO-T010"),
        ({"device": -1}, "ORIO-T010"),
        ({"sizeHint": 7}, "ORIO-T010"),
    ],
)
def test_wrong_values(arguments: dict[str, Value], code: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        TRANSFORMATIONS["OpenCL"].make(arguments)
    assert [d.code for d in caught.value.diagnostics] == [code]


@pytest.mark.parametrize("name", ["workGroups", "blockCount"])
def test_no_groups_are_as_many_as_are_needed(name: str) -> None:
    assert TRANSFORMATIONS["OpenCL"].make({name: 0}) == OpenCL()
    assert TRANSFORMATIONS["OpenCL"].make({name: 4}) == OpenCL(**{name: (4,)})


@pytest.mark.parametrize(
    ("value", "layout"),
    [
        ("aos", Layout.ROW),
        ("soa", Layout.SOA),
        ("p:soa", Layouts(Layout.ROW, (("p", Layout.SOA),))),
        (["p: soa", "q:aos"], Layouts(Layout.ROW, (("p", Layout.SOA), ("q", Layout.ROW)))),
        (["A:row", "column"], Layouts(Layout.COLUMN, (("A", Layout.ROW),))),
    ],
)
def test_layouts_of_single_arrays(value: Value, layout: Layout | Layouts) -> None:
    assert TRANSFORMATIONS["OpenCL"].make({"layout": value}) == OpenCL(layout=layout)


@pytest.mark.parametrize(
    "body", ["a[i] = b[i];", "a[i] = b[0] + b[row[i]];", "for (j = 0; j < m; j++) a[i] += c[i][j];"]
)
def test_without_anything_to_keep_the_kernel_is_the_one_without_tiles(body: str) -> None:
    node, inner = statement(f"{FOR_I} {body}"), around(live="a")
    with_tiles, without = (OpenCL(cacheBlocks=wanted).apply(node, inner) for wanted in (True, False))
    (one,), (other,) = (device_programs(kernel_plans(tree)) for tree in (with_tiles, without))
    assert one.source == other.source

"""Loop nests with `transform CUDA(...)`, and the file that holds them all: each a function of one signature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PARAMETERS = """int n, int m, double a, double *restrict x, double *restrict y, double *restrict z,
    double P[restrict static 64][64], double Q[restrict static 64][64], float *restrict f, float *restrict g, int *restrict c,
    unsigned char *restrict b, struct item *restrict items, double *restrict sums, int counts[restrict static 4]"""

ITEM = "struct item { char kind; double x; int n; float w[3]; unsigned short new; };"
"""A structure with members of several types, one of them with a name that C++ does not allow."""

I = "for (i = 0; i < n; i++)"  # noqa: E741 - the loop over `i`
J = "for (j = 0; j < m; j++)"
K = "for (k = 0; k < n; k++)"


@dataclass(frozen=True, slots=True)
class Nest:
    """A recipe and its nest; `after` takes scalars to the output arrays, `exact` says that no sum is reordered."""

    recipe: str
    code: str
    after: str = ""
    exact: bool = True


_STENCIL = (
    "for (i = 1; i < n - 1; i++) for (j = 1; j < m - 1; j++)"
    " Q[i][j] = P[i - 1][j] + P[i + 1][j] + P[i][j - 1] + a * P[i][j + 1];"
)
_PRODUCT = f"{I} {J} {K} Q[i][j] += P[i][k] * z[k * m + j];"
_CUBE = f"{I} for (j = 0; j < 7; j++) for (k = 0; k < 5; k++) y[i * 35 + j * 5 + k] = x[i * 35 + j * 5 + k] + a * (i + j * k);"
_CUBES = "for (i = 1; i < n / 5; i++) for (j = 1; j < 7; j++) for (k = 1; k < 7; k++)"
_AT = "x[(i * 9 + j) * 8 + k]"
_SUM = f"{I} s += x[i] * z[i];"

_ITEMS = f"""{I} {{ items[i].x += 2 * items[i].kind; items[i].n++; items[i].new = (items[i].kind + 200) / 3;
  for (j = 0; j < 3; j++) items[i].w[j] = items[i].w[2 - j] / 2 + items[i].n / 2; }}"""

NESTS: dict[str, Nest] = {
    "axpy": Nest("CUDA(threadCount=64)", f"{I} y[i] += a * x[i];"),
    "fewer": Nest("CUDA(threadCount=32, blockCount=2)", f"{I} y[i] += a * x[i];"),
    "coarse": Nest("CUDA(threadCount=32, coarsen=4, unrollInner=2)", f"{I} y[i] = a * x[i] + z[i];"),
    "blocked": Nest("CUDA(threadCount=32, coarsen=3, spread='blocked')", f"{I} y[i] = a * x[i] - 1;"),
    "down": Nest("CUDA()", "for (i = n - 1; i >= 2; i -= 3) y[i] = x[i - 2] + i;"),
    "matvec": Nest("CUDA(threadCount=32, unrollInner=4)", f"{I} {{ t = 0; {J} t += z[i * m + j] * x[j]; y[i] = t; }}"),
    "plane": Nest("CUDA(nd=2, threadCount=[8, 4])", f"{I} {J} Q[i][j] = P[i][j] * a + i - j;"),
    "plane_fewer": Nest("CUDA(nd=2, threadCount=[8, 4], blockCount=[2, 1])", f"{I} {J} Q[i][j] = P[i][j] + 1;"),
    "inner_loop": Nest("CUDA(threadCount=32)", f"for (i = 1; i < n; i++) {J} Q[i][j] = a * Q[i - 1][j] + P[i][j];"),
    "inner_triangle": Nest(
        "CUDA(threadCount=32, streamCount=2)",
        f"{I} {J} {{ Q[i][j] *= a; for (k = i + 1; k < n; k++) Q[i][j] += P[i][k] * Q[k][j]; }}",
    ),
    "innermost_loop": Nest(
        "CUDA(threadCount=32, blockCount=2)",
        f"for (k = 1; k < 5; k++) for (i = 1; i < n; i++) {J} {{ Q[i][j] += P[k][i] * Q[i - 1][j]; y[j] += Q[i][j]; }}",
    ),
    "stencil": Nest("CUDA(nd=2, threadCount=[16, 4])", _STENCIL),
    "domain": Nest("CUDA(domain='i, j', threadCount=[16, 4], unrollInner=2)", _STENCIL),
    "stencil_tile": Nest("CUDA(nd=2, threadCount=[16, 4], cacheBlocks=True)", _STENCIL),
    "stencil_wide": Nest("CUDA(nd=2, threadCount=[32, 2], cacheBlocks=True, localTile=[32, 8])", _STENCIL),
    "stencil_steps": Nest("CUDA(nd=2, threadCount=[8, 4], blockCount=[2, 2], cacheBlocks=True)", _STENCIL),
    "turned_reads": Nest("CUDA(nd=2, threadCount=[16, 4], cacheBlocks=True, localTile=[16, 16])", f"{I} {J} Q[i][j] += P[j][i];"),
    "turned_writes": Nest("CUDA(nd=2, threadCount=[16, 4], cacheBlocks=True, localTile=[16, 16])", f"{I} {J} y[j * n + i] = P[i][j] + a;"),
    "turned_updates": Nest(
        "CUDA(nd=2, threadCount=[8, 4], cacheBlocks=True, localTile=[8, 8], blockCount=[2, 2])",
        f"{I} {J} {{ y[j * n + i] += P[i][j]; if (y[j * n + i] > a) Q[i][j] = y[j * n + i]; }}",
    ),
    "turned_both": Nest(
        "CUDA(nd=['j', 'i'], threadCount=[32, 4], cacheBlocks=True, localTile=[32, 32])",
        f"{I} {J} {{ y[j * n + i] = P[i][j] - x[j * n + i]; Q[i][j] = 2 * P[i][j] + i; }}",
    ),
    "turned_partly": Nest(
        "CUDA(nd=2, threadCount=[8, 8], cacheBlocks=True)",
        "for (i = 1; i < n; i++) for (j = 2; j < m; j++) { if (c[i] > 0) Q[j][i] = P[i][j]; y[j * n + i] = P[j][i] + P[j - 1][i - 1]; }",
    ),
    "turned_slices": Nest("CUDA(nd=2, threadCount=[8, 8], cacheBlocks=True, streamCount=3)", f"{I} {J} y[j * n + i] += P[i][j];"),
    "march_star": Nest(
        "CUDA(nd=3, threadCount=[8, 4, 1], march=3, cacheBlocks=True)",
        f"{_CUBES} y[(i * 9 + j) * 8 + k] = a * {_AT} + {_AT.replace('i ', '(i - 1) ')} + {_AT.replace('i ', '(i + 2) ')}"
        f" + {_AT.replace('j)', 'j - 1)')} + {_AT.replace('j)', 'j + 1)')} - {_AT.replace('+ k', '+ k - 1')} + {_AT.replace('+ k', '+ k + 1')};",
    ),
    "march_box": Nest(
        "CUDA(nd=3, threadCount=[4, 2, 1], march=4, cacheBlocks=True, blockCount=[2, 1, 2])",
        f"{_CUBES} {{ if ({_AT} > a) y[(i * 9 + j) * 8 + k] = {_AT.replace('i ', '(i - 1) ').replace('+ k', '+ k - 1')}"
        f" - {_AT.replace('i ', '(i + 1) ').replace('j)', 'j + 1)')} + Q[j][k] + P[j][k] * P[j + 1][k]; s += {_AT}; }}",
        exact=False,
    ),
    "march_registers": Nest(
        "CUDA(nd=3, threadCount=[8, 2, 1], march=5, unrollInner=2)",
        f"{_CUBES} y[(i * 9 + j) * 8 + k] = {_AT} + {_AT.replace('i ', '(i - 1) ')} - {_AT.replace('i ', '(i + 1) ')};",
    ),
    "march_plane": Nest("CUDA(nd=2, threadCount=[16, 1], march=8, cacheBlocks=True)", _STENCIL),
    "march_across": Nest("CUDA(nd=['j', 'i'], threadCount=[8, 1], march=6, cacheBlocks=True)", _STENCIL),
    "line_tile": Nest(
        "CUDA(threadCount=32, cacheBlocks=True)", "for (i = n - 3; i > 1; i -= 2) y[i] = x[i - 2] + x[i + 2];"
    ),
    "product": Nest("CUDA(nd=2, threadCount=[16, 2])", _PRODUCT),
    "product_tile": Nest("CUDA(nd=2, threadCount=[16, 8], cacheBlocks=True, unrollInner=4)", _PRODUCT),
    "product_wide": Nest(
        "CUDA(nd=2, threadCount=[16, 2], blockCount=[1, 2], cacheBlocks=True, localTile=[16, 8, 12])", _PRODUCT
    ),
    "product_registers": Nest("CUDA(nd=2, threadCount=[8, 4], registerTile=[4, 3])", _PRODUCT),
    "product_both": Nest(
        "CUDA(nd=2, threadCount=[8, 4], cacheBlocks=True, registerTile=[4, 2], localTile=[32, 8, 6])", _PRODUCT
    ),
    "stencil_registers": Nest(
        "CUDA(nd=2, threadCount=[8, 2], cacheBlocks=True, registerTile=[2, 4], blockCount=[1, 2])", _STENCIL
    ),
    "sum_registers": Nest("CUDA(threadCount=32, registerTile=3)", _SUM, exact=False),
    "triangle_registers": Nest(
        "CUDA(threadCount=32, registerTile=2)",
        f"{I} {{ t = x[i]; for (j = 0; j < 5; j++) {{ if (j > i % 3) break; t += j; }} y[i] = t; }}",
    ),
    "matvec_tile": Nest("CUDA(threadCount=64, cacheBlocks=True)", f"{I} {{ t = 0; {J} t += z[i * m + j] * x[j]; y[i] = t; }}"),
    "cube": Nest("CUDA(nd=3, threadCount=[4, 4, 2])", _CUBE),
    "cube_flat": Nest("CUDA(nd=['k', 'i', 'j'])", _CUBE),
    "sum": Nest("CUDA(threadCount=128)", _SUM, exact=False),
    "sum_odd": Nest("CUDA(threadCount=48, blockCount=3)", _SUM, exact=False),
    "sum_warp": Nest("CUDA(threadCount=32, coarsen=4)", _SUM, exact=False),
    "sum_plane": Nest("CUDA(nd=2, threadCount=[8, 12], blockCount=[2, 2])", f"{I} {J} s += P[i][j];", exact=False),
    "sum_tile": Nest("CUDA(threadCount=96, cacheBlocks=True)", "for (i = 1; i < n - 1; i++) s += x[i - 1] * x[i + 1];", exact=False),
    "many": Nest(
        "CUDA(threadCount=160, blockCount=2)",
        f"{I} {{ s += x[i]; if (x[i] > top) top = x[i]; if (c[i] < low) low = c[i]; all = c[i] && all;"
        " bits ^= c[i]; ors |= c[i] & 5; }",
        "sums[1] = top; counts[0] = low; counts[1] = all; counts[2] = bits; counts[3] = ors;",
        exact=False,
    ),
    "product_of": Nest("CUDA(threadCount=64)", f"{I} p *= 1 + x[i] / 64;", "sums[2] = p;", exact=False),
    "streams": Nest("CUDA(threadCount=32, streamCount=3)", "for (i = 1; i < n; i++) y[i] += x[i] - x[i - 1];"),
    "streams_plane": Nest("CUDA(nd=2, threadCount=[16, 4], streamCount=2, pinHostMem=True)", _STENCIL),
    "streams_sum": Nest("CUDA(threadCount=64, streamCount=4, blockCount=2)", _SUM, exact=False),
    "streams_tile": Nest("CUDA(nd=2, threadCount=[16, 4], streamCount=3, cacheBlocks=True)", _STENCIL),
    "pinned": Nest("CUDA(pinHostMem=True, preferL1Size=16)", f"{I} y[i] = x[i] * x[i];"),
    "vectors": Nest("CUDA(threadCount=32, vectorWidth=2)", "for (i = 1; i < n; i++) y[i] += a * x[i - 1];"),
    "vectors_float": Nest("CUDA(threadCount=32, vectorWidth=4)", f"{I} g[i] = f[i] * 2 + (c[i] > 3 ? f[i] : -f[i]);"),
    "vectors_sum": Nest("CUDA(threadCount=64, blockCount=2, vectorWidth=8)", f"{I} {{ s += x[i]; bits ^= c[i]; }}", "counts[2] = bits;", exact=False),
    "vectors_maths": Nest("CUDA(vectorWidth=4)", f"{I} {{ if (c[i] > 3) y[i] = sqrt(fabs(x[i])); else y[i]++; b[i] = (unsigned char)(b[i] + 1); }}"),
    "columns": Nest("CUDA(layout='column', pinHostMem=True)", f"{I} {{ t = 0; {J} t += P[i][j] * x[j]; y[i] = t; }}"),
    "columns_out": Nest("CUDA(nd=['j', 'i'], layout='column', threadCount=[16, 2])", f"{I} {J} Q[i][j] = P[i][j] + Q[i][j];"),
    "types": Nest(
        "CUDA(launchBounds=2)",
        f"{I} {{ long v = 3L; int w[2] = {{c[i], (int)f[i]}}; b[i] = (unsigned char)(sizeof(int) + v + w[0] + w[1]);"
        " g[i] = sqrtf(fabsf(f[i])) + fmaxf(f[i], 2) + max(c[i], m) - abs(c[i]); y[i] = isnormal(x[i]) ? M_PI : INT_MAX; }",
    ),
    "items": Nest("CUDA(threadCount=32, unrollInner=3, dataOnDevice=True)", _ITEMS),
    "items_streams": Nest("CUDA(threadCount=16, streamCount=3, pinHostMem=True)", _ITEMS),
    "items_tile": Nest("CUDA(threadCount=32, cacheBlocks=True)", "for (i = 1; i < n; i++) items[i].x = z[i - 1] + z[i] + items[i].n;"),
    "items_sum": Nest("CUDA(nd=2, threadCount=[16, 2])", f"{I} for (j = 0; j < 3; j++) s += items[i].w[j] + items[i].kind;", exact=False),
    "histogram": Nest("CUDA(threadCount=32)", f"{I} counts[c[i] & 3]++;"),
    "scatter": Nest("CUDA(threadCount=32)", f"{I} {{ Q[c[i] + 4][3] += x[i]; Q[c[i] + 5][3] -= 2; }}", exact=False),
    "scatter_fewer": Nest("CUDA(threadCount=32, blockCount=1, unrollInner=2)", f"{I} Q[c[i] + 4][i % 2] = z[i] + Q[c[i] + 4][i % 2];", exact=False),
    "scatter_plane": Nest("CUDA(nd=2, threadCount=[8, 4])", f"{I} {J} y[j] += P[i][j];", exact=False),
    "scatter_tile": Nest("CUDA(threadCount=32, cacheBlocks=True)", "for (i = 1; i < n - 1; i++) for (j = 0; j < m; j++) y[j] += x[i - 1] + x[i + 1];", exact=False),
    "scatter_streams": Nest("CUDA(threadCount=32, streamCount=3)", f"{I} {{ y[i] = x[i]; {J} z[j] += x[i]; }}", exact=False),
    "scatter_wide": Nest("CUDA(threadCount=64)", f"{I} {J} {{ g[j] += x[i] * 2; if (c[i] > 0) g[j] += 0.5; }}", exact=False),
    "scatter_bits": Nest(
        "CUDA(threadCount=96)",
        f"{I} {{ counts[0] |= 1 << (c[i] & 15); counts[1] |= c[i]; counts[2] |= 4; }}",
    ),
    "scatter_signs": Nest("CUDA()", f"{I} for (j = 0; j < 4; j++) counts[j] *= c[i] + j > 3 ? -1 : 1;"),
    "extremes": Nest(
        "CUDA(threadCount=32)",
        f"{I} for (j = 0; j < 4; j++) {{ if (c[i] + j > counts[j]) counts[j] = c[i] + j; }}",
    ),
    "extremes_wide": Nest(
        "CUDA(threadCount=32)",
        f"{I} {J} {{ y[j] = x[i] + j > y[j] ? x[i] + j : y[j]; g[j] = fminf(g[j], c[i]); z[j] = fmax(x[i], z[j]);"
        " if (x[i] * 0.1 < f[j]) f[j] = x[i] * 0.1; }",
        exact=False,
    ),
    "scan": Nest("CUDA(threadCount=64, blockCount=7)", f"{I} {{ count += c[i]; Q[i % 64][i / 64] = count; }}", "counts[0] = count;"),
    "scan_before": Nest("CUDA(threadCount=96, blockCount=3)", f"{I} {{ y[i] = count; if (c[i] > 2) {{ z[i] = count + c[i]; count++; }} }}"),
    "scan_float": Nest("CUDA(threadCount=32, blockCount=4)", f"{I} {{ t = x[i] * a; s += t; y[i] = s - t; t = s; z[i] = t; }}", exact=False),
    "scan_down": Nest("CUDA(threadCount=48, blockCount=5)", "for (i = n - 2; i > 2; i -= 3) { x[i] = y[i] + 1; count = c[i] > count ? c[i] : count; y[i] = count; }", "counts[0] = count;"),
    "scan_place": Nest("CUDA(threadCount=32)", f"{I} {{ low ^= c[i]; c[i] = low; }}", "counts[1] = low;"),
    "kept": Nest("CUDA(threadCount=64, blockCount=5)", f"{I} if (x[i] > a) {{ y[count - 3] = x[i] * 2; count++; }}", "counts[0] = count;"),
    "kept_places": Nest("CUDA(threadCount=48, blockCount=3)", f"{I} {{ t = x[i]; if (t > 0) {{ z[all] = t; c[all++] = i; }} }}", "counts[1] = all;"),
    "kept_down": Nest("CUDA(threadCount=32, blockCount=3)", "for (i = n - 1; i >= 1; i--) { if (c[i] > 2) { int at = bits++; b[at] = c[i]; y[at] = x[i]; } }", "counts[2] = bits;"),
    "kept_items": Nest("CUDA(threadCount=64, blockCount=3)", f"{I} if (c[i] + x[i] > 2) {{ items[all - 1].n = c[i]; items[all++ - 1].x = x[i]; }}", "counts[0] = all;"),
    "kept_limit": Nest("CUDA(threadCount=64, blockCount=3)", f"{I} if (c[i] + x[i] > 1 && count < m + 3) {{ y[count] = i; z[count++] = x[i]; }}", "counts[0] = count;"),
    "kept_below": Nest("CUDA(threadCount=32, blockCount=5)", f"{I} {{ if (c[i] + x[i] > 1) {{ if (m > count) y[count] = x[i]; count++; }} z[i] = count; }}", "counts[0] = count;"),
    "kept_rows": Nest("CUDA(threadCount=32, blockCount=2)", f"{I} if (c[i] > 1) {{ {J} y[(count - 3) * m + j] = P[i][j] + j; count++; }}", "counts[0] = count;"),
    "kept_unsigned": Nest("CUDA(threadCount=32, blockCount=2)", f"unsigned at = 2; {I} if (c[i] > 3) y[at++] = c[i]; x[at] = at;"),
    "scan_items": Nest("CUDA(threadCount=64, blockCount=3)", f"{I} {{ count += c[i]; items[i].n = count; items[i].x = x[i]; }}"),
    "scan_elements": Nest("CUDA(threadCount=64, blockCount=3)", "for (i = 1; i < n; i++) c[i] += c[i - 1];"),
    "scan_elements_down": Nest("CUDA(threadCount=32, blockCount=3)", "for (j = m - 2; j >= 0; j--) c[j + 3] = b[j] ^ c[j + 4];"),
    "scan_rows": Nest("CUDA(rowThreads=32)", f"{I} {{ double sum = a; {J} {{ Q[i][j] = sum; sum += P[i][j]; z[i * m + j] = sum; }} y[i] = sum; }}", exact=False),
    "scan_of_rows": Nest("CUDA(threadCount=32, blockCount=4)", f"{I} {{ {J} {{ if (P[i][j] > 0) count += j; }} y[i] = count; }}"),
    "short_counts": Nest(
        "CUDA(threadCount=64)",
        f"unsigned char own[8] = {{250, 3}}; {I} own[(c[i] + i) & 7] += 3 + c[i]; for (k = 0; k < 8; k++) y[k] = own[k];",
    ),
    "short_planes": Nest(
        "CUDA(loop='i', threadCount=32, cacheUpdates=True, blockCount=4)",
        f"short own[2][8] = {{{{7}}}}, *tail = own[1]; {I} {{ own[i & 1][c[i] & 7] ^= c[i] * 257; own[c[i] & 1][3] ^= i; }}"
        " for (k = 0; k < 8; k++) y[k] = own[0][k] - tail[k];",
    ),
    "short_counted": Nest(
        "CUDA(loop='i', rowThreads=32)",
        f"unsigned short own[m + 1]; {J} own[j] = j; own[m] = 0; {I} {{ {J} own[(unsigned)(c[j] + i) % (m + 1)] -= P[i][j] > 0 ? 999 : 7 * j; }} {J} y[j] = own[j];",
    ),
    "short_stops": Nest(
        "CUDA(loop='i', threadCount=32)",
        f"signed char own[8] = {{120, -9, 3}}; {I} {{ if (own[c[i] & 7] < 60) own[c[i] & 7]++; if (counts[i & 3] < 40) ++counts[i & 3]; }}"
        " for (k = 0; k < 8; k++) y[k] = own[k];",
    ),
    "row_dot": Nest("CUDA(rowThreads=32)", f"{I} {{ t = 0; {J} t += z[i * m + j] * x[j]; y[i] = t; }}", exact=False),
    "row_element": Nest("CUDA(rowThreads=128)", f"{I} {J} y[i] += P[i][j] * x[j];", exact=False),
    "row_odd": Nest("CUDA(rowThreads=48)", f"{I} {{ double v = 1.5; {J} v -= P[i][j]; y[i] = v + i; }}", exact=False),
    "row_phases": Nest(
        "CUDA(rowThreads=64)",
        f"{I} {{ double most = P[i][0], sum = 0; int last = -1; for (j = 1; j < m; j++) if (P[i][j] > most) most = P[i][j];"
        f" {J} {{ Q[i][j] = P[i][j] - most; sum += Q[i][j]; last = last > c[j] ? last : c[j]; }}"
        f" y[i] = sum * most; {J} Q[i][j] = Q[i][j] / 2 + sum + last; }}",
        exact=False,
    ),
    "row_waits": Nest(
        "CUDA(rowThreads=32)",
        f"{I} {{ {J} Q[i][j] = P[i][j] + 1; {J} z[i * m + j] = Q[i][m - 1 - j] * 2; y[i] = m > 0 ? z[i * m] : 0;"
        f" for (k = 1; k < m; k += 2) Q[i][k] = y[i] + k; y[i] += 1; }}",
    ),
    "row_steps": Nest(
        "CUDA(rowThreads=32)",
        f"{I} {{ for (k = 0; k < 3; k++) {{ double sum = 0; {J} sum += Q[i][j]; if (k != 1) {J} Q[i][j] += sum / 16 - k;"
        f" else {{ y[i] = sum; {J} Q[i][j] -= y[i]; }} }} }}",
        exact=False,
    ),
    "row_while": Nest(
        "CUDA(rowThreads=32)",
        f"{I} {{ double sum = 0; k = 0; while (k < 3) {{ if (sum > 100) break; {J} sum += P[i][j]; k++; }} y[i] = sum + k; }}",
        exact=False,
    ),
    "row_down": Nest("CUDA(rowThreads=96)", f"{I} {{ for (j = m - 1; j >= 2; j -= 3) Q[i][j] = P[i][j - 2] + j; }}"),
    "row_ranges": Nest(
        "CUDA(rowThreads=32)",
        f"{I} {{ int from = b[i] & 15, to = from + (b[i + 1] & 7); t = 0; for (j = from; j < to; j++) t += P[3][j] * P[j][3]; y[i] = t; }}",
        exact=False,
    ),
    "row_plane": Nest("CUDA(nd=2, rowThreads=32)", f"{I} {J} {{ t = Q[i][j]; for (k = 0; k < 40; k++) t += P[i][k] * x[k + j]; Q[i][j] = t; }}", exact=False),
    "row_alike": Nest(
        "CUDA(rowThreads=32)",
        f"{I} {{ t = 0; for (k = 0; k < 3; k++) t = t / 2 + x[i + k]; k = (int)t; {J} {{ a = t * j; Q[i][j] = a + k; }} }}",
    ),
    "row_updates": Nest("CUDA(rowThreads=32)", f"{I} {{ {J} counts[(c[j] + i) & 3] += 2; counts[c[i] & 3]++; }}"),
    "row_copies": Nest("CUDA(rowThreads=32, cacheUpdates=True)", f"{I} {{ {J} counts[(c[j] + i) & 3] += 2; counts[c[i] & 3]++; }}"),
    "copies_streams": Nest("CUDA(threadCount=32, streamCount=2, cacheUpdates=True)", f"{I} {{ counts[c[i] & 3] |= c[i]; y[i] = x[i]; }}"),
    "copies_sum": Nest("CUDA(threadCount=64, cacheUpdates=True)", f"{I} {{ counts[c[i] & 3]++; s += x[i]; }}", exact=False),
    "row_bits": Nest(
        "CUDA(rowThreads=160, unrollInner=2)",
        f"{I} {{ int any = 0, every = -1; long odd = 1; {J} {{ any |= c[j]; every &= c[j] | i; odd *= c[j] & 1 ? -1 : 1; }}"
        " y[i] = any + 3 * every + odd; }",
    ),
    "composite": Nest("Composite(unrolljam=(['i'], [3]), cuda=(64, False, True, 1))", f"{I} y[i] += a * x[i];"),
    "composite_updates": Nest(
        "Composite(unrolljam=(['j'], [3]), cuda=(True, ('threadCount', 32)))",
        f"{I} {J} {{ counts[(c[i] + j) & 3] += 1 + i; counts[j & 1]++; }}",
    ),
    "composite_mapped": Nest("Composite(unrolljam=(['i'], [3]), cuda=(True, ('threadCount', 32)))", f"{I} counts[c[i] & 3] += i;"),
    "table": Nest(
        "CUDA(threadCount=32)",
        f"{I} {{ static const double weights[3] = {{1, 2.5, -1}}; y[i] = 0; for (k = 0; k < 3; k++) y[i] += weights[k] * x[i + k]; }}",
    ),
    "composite_named": Nest("Composite(cuda=(True, ('threadCount', 32), ('blockCount', 3)))", f"{I} y[i] += a * x[i];"),
}  # fmt: skip

_HEAD = f"""\
#define _GNU_SOURCE
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#define max(p, q) ((p) > (q) ? (p) : (q))
{ITEM}
"""


def function(name: str, nest: Nest) -> str:
    """The C function of a nest; floating-point sums are combined in another order, which needs `force`."""
    recipe = nest.recipe if nest.exact else f"{nest.recipe[:-1]}, force=True)"
    return f"""\
void nest_{name}({PARAMETERS})
{{
  int i, j, k, low = INT_MAX, all = 1, bits = 0, ors = 0, count = 3;
  double t = 0, s = sums[0], top = -1e300, p = 1;
  /*@ begin Loop(transform {recipe}) @*/
  {nest.code}
  /*@ end @*/
  sums[0] = s; {nest.after}
}}
"""


def source(nests: Mapping[str, Nest] = NESTS) -> str:
    """The file with some nests, all by default; floating-point sums may be combined in another order."""
    return "\n".join([_HEAD, *(function(name, nest) for name, nest in nests.items())])


def driver(nests: Mapping[str, Nest] = NESTS) -> str:
    """A program that runs each nest in C and in CUDA, at several sizes, and tells where they differ."""
    declared = "\n".join(f"extern void nest_{n}({_CPP}); extern void plain_{n}({_CPP});" for n in nests)
    rows = "\n".join(
        f'  {{"{name}", nest_{name}, plain_{name}, {int(nest.exact)}}},' for name, nest in nests.items()
    )
    item = ITEM.replace("new", "old")
    return (
        _DRIVER.replace("@ITEM@", item)
        .replace("@DECLARED@", declared)
        .replace("@ROWS@", rows)
        .replace("@PARAMETERS@", _CPP)
    )


_CPP = (
    "int, int, double, double *, double *, double *, double (*)[64], double (*)[64], float *, float *, int *,"
    " unsigned char *, struct item *, double *, int *"
)
_DRIVER = """\
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

@ITEM@
extern "C" {
@DECLARED@
}

enum { COUNT = 4200, ITEMS = 64 };
struct data {
  double x[COUNT], y[COUNT], z[COUNT], P[64][64], Q[64][64];
  float f[COUNT], g[COUNT];
  int c[COUNT];
  unsigned char b[COUNT];
  struct item items[ITEMS];
  double sums[4];
  int counts[4];
};

static struct data start, host, device;

typedef void nest(@PARAMETERS@);
static const struct { const char *name; nest *cuda; nest *plain; int exact; } nests[] = {
@ROWS@
};

static void fill(void)
{
  unsigned state = 12345;
  for (int k = 0; k < COUNT; k++) {
    state = state * 1103515245u + 12345u;
    start.x[k] = (int)(state >> 16 & 255) / 16.0 - 7;
    start.y[k] = (int)(state >> 8 & 255) / 8.0;
    start.z[k] = (int)(state >> 12 & 255) / 32.0 - 3;
    start.f[k] = (float)start.x[k];
    start.g[k] = (float)start.y[k];
    start.c[k] = (int)(state >> 20 & 15) - 4;
    start.b[k] = (unsigned char)(state >> 9);
    if (k < ITEMS)
      start.items[k] = {(char)(k % 90), k / 4.0, k - 5, {k / 2.0f, 1.5f, -k / 4.0f}, (unsigned short)k};
    if (k < 4096) {
      start.P[k / 64][k % 64] = start.x[k];
      start.Q[k / 64][k % 64] = start.z[k];
    }
  }
  start.sums[0] = 2.5;
}

static void call(nest *what, struct data *d, int n, int m)
{
  *d = start;
  what(n, m, 1.5, d->x, d->y, d->z, d->P, d->Q, d->f, d->g, d->c, d->b, d->items, d->sums, d->counts);
}

static int differs(int exact)
{
  if (exact)
    return memcmp(&host, &device, sizeof host) != 0;
  for (int k = 0; k < 4; k++)
    if (fabs(host.sums[k] - device.sums[k]) > 1e-11 * (1 + fabs(host.sums[k])))
      return 1;
  return memcmp(&host, &device, offsetof(struct data, sums)) != 0 || memcmp(host.counts, device.counts, sizeof host.counts) != 0;
}

int main(void)
{
  static const int sizes[][2] = {{60, 61}, {33, 7}, {3, 64}, {1, 1}, {0, 5}, {5, 0}};
  int bad = 0;
  int runs = 0;
  fill();
  for (auto &one : nests)
    for (auto &size : sizes) {
      call(one.plain, &host, size[0], size[1]);
      call(one.cuda, &device, size[0], size[1]);
      runs++;
      if (differs(one.exact)) {
        bad++;
        printf("%s differs at n=%d m=%d\\n", one.name, size[0], size[1]);
      }
    }
  printf("%d runs, %d differ\\n", runs, bad);
  return bad != 0;
}
"""

"""Annotated programs whose variants are to be ranked: C kernels with spaces unlike each other, and the paper's stencils.

The stencils are those of Table 2 of T. Remmelg and others, "High-Level Hardware Feature Extraction for GPU Performance
Prediction of Stencils" (GPGPU 2020), written from what their benchmark suites compute (SHOC, Rodinia, PolyBench).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import Template

BLOCK = Template("""/* $name: written by benchmarks/prediction. */
void $name(int n$parameters)
{
  int $indices;

  /*@ begin PerfTuning(
    def build {
      arg build_command = 'gcc $flags';
    }

    def performance_counter {
      arg repetitions = 3;
    }

    def performance_params {
$space
    }

    def input_params {
      param n[] = [$size];
    }

    def input_vars {
$data
    }
  ) @*/
  /*@ begin Loop($recipe) @*/
$loops
  /*@ end @*/
  /*@ end @*/
}
""")


@dataclass(frozen=True)
class Nest:
    """A nest: its loops with their bounds, outermost first, and the statement; arrays by their extents, '' for scalars."""

    loops: Mapping[str, tuple[str, str]]
    statement: str
    arrays: Mapping[str, tuple[str, ...]]
    size: int
    type: str = "double"

    @property
    def text(self) -> str:
        """The loops."""
        lines = [
            f"  {'  ' * depth}for ({i} = {low}; {i} <= {high}; {i}++)"
            for depth, (i, (low, high)) in enumerate(self.loops.items())
        ]
        return "\n".join([*lines, f"  {'  ' * len(lines)}{self.statement}"])

    def filled(self, name: str, space: Mapping[str, str], recipe: str, flags: str) -> str:
        """The annotated file."""
        words, data = "", []
        for array, extents in self.arrays.items():
            shape = "".join(f"[{extent}]" for extent in extents)
            inner = "".join(f"[{extent}]" for extent in extents[1:])
            words += f", {self.type} {array}" if not extents else f", {self.type} (*restrict {array}){inner}"
            if len(extents) == 1:
                words = words.replace(f"(*restrict {array})", f"*restrict {array}")
            kind = f"decl dynamic {self.type}" if extents else f"decl {self.type}"
            data.append(f"      {kind} {array}{shape} = random;")
        return BLOCK.substitute(
            name=name,
            parameters=words,
            indices=", ".join(self.loops),
            flags=flags,
            space="\n".join(f"      param {p}[] = {values};" for p, values in space.items()),
            size=self.size,
            data="\n".join(data),
            recipe=recipe,
            loops=self.text,
        )


def _full(*names: str) -> dict[str, tuple[str, str]]:
    return dict.fromkeys(names, ("0", "n - 1"))


def _inner(*names: str) -> dict[str, tuple[str, str]]:
    return dict.fromkeys(names, ("1", "n - 2"))


_SQUARE, _ROW = ("n", "n"), ("n",)
_CUBE = ("n", "n", "n")

C_NESTS: Mapping[str, Nest] = {
    "gemm": Nest(
        _full("i", "j", "k"),
        "C[i][j] += A[i][k] * B[k][j];",
        {"A": _SQUARE, "B": _SQUARE, "C": _SQUARE},
        200,
    ),
    "gemm_nt": Nest(
        _full("i", "j", "k"),
        "C[i][j] += A[i][k] * B[j][k];",
        {"A": _SQUARE, "B": _SQUARE, "C": _SQUARE},
        200,
        "float",
    ),
    "syr2k": Nest(
        {"i": ("0", "n - 1"), "j": ("0", "i"), "k": ("0", "n - 1")},
        "C[i][j] += A[i][k] * B[j][k] + B[i][k] * A[j][k];",
        {"A": _SQUARE, "B": _SQUARE, "C": _SQUARE},
        200,
    ),
    "covariance": Nest(
        {"i": ("0", "n - 1"), "j": ("0", "i"), "k": ("0", "n - 1")},
        "S[i][j] += D[k][i] * D[k][j];",
        {"D": _SQUARE, "S": _SQUARE},
        200,
    ),
    "trmm": Nest(
        {"i": ("0", "n - 1"), "j": ("0", "n - 1"), "k": ("0", "i")},
        "C[i][j] += A[i][k] * B[k][j];",
        {"A": _SQUARE, "B": _SQUARE, "C": _SQUARE},
        240,
        "float",
    ),
    "atax": Nest(_full("i", "j"), "y[j] += A[i][j] * t[i];", {"A": _SQUARE, "y": _ROW, "t": _ROW}, 1200),
    "mvt": Nest(_full("i", "j"), "x[i] += A[j][i] * y[j];", {"A": _SQUARE, "x": _ROW, "y": _ROW}, 1200),
    "gesummv": Nest(
        _full("i", "j"),
        "y[i] += a * A[i][j] * x[j] + b * B[i][j] * x[j];",
        {"a": (), "b": (), "A": _SQUARE, "B": _SQUARE, "x": _ROW, "y": _ROW},
        900,
    ),
    "rank2": Nest(
        _full("i", "j"),
        "A[i][j] += u[i] * v[j] + w[i] * z[j];",
        {"A": _SQUARE, "u": _ROW, "v": _ROW, "w": _ROW, "z": _ROW},
        1200,
    ),
    "doitgen": Nest(
        _full("r", "q", "p", "s"),
        "R[r][q][p] += A[r][q][s] * C[s][p];",
        {"R": _CUBE, "A": _CUBE, "C": _SQUARE},
        56,
    ),
    "jacobi": Nest(
        _inner("i", "j"),
        "B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);",
        {"A": _SQUARE, "B": _SQUARE},
        1200,
    ),
    "convolution": Nest(
        _inner("i", "j"),
        "B[i][j] = a * (A[i - 1][j - 1] + A[i - 1][j + 1] + A[i + 1][j - 1] + A[i + 1][j + 1])"
        " + b * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]) + c * A[i][j];",
        {"a": (), "b": (), "c": (), "A": _SQUARE, "B": _SQUARE},
        1200,
        "float",
    ),
    "heat3d": Nest(
        _inner("i", "j", "k"),
        "B[i][j][k] = a * A[i][j][k] + b * (A[i + 1][j][k] + A[i - 1][j][k] + A[i][j + 1][k]"
        " + A[i][j - 1][k] + A[i][j][k + 1] + A[i][j][k - 1]);",
        {"a": (), "b": (), "A": _CUBE, "B": _CUBE},
        100,
    ),
    "transpose": Nest(_full("i", "j"), "B[j][i] = A[i][j];", {"A": _SQUARE, "B": _SQUARE}, 1200),
    "filter": Nest(
        {"i": ("0", "n - 65"), "k": ("0", "63")},
        "y[i] += h[k] * x[i + k];",
        {"y": _ROW, "h": _ROW, "x": _ROW},
        40000,
    ),
    "column_sums": Nest(_full("j", "i"), "s[j] += A[i][j];", {"s": _ROW, "A": _SQUARE}, 1200, "float"),
}
"""The C kernels by name, which the model that comes with the program was trained on."""

HELD_OUT: Mapping[str, Nest] = {
    "fdtd2d": Nest(
        {"i": ("0", "n - 2"), "j": ("0", "n - 2")},
        "H[i][j] -= 0.7 * (X[i][j + 1] - X[i][j] + Y[i + 1][j] - Y[i][j]);",
        {"H": _SQUARE, "X": _SQUARE, "Y": _SQUARE},
        1200,
    ),
    "symm": Nest(
        {"i": ("0", "n - 1"), "j": ("0", "n - 1"), "k": ("0", "i - 1")},
        "C[k][j] += a * B[i][j] * A[i][k];",
        {"a": (), "A": _SQUARE, "B": _SQUARE, "C": _SQUARE},
        240,
    ),
    "correlation": Nest(
        _full("i", "j"),
        "D[i][j] = (D[i][j] - m[j]) / (s * d[j]);",
        {"s": (), "D": _SQUARE, "m": _ROW, "d": _ROW},
        1200,
    ),
    "cholesky": Nest(
        {"i": ("0", "n - 1"), "j": ("0", "i"), "k": ("0", "j")},
        "A[i][j] -= L[i][k] * L[j][k];",
        {"A": _SQUARE, "L": _SQUARE},
        300,
    ),
    "convolution3d": Nest(
        _inner("i", "j", "k"),
        "B[i][j][k] = a * (A[i - 1][j - 1][k - 1] + A[i + 1][j - 1][k - 1] + A[i - 1][j - 1][k + 1]"
        " + A[i + 1][j + 1][k + 1]) + b * (A[i][j][k] + A[i][j - 1][k] + A[i][j + 1][k]) + c * A[i + 1][j][k];",
        {"a": (), "b": (), "c": (), "A": _CUBE, "B": _CUBE},
        100,
        "float",
    ),
    "deriche": Nest(
        _full("i", "j"),
        "Z[i][j] = a * (X[i][j] + Y[i][j]);",
        {"a": (), "X": _SQUARE, "Y": _SQUARE, "Z": _SQUARE},
        1200,
    ),
}
"""Nests of PolyBench 4.2 that are no part of the training."""


def c_program(name: str) -> str:
    """A C kernel with a space of its own shape: tiles, orders, unroll-and-jam, scalars in registers, vectors."""
    nests = {**C_NESTS, **HELD_OUT}
    nest = nests[name]
    loops = list(nest.loops)
    number = list(nests).index(name)
    tiles, unrolled = loops[number % 2 :], loops if number % 3 else loops[-2:]
    space: dict[str, str] = {}
    for loop in tiles:
        space[f"T_{loop.upper()}"] = str([1, 16, 64, 128] if number % 2 else [1, 8, 32, 256])
    for loop in unrolled:
        space[f"U_{loop.upper()}"] = str([1, 2, 4, 8] if number % 4 else [1, 2, 3, 6])
    orders = _orders(loops, nest)
    if len(orders) > 1:
        space["ORDER"] = str(list(orders))
    space["SREP"], space["VEC"] = "[False, True]", "[False, True]"
    band = ", ".join(f"['{loop * 2}']" for loop in tiles)
    permutations = "".join(f"[[{band}, {_listed(o)}]] if ORDER == '{o}' else " for o in orders[1:])
    recipe = f"""transform Composite(
      tile = [{", ".join(f"('{loop}', T_{loop.upper()}, '{loop * 2}')" for loop in tiles)}],
      permut = {permutations}[[{band}, {_listed(orders[0])}]],
      unrolljam = ({unrolled}, [{", ".join(f"U_{loop.upper()}" for loop in unrolled)}]),
      scalarreplace = (SREP, '{nest.type}'),
      vector = (VEC, ['ivdep'])
    )"""
    return nest.filled(name, space, recipe, "-O3 -march=native")


def _listed(order: str) -> str:
    return ", ".join(f"'{loop}'" for loop in order)


def _orders(loops: list[str], nest: Nest) -> list[str]:
    """A few orders of the loops; those of triangles are left as they are where bounds would have to change."""
    first = "".join(loops)
    if any(
        other in high or other in low for low, high in nest.loops.values() for other in loops if other != "n"
    ):
        return [first]
    found = [first, first[:-2] + first[-1] + first[-2]]
    if len(loops) > 2:
        found += [first[-1] + first[:-1], first[1:] + first[0]]
    return list(dict.fromkeys(found))


def _near(array: str, *offsets: tuple[int, int]) -> list[str]:
    """Elements of a grid around (i, j), by their offsets."""
    return [f"{array}[i{_signed(di)}][j{_signed(dj)}]" for di, dj in offsets]


def _signed(offset: int) -> str:
    return f" {'+' if offset > 0 else '-'} {abs(offset)}" if offset else ""


_CROSS = ((-1, 0), (1, 0), (0, -1), (0, 1))
_CORNERS = ((-1, -1), (-1, 1), (1, -1), (1, 1))
_N, _S, _W, _E = _near("A", *_CROSS)
_C = "A[i][j]"
_SUM = " + ".join(_near("A", *_CROSS))
_DIAGONAL = " + ".join(_near("A", *_CORNERS))
_FIVE = tuple((di, dj) for di in range(-2, 3) for dj in range(-2, 3))
_BINOMIAL = (1, 4, 6, 4, 1)
_GAUSS = " + ".join(
    f"{_BINOMIAL[di + 2] * _BINOMIAL[dj + 2] / 256}f * {_near('A', (di, dj))[0]}" for di, dj in _FIVE
)
_GRIDS = {"A": _SQUARE, "B": _SQUARE}


def _stencil(statement: str, arrays: Mapping[str, tuple[str, ...]], border: int = 1) -> Nest:
    loops = {index: (str(border), f"n - {border + 1}") for index in ("i", "j")}
    return Nest(loops, statement, arrays, 1024, "float")


STENCILS: Mapping[str, Nest] = {
    "stencil2d": _stencil(
        f"B[i][j] = a * {_C} + b * ({_SUM}) + c * ({_DIAGONAL});", {"a": (), "b": (), "c": (), **_GRIDS}
    ),
    "srad1": _stencil(
        f"""{{
    float g = (({_N} - {_C}) * ({_N} - {_C}) + ({_S} - {_C}) * ({_S} - {_C}) + ({_W} - {_C}) * ({_W} - {_C})
        + ({_E} - {_C}) * ({_E} - {_C})) / ({_C} * {_C});
    float l = ({_SUM} - 4.0f * {_C}) / {_C};
    float q = (0.5f * g - l * l / 16.0f) / ((1.0f + 0.25f * l) * (1.0f + 0.25f * l));
    B[i][j] = 1.0f / (1.0f + (q - a) / (a * (1.0f + a)));
  }}""",
        {"a": (), **_GRIDS},
    ),
    "srad2": _stencil(
        f"B[i][j] = D[i][j] + a * ({_C} * ({_near('D', (-1, 0))[0]} + {_near('D', (0, -1))[0]})"
        f" + {_S} * {_near('D', (1, 0))[0]} + {_E} * {_near('D', (0, 1))[0]});",
        {"a": (), **_GRIDS, "D": _SQUARE},
    ),
    "hotspot": _stencil(
        f"B[i][j] = {_C} + a * (P[i][j] + ({_N} + {_S} - 2.0f * {_C}) * b + ({_E} + {_W} - 2.0f * {_C}) * c"
        f" + (80.0f - {_C}) * d);",
        {"a": (), "b": (), "c": (), "d": (), **_GRIDS, "P": _SQUARE},
    ),
    "gradient": _stencil(
        "B[i][j] = sqrtf("
        + " + ".join(f"({_C} - {one}) * ({_C} - {one})" for one in (_N, _S, _W, _E))
        + " + 10.0f);",
        _GRIDS,
    ),
    "jacobi5": _stencil(f"B[i][j] = 0.2f * ({_C} + {_SUM});", _GRIDS),
    "jacobi9": _stencil(f"B[i][j] = 0.1f * ({_C} + {_SUM} + {_DIAGONAL});", _GRIDS),
    "gaussian": _stencil(f"B[i][j] = {_GAUSS};", _GRIDS, 2),
}
"""The paper's stencils (Table 2) by name."""

STENCIL_SPACE: Mapping[str, str] = {
    "WX": "[1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256]",
    "WY": "[1, 2, 3, 4, 6, 8, 12, 16]",
    "C": "[1, 2, 4, 8, 16, 32]",
    "SPREAD": "['strided', 'blocked']",
    "V": "[1, 2, 4, 8, 16]",
    "RX": "[1, 2, 3, 4, 6, 8]",
    "RY": "[1, 2, 3, 4, 6, 8]",
    "FLAGS": "['', '-cl-fast-relaxed-math']",
    "LOCAL": "[False, True]",
}
STENCIL_CONSTRAINTS = """
      constraint group = WX * WY <= 1024;
      constraint one_way = (C == 1 and V == 1) or RX * RY == 1;
      constraint lanes = V == 1 or C == 1;
      constraint lie = SPREAD == 'strided' or (C > 1 and not LOCAL);
      constraint tile = not LOCAL or (C == 1 and V == 1);
"""


def opencl_program(name: str, size: int = 1024) -> str:
    """A stencil with the space of kernels: groups, coarsening, vectors, tiles in local memory and in registers."""
    recipe = """transform OpenCL(nd=2, workItemsPerGroup=[WX, WY], coarsen=C, spread=SPREAD, vectorWidth=V,
      registerTile=[RX, RY] if RX * RY > 1 else 0, clFlags=FLAGS, cacheBlocks=LOCAL)"""
    space = dict(STENCIL_SPACE)
    last = list(space)[-1]
    space[last] = f"{space[last]};{STENCIL_CONSTRAINTS.rstrip().removesuffix(';')}"
    text = replace(STENCILS[name], size=size).filled(name, space, recipe, "-O2")
    return text.replace("/* ", "#include <math.h>\n/* ", 1)

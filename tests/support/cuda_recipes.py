"""Tensor contractions with `cuda` in recipes by statement number, their files, and what einsum makes of them.

The contractions are those of the CCSD(T) triples corrections of NWChem and of Nekbone's gradients; the recipes
`golden` are those of A. Rivera's thesis (University of Utah, 2014, figure 3.9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Statement:
    """`out(indices) op one(indices) * two(indices)`; the first index of each is the fastest."""

    out: str
    op: str
    one: str
    two: str
    loops: str

    @property
    def refs(self) -> list[tuple[str, list[str]]]:
        parts = [ref.rstrip(")").split("(") for ref in (self.out, self.one, self.two)]
        return [(name, indices.split()) for name, indices in parts]


@dataclass(frozen=True, slots=True)
class Case:
    """A function of contractions at some sizes.

    `style` says whether sizes are `macro`s, `literal`s, or parameters at `run` time.  `outer` is a loop around all
    statements.  With `like`, the case is another call of that one's function.
    """

    statements: tuple[Statement, ...]
    recipe: str
    sizes: Mapping[str, int]
    style: str = "macro"
    outer: str = ""
    like: str = ""

    def size(self, name: str, index: str) -> str:
        return str(self.sizes[index]) if self.style == "literal" else f"{name}_{index}u"

    @property
    def arrays(self) -> dict[str, list[str]]:
        """The arrays with their indices: results first."""
        refs = [s.refs for s in self.statements]
        return dict([r[0] for r in refs] + [ref for r in refs for ref in r[1:]])

    @property
    def results(self) -> set[str]:
        return {s.refs[0][0] for s in self.statements}


def element(case: Case, name: str, ref: tuple[str, list[str]]) -> str:
    array, indices = ref
    text = indices[-1]
    for index in reversed(indices[:-1]):
        text = f"{index} + {case.size(name, index)} * ({text})"
    return f"{array}[{text}]"


def parameters(name: str, case: Case) -> str:
    words = [
        f"double *restrict {a}" if a in case.results else f"const double *restrict {a}" for a in case.arrays
    ]
    words += [f"int {case.size(name, index)}" for index in case.sizes] if case.style == "run" else []
    return ", ".join(words)


def function(name: str, case: Case) -> str:
    """The C function `nest_NAME` of a case, and its macros."""
    lines = [f"#define {case.size(name, i)} {n}" for i, n in case.sizes.items() if case.style == "macro"]
    lines += [f"void nest_{name}({parameters(name, case)})", "{", f"  int {', '.join(case.sizes)};"]
    lines += ["  /*@ begin CHiLL(", *(f"    {line}" for line in case.recipe.strip().split("\n")), "  ) @*/"]
    if case.outer:
        lines += [f"  {_head(case, name, case.outer)} {{"]
    for statement in case.statements:
        left, one, two = (element(case, name, ref) for ref in statement.refs)
        heads = [_head(case, name, index) for index in statement.loops.split()]
        lines += ["  " + " ".join(heads), f"    {left} {statement.op} {one} * {two};"]
    return "\n".join([*lines, *(["  }"] if case.outer else []), "  /*@ end @*/", "}", ""])


def _head(case: Case, name: str, index: str) -> str:
    return f"for ({index} = 0; {index} < {case.size(name, index)}; {index}++)"


def inputs(case: Case, seed: int) -> Arrays:
    """Small integers and halves, so that sums are exact in any order."""
    random = np.random.default_rng(seed)
    return {
        array: random.integers(-6, 7, [case.sizes[i] for i in reversed(indices)]) / 2.0
        for array, indices in case.arrays.items()
    }


def expected(case: Case, arrays: Arrays) -> Arrays:
    """The arrays after the statements, by numpy's einsum."""
    found = dict(arrays)
    letters = dict(zip(case.sizes, "abcdefghijkl", strict=False))
    for statement in case.statements:
        (out, result), *factors = statement.refs
        words = ["".join(letters[i] for i in reversed(indices)) for _, indices in (*factors, (out, result))]
        product = np.einsum(f"{words[0]},{words[1]}->{words[2]}", *(found[name] for name, _ in factors))
        found[out] = {"+=": found[out] + product, "-=": found[out] - product, "=": product}[statement.op]
    return found


D1 = Statement("t3(h3 h2 h1 p6 p5 p4)", "-=", "t2(h7 p4 p5 h1)", "v2(h3 h2 p6 h7)", "p4 p5 p6 h1 h2 h3 h7")
D2 = Statement("t3(h3 h2 h1 p6 p5 p4)", "-=", "t2(p7 p4 h1 h2)", "v2(p7 h3 p6 p5)", "p4 p5 p6 h1 h2 h3 p7")
S1 = Statement("t3(h3 h2 h1 p6 p5 p4)", "+=", "t1(p4 h1)", "v2(h3 h2 p6 p5)", "p4 p5 p6 h1 h2 h3")
UR = Statement("ur(k j i e)", "+=", "D(k m)", "u(m j i e)", "i j k m")
US = Statement("us(k j i e)", "+=", "u(k m i e)", "Dt(m j)", "i j k m")
UT = Statement("ut(k j i e)", "+=", "u(k j m e)", "Dt(m i)", "i j k m")
GRADIENT = (UR, US, UT)
TRANSPOSED = (
    Statement("w(k j i e)", "+=", "Dt(k m)", "ur(m j i e)", "i j k m"),
    Statement("w(k j i e)", "+=", "us(k m i e)", "D(m j)", "i j k m"),
    Statement("w(k j i e)", "+=", "ut(k j m e)", "D(m i)", "i j k m"),
)
CHAIN = (
    Statement("t(i j)", "=", "a(i j)", "b(j i)", "j i"),
    Statement("y(i j)", "+=", "t(i k)", "c(k j)", "j i k"),
)


def d1_recipe(factors: str = "[1,2,4,8,16]") -> str:
    return f"""UF0[] = {factors};
permute(0,("p5","p4","p6","h1","h2","h3","h7"))
cuda(0,block={{"h2","p6"}},thread={{"h3","h1"}})
registers(0,"h7")
unroll(0,"h7",UF0)"""


def gradient_recipe(first: str = "[1,2,5,10]", second: str = "[1,2,5,10]") -> str:
    return f"""UF0[] = {first};  UF2[] = {second};
cuda(0,block={{"e","j"}},thread={{"k","i"}})
cuda(2,block={{"e","j"}},thread={{"k","i"}})
registers(0,"m") registers(1,"m") registers(2,"m")
fuse(0,1)  unroll(0,"m",UF0)  unroll(2,"m",UF2)"""


def triples(**other: int) -> dict[str, int]:
    sizes = {"p4": 2, "p5": 3, "p6": 4, "h1": 5, "h2": 3, "h3": 6}
    return {**sizes, "h7": 8, **other}


def points(n: int, elements: int) -> dict[str, int]:
    return {"e": elements, "i": n, "j": n, "k": n, "m": n}


_E_J = 'cuda({0},block={{"e","j"}},thread={{"k","i"}})'
GOLDEN: dict[str, Case] = {
    "sd_t_d1_1": Case((D1,), d1_recipe(), dict.fromkeys(triples(), 16)),
    "local_grad3": Case(GRADIENT, gradient_recipe(), points(10, 1000), outer="e"),
}
CASES: dict[str, Case] = {
    **{f"d1_{uf}": Case((D1,), d1_recipe(f"[{uf}]"), triples()) for uf in (4, 16)},
    "d1_literal": Case((D1,), d1_recipe("[4]"), triples(h7=7), "literal"),
    "d1_run": Case((D1,), d1_recipe("[2]"), triples(h3=37), "run"),
    "d1_none": Case((D1,), d1_recipe("[2]"), triples(h7=0, h1=1), "run", like="d1_run"),
    "d1_space": Case(
        (D1,),
        'cuda(0, block={"h2", "p6", "p5"}, thread={"h3", "h1", "p4"})\nregisters(0, "h7")',
        triples(),
        "literal",
    ),
    "d1_line": Case(
        (D1,),
        'cudaize(0, block={"p6"}, thread={"h3"})\nunroll(0, "p4", 2) unroll(0, "h1", 2)',
        triples(),
    ),
    "d2": Case(
        (D2,),
        'cuda(0,block={"h2","p6"},thread={"h3","h1"})\nregisters(0,"p7") unroll(0,"p7",2)',
        {i: n for i, n in {**triples(), "p7": 6}.items() if i != "h7"},
    ),
    "s1": Case(
        (S1,),
        'cuda(0,block={"h2","p6"},thread={"h3","p5"})',
        {i: n for i, n in triples().items() if i != "h7"},
    ),
    **{
        f"gradient_{one}_{two}": Case(
            GRADIENT, gradient_recipe(f"[{one}]", f"[{two}]"), points(5, 6), outer="e"
        )
        for one, two in ((2, 1), (5, 10))
    },
    "gradient_run": Case(GRADIENT, gradient_recipe("[2]", "[5]"), points(7, 3), "run", "e"),
    "gradient_empty": Case(
        GRADIENT, gradient_recipe("[2]", "[5]"), points(3, 0), "run", "e", like="gradient_run"
    ),
    "transposed": Case(TRANSPOSED, "\n".join(_E_J.format(n) for n in range(3)), points(4, 3), outer="e"),
    "transposed_fused": Case(
        TRANSPOSED,
        _E_J.format(0) + '\nfuse({0, 1, 2}, 4)\nregisters(0, "m")',
        points(4, 3),
        outer="e",
    ),
    "chain": Case(
        CHAIN,
        'cuda(0, block={"j"}, thread={"i"}) cuda(1, block={"j"}, thread={"i"})',
        {"i": 6, "j": 5, "k": 5},
        "literal",
    ),
}


def source(cases: Mapping[str, Case]) -> str:
    """The file with the functions of all cases."""
    return "\n".join(function(name, case) for name, case in cases.items() if not case.like)


def driver(cases: Mapping[str, Case]) -> str:
    """A program that runs every case on the arrays of `inputs.bin` and writes them all to `outputs.bin`.

    It is to be compiled with `COUNTED` included first, and prints for each case how often memory of the device was
    allocated, and how often something was copied.  For cases that are named as arguments it makes each call of the
    runtime fail in turn, and tells how often all was done nevertheless, and how often a part.
    """
    declared = [
        f'extern "C" void nest_{n}({_cpp(parameters(n, c))});' for n, c in cases.items() if not c.like
    ]
    runs = [_run(name, case) for name, case in cases.items()]
    return _DRIVER.replace("@DECLARED@", "\n".join(declared)).replace("@RUNS@", "\n".join(runs))


def _cpp(text: str) -> str:
    return text.replace("restrict ", "")


def _run(name: str, case: Case) -> str:
    lengths = [int(np.prod([case.sizes[i] for i in indices])) for indices in case.arrays.values()]
    words = [f"a[{k}]" for k in range(len(lengths))]
    words += [str(n) for n in case.sizes.values()] if case.style == "run" else []
    given = ", ".join(map(str, lengths))
    return (
        f'  run("{name}", {{{given}}}, [](double **a) {{ nest_{case.like or name}({", ".join(words)}); }});'
    )


COUNTED = """\
#include <cuda_runtime.h>
extern long allocated, copied, freed;
#define cudaMalloc(...) (allocated++, cudaMalloc(__VA_ARGS__))
#define cudaFree(...) (freed++, cudaFree(__VA_ARGS__))
#define cudaMemcpyAsync(...) (copied++, cudaMemcpyAsync(__VA_ARGS__))
"""

_DRIVER = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <initializer_list>
#include "out_cuda.h"

extern "C" {
@DECLARED@
}

long allocated, copied, freed;
static FILE *in, *out;
static int told, failing;
static char **chosen;

static void handler(int, const char *)
{
  told++;
}

typedef void (*call)(double **arrays);

static void fail_each(const char *name, int count, const long *lengths, double **start, double **arrays, call what)
{
  int calls = 0, bad = 0, partly = 0, complete = 0;
  double *wanted[16];
  for (int a = 0; a < count; a++) {
    wanted[a] = (double *)malloc(lengths[a] * sizeof(double) + 1);
    memcpy(arrays[a], start[a], lengths[a] * sizeof(double));
  }
  what(arrays);
  for (int a = 0; a < count; a++)
    memcpy(wanted[a], arrays[a], lengths[a] * sizeof(double));
  orio_cuda_out_release();
  orio_cuda_out_on_error(handler);
  for (int k = 1; k < 1000; k++) {
    char option[32];
    int changed = 0, different = 0;
    told = 0;
    snprintf(option, sizeof option, "fail=%d:2", k);
    for (int a = 0; a < count; a++)
      memcpy(arrays[a], start[a], lengths[a] * sizeof(double));
    orio_cuda_cpu_options(option);
    what(arrays);
    orio_cuda_cpu_options("fail=0");
    for (int a = 0; a < count; a++)
    {
      changed |= memcmp(arrays[a], start[a], lengths[a] * sizeof(double)) != 0;
      different |= memcmp(arrays[a], wanted[a], lengths[a] * sizeof(double)) != 0;
    }
    if (told == 0)
      break;
    calls++;
    bad += told != 1;
    partly += changed && different;
    complete += changed && !different;
    bad += orio_cuda_out_release() != 0 || orio_cuda_cpu_alive() != 0;
  }
  printf("%s: %d calls failed, %d bad, all was done in %d, a part in %d\\n", name, calls, bad, complete, partly);
  for (int a = 0; a < count; a++)
    free(wanted[a]);
}

static void run(const char *name, std::initializer_list<long> lengths, call what)
{
  double *arrays[8], *start[8];
  int count = 0;
  for (long length : lengths) {
    size_t bytes = length * sizeof(double);
    start[count] = (double *)malloc(bytes + 8);
    arrays[count] = (double *)malloc(bytes + 8);
    if (fread(start[count], 1, bytes, in) != bytes)
      exit(9);
    memcpy(arrays[count], start[count], bytes);
    count++;
  }
  for (int k = 0; k < failing; k++)
    if (strcmp(chosen[k], name) == 0)
      fail_each(name, count, lengths.begin(), start, arrays, what);
  if (failing)
    return;
  allocated = copied = freed = 0;
  what(arrays);
  long allocations = allocated, copies = copied;
  orio_cuda_out_release();
  printf("%s: %ld allocations, %ld frees, %ld copies\\n", name, allocations, freed, copies);
  count = 0;
  for (long length : lengths) {
    fwrite(arrays[count], sizeof(double), length, out);
    free(arrays[count]);
    free(start[count++]);
  }
}

int main(int count, char **words)
{
  failing = count - 1;
  chosen = words + 1;
  in = fopen("inputs.bin", "rb");
  out = fopen("outputs.bin", "wb");
@RUNS@
  fclose(in);
  fclose(out);
  orio_cuda_out_release();
  return orio_cuda_cpu_alive() != 0;
}
"""


def write_inputs(path: object, cases: Mapping[str, Case]) -> dict[str, Arrays]:
    """Random arrays of all cases, written one behind the other."""
    found = {name: inputs(case, seed) for seed, (name, case) in enumerate(cases.items())}
    with open(str(path), "wb") as file:
        for arrays in found.values():
            for array in arrays.values():
                file.write(np.ascontiguousarray(array).tobytes())
    return found


def read_outputs(path: object, given: Mapping[str, Arrays]) -> dict[str, Arrays]:
    """The arrays in a file of the same layout."""
    values, at = np.fromfile(str(path)), 0
    found: dict[str, Arrays] = {}
    for name, arrays in given.items():
        found[name] = {}
        for array, before in arrays.items():
            found[name][array] = values[at : at + before.size].reshape(before.shape)
            at += before.size
    assert at == values.size
    return found


def differing(found: Mapping[str, Arrays], wanted: Mapping[str, Arrays]) -> Sequence[str]:
    """The arrays that are not as wanted."""
    return [f"{c}.{a}" for c in wanted for a in wanted[c] if not np.array_equal(found[c][a], wanted[c][a])]

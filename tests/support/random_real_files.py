"""Draws whole files around random regions, as people write them: what stands before, around and after the region.

The file defines macros, types, functions and variables, those only that it uses.  The function around the region
sets its variables, may repeat the region in a loop or run it under a condition, and reads scalars afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from proof_program import globals_of, parameters, results
from random_code import GLOBAL, PRELUDE, Array, Code, Item, Loop, Run, render
from random_code_choices import Choices
from random_code_forms import NO_FORMS
from random_code_shapes import PLAIN, Shape
from random_real_images import DEFINITIONS as IMAGE_DEFINITIONS
from random_real_images import LOCALS as IMAGE_LOCALS
from random_real_images import NEEDS as IMAGE_NEEDS
from random_real_images import READS as IMAGE_READS
from random_real_images import STARTS as IMAGE_STARTS
from random_real_images import STATEMENTS as IMAGES
from random_real_nests import RealMaker
from random_real_structures import DEFINITIONS as STRUCTURE_DEFINITIONS
from random_real_structures import LOCALS as STRUCTURE_LOCALS
from random_real_structures import NEEDS
from random_real_structures import READS as STRUCTURE_READS
from random_real_structures import STARTS as STRUCTURE_STARTS
from random_real_structures import STATEMENTS as STRUCTURES

NO_HEADERS = """#define TEN 10
#define HALF(x) ((x) * 0.5)
#define NEXT(x) (x + 1)
double fabs(double);
void note(long value);
"""
"""What most files begin with, as headers take longer to read than all else."""

DEFINITIONS: tuple[tuple[str, str], ...] = (
    ("calls", "static long calls;"),
    ("memory", "static double memory;"),
    ("extent", "static int extent;"),
    ("FLAG", "#define FLAG 1"),
    ("REAL", "#define REAL double"),
    ("INDEX", "#define INDEX int"),
    ("AT_a", "#define AT_a(x) a[@0{(x)@}]"),
    ("AT_b", "#define AT_b(x) b[@2{(x)@}]"),
    ("SQUARE", "#define SQUARE(x) ((x) * (x))"),
    ("LARGER", "#define LARGER(x, y) ((x) > (y) ? (x) : (y))"),
    ("SMALLER", "#define SMALLER(x, y) ((x) < (y) ? (x) : (y))"),
    (
        "LEAST",
        "#define LEAST(x, y) __extension__ ({ __typeof__(x) x_ = (x); __typeof__(y) y_ = (y); x_ < y_ ? x_ : y_; })",
    ),
    ("ADD_TO", "#define ADD_TO(to, x) to += (x)"),
    ("SWAP", "#define SWAP(x, y) do { double old = x; x = y; y = old; } while (0)"),
    ("CURRENT", "#define CURRENT a[@0{i@}]"),
    ("BELOW", "#define BELOW b[@2{i + 1@}]"),
    ("SUM_UP", "#define SUM_UP acc += b[@2{i@}]"),
    ("EXTENT", "#define EXTENT n"),
    ("LAST", "#define LAST (n - 1)"),
    ("HALVES", "#define HALVES(x) ((x) / 2 + 1)"),
    ("COUNTED", "#define COUNTED(x) (calls++, (x))"),
    ("half", "static double half(double x) { return x * 0.5; }"),
    ("twice", "static int twice(int x) { return 2 * x; }"),
    (
        "blend",
        "static inline double blend(double x, double y) {\n  double z = x;\n  if (y > x)\n    z = y;\n  return z * 0.5;\n}",
    ),
    ("smaller_of", "static int smaller_of(int x, int y) { return x < y ? x : y; }"),
    (
        "sum_of",
        "static double sum_of(const ELEMENT *x, int at) { return x[@0{at@}] + x[@0{at + 1@}]; }",
    ),
    ("asked", "static int asked(int x) { calls += 2; return x; }"),
    ("counted", "static double counted(double x) { calls++; return x + (double)(calls % 3); }"),
    ("told", "static void told(long x) { note(x); }"),
    ("put", "static void put(double *to, double x) { *to = x; }"),
    ("remembered", "static double remembered(void) { return memory; }"),
    ("remember", "static void remember(double x) { memory = x; }"),
    ("shrink", "static void shrink(void) { extent = 2; }"),
    ("at_index", "static long at_index(void) { return (long)i; }"),
    ("next_index", "static void next_index(void) { i++; }"),
    (
        "min",
        "static int min(int x, int y) { calls = (calls * 3 + x) % 97; return x < y ? x : y; }",
    ),
    ("max", "static double max(double x, double y) { return x > y ? y : x; }"),
    ("sums", "struct sums_ { int n; struct { int m; } inner; };"),
    (
        "store",
        "struct box { int n; double v; struct { int m; } inner; double weight[2]; };",
    ),
    *STRUCTURE_DEFINITIONS,
    *IMAGE_DEFINITIONS,
)
"""What may stand at file scope, by the name whose use asks for it; later ones may use earlier ones."""

LOCALS: tuple[tuple[str, str], ...] = (
    ("sin", "  double sin = 0.75;"),
    ("exp", "  double exp = 0.25;"),
    ("t1", "  double t1 = 0.5;"),
    ("t2", "  double t2;"),
    ("bound_", "  int bound_ = (int)n;"),
    ("limit", "  int *limit = &bound_;"),
    ("store", "  struct box store = {4, 0.5, {5}, {1.0, 2.0}};"),
    ("box", "  struct box *box = &store;"),
    ("step_", "  int step_ = 0;"),
    ("gap", "  int gap = (int)(m % 3) + 1;"),
    ("wide", "  long wide = n % 2 + 2;"),
    ("odd", "  int odd = (int)(n % 4) - 1;"),
    ("at", "  int at = 1;"),
    ("pool", "  static double pool[65536];"),
    ("walk", "  double *walk = pool, *past = pool + (n > 3 ? n : 3);"),
    ("tally", "  long tally[8] = {1, 2};"),
    ("room", "  double room[4] = {0.5, 0.25, 1.0, 3.0};"),
    ("raised", "  int raised = 0;"),
    ("total", "  long sum_ = 3, *total = &sum_;"),
    ("sums", "  struct sums_ sums = {4, {5}};"),
    *STRUCTURE_LOCALS,
    *IMAGE_LOCALS,
)
"""What the function around the region may declare, in this order."""

STARTS: tuple[tuple[str, str], ...] = (
    ("calls", "  calls = 1;"),
    ("memory", "  memory = 0.5;"),
    ("extent", "  extent = 6;"),
    ("pool", "  for (int q_ = 0; q_ < 65536; q_++) pool[q_] = q_ % 7;"),
    *STRUCTURE_STARTS,
    *IMAGE_STARTS,
)
"""What it sets before the region, as a run must not know of the one before."""

READS: tuple[tuple[str, str], ...] = (
    ("calls", "  last_[10] = calls;"),
    ("memory", "  out_[11] = memory;"),
    ("extent", "  last_[12] = extent;"),
    ("limit", "  last_[13] = bound_;"),
    ("store", "  out_[14] = store.v + store.n + store.inner.m + store.weight[1];"),
    ("at", "  last_[15] = at;"),
    ("walk", "  last_[14] = walk - pool; for (int q_ = 0; q_ < 99; q_++) out_[15] += pool[q_];"),
    ("tally", "  for (int q_ = 0; q_ < 8; q_++) last_[22] = last_[22] * 31 + tally[q_];"),
    ("raised", "  last_[23] = raised;"),
    ("total", "  last_[24] = sum_;"),
    ("sums", "  last_[25] = sums.n + 31 * sums.inner.m;"),
    ("room", "  if (m % 2) out_[20] = room[0] + 2 * room[1] + 3 * room[2] + 4 * room[3];"),
    *STRUCTURE_READS,
    *IMAGE_READS,
)
"""What it reads after the region."""

AROUND: tuple[tuple[str, str], ...] = (
    ("  for (step_ = 0; step_ < 2; step_++) {\n", "  }\n"),
    ("  do {\n", "  } while (++step_ < 2);\n"),
    ("  if (m > 2) {\n", "  }\n"),
    ("  while (step_ < 3) {\n    step_++;\n", "  }\n"),
    ("  for (step_ = 0; step_ < 2; step_++) {\n  acc = acc * 0.5;\n", "  b[@2{0@}] = acc;\n  }\n"),
    ("  switch ((int)m) {\n  case 0: break;\n  default: {\n", "  }\n  }\n"),
)
"""What may stand around the region."""


@dataclass(frozen=True, slots=True)
class File:
    """What stands around a region: its forms, what opens and closes the code around it, and scalars at file scope.

    `at_file_scope` maps such a scalar to the words before its type; `where` is the index whose address is taken,
    `aliased` whether the pointer to the bound points into an array, and `headers` whether the file includes some.
    """

    forms: tuple[str, ...]
    around: tuple[str, str] = ("", "")
    at_file_scope: tuple[tuple[str, str], ...] = ()
    where: str = ""
    aliased: bool = False
    headers: bool = False

    def text(self, code: Code, recipe: str, body: str, original: str) -> str:
        """The whole file with marks; the annotation holds `recipe`, and `body` follows it."""
        inside = self._inside(code, original)
        arguments = parameters(code)
        if "type_macros" in self.forms:
            arguments = re.sub(r"double \*(restrict )?([ab])", r"REAL *\1\2", arguments)
        header = self._header(code, arguments + inside)
        return (
            f"{PRELUDE if self.headers else NO_HEADERS}{header}void region({arguments}) {{\n{inside}"
            f"{self.around[0]}  /*@ begin Loop(\n{recipe}  ) @*/\n{body}  /*@ end @*/\n{self.around[1]}"
            f"{self._after(code, inside + original)}}}\n"
        )

    def file_names(self, text: str) -> list[str]:
        """The names at file scope that the text of the file defines, macros apart."""
        names = [name for name, line in DEFINITIONS if not line.startswith("#") and _has(text, name)]
        return ["region", "box", "sums_", *names, *(name for name, _ in self.at_file_scope)]

    def _header(self, code: Code, inside: str) -> str:
        kinds = dict(code.indices) | {name: kind for name, kind, _ in code.scalars}
        lines = [f"{words}{kinds[name]} {name};" for name, words in self.at_file_scope]
        lines += [f"static {a.element} {a.name}[{GLOBAL}];" for a in globals_of(code)]
        used = inside + render(code.items) + self.around[0] + self.around[1]
        chosen: list[str] = []
        for name, definition in reversed(DEFINITIONS):
            if _has(used, name):
                chosen.append(definition.replace("ELEMENT", code.arrays[0].element))
                used += definition
        return "".join(line + "\n" for line in [*lines, *reversed(chosen)])

    def _inside(self, code: Code, original: str) -> str:
        """Declarations and first values."""
        outside = dict(self.at_file_scope)
        used = original + self.around[0] + self.around[1]
        used += " store" * _has(used, "box") + " bound_" * _has(used, "limit")
        used += " pool past" * _has(used, "walk")
        for name, needed in (*NEEDS, *IMAGE_NEEDS):
            used += f" {needed}" * _has(used, name)
        lines: list[str] = []
        sets: list[str] = []
        for name, kind, value in (
            *((n, k, "77 % 2" if k == "_Bool" else "77") for n, k in code.indices),
            *code.scalars,
        ):
            (sets if name in outside else lines).append(
                f"  {'' if name in outside else kind + ' '}{name} = {value};"
            )
        for name, line in LOCALS:
            if _has(used, name):
                lines.append(line if name != "limit" or not self.aliased else "  int *limit = &c[@4{2@}];")
        if self.where:
            kind = dict(code.indices)[self.where]
            lines.append(f"  {kind} *where = &{self.where};")
        header_used = used + "".join(line for name, line in DEFINITIONS if _has(used, name))
        sets += [line for name, line in STARTS if _has(header_used, name)]
        uses = [name for name, *_ in (*code.numbers, *code.indices, *code.scalars)]
        uses += [array.name for array in code.arrays if not array.is_global]
        uses += [name for name, _ in LOCALS if _has(used, name) and name != "t2"] + ["where"] * bool(
            self.where
        )
        voids = " ".join(f"(void){name};" for name in uses)
        return "".join(line + "\n" for line in [*lines, *sets]) + f"  {voids}\n  (void)out_; (void)last_;\n"

    def _after(self, code: Code, text: str) -> str:
        reads = [line + "\n" for name, line in READS if _has(text, name)]
        return results(code) + "".join(reads)


def _has(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def random_real_code(choices: Choices, forms: Sequence[str], shape: Shape = PLAIN) -> Code:
    """A region with one of these forms and perhaps others, and the file around it."""
    aim = choices.pick(forms)
    real = frozenset({aim, *choices.some(forms, 9)})
    kinds = _kinds(choices, real)
    names = list(kinds)
    outside = bool(real & {"index_address", "global_index", "time_loop", "do_loops"}) or choices.chance(60)
    declared = dict.fromkeys(names, not outside)
    arrays, noalias = _arrays(choices, real)
    maker = RealMaker(
        choices, arrays, kinds, declared, False, choices.chance(20), shape, NO_FORMS, drawn=real
    )
    if "gotos" in real:
        maker.labels.append("finish")
    items: list[Item] = []
    deepest = 1
    for number in range(choices.weighted((70, 1), (24, 2), (6, 3))):
        if number and choices.chance(30):
            items.append(maker.between(names[:deepest]))
        depth = max(shape.depth, choices.weighted((30, 1), (50, 2), (20, 3)))
        first = next((item for item in items if isinstance(item, Loop)), None)
        twin = first if choices.chance(shape.twin) else None
        depth = deepest if twin else depth
        deepest = max(deepest, depth)
        items.append(maker.nest(names, depth, (), twin))
    if "walks" in real and choices.chance(60):
        items.insert(choices.integer(0, len(items)), _walk(choices, maker))
    if "finish" in maker.jumped:
        items.append("finish: ;")
    scalars = (
        ("acc", "double", "0.5"),
        ("t", "double", "0.25"),
        ("top", "double", "-9.0"),
        ("count", "long", "3"),
    )
    used = names[:deepest]
    indices = tuple((name, kinds[name]) for name in used if not declared[name])
    live = ("acc", *(name for name in ("t", "top", "count") if choices.chance(50)))
    live += choices.some([name for name, _ in indices], 18)
    numbers = tuple((name, "int" if kinds["i"] == "_Bool" else kinds["i"]) for name in ("s", "n", "m"))
    if real & {"narrow_index", "bool_index"}:
        numbers = tuple((name, "int") for name, _ in numbers)
    file = _file(choices, real, dict(indices), arrays)
    runs = _runs(choices, deepest, overlap=not noalias)
    return Code(tuple(items), arrays, numbers, indices, scalars, live, runs, noalias, maker.exact, file=file)


def _walk(choices: Choices, maker: RealMaker) -> Loop:
    """A loop over elements by a pointer."""
    number = maker.loops
    maker.loops += 1
    header = choices.pick(
        [
            "walk = pool; walk < past; walk++",
            "walk = pool; walk != past; ++walk",
            "walk = pool + 1; walk < pool + m; walk += gap",
            "walk = pool; walk != pool + 3 * gap; walk += gap",
            "walk = pool; walk <= past; walk += 2",
        ]
    )
    body = choices.pick(["*walk = *walk * 0.5 + 1.0;", "acc += *walk;", "walk[0] = walk[1] + acc;"])
    return Loop(number, "walk", header, (body,), declared=False)


def _kinds(choices: Choices, real: frozenset[str]) -> dict[str, str]:
    """The types of the indices."""
    common = choices.weighted((80, "int"), (10, "long"), (6, "short"))
    kinds = dict.fromkeys(["i", "j", "k"], common)
    if "narrow_index" in real:
        narrow = choices.pick(["short", "unsigned char", "signed char", "unsigned short"])
        kinds |= dict.fromkeys(["i", "j", "k"] if choices.chance(50) else [choices.pick(["i", "j"])], narrow)
    if "bool_index" in real:
        kinds[choices.pick(["j", "i"])] = "_Bool"
    return kinds


def _arrays(choices: Choices, real: frozenset[str]) -> tuple[tuple[Array, ...], bool]:
    """Plain pointers, unless the form is something else; and whether they are promised not to overlap."""
    mode = choices.weighted((60, "pointer"), (25, "restrict"), (15, "promised"))
    # Pointers in structures lead to the same memory as others: nobody could promise otherwise.
    mode = "pointer" if real & {"overlap", *STRUCTURES, *IMAGES} else mode
    form = "restrict" if mode == "restrict" else "pointer"
    element = (
        choices.weighted((85, "double"), (15, "float"))
        if not real & {"impure_calls", "type_macros"}
        else "double"
    )
    found = [Array("a", element, form), Array("b", element, form), Array("c", "int", form)]
    if choices.chance(30):
        found.append(Array("p", "double", "restrict matrix" if form == "restrict" else "matrix"))
    return tuple(found), mode == "promised"


def _file(choices: Choices, real: frozenset[str], indices: dict[str, str], arrays: tuple[Array, ...]) -> File:
    scope: list[tuple[str, str]] = []
    if "global_index" in real:
        scope += [
            (name, choices.pick(["static ", ""])) for name in indices if name == "i" or choices.chance(40)
        ]
    if "thread_local" in real:
        scope += [
            ("acc", "static __thread "),
            *((name, "static __thread ") for name in indices if not scope and choices.chance(25)),
        ]
    around = choices.pick(AROUND) if "time_loop" in real or choices.chance(20) else ("", "")
    where = choices.pick(list(indices)) if "index_address" in real else ""
    aliased, headers = choices.chance(35), choices.chance(8)
    return File(tuple(sorted(real)), around, tuple(scope), where, aliased, headers)


def _runs(choices: Choices, depth: int, *, overlap: bool) -> tuple[Run, ...]:
    most = {1: 21, 2: 13, 3: 7}[depth]
    runs = [
        Run(0, 0, 0),
        Run(0, 1, 2),
        Run(1, most, most - 1),
        Run(2, choices.integer(3, most), choices.integer(2, 7)),
    ]
    runs.append(Run(0, 6, 5))
    if overlap:
        shifts = [0, 1, -2, choices.integer(2, 9), -choices.integer(3, 9), most + choices.integer(0, 3)]
        runs += [
            Run(choices.integer(0, 2), choices.integer(4, most), choices.integer(2, 6), shift)
            for shift in shifts
        ]
    return tuple(runs)

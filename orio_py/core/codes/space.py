"""Diagnostic codes ORIO-P…: parameters and search spaces."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-P001",
        "unknown name in a constraint",
        """A constraint may use the parameters of its section and the input parameters, nothing else.

    param U[] = [1, 2, 4];
    constraint c = UF <= 2;      # U was meant

Correct the name, or declare the parameter.""",
    ),
    Code(
        "ORIO-P002",
        "name used twice",
        """Two parameters have the same name, or a tuning parameter has the name of an input parameter.  A
constraint or recipe that uses the name could mean either.  Rename one of them.""",
    ),
    Code(
        "ORIO-P003",
        "parameter without values",
        """A parameter needs at least one value to choose.

    param U[] = range(5, 5);     # an empty list

Write a list or range that has elements.""",
    ),
    Code(
        "ORIO-P004",
        "constraint cannot be evaluated",
        """Some combination of values that no constraint excludes leaves a constraint without an answer.

    param U[] = [0, 1, 2];
    constraint c = N % U == 0;   # U=0: division by zero

Exclude such values first: with a constraint of its own (`constraint d = U > 0;`), or in the same one
(`U > 0 and N % U == 0`).  A combination that any constraint rejects is never reported.""",
    ),
    Code(
        "ORIO-P005",
        "constraint is not true or false",
        """The value of a constraint has to be True, False or a number (0 is false).

    constraint c = CFLAGS;       # a string
    constraint c = CFLAGS == '-O3';""",
    ),
    Code(
        "ORIO-P006",
        "search space too entangled to count",
        """The exact number of valid configurations is found from a graph that shares equal subproblems.  The
constraints of this group connect so many parameters, through expressions with so many different
intermediate values, that the graph exceeds its limit.

Ways out: pin a parameter (`--set NAME=VALUE`), shorten the lists, or simplify the expressions: sums,
products, comparisons with a bound, and divisibility share well; `//`, `min`, `max` and comprehensions
over many parameters do not.""",
    ),
    Code(
        "ORIO-P007",
        "no such parameter",
        """`--set NAME=VALUE` names a parameter that the specification does not have.""",
    ),
    Code(
        "ORIO-P008",
        "value not in the parameter's list",
        """A parameter can only be pinned to one of its values.  `1`, `1.0`, `True` and `'1'` are different
values.""",
    ),
    Code(
        "ORIO-P010",
        "no input size",
        """The constraints of `input_params` reject every combination of input sizes, so there is nothing to tune
for.  Loosen a constraint or add values.""",
    ),
    Code(
        "ORIO-P011",
        "too many input sizes",
        """Each input size is tuned on its own and gets its own code, so their number is limited.  Use fewer values
in `input_params`, or add constraints.""",
    ),
    Code(
        "ORIO-P012",
        "empty search space",
        """The constraints of `performance_params` reject every configuration.

    param U[] = [3, 5];
    constraint even = U % 2 == 0;

Loosen a constraint or add values.  `orio space FILE` shows the groups of parameters and how many valid
combinations each has.""",
    ),
    Code(
        "ORIO-P020",
        "unknown searcher",
        """`algorithm` in the `search` section, or `--search`, names no searcher.  Names may be written in any case:

    auto  exhaustive  random  randomlocal  multistart  ils  basinhopping  annealing  simplex  msimplex
    genetic  chaosga  evolution  swarm  firefly  direct  mlsearch  bayesian  nsga  portfolio

and Orio's names for them, such as `Randomsearch`, `Simplex`, `Annealing`, `Mlsearch`.""",
    ),
    Code(
        "ORIO-P021",
        "searcher not available",
        """Orio has a searcher of this name, which is no search: `Extern` takes one configuration from outside,
`CUDACFG` looks it up in a table, `ThreadBlock` is exhaustive for one kind of program.  `exhaustive` and
`random` are fair replacements in most files: `arg algorithm = 'Randomsearch';`.""",
    ),
    Code(
        "ORIO-P022",
        "unknown search option",
        """The searcher does not have this option.  In a specification an option carries the searcher's name:

    arg algorithm = 'Exhaustive';
    arg exhaustive_start_coord = [0, 2, 1];

On the command line it does not: `--search exhaustive:start_coord=…`.""",
    ),
    Code(
        "ORIO-P023",
        "wrong value of a search option",
        """The option's value has the wrong type or is out of range; the message says what it needs.  `start_coord`
and `x0` need a list with one integer per parameter, in the order in which the parameters are written: the
place of a value in its list, from 0.  The coefficients of `simplex` may be a number or a list of numbers.""",
    ),
    Code(
        "ORIO-P024",
        "Optuna is missing",
        """The searcher `nsga`, which approaches the Pareto front of several objectives, is that of the Python package
`optuna`, which is not installed.  Install it with `pip install 'orio-py[search]'`, or name another searcher: each of them
takes the first objective, and the front of all that it tried is shown all the same.
""",
    ),
)

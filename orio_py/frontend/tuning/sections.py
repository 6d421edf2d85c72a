"""What the sections of a specification may contain: statements, arguments and their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from orio_py.core.expr import Value
from orio_py.spec.counters import METHOD_COUNTERS
from orio_py.spec.search import SEARCHER_NAMES
from orio_py.spec.target import DeviceTime


@dataclass(frozen=True, slots=True)
class SectionArgument:
    """`needs` says in words what `accepts` tests; `effect` is False for arguments that change nothing.

    `known` are the words that strings are chosen from, if they are.
    """

    needs: str
    accepts: Callable[[Value], bool]
    effect: bool = True
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """The statement keywords that a section allows besides `let`, and its arguments."""

    keywords: frozenset[str]
    arguments: Mapping[str, SectionArgument]
    open_arguments: bool = False


def _is_int(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_limit(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and (value > 0 or value == -1)


def _is_tolerance(value: Value) -> bool:
    parts = value if isinstance(value, tuple) and len(value) == 2 else (value,)
    return all(isinstance(part, (int, float)) and _is_number(part) and 0 <= part < 1e300 for part in parts)


def _is_flag_or_names(value: Value) -> bool:
    return isinstance(value, bool) or (
        isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
    )


def _are_methods(value: Value) -> bool:
    items = value if isinstance(value, (list, tuple)) else (value,)
    return bool(items) and all(item in METHODS for item in items)


def _are_texts(value: Value) -> bool:
    items = value if isinstance(value, (list, tuple)) else (value,)
    return bool(items) and all(isinstance(item, str) and item.strip() != "" for item in items)


TEXT = SectionArgument("a string", lambda value: isinstance(value, str))
COMMAND = SectionArgument(
    "a command: a non-empty string", lambda value: isinstance(value, str) and value.strip() != ""
)
FILE = SectionArgument("a file name: a string", lambda value: isinstance(value, str) and value.strip() != "")
COUNT = SectionArgument(
    "a positive integer", lambda value: isinstance(value, int) and _is_int(value) and value > 0
)
RUNS = SectionArgument(
    "a positive integer, or -1 for no limit", lambda value: _is_int(value) and _is_limit(value)
)
MINUTES = SectionArgument("a positive number of minutes, or -1 for no limit", _is_limit)
SEED = SectionArgument(
    "an integer from 0 to 2**63 - 1",
    lambda value: isinstance(value, int) and _is_int(value) and 0 <= value < 2**63,
)
FLAG = SectionArgument("True or False", lambda value: isinstance(value, bool))
TOLERANCE = SectionArgument("a relative error, or `(relative, absolute)` errors, not negative", _is_tolerance)
SPECIALIZE = SectionArgument("True, False, or a list of input parameter names", _is_flag_or_names)
NOALIAS = SectionArgument("True, False, or a list of array names", _is_flag_or_names)
TIMERS = ("basic timer", "bgp counter")
METHODS = ("basic timer", *METHOD_COUNTERS, "bgp counter", "TAU")
POWER_METHODS = ("none", "wattprof")
METHOD = SectionArgument(
    f"one of {', '.join(map(repr, METHODS))}, or a list of them",
    _are_methods,
    known=METHODS,
)
DEVICE_TIMES = tuple(map(str, DeviceTime))
DEVICE_TIME = SectionArgument(
    f"one of {', '.join(map(repr, DEVICE_TIMES))}", lambda value: value in DEVICE_TIMES, known=DEVICE_TIMES
)
OBJECTIVE = SectionArgument(
    "an expression over times and counters, as a string, or a list of several", _are_texts
)
POWER_METHOD = SectionArgument(
    f"one of {', '.join(map(repr, POWER_METHODS))}", lambda value: value in POWER_METHODS
)
ANYTHING = SectionArgument("a value", lambda value: True)


def _idle(argument: SectionArgument) -> SectionArgument:
    return SectionArgument(argument.needs, argument.accepts, effect=False)


_ARGUMENTS_ONLY = frozenset({"arg"})
_AXES = frozenset({"param", "constraint", "option"})

SECTIONS: Mapping[str, Section] = {
    "build": Section(
        _ARGUMENTS_ONLY,
        {
            "build_command": COMMAND,
            "libs": TEXT,
            "prebuild_command": TEXT,
            "postbuild_command": TEXT,
            "postrun_command": TEXT,
            "CC": COMMAND,
            "timer_file": _idle(FILE),
            "batch_command": _idle(TEXT),
            "status_command": _idle(TEXT),
            "num_procs": _idle(COUNT),
        },
    ),
    "performance_counter": Section(
        _ARGUMENTS_ONLY,
        {
            "method": METHOD,
            "objective": OBJECTIVE,
            "repetitions": COUNT,
            "random_seed": SEED,
            "time": DEVICE_TIME,
            "timing_array_size": _idle(COUNT),
        },
    ),
    "power": Section(_ARGUMENTS_ONLY, {"method": _idle(POWER_METHOD), "repetitions": _idle(COUNT)}),
    "performance_params": Section(_AXES, {}),
    "cmdline_params": Section(_AXES, {}),
    "input_params": Section(frozenset({"param", "constraint", "arg"}), {"specialize": SPECIALIZE}),
    "input_vars": Section(frozenset({"decl", "arg"}), {"decl_file": FILE, "init_file": FILE, "seed": SEED}),
    "search": Section(
        _ARGUMENTS_ONLY,
        {
            "algorithm": COMMAND,
            "time_limit": MINUTES,
            "total_runs": RUNS,
            "use_z3": _idle(FLAG),
            "resume": _idle(FLAG),
            "seed": SEED,
        },
        open_arguments=True,
    ),
    "validation": Section(
        _ARGUMENTS_ONLY,
        {
            "validation_file": FILE,
            "expected_output": _idle(ANYTHING),
            "tolerance": TOLERANCE,
            "tolerance_double": TOLERANCE,
            "tolerance_float": TOLERANCE,
        },
    ),
    "assumptions": Section(
        _ARGUMENTS_ONLY, {"noalias": NOALIAS, "reassociate": FLAG, "calls": FLAG, "longer": FLAG}
    ),
    "performance_test_code": Section(_ARGUMENTS_ONLY, {"skeleton_code_file": FILE}),
    "other": Section(_ARGUMENTS_ONLY, {"device_spec_file": _idle(FILE)}),
}

ALGORITHMS = frozenset(
    {"cudacfg", "extern", "threadblock", *(name for name in SEARCHER_NAMES if "_" not in name)}
)
"""Names that search options of specifications are prefixed with; Orio's and those of the registry."""

RESERVED = frozenset(
    [
        "let",
        "arg",
        "param",
        "constraint",
        "option",
        "decl",
        "def",
        "spec",
        "import",
        "static",
        "dynamic",
        "managed",
        "macro",
        "random",
        "and",
        "or",
        "not",
        "in",
        "if",
        "else",
        "for",
        "True",
        "False",
        "None",
    ]
)
"""Words that cannot name a parameter."""

TYPE_WORDS = frozenset(["void", "char", "short", "int", "long", "float", "double", "unsigned", "signed"])

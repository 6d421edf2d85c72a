"""What a measurement depends on, as content digests: by these a tuning session finds stored trials.

The digest of a task covers the code around and in its regions, the recipe, the inputs at one problem
size, how variants are measured, the headers that the file includes, and this program's version.  It does
not cover where a region stands, comments, nor the lists of parameter values: a region that moves and a
search space that grows keep their trials.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import cast

from orio_py.build.compiler import Compiler
from orio_py.codegen.harness import harness_program
from orio_py.codegen.interface import build_interface
from orio_py.codegen.kernel import kernel_program
from orio_py.core.digest import digest
from orio_py.core.expr import Value
from orio_py.core.resources import PACKAGE, directory
from orio_py.core.source import Position, Span
from orio_py.ctree.lexer import TokenKind, directive_name, scan
from orio_py.kernel.backends import BACKENDS
from orio_py.measure.offload.measurer import device_measurer
from orio_py.record.environment import Host
from orio_py.search_space.configuration import value_as_json
from orio_py.spec.inputs import InputPoint
from orio_py.spec.target import Target
from orio_py.spec.task import TuningTask
from orio_py.tuning.plan import Plan
from orio_py.tuning.session.trial_cache import Keys

GENERATORS = ("build", "codegen", "ctree", "frontend", "kernel", "measure", "transformation")
"""The packages whose code decides what is built of a task, and how it is measured."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.M)


def make_keys(plan: Plan, compiler: Compiler, host: Host, version: str) -> Keys:
    """The keys of a plan.  Raises DiagnosticError ORIO-M00x as `build_interface` does."""
    task = plan.task
    kernel, harness = _programs(task, plan.point)
    task_digest = digest(
        {
            **_counting(plan),
            **_on_device(plan),
            "program": _program(version),
            "kernel": _words(kernel),
            "harness": _words(harness),
            "headers": _headers(f"{kernel}\n{harness}", compiler),
            "annotations": [task.source.text[r.leader.start : r.leader.end] for r in task.regions],
            "recipes": [_plain((r.recipe.steps, r.recipe.parameters)) for r in task.regions],
            "assumptions": _plain(task.assumptions),
            "specialize": list(task.inputs.specialize),
            "point": _plain(plan.point.values),
            "options": _plain([(p.name, p.option) for p in task.parameters if p.option is not None]),
            "target": str(plan.target),
            "repeats": plan.repeats,
            "full samples": plan.full_samples,
            "pin": plan.pin,
            "timeout": plan.timeout,
            "tolerance": _plain(task.measurement.tolerance),
        }
    )
    environment = _environment(plan, host)
    toolchain = _toolchain(plan, compiler)
    plan_digest = digest(
        {
            "task": task_digest,
            "toolchain": toolchain,
            "environment": environment,
            "parameters": _plain([(p.name, p.values) for p in plan.space.parameters]),
            "constraints": _plain(task.constraints),
            "search": _plain((plan.spec.algorithm.lower(), plan.spec.options)),
            "seed": plan.seed,
            "budget": _plain(plan.budget),
            **_minimised(plan),
        }
    )
    threads = 1 if plan.target == Target.C else host.cores
    return Keys(
        task_digest,
        toolchain,
        environment,
        plan_digest,
        task.name,
        task.position.file,
        dict(plan.point.values),
        threads,
        host.name,
        _metadata(plan, compiler, host, version),
        plan.objective.texts if plan.objective is not None else (),
    )


def _toolchain(plan: Plan, compiler: Compiler) -> str:
    build = plan.task.build
    steps = [build.prebuild, build.postbuild, build.postrun]
    measurer = device_measurer(plan.target)
    more = measurer.toolchain() if measurer is not None else []
    return digest([compiler.version, list(compiler.command), list(compiler.libs), steps, *more])


def _on_device(plan: Plan) -> dict[str, object]:
    """What ranks variants on a device."""
    if plan.target not in BACKENDS:
        return {}
    # Trials of an emulated GPU tell what limits them anyway.
    more = {"bottlenecks": True} if plan.bottlenecks and not plan.emulated else {}
    return {"time": str(plan.task.measurement.time), **more}


def _minimised(plan: Plan) -> dict[str, object]:
    """The objectives, where time is not the only one."""
    if plan.objective is None:
        return {}
    more = {"other objectives": list(plan.objective.texts[1:])} if plan.objective.others else {}
    return {"objective": plan.objective.text, **more}


def _environment(plan: Plan, host: Host) -> str:
    """The machine, with its devices where the code runs on one of them."""
    measurer = device_measurer(plan.target)
    return host.digest if measurer is None else digest([host.digest, *measurer.devices(plan.emulated)])


def _counting(plan: Plan) -> dict[str, object]:
    """What is counted, and of which variants: with an objective of all, otherwise of those timed in full."""
    if not plan.watches:
        return {}
    counters = [[w.observer.name, [counter.name for counter in w.counters]] for w in plan.watches]
    return {"counters": counters, "all are counted": plan.objective is not None or plan.full_samples}


@cache
def _program(version: str) -> str:
    """What generates the code: the version; in a checkout, where that stays while the code changes, the code."""
    grammars = directory("grammars")
    if grammars.name.startswith("_"):
        return version
    paths = [path for name in GENERATORS for path in (PACKAGE / name).rglob("*.py")]
    paths += [path for kind in (grammars, directory("templates")) for path in kind.rglob("*.*")]
    return digest([version, *(digest(path.read_text(encoding="utf-8")) for path in sorted(paths))])


def _programs(task: TuningTask, point: InputPoint) -> tuple[str, str]:
    """The original's translation unit and the test program."""
    interface = build_interface(task, point)
    codes = [f"\n{region.reference_text}\n" for region in task.regions]
    return kernel_program(task, interface, codes).text, harness_program(task, interface, point).text


def _words(text: str) -> list[str]:
    """The tokens that the compiler sees: no comments, no white space, no `#line`."""
    tokens = scan(text)
    return [
        t.text.rstrip()
        for t in tokens
        if t.kind is not TokenKind.COMMENT
        and not (t.kind is TokenKind.DIRECTIVE and directive_name(t) == "line")
    ]


def _headers(text: str, compiler: Compiler) -> list[list[str]]:
    """Name and digest of each header that a text includes and that is not the compiler's own.

    Searched for in the folder of the file and in the compiler's `-I` folders, through headers that
    include others, whatever the conditions around an `#include`.
    """
    folders = [compiler.directory, *_include_folders(compiler)]
    found: dict[Path, str] = {}
    waiting = [(name, compiler.directory) for name in _INCLUDE.findall(text)]
    while waiting:
        name, beside = waiting.pop()
        for folder in (beside, *folders):
            path = folder / name
            if not path.is_file():
                continue
            if path not in found:
                content = path.read_bytes().decode("latin-1")
                found[path] = digest(content)
                waiting.extend((inner, path.parent) for inner in _INCLUDE.findall(content))
            break
    return sorted([path.name, content] for path, content in found.items())


def _include_folders(compiler: Compiler) -> list[Path]:
    words = [*compiler.command, *shlex.split(compiler.spec.prebuild or "")]
    found: list[Path] = []
    for index, word in enumerate(words):
        for option in ("-I", "-iquote", "-isystem"):
            if word == option and index + 1 < len(words):
                found.append(compiler.directory / words[index + 1])
            elif word.startswith(option) and word != option:
                found.append(compiler.directory / word.removeprefix(option))
    return found


def _metadata(plan: Plan, compiler: Compiler, host: Host, version: str) -> dict[str, str]:
    task = plan.task
    sizes = {f"orio:input:{name}": str(value) for name, value in plan.point.values}
    return {
        **host.metadata,
        "Compiler": compiler.version,
        "orio:command": shlex.join(compiler.command),
        "orio:version": version,
        "orio:file": task.position.file,
        "orio:line": str(task.position.line),
        "orio:region": task.name,
        "orio:target": str(plan.target),
        **({"orio:obtained": "emulated"} if plan.emulated else {}),
        "orio:search": plan.spec.algorithm,
        "orio:seed": str(plan.seed),
        **sizes,
    }


def _plain(value: object) -> object:
    """JSON content of specification data, without the places that it was read from."""
    if isinstance(value, Position | Span):
        return None
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value).__name__
        return [kind, *(_plain(getattr(value, f.name)) for f in fields(value))]
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {str(name): _plain(item) for name, item in items}
    if isinstance(value, frozenset | set):
        return sorted(str(_plain(item)) for item in cast("Iterable[object]", value))
    if isinstance(value, list | tuple):
        kind = "list" if isinstance(value, list) else "tuple"
        return [kind, *(_plain(item) for item in cast("Iterable[object]", value))]
    if value is None or isinstance(value, bool | int | float | str):
        return value_as_json(cast("Value", value)) if value is not None else None
    raise TypeError(f"{type(value).__name__} has no place in a task's digest")

"""Mutation testing of the transformations: do the tests notice small mistakes in the code?

Each mutant is one change to one file: a comparison or a sign swapped, a constant one larger, a condition
negated, a check left out, and so on.  The change is made in memory, in a process of its own, and only the
tests that concern the file run against it; a mutant that passes them all has survived.  Messages,
annotations and documentation are not changed, as no test should depend on their wording.

    python benchmarks/mutation.py --files unroll tile permute --sample 200 --seed 1 --jobs 2
    python benchmarks/mutation.py --files composite --list

The tests see a copy of the tree.  A program that was compiled and run before is not compiled again: its
result is remembered, so that a survivor costs little more than a mutant that is noticed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pickle
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "orio_py/transform"
COPIED = (
    "orio_py",
    "tests",
    "grammars",
    "templates",
    "docs",
    "benchmarks",
    "changelog.d",
    "pyproject.toml",
    "README.md",
)
PRELOADED = (
    "orio_py.frontend.read",
    "orio_py.space",
    "orio_py.spec.check",
    "orio_py.ctree.dependence.questions",
)
"""What the tests import that does not depend on the transformations."""

CLOSEST = 3
"""How many files of same-result tests run against a mutant, beside the drawn recipes."""

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
ORDERED = frozenset(["sub", "binary", "ternary", "range", "assign", "block", "declare", "substitute", "zip"])
"""Calls whose last two arguments could be exchanged by mistake."""

SILENT = frozenset(
    [
        "refuse",
        "note",
        "Note",
        "Diagnostic",
        "Refusal",
        "ArgumentSpec",
        "Entry",
        "AssertionError",
        "_refuse",
        "wrong",
    ]
)
"""Calls whose arguments are words for the reader."""


Where = tuple[tuple[str, int | None], ...]
"""The path to a node: names of fields, and places in lists."""

Change = Callable[[Any], "ast.AST | None"]
"""Changes a node in place, or gives back another to stand there."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: the module, the line, what changes into what; the change is the `number`th of a node."""

    module: str
    line: int
    before: str
    after: str
    where: Where = ()
    number: int = 0

    def __str__(self) -> str:
        return f"{path_of(self.module)}:{self.line}: {self.before}  ->  {self.after}"

    def source(self, text: str) -> str:
        """The changed source of the module with this text."""
        tree = ast.parse(text)
        node = _at(tree, self.where)
        new = list(_changes(node))[self.number](node)
        if new is not None:
            _replace(tree, self.where, new)
        return ast.unparse(ast.fix_missing_locations(tree))


def modules_in(tree: Path) -> dict[str, Path]:
    """The modules of the package in a copy of the project, by their names."""
    paths = sorted(path for path in (tree / PACKAGE).rglob("*.py") if path.stem != "__init__")
    return {".".join(path.relative_to(tree).with_suffix("").parts): path for path in paths}


def path_of(module: str) -> Path:
    """Where a module stands in the project."""
    return Path(*module.split(".")).with_suffix(".py")


def mutants_of(module: str, path: Path) -> Iterator[Mutant]:
    """Every mutant of a file."""
    tree = ast.parse(path.read_text())
    for where in list(_places(tree, ())):
        node = _at(tree, where)
        for number, change in enumerate(list(_changes(node))):
            new = change(target := copy.deepcopy(node)) or target
            after = "left out" if isinstance(new, ast.Pass) else _short(ast.unparse(new))
            yield Mutant(module, getattr(node, "lineno", 0), _short(ast.unparse(node)), after, where, number)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 90 else text[:87] + "..."


def _places(node: ast.AST, where: Where) -> Iterator[Where]:
    """The paths of all nodes whose meaning the tests could depend on."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params", "bases"}:
            continue
        children = value if isinstance(value, list) else [value]
        for number, child in enumerate(children):
            if not isinstance(child, ast.AST) or _is_words(child):
                continue
            path = (*where, (name, number if isinstance(value, list) else None))
            yield path
            yield from _places(child, path)


def _is_words(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in SILENT:
            return True
        case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.JoinedStr() | ast.Raise():
            return True
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.keyword(arg="help" | "notes" | "argument"):
            return True
        case ast.AnnAssign(simple=1, value=None):
            return True
        case ast.Assign(targets=[ast.Name(id="_WHAT" | "ENTRY" | "__all__")]):
            return True
        case _:
            return False


def _at(tree: ast.AST, where: Where) -> Any:
    node: Any = tree
    for name, number in where:
        node = getattr(node, name) if number is None else getattr(node, name)[number]
    return node


def _replace(tree: ast.AST, where: Where, new: ast.AST) -> None:
    *above, (name, number) = where
    parent = _at(tree, tuple(above))
    if number is None:
        setattr(parent, name, new)
    else:
        getattr(parent, name)[number] = new


def _changes(node: ast.AST) -> Iterator[Change]:
    """The changes that one node admits."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            yield lambda n: _set(n, "ops", [COMPARISONS[type(n.ops[0])]()])
        case ast.BinOp(op=op) if type(op) in OPERATORS and not _is_text(node):
            yield lambda n: _set(n, "op", OPERATORS[type(n.op)]())
        case ast.BoolOp():
            yield lambda n: _set(n, "op", ast.Or() if isinstance(n.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not()):
            yield lambda n: n.operand
        case ast.UnaryOp(op=ast.USub()):
            yield lambda n: n.operand
        case ast.Constant(value=bool()):
            yield lambda n: ast.Constant(not n.value)
        case ast.Constant(value=int()):
            yield lambda n: ast.Constant(n.value + 1)
            if node.value == 1:
                yield lambda n: ast.Constant(0)
        case ast.IfExp():
            yield lambda n: _negate(n)
        case ast.comprehension(ifs=[_, *_]):
            yield lambda n: _set(n, "ifs", [])
        case ast.Call(func=ast.Name(id=name), args=[*others, first, second]) if name in ORDERED:
            if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
                count = len(others)
                yield lambda n: _set(n, "args", [*n.args[:count], n.args[-1], n.args[-2]])
        case _:
            yield from _statement_changes(node)


def _statement_changes(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.If() | ast.While():
            yield lambda n: _negate(n)
        case ast.Return(value=ast.AST() as value) if not (
            isinstance(value, ast.Constant) and value.value is None
        ):
            yield lambda n: ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()):
            yield lambda _: ast.Pass()
        case ast.Match(cases=cases) if len(cases) > 1:
            for number in range(len(cases)):
                if not _is_wildcard(cases[number]):
                    yield lambda n, number=number: _set(
                        n, "cases", [*n.cases[:number], *n.cases[number + 1 :]]
                    )
        case ast.match_case(guard=ast.AST()):
            yield lambda n: _set(n, "guard", None)
        case ast.AugAssign(op=op) if type(op) in OPERATORS:
            yield lambda n: _set(n, "op", OPERATORS[type(n.op)]())
        case ast.Continue():
            yield lambda _: ast.Pass()
        case ast.Break():
            yield lambda _: ast.Continue()
        case _:
            return


def _is_wildcard(case: ast.match_case) -> bool:
    return isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(s, ast.JoinedStr) or (isinstance(s, ast.Constant) and isinstance(s.value, str))
        for s in sides
    )


def _set(node: Any, name: str, value: object) -> None:
    setattr(node, name, value)


def _negate(node: Any) -> None:
    node.test = ast.UnaryOp(ast.Not(), node.test)


# The tests of a file -------------------------------------------------------------------------------------


def relevant_tests(tree: Path, module: str) -> list[str]:
    """The test files that concern a module, the quickest and the most likely to notice a mistake first.

    All unit tests of transformations do; of the same-result tests those that name a class of the module, or
    of the modules that use it.
    """
    near, far = _class_names(tree, module)
    units = [*(tree / "tests/unit/transform").glob("test_*.py")]
    units.append(tree / "tests/integration/test_docs_transformations.py")
    semantic = [p for p in (tree / "tests/semantics").glob("test_*.py") if "dependence" not in p.name]
    pattern = re.compile(rf"\b(?:{'|'.join(sorted(near | far)) or '-'})\(")
    semantic = [p for p in semantic if "proof" in p.name or pattern.search(p.read_text())]
    found = sorted(units, key=lambda p: _rank(p, near, far)) + sorted(
        semantic, key=lambda p: _rank(p, near, far)
    )
    return [str(p.relative_to(tree)) for p in found]


def _rank(path: Path, near: set[str], far: set[str]) -> tuple[bool, float]:
    """Goldens and drawn recipes come last, and first the files that name the classes most often."""
    text = path.read_text()
    counts = [sum(len(re.findall(rf"\b{name}\(", text)) for name in names) for names in (near, far)]
    return "golden" in path.name or "docs" in path.name, -(10 * counts[0] + counts[1])


def _class_names(tree: Path, module: str) -> tuple[set[str], set[str]]:
    """The public classes of a module, and those of the modules that import it, directly or not."""
    sources = {name: path.read_text() for name, path in modules_in(tree).items()}
    users = {module}
    while True:
        found = {
            name
            for name, text in sources.items()
            if name not in {"orio_py.transform.catalog", "orio_py.transform.recipe"}
            and any(
                re.search(rf"\b{re.escape(user)}\b|import .*\b{user.rsplit('.', 1)[1]}\b", text)
                for user in users
            )
        } | users
        if found == users:
            break
        users = found
    names = {user: set(re.findall(r"^class ([A-Z]\w*)", sources[user], re.MULTILINE)) for user in users}
    return names[module], {name for user in users - {module} for name in names[user]}


# A mutant in a process of its own ------------------------------------------------------------------------


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the mutated source of one module."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source

    def find_spec(
        self, name: str, path: Any, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self.module:
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path)
        return importlib.util.spec_from_loader(name, self, origin=found.origin if found else None)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.source, f"<mutant of {self.module}>", "exec"), module.__dict__)


class _Memory:
    """Remembers what compilers and programs said, on disk, by what they were given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def remembered(self, key: str, work: Callable[[], Any]) -> Any:
        path = self.folder / hashlib.sha256(key.encode()).hexdigest()
        if path.exists():
            return pickle.loads(path.read_bytes())
        result = work()
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        fresh.write_bytes(pickle.dumps(result))
        fresh.replace(path)
        return result


def remember_programs(tree: Path) -> None:
    """Make the tests' helpers remember the programs that they have run."""
    sys.path.insert(0, str(tree / "tests" / "support"))
    memory = _Memory(tree / "remembered")
    programs: Any = importlib.import_module("c_programs")
    compile_and_run, run, strictly = programs.compile_and_run, programs.run, programs.compile_strictly

    def compiled(text: str, folder: Path, *flags: str) -> str:
        (folder / "program.c").write_text(text)
        return memory.remembered(f"program {flags} {text}", lambda: compile_and_run(text, folder, *flags))

    def ran(command: list[str]) -> str:
        sources = [Path(word) for word in command if word.endswith(".c")]
        if command[0] != "gcc" or not sources or not {"-S", "-c", "-fsyntax-only"} & set(command):
            return run(command)
        key = [word for word in command if "/" not in word]
        return memory.remembered(f"run {key} {[p.read_text() for p in sources]}", lambda: run(command))

    def strict(source: Path, folder: Path, *flags: str) -> None:
        memory.remembered(f"strict {flags} {source.read_text()}", lambda: strictly(source, folder, *flags))

    programs.compile_and_run, programs.run, programs.compile_strictly = compiled, ran, strict
    proof: Any = importlib.import_module("proof")
    compare, look = proof.compiled_and_run, proof.strictly_compiled

    def compared(folder: Path, flags: Sequence[str]) -> Any:
        key = f"cases {flags} {(folder / 'cases.c').read_text()}"
        return memory.remembered(key, lambda: compare(folder, flags))

    def looked(folder: Path) -> str:
        return memory.remembered(f"strict {(folder / 'strict.c').read_text()}", lambda: look(folder))

    proof.compiled_and_run, proof.strictly_compiled = compared, looked


def run_tests(tests: Sequence[str], log: Path, *options: str) -> int:
    """The status of pytest on one file after the other, in this process; with `-x` up to the first failure."""
    with log.open("w") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    # The helpers import Hypothesis before pytest does, which makes no difference here.
    quiet = "-W ignore::pytest.PytestAssertRewriteWarning -q --no-header --tb=line"
    arguments = f"{quiet} -p no:cacheprovider -p no:xdist -p no:cov".split()
    worst = 0
    for test in tests:
        status = int(pytest.main([*arguments, "--basetemp", str(log.with_suffix(".tmp")), *options, test]))
        worst = max(worst, 0 if status == pytest.ExitCode.NO_TESTS_COLLECTED else status)
        if worst and "-x" in options:
            break
    return worst


@dataclass(slots=True)
class Trial:
    """A mutant under test: its process and when that has to be done."""

    mutant: Mutant
    pid: int
    started: float
    deadline: float
    log: Path


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a mutant: `killed`, `survived` or `timeout`, by which test, after how long."""

    mutant: Mutant
    outcome: str
    test: str
    seconds: float


class Server:
    """Forks a process for each mutant, with everything imported that does not depend on it."""

    def __init__(self, tree: Path, limit: float) -> None:
        self.tree, self.limit = tree, limit
        self.logs = tree / "logs"
        self.logs.mkdir(exist_ok=True)
        self.started = 0
        os.chdir(tree)
        sys.path.insert(0, str(tree))
        for name in PRELOADED:
            importlib.import_module(name)
        assert str(tree) in str(sys.modules["orio_py"].__file__)
        assert not any(name.startswith("orio_py.transform") for name in sys.modules)

    def start(self, mutant: Mutant, tests: Sequence[str], *options: str) -> Trial:
        """Begin to test a mutant."""
        self.started += 1
        log = self.logs / f"{self.started}.log"
        pid = os.fork()
        if pid == 0:
            status = 3
            try:
                os.setsid()
                # Processor time, so that a busy machine makes no mutant look endless.
                resource.setrlimit(resource.RLIMIT_CPU, (int(self.limit), int(self.limit) + 5))
                if mutant.where:
                    path = self.tree / path_of(mutant.module)
                    sys.meta_path.insert(0, _Finder(mutant.module, mutant.source(path.read_text())))
                remember_programs(self.tree)
                status = run_tests(tests, log, *options)
            except Exception:  # a mutant that cannot be imported is noticed; the log says why
                log.write_text(traceback.format_exc())
            finally:
                os._exit(status)
        now = time.monotonic()
        return Trial(mutant, pid, now, now + 6 * self.limit, log)

    def finished(self, trial: Trial) -> Result | None:
        """The result of a mutant whose tests have ended or take too long."""
        pid, status = os.waitpid(trial.pid, os.WNOHANG)
        now = time.monotonic()
        if pid == 0 and now < trial.deadline:
            return None
        if pid == 0:
            os.killpg(trial.pid, signal.SIGKILL)
            os.waitpid(trial.pid, 0)
            return self._result(trial, "timeout", now)
        code = os.waitstatus_to_exitcode(status)
        outcomes = {0: "survived", -signal.SIGXCPU: "timeout"}
        return self._result(trial, outcomes.get(code, "killed"), now)

    def _result(self, trial: Trial, outcome: str, now: float) -> Result:
        text = trial.log.read_text(errors="replace") if trial.log.exists() else ""
        found = re.search(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE)
        shutil.rmtree(trial.log.with_suffix(".tmp"), ignore_errors=True)
        return Result(trial.mutant, outcome, found[1] if found else "", now - trial.started)


def test_mutants(
    server: Server, mutants: Sequence[Mutant], jobs: int, without: Sequence[str]
) -> Iterator[Result]:
    """The results of all mutants, as they come; `without` are options that leave tests out."""
    tests = {module: relevant_tests(server.tree, module) for module in {m.module for m in mutants}}
    waiting = list(reversed(mutants))
    running: list[Trial] = []
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            running.append(server.start(mutant, tests[mutant.module], "-x", *without))
        time.sleep(0.02)
        for trial in list(running):
            if (result := server.finished(trial)) is not None:
                running.remove(trial)
                yield result


def copied_tree(folder: Path) -> Path:
    """A private copy of what the tests need."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy2(source, folder / name)
    return folder


def baseline(server: Server, modules: Sequence[str], patience: float) -> list[str]:
    """Fill the memory of programs; the options that leave out the tests that fail without a change."""
    tests = list(dict.fromkeys(test for module in modules for test in relevant_tests(server.tree, module)))
    server.limit, usual = patience, server.limit
    trial = server.start(Mutant(modules[0], 0, "", ""), tests)
    while (result := server.finished(trial)) is None:
        time.sleep(0.1)
    server.limit = usual
    text = trial.log.read_text(errors="replace")
    if result.outcome == "timeout" or not re.search(r"\d+ passed", text):
        raise SystemExit(f"the tests do not run without a change:\n{text[-3000:]}")
    failing = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", text, re.MULTILINE)
    print(f"{len(tests)} test files, {result.seconds:.0f} s without a change", flush=True)
    for name in failing:
        print(f"left out, as it fails without a change: {name}", flush=True)
    return [option for name in failing for option in ("--deselect", name)]


def summary(results: Sequence[Result]) -> str:
    """The share of mutants that the tests notice, by file, and those that they do not."""
    lines = [f"{'':24}{'mutants':>9}{'killed':>8}{'survived':>10}{'share':>8}"]
    by_module: dict[str, list[Result]] = {}
    for result in results:
        by_module.setdefault(result.mutant.module.rsplit(".", 1)[1], []).append(result)
    for name, group in (*sorted(by_module.items()), ("all", list(results))):
        survived = sum(r.outcome == "survived" for r in group)
        killed = len(group) - survived
        lines.append(f"{name:24}{len(group):9}{killed:8}{survived:10}{killed / max(len(group), 1):8.1%}")
    by = Counter(
        re.sub(r"\[.*", "", r.test).split("::")[0].rsplit("/", 1)[-1]
        for r in results
        if r.outcome == "killed"
    )
    lines.append(
        "noticed by: " + ", ".join(f"{name or 'import'} {number}" for name, number in by.most_common())
    )
    lines.extend(f"survived  {r.mutant}" for r in results if r.outcome == "survived")
    lines.extend(f"timeout   {r.mutant}" for r in results if r.outcome == "timeout")
    return "\n".join(lines)


def main() -> int:
    """Run from the command line; exit status 1 when less than `--least` of the mutants are noticed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--files", nargs="*", default=[], help="modules or folders of orio_py/transform; all without"
    )
    parser.add_argument("--sample", type=int, default=0, help="how many mutants to draw; 0 takes all")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--limit", type=float, default=120, help="seconds of processor time for one mutant")
    parser.add_argument("--least", type=float, default=0, help="the share that has to be noticed, in percent")
    parser.add_argument("--list", action="store_true", help="list the mutants and stop")
    arguments = parser.parse_args()
    wanted = {name.removesuffix(".py") for name in arguments.files}
    modules = modules_in(ROOT)
    if unknown := wanted - {part for name in modules for part in name.split(".")}:
        parser.error(f"{PACKAGE} has no {', '.join(sorted(unknown))}")
    mutants = [
        mutant
        for name, path in modules.items()
        if not wanted or wanted & set(name.split("."))
        for mutant in mutants_of(name, path)
    ]
    if arguments.sample and arguments.sample < len(mutants):
        mutants = random.Random(arguments.seed).sample(mutants, arguments.sample)
    if arguments.list:
        print("\n".join(str(mutant) for mutant in mutants))
        return 0
    start = time.monotonic()
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="orio-mutants-") as folder:
        server = Server(copied_tree(Path(folder)), arguments.limit)
        changed = list(dict.fromkeys(mutant.module for mutant in mutants))
        without = baseline(server, changed, 10 * arguments.limit)
        for result in test_mutants(server, mutants, arguments.jobs, without):
            results.append(result)
            print(f"{result.outcome:9}{result.seconds:6.1f} s  {result.mutant}  {result.test}", flush=True)
        os.chdir(ROOT)
    print(f"\n{summary(results)}\n{len(results)} mutants in {time.monotonic() - start:.0f} s")
    killed = sum(result.outcome != "survived" for result in results)
    return int(100 * killed < arguments.least * len(results))


if __name__ == "__main__":
    sys.exit(main())

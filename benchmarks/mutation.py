"""Mutation testing of the transformations: do the tests notice small mistakes in the code?

Each mutant is one change to one file: a comparison or a sign swapped, a constant one larger, a condition
negated, a check left out, and so on.  The change is made in memory, in a process of its own, and only the
tests that run the changed lines see it; a mutant that passes them all has survived.  Messages,
annotations and documentation are not changed, as no test should depend on their wording.

    python benchmarks/mutation.py --files unroll tile permute --sample 200 --seed 1 --jobs 2
    python benchmarks/mutation.py --files composite --list
    python benchmarks/mutation.py --files purity macros --tests tests/unit/ctree tests/unit/ctree/unit

The tests see a copy of the tree.  A program that was compiled and run before is not compiled again: its
result is remembered, so that a survivor costs little more than a mutant that is noticed.
"""

from __future__ import annotations

import argparse
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

import coverage
import pytest
from mutants import PACKAGES, Mutant, modules_in, mutants_of, path_of

ROOT = Path(__file__).resolve().parent.parent
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
    "orio_py.search_space",
    "orio_py.spec.check",
    "orio_py.ctree.dependence.legality",
)
"""What the tests import that does not depend on the transformations."""

ONE_TEST = 180.0
"""Seconds of processor time after which a test counts as endless; without a change none takes a third."""

UNFINISHED = 77
"""Exit status of a process that has taken too much time altogether."""

TESTS = (
    "tests/unit/transformation",
    "tests/unit/codegen",
    "tests/semantics",
    "tests/integration/test_docs_transformations.py",
)
LEFT_OUT = "dependence"
"""Tests of the dependence test itself, by file name; that is no transformation."""

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


class _Chosen:
    """Plug-in of pytest: runs the chosen tests only, in their order, and ends a process that takes too long."""

    def __init__(self, tests: Sequence[str], limit: float) -> None:
        self.order = {name: number for number, name in enumerate(tests)}
        self.limit = limit

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.order), key=lambda i: self.order[i.nodeid])

    def pytest_runtest_logstart(self) -> None:
        used = time.process_time()
        if used > self.limit:
            os._exit(UNFINISHED)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + ONE_TEST) + 1, resource.RLIM_INFINITY))


class _Recorder:
    """Plug-in of pytest: which test runs which lines of the packages, and how long it takes."""

    def __init__(self, tree: Path) -> None:
        self.coverage = coverage.Coverage(
            data_file=None,
            include=[f"{tree / package}/*" for package in PACKAGES],
            config_file=False,
            messages=False,
        )
        self.coverage.start()
        for name in modules_in(tree):  # what their import runs belongs to no test
            importlib.import_module(name)
        self.seconds: dict[str, float] = {}
        self.failing: set[str] = set()
        self.began = 0.0

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.coverage.switch_context(nodeid)
        self.began = time.process_time()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[nodeid] = time.process_time() - self.began

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failing.add(report.nodeid)

    def knowledge(self, tree: Path) -> Knowledge:
        """What was seen."""
        self.coverage.stop()
        data = self.coverage.get_data()
        lines = {
            name: {line: set(names) for line, names in data.contexts_by_lineno(str(path)).items()}
            for name, path in modules_in(tree).items()
        }
        return Knowledge(lines, self.seconds, self.failing)


@dataclass(slots=True)
class Knowledge:
    """Which tests run each line of each module ('' stands for its import), their seconds, what fails anyway."""

    lines: dict[str, dict[int, set[str]]]
    seconds: dict[str, float]
    failing: set[str]

    def add(self, other: Knowledge) -> None:
        """Take in what another process saw."""
        for module, lines in other.lines.items():
            for line, names in lines.items():
                self.lines.setdefault(module, {}).setdefault(line, set()).update(names)
        self.seconds.update(other.seconds)
        self.failing |= other.failing

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that a mutant could make fail, the quickest first."""
        by_line = self.lines.get(mutant.module, {})
        found = {name for line in mutant.lines for name in by_line.get(line, ())}
        if "" in found:
            found = {name for names in by_line.values() for name in names}
        return sorted(found - self.failing - {""}, key=lambda name: self.seconds.get(name, 0.0))


def run_tests(files: Sequence[str], log: Path, *plugins: object, options: Sequence[str] = ()) -> int:
    """The status of pytest on test files, in this process."""
    with log.open("w") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    # The helpers import Hypothesis before pytest does, which makes no difference here.
    quiet = "-W ignore::pytest.PytestAssertRewriteWarning -q --no-header --tb=line"
    words = f"{quiet} -p no:cacheprovider -p no:xdist -p no:cov --basetemp {log.with_suffix('.tmp')}".split()
    return int(pytest.main([*words, *options, *files], list(plugins)))


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
    """What came of a mutant, by which test, after how long.

    `killed`, `survived`; `endless` where one test took the time that all take without a change, which
    counts as killed; `unfinished` where all together took too long, which counts as survived.
    """

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

    def start(self, mutant: Mutant, tests: Sequence[str]) -> Trial:
        """Begin to test a mutant."""

        def work(log: Path) -> int:
            # Before anything is imported that imports the module.
            path = self.tree / path_of(mutant.module)
            if mutant.module in sys.modules:
                _forget_modules()
            sys.meta_path.insert(0, _Finder(mutant.module, mutant.source(path.read_text())))
            remember_programs(self.tree)
            files = list(dict.fromkeys(name.partition("::")[0] for name in tests))
            return run_tests(files, log, _Chosen(tests, self.limit), options=["-x"])

        return self._fork(mutant, work)

    def learn(self, files: Sequence[str], result: Path) -> Trial:
        """Begin to run test files without a change, and to see what they run."""

        def work(log: Path) -> int:
            _forget_modules()
            recorder = _Recorder(self.tree)
            remember_programs(self.tree)
            status = run_tests(files, log, recorder)
            result.write_bytes(pickle.dumps(recorder.knowledge(self.tree)))
            return status

        return self._fork(Mutant("", 0, "", ""), work)

    def _fork(self, mutant: Mutant, work: Callable[[Path], int]) -> Trial:
        self.started += 1
        log = self.logs / f"{self.started}.log"
        pid = os.fork()
        if pid == 0:
            status = 3
            try:
                os.setsid()
                status = work(log)
            except Exception:  # a mutant that cannot be imported is noticed; the log says why
                log.write_text(traceback.format_exc())
            finally:
                os._exit(status)
        now = time.monotonic()
        # Limits are of processor time, so that a busy machine makes no mutant look endless; this one is
        # for what sleeps.
        return Trial(mutant, pid, now, now + 6 * (self.limit + ONE_TEST), log)

    def finished(self, trial: Trial) -> Result | None:
        """The result of a mutant whose tests have ended or take too long."""
        pid, status = os.waitpid(trial.pid, os.WNOHANG)
        now = time.monotonic()
        if pid == 0 and now < trial.deadline:
            return None
        if pid == 0:
            os.killpg(trial.pid, signal.SIGKILL)
            os.waitpid(trial.pid, 0)
            return self._result(trial, "endless", now)
        code = os.waitstatus_to_exitcode(status)
        outcomes = {0: "survived", UNFINISHED: "unfinished", -signal.SIGXCPU: "endless"}
        return self._result(trial, outcomes.get(code, "killed"), now)

    def _result(self, trial: Trial, outcome: str, now: float) -> Result:
        text = trial.log.read_text(errors="replace") if trial.log.exists() else ""
        found = re.search(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE)
        shutil.rmtree(trial.log.with_suffix(".tmp"), ignore_errors=True)
        return Result(trial.mutant, outcome, found[1] if found else "", now - trial.started)


def test_mutants(server: Server, mutants: Sequence[Mutant], jobs: int, known: Knowledge) -> Iterator[Result]:
    """The results of all mutants, as they come."""
    waiting = list(reversed(mutants))
    running: list[Trial] = []
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            if tests := known.tests(mutant):
                running.append(server.start(mutant, tests))
            else:
                yield Result(mutant, "survived", "no test runs it", 0.0)
        time.sleep(0.02)
        for trial in list(running):
            if (result := server.finished(trial)) is not None:
                running.remove(trial)
                yield result


def unfinished(mutants: Sequence[Mutant], output: str) -> list[Mutant]:
    """The mutants that an earlier run took too long for, by its output."""
    wanted = {line for line in output.splitlines() if line.startswith(("unfinished", "timeout"))}
    return [m for m in mutants if any(str(m) in line for line in wanted)]


def _forget_modules() -> None:
    """Let all modules of the project be imported again, with what a mutant or a recorder makes of them."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "orio_py"]:
        del sys.modules[name]


def copied_tree(folder: Path) -> Path:
    """A private copy of what the tests need."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy2(source, folder / name)
    return folder


def learn(server: Server, jobs: int, tests: Sequence[str] = TESTS) -> Knowledge:
    """Run all tests without a change: fills the memory of programs, and tells which test runs what."""
    found = [path for name in tests for path in sorted((server.tree / name).glob("test_*.py"))]
    found.extend(server.tree / name for name in tests if name.endswith(".py"))
    files = [str(path.relative_to(server.tree)) for path in found if LEFT_OUT not in path.name]
    start = time.monotonic()
    shares = [(files[k::jobs], server.tree / f"knowledge.{k}") for k in range(jobs)]
    trials = [server.learn(share, result) for share, result in shares]
    while trials:
        time.sleep(0.1)
        trials = [trial for trial in trials if server.finished(trial) is None]
    known = Knowledge({}, {}, set())
    for _, result in shares:
        if not result.exists():
            raise SystemExit(f"the tests do not run without a change: see {server.logs}")
        known.add(pickle.loads(result.read_bytes()))
    seconds = time.monotonic() - start
    print(f"{len(known.seconds)} tests in {len(files)} files, {seconds:.0f} s without a change", flush=True)
    for name in sorted(known.failing):
        print(f"left out, as it fails without a change: {name}", flush=True)
    return known


def summary(results: Sequence[Result]) -> str:
    """The share of mutants that the tests notice, by file, and those that they do not."""
    lines = [f"{'':24}{'mutants':>9}{'killed':>8}{'survived':>10}{'unfinished':>12}{'share':>8}"]
    by_module: dict[str, list[Result]] = {}
    for result in results:
        by_module.setdefault(result.mutant.module.rsplit(".", 1)[1], []).append(result)
    for name, group in (*sorted(by_module.items()), ("all", list(results))):
        count = Counter(r.outcome for r in group)
        killed = count["killed"] + count["endless"]
        numbers = f"{len(group):9}{killed:8}{count['survived']:10}{count['unfinished']:12}"
        lines.append(f"{name:24}{numbers}{killed / max(len(group), 1):8.1%}")
    by = Counter(
        re.sub(r"\[.*", "", r.test).split("::")[0].rsplit("/", 1)[-1]
        for r in results
        if r.outcome == "killed"
    )
    lines.append(
        "noticed by: " + ", ".join(f"{name or 'import'} {number}" for name, number in by.most_common())
    )
    for outcome in ("survived", "unfinished", "endless"):
        lines.extend(f"{outcome:11}{r.mutant}" for r in results if r.outcome == outcome)
    return "\n".join(lines)


def main() -> int:
    """Run from the command line; exit status 1 when less than `--least` of the mutants are noticed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--files",
        nargs="*",
        default=["transformation"],
        help=f"modules or folders of {' and '.join(PACKAGES)}; the transformations without",
    )
    parser.add_argument("--sample", type=int, default=0, help="how many mutants to draw; 0 takes all")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--limit", type=float, default=900, help="seconds of processor time for one mutant")
    parser.add_argument("--least", type=float, default=0, help="the share that has to be noticed, in percent")
    parser.add_argument("--tests", nargs="*", default=TESTS, help="folders and files of tests; all without")
    parser.add_argument("--again", type=Path, help="an earlier run's output: only what it did not finish")
    parser.add_argument("--list", action="store_true", help="list the mutants and stop")
    arguments = parser.parse_args()
    wanted = {name.removesuffix(".py") for name in arguments.files}
    modules = modules_in(ROOT)
    if unknown := wanted - {part for name in modules for part in name.split(".")}:
        parser.error(f"no file or folder is named {', '.join(sorted(unknown))}")
    mutants = [
        mutant
        for name, path in modules.items()
        if wanted & set(name.split("."))
        for mutant in mutants_of(name, path)
    ]
    if arguments.sample and arguments.sample < len(mutants):
        mutants = random.Random(arguments.seed).sample(mutants, arguments.sample)
    if arguments.again is not None:
        mutants = unfinished(mutants, arguments.again.read_text())
    if arguments.list:
        print("\n".join(str(mutant) for mutant in mutants))
        return 0
    start = time.monotonic()
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="orio-mutants-") as folder:
        server = Server(copied_tree(Path(folder)), arguments.limit)
        known = learn(server, arguments.jobs, arguments.tests)
        for result in test_mutants(server, mutants, arguments.jobs, known):
            results.append(result)
            print(f"{result.outcome:11}{result.seconds:6.1f} s  {result.mutant}  {result.test}", flush=True)
        os.chdir(ROOT)
    print(f"\n{summary(results)}\n{len(results)} mutants in {time.monotonic() - start:.0f} s")
    killed = sum(result.outcome in {"killed", "endless"} for result in results)
    return int(100 * killed < arguments.least * len(results))


if __name__ == "__main__":
    sys.exit(main())

"""The compiler wrapper with a compiler and a tuner that only take notes."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from orio_py.core.diagnostics import Diagnostic
from orio_py.tuning.options import TuneOptions
from orio_py.tuning.wrapper import Wrapper

KERNEL = """#define N 100
double x[N];
void f(void)
{
  int i;
  /*@ begin PerfTuning (
    def performance_params { param U[] = [1, 2]; }
    def input_params { param N[] = [100]; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < N; i++)
    x[i] += 1.0;
  /*@ end @*/
  /*@ end @*/
}
"""


class World:
    """Answers of the compiler one after the other (0 when they run out), and a tuner that writes a text."""

    def __init__(self, folder: Path, *answers: int, problem: Diagnostic | None = None) -> None:
        self.folder, self.answers, self.problem = folder, list(answers), problem
        self.commands: list[list[str]] = []
        self.tuned: list[tuple[Path, TuneOptions]] = []

    def run(self, words: Sequence[str]) -> int:
        self.commands.append(list(words))
        return self.answers.pop(0) if self.answers else 0

    def tune(self, source: Path, target: Path, options: TuneOptions) -> Sequence[Diagnostic]:
        self.tuned.append((source, options))
        if self.problem is not None:
            return [self.problem]
        target.write_text("tuned")
        return []

    def wrapper(self, command: str, *, may_tune: bool = True, **options) -> Wrapper:
        store = self.folder / "store"
        chosen = TuneOptions(**options)
        return Wrapper(command.split(), self.folder, store, chosen, self.tune, self.run, may_tune)


def with_kernel(folder: Path) -> None:
    (folder / "f.c").write_text(KERNEL)
    (folder / "plain.c").write_text("int y;\n")


def test_commands_without_annotated_sources_pass_through(tmp_path):
    with_kernel(tmp_path)
    world = World(tmp_path, 7, 0, 3)
    for command, status in (
        ("gcc -c plain.c", 7),
        ("gcc --version", 0),
        ("gcc -c missing.c", 3),
        ("gcc -E f.c", 0),
    ):
        assert world.wrapper(command).compile() == status
        assert world.commands[-1] == command.split()
    assert world.tuned == []


def test_a_source_is_tuned_once_and_its_text_compiled(tmp_path):
    with_kernel(tmp_path)
    world = World(tmp_path)
    for _ in range(2):
        assert world.wrapper("gcc -O2 -c f.c plain.c -o f.o").compile() == 0
    assert [source.name for source, _ in world.tuned] == ["f.c"]
    first, second = world.commands
    assert first == second
    tuned = Path(first[3])
    assert (tuned.name, tuned.read_text()) == ("f.c", "tuned")
    assert first[4:] == ["plain.c", "-o", "f.o", "-iquote", str(tmp_path)]


def test_another_source_other_options_or_another_header_are_tuned_anew(tmp_path):
    with_kernel(tmp_path)
    world = World(tmp_path)
    world.wrapper("gcc -c f.c").compile()
    world.wrapper("gcc -DA -c f.c").compile()
    world.wrapper("gcc -c f.c", trials=3).compile()
    (tmp_path / "f.c").write_text('#include "h.h"\n' + KERNEL)
    world.wrapper("gcc -c f.c").compile()
    (tmp_path / "h.h").write_text("typedef int number;\n")
    world.wrapper("gcc -c f.c").compile()
    assert len(world.tuned) == 5
    world.wrapper("gcc -c f.c -o elsewhere.o").compile()
    assert len(world.tuned) == 5


def test_pins_that_a_file_does_not_know_are_for_other_files(tmp_path):
    with_kernel(tmp_path)
    world = World(tmp_path)
    world.wrapper("gcc -c f.c", pins={"U": 2, "other": 1}).compile()
    assert dict(world.tuned[0][1].pins) == {"U": 2}


def test_a_tuned_text_that_does_not_compile_is_replaced_by_the_source(tmp_path):
    with_kernel(tmp_path)
    world = World(tmp_path, 1, 0)
    wrapper = world.wrapper("gcc -c f.c")
    assert wrapper.compile() == 0
    assert world.commands[-1] == ["gcc", "-c", "f.c"]
    assert [problem.code for problem in wrapper.told] == ["ORIO-U034"]


def test_a_source_that_cannot_be_tuned_is_compiled_as_written_and_not_tried_again(tmp_path):
    with_kernel(tmp_path)
    world = World(tmp_path, problem=Diagnostic("ORIO-M020", "no valid variant"))
    wrapper = world.wrapper("gcc -c f.c")
    assert wrapper.compile() == 0
    assert {str(problem.severity) for problem in wrapper.told} == {"warning"}
    assert [problem.code for problem in wrapper.told] == ["ORIO-M020", "ORIO-U034"]
    assert world.wrapper("gcc -c f.c").compile() == 0
    assert len(world.tuned) == 1
    assert world.commands == [["gcc", "-c", "f.c"]] * 2


def test_a_bad_annotation_is_a_warning(tmp_path):
    (tmp_path / "f.c").write_text(KERNEL.replace("ufactor", "ufactr"))
    world = World(tmp_path)
    wrapper = world.wrapper("gcc -c f.c")
    assert wrapper.compile() == 0
    assert world.commands == [["gcc", "-c", "f.c"]]
    assert [problem.code for problem in wrapper.told] == ["ORIO-T002", "ORIO-T003"]
    assert {str(problem.severity) for problem in wrapper.told} == {"warning"}


def test_without_tuning_only_stored_texts_are_used(tmp_path):
    with_kernel(tmp_path)
    world = World(tmp_path)
    wrapper = world.wrapper("gcc -c f.c", may_tune=False)
    assert wrapper.compile() == 0
    assert world.commands == [["gcc", "-c", "f.c"]]
    assert [problem.code for problem in wrapper.told] == ["ORIO-U034"]
    world.wrapper("gcc -c f.c").compile()
    world.wrapper("gcc -c f.c", may_tune=False).compile()
    assert world.commands[-1] == world.commands[-2] != world.commands[0]


def test_a_source_with_host_code_is_compiled_as_written(tmp_path):
    """One call of the compiler makes one object file, and the host functions would be in another."""
    with_kernel(tmp_path)
    source = tmp_path / "f.c"
    source.write_text(KERNEL.replace("Unroll(ufactor=U)", "OpenCL(workItemsPerGroup=U)"))
    world = World(tmp_path)
    wrapper = world.wrapper("gcc -c f.c")
    assert wrapper.compile() == 0
    assert world.commands == [["gcc", "-c", "f.c"]]
    assert world.tuned == []
    assert [d.code for d in wrapper.told] == ["ORIO-U034"]
    assert "run `orio tune` before the build" in wrapper.told[0].message


@pytest.mark.parametrize(
    "annotation", ["Loop(transform CUDA())", 'CHiLL(cuda(0, block={"i"}, thread={"j"}))']
)
def test_sources_with_kernels_are_compiled_as_they_are(tmp_path, annotation):
    nest = "for (j = 0; j < N; j++) y[i][j] += 1.0"
    text = KERNEL.replace("int i;", "int i, j;").replace("double x[N];", "double y[N][N];")
    text = text.replace("Loop (transform Unroll(ufactor=U))", annotation).replace("x[i] += 1.0", nest)
    (tmp_path / "f.c").write_text(text)
    world = World(tmp_path)
    wrapper = world.wrapper("cc -c f.c")
    assert wrapper.compile() == 0
    assert world.tuned == []
    (message,) = (problem.message for problem in wrapper.told)
    assert "host code for a device is another source" in message

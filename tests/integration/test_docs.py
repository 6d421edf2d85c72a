"""The documents: their examples work, their links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import orio_py

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
C_BLOCK = re.compile(r"^```c\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")


def examples() -> list[tuple[str, str]]:
    """C blocks that are whole annotated files."""
    found = [(p, block) for p in PAGES for block in C_BLOCK.findall(p.read_text(encoding="utf-8"))]
    whole = [(p, b) for p, b in found if "begin PerfTuning" in b and b.rstrip().endswith("}")]
    return [(f"{page.stem}-{number}", block) for number, (page, block) in enumerate(whole)]


@pytest.mark.parametrize(("name", "text"), examples(), ids=lambda value: value if "\n" not in value else "")
def test_examples_are_free_of_mistakes(name, text, tmp_path):
    path = tmp_path / "example.c"
    path.write_text(text)
    report = orio_py.check([path])
    assert [d.headline() for d in report.diagnostics] == []
    assert report.regions == 1


def test_readme_and_tutorial_have_an_example():
    assert {name.split("-")[0] for name, _ in examples()} >= {"README", "tutorial"}


def test_links_lead_somewhere():
    broken = [
        (page.name, target)
        for page in PAGES
        for target, _ in LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_the_tutorial_counts_what_the_program_counts(tmp_path):
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    path = tmp_path / "mm.c"
    path.write_text(C_BLOCK.findall(page)[0])
    (region,) = orio_py.space([path]).regions
    assert f"Cartesian product  {region.cartesian}\n" in page
    assert f"valid              {region.valid}\n" in page
    typo = path.read_text().replace("permut =", "permute =")
    path.write_text(typo)
    (problem,) = orio_py.check([path]).diagnostics
    assert problem.headline().replace(str(path), "mm.c") in page


ORCC = [
    "-c",
    "--pre-command",
    "--post-command",
    "-d",
    "--debug",
    "-e",
    "--erase-annot",
    "-h",
    "--help",
    "-k",
    "--keep-temps",
    "-o",
    "--output",
    "-p",
    "--output-prefix",
    "-r",
    "--rename-objects",
    "-s",
    "--spec",
    "--search",
    "--stop-on-error",
    "-x",
    "--extern",
    "--config",
    "--configfile",
    "-v",
    "--verbose",
    "--validate",
    "--meta",
    "--marker-loops",
    "--logdir",
    "ORIO_FLAGS",
    "ORIO_DEBUG",
    "ORIO_DEBUG_LEVEL",
]


def test_every_option_of_orcc_has_an_answer_with_options_that_exist():
    page = (ROOT / "docs" / "coming-from-orio.md").read_text()
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| ")]
    named = {word for old, _ in rows for word in re.findall(r"--?[a-z][a-z-]*|ORIO_[A-Z_]+", old)}
    assert set(ORCC) <= named
    help_texts = "".join(
        subprocess.run(
            [sys.executable, "-m", "orio_py", *command, "--help"], capture_output=True, text=True
        ).stdout
        for command in ([], ["tune"], ["check"], ["transform"], ["cc"])
    )
    used = {word for _, new in rows for word in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", new)}
    assert {word for word in used if word not in help_texts} - {"-c"} == set()

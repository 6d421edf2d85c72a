"""Times of all trials of a task in order, and as a picture."""

from importlib import import_module
from pathlib import Path

import pytest
from trials import failure, success, trial

from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem
from orio_py.record.measurement import Clock
from orio_py.store import pictures as module
from orio_py.store.curves import Curve, curves_of, draw_curves


def curve(*seconds: float, name: str = "lu") -> Curve:
    return Curve("lu.c", name, {"N": 5}, "t", "c", "e", "a device", Clock.WALL, seconds, 0)


def test_each_task_has_a_curve_with_the_slowest_first() -> None:
    trials = [
        trial(1, success(0.002)),
        trial(2, failure()),
        trial(3, success(0.5), metadata={"Device": "a GPU"}),
        trial(4, success(0.004)),
        trial(1, success(0.1), task="lu", metadata={"Device": "a GPU"}),
        trial(1, failure(), task="broken"),
    ]
    first, second = curves_of(trials, "Device")
    # The clock of these trials is that of the thread, which runs a little less than the wall's.
    assert first.seconds == pytest.approx((0.5, 0.004, 0.002), rel=1e-4)
    assert (first.name, first.failed, first.device, first.clock) == ("mm", 1, "", Clock.THREAD_CPU)
    assert (second.name, second.failed, second.device, len(second.seconds)) == ("lu", 0, "a GPU", 1)
    assert second.title == "lu N=500 alpha=1.5"


@pytest.mark.proof
def test_a_picture_has_a_curve_for_each_task_and_is_always_the_same(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    texts: list[str] = []
    for name in ("one.svg", "two.SVG"):
        draw_curves([curve(0.5, 0.25, 0.125), curve(1.0, name="mm")], tmp_path / name)
        texts.append((tmp_path / name).read_text())
    assert texts[0] == texts[1]
    assert "lu N=5, a device" in texts[0]
    assert "mm N=5, a device" in texts[0]


def test_other_kinds_of_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    draw_curves([curve(0.5)], tmp_path / "one.png")
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(DiagnosticError) as caught:
        draw_curves([curve(0.5)], tmp_path / "one.gif")
    assert caught.value.diagnostics[0].code == "ORIO-D016"
    assert not (tmp_path / "one.gif").exists()


def test_a_picture_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(DiagnosticError) as caught:
        draw_curves([curve(0.5)], tmp_path / "none" / "one.svg")
    assert caught.value.diagnostics[0].code == "ORIO-U009"


def test_without_matplotlib_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(name: str) -> object:
        if name.startswith("matplotlib"):
            raise ImportError("No module named 'matplotlib'")
        return import_module(name)

    monkeypatch.setattr(module, "import_module", refusing)
    with pytest.raises(EnvironmentProblem) as caught:
        draw_curves([curve(0.5)], tmp_path / "one.svg")
    assert caught.value.diagnostics[0].code == "ORIO-D015"
    assert "orio-py[plot]" in (caught.value.diagnostics[0].help or "")

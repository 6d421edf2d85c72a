"""TAU profiles: read back by a reader of our own, and by Hatchet."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tau_profiles import read_profile
from trials import START, failure, series, success, trial

from orio_py.record.trial import Profile
from orio_py.store.database import ResultsDatabase
from orio_py.store.tau import profile_text, write_tau

READ_WITH_HATCHET = """
import json, sys, warnings
warnings.simplefilter("ignore")
import hatchet
frame = hatchet.GraphFrame.from_tau(sys.argv[1])
rows = frame.dataframe.reset_index(drop=True)
print(json.dumps({row["name"]: [row["time"], row["time (inc)"]] for _, row in rows.iterrows()}))
"""


def test_timers_events_and_metadata():
    stored = trial(1)
    found = read_profile(profile_text(stored))
    samples = stored.measurement.samples
    wall = [1e6 * s.wall for s in samples]
    kernel = found.timers["mm [{src/mm.c} {12,0}]"]
    assert (found.metric, found.root) == ("TIME", ".TAU application")
    assert kernel.calls == 5
    assert kernel.inclusive == pytest.approx(sum(wall))
    assert found.timers["build"].inclusive == pytest.approx(125_000)
    root = found.timers[found.root]
    assert root.inclusive == 250_000 + 125_000
    assert root.exclusive == pytest.approx(root.inclusive - kernel.inclusive - 125_000, abs=1)
    for name in ("build", "mm [{src/mm.c} {12,0}]"):
        assert found.timers[f"{found.root} => {name}"].inclusive == found.timers[name].inclusive
    count, largest, smallest, mean, squares = found.events["kernel wall time (us)"]
    assert (count, largest, smallest) == (5, pytest.approx(max(wall)), pytest.approx(min(wall)))
    assert mean == pytest.approx(sum(wall) / 5)
    assert squares == pytest.approx(sum(w * w for w in wall))
    assert found.events["kernel CPU time (us)"][2] == pytest.approx(min(1e6 * s.cpu for s in samples))
    assert found.events["energy (J)"][1] == 0.5
    assert found.metadata["CPU Type"] == 'A & B <"fast">'
    assert found.metadata["orio:param:U"] == "1"
    assert found.metadata["orio:outcome"] == "ok"
    assert found.metadata["orio:digest:task"] == stored.task


def test_a_failure_has_a_profile_with_its_reason():
    found = read_profile(profile_text(trial(1, failure(), build=None, counters=())))
    assert found.metadata["orio:outcome"] == "crash"
    assert found.metadata["orio:reason"] == 'ended by SIGSEGV, "quoted", <tagged>, second line'
    assert found.timers["build"].calls == found.timers["mm [{src/mm.c} {12,0}]"].calls == 0
    assert found.events["kernel wall time (us)"] == (0, 0, 0, 0, 0)


def test_names_cannot_break_the_format():
    nasty = trial(1, name='a" => [{b}', file='x"\n{y}.c', metadata={"a<b>\n": "]]>&\x00"})
    found = read_profile(profile_text(nasty))
    assert len(found.timers) == 5


@pytest.mark.parametrize("outcome", [success(), failure()], ids=["valid", "failed"])
def test_hatchet_reads_it(tmp_path, outcome):
    pytest.importorskip("hatchet", reason="llnl-hatchet is not installed")
    (folder,) = write_tau([trial(1, outcome)], tmp_path)
    # In a process of its own: Hatchet's plotting libraries give warnings, which are errors here.
    done = subprocess.run(
        [sys.executable, "-c", READ_WITH_HATCHET, str(folder)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    times = json.loads(done.stdout.splitlines()[-1])
    expected = read_profile((folder / "profile.0.0.0").read_text())
    assert set(times) == {".TAU application", "build", "mm"}
    for name, key in (
        (".TAU application", ".TAU application"),
        ("build", "build"),
        ("mm", "mm [{src/mm.c} {12,0}]"),
    ):
        timer = expected.timers[key]
        assert times[name] == pytest.approx([timer.exclusive, timer.inclusive], abs=1e-3)


def test_profiles_of_a_profiler_stand_beside_ours_and_cannot_leave_their_folder(tmp_path):
    paths = ("profile.0.0.0", "MULTI__TIME/profile.0.0.0", "../../out.txt", "/etc/absolute")
    kept = tuple(Profile("tau", path, f"text of {path}\r\n") for path in paths)
    database = ResultsDatabase.open(tmp_path / "results.db")
    stored = trial(1, profiles=kept)
    generation = database.begin(series(), START)
    database.append(stored, generation)
    (found,) = database.history()
    database.close()
    assert sorted(found.profiles, key=str) == sorted(kept, key=str)
    (folder,) = write_tau([found], tmp_path / "out")
    own = folder.with_name("trial_00001-tau")
    written = {p.relative_to(own).as_posix() for p in own.rglob("*") if p.is_file()}
    assert written == {"profile.0.0.0", "MULTI__TIME/profile.0.0.0", "out.txt", "etc/absolute"}
    assert (own / "profile.0.0.0").read_bytes() == b"text of profile.0.0.0\r\n"
    assert {p.name for p in tmp_path.iterdir()} >= {"out", "results.db"}
    assert not (tmp_path / "out.txt").exists()

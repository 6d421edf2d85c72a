"""TAU profiles: one folder per trial, with a profile in TAU's text format and the trial's metadata.

    OUT/trial_00001/profile.0.0.0
    OUT/trial_00001-tau/profile.0.0.0

The second one is there for trials that were run under `tau_exec`: what TAU itself wrote, unchanged; a folder inside the first would keep Hatchet from reading that.
`pprof` and ParaProf read such a folder, and so does Hatchet (`GraphFrame.from_tau`).  The timers are the
trial as a whole, its build and its kernel, in microseconds on the wall; each repetition is a call of the
kernel.  The samples of both clocks are user events; there is no second metric, because the build's CPU
time is not known.
Source: TAU Reference Guide, the profile format; readers of TAU 2.35 and Hatchet 2026.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from xml.sax.saxutils import escape

from orio_py.record.measurement import Failure, Success
from orio_py.record.trial import Trial
from orio_py.store.rows import show_time

ROOT = ".TAU application"
PROFILE = "profile.0.0.0"

_MICRO = 1e6


def write_tau(trials: Sequence[Trial], folder: Path) -> list[Path]:
    """Write a folder per trial below `folder` and return them.  Raises OSError."""
    folders: list[Path] = []
    for number, trial in enumerate(trials, start=1):
        target = folder / f"trial_{number:05d}"
        target.mkdir(parents=True, exist_ok=True)
        (target / PROFILE).write_text(profile_text(trial), encoding="utf-8")
        for profile in trial.profiles:
            own = folder / f"{target.name}-{PurePosixPath(profile.method).name}" / _below(profile.path)
            own.parent.mkdir(parents=True, exist_ok=True)
            own.write_text(profile.text, encoding="utf-8", newline="")
        folders.append(target)
    return folders


def _below(path: str) -> PurePosixPath:
    """A path that cannot lead out of its folder, whoever filled the database."""
    return PurePosixPath(*(part for part in PurePosixPath(path).parts if part not in ("/", "..")))


def profile_text(trial: Trial) -> str:
    """The profile of one trial."""
    samples = trial.measurement.samples if isinstance(trial.measurement, Success) else ()
    build = _MICRO * (trial.build or 0.0)
    kernel = _MICRO * sum(s.wall for s in samples)
    # Hatchet reads the first timer, the root, with `int`.
    inclusive = round(max(_MICRO * trial.run, kernel) + build)
    own = max(0, round(inclusive - build - kernel))
    parts = [("build", int(trial.build is not None), build), (_kernel_name(trial), len(samples), kernel)]
    lines = [f'"{ROOT}" 1 {len(parts)} {own} {inclusive} 0 GROUP="TAU_DEFAULT"']
    lines += [_timer(name, calls, time, "TAU_USER") for name, calls, time in parts]
    # Hatchet builds its tree from these alone; they start at the root.
    lines += [_timer(f"{ROOT} => {name}", calls, time, "TAU_CALLPATH") for name, calls, time in parts]
    events = [_event("kernel wall time (us)", [_MICRO * s.wall for s in samples])]
    events.append(_event("kernel CPU time (us)", [_MICRO * s.cpu for s in samples]))
    events += [
        _event(_quoted(f"{c.name} ({c.unit})" if c.unit else c.name), [c.value]) for c in trial.counters
    ]
    return "\n".join(
        [
            f"{len(lines)} templated_functions_MULTI_TIME",
            f"# Name Calls Subrs Excl Incl ProfileCalls # {_metadata(trial)}",
            *lines,
            "0 aggregates",
            f"{len(events)} userevents",
            "# eventname numevents max min mean sumsqr",
            *events,
            "",
        ]
    )


def _kernel_name(trial: Trial) -> str:
    line = trial.metadata.get("orio:line", "0")
    return f"{_quoted(trial.name)} [{{{_quoted(trial.file)}}} {{{line},0}}]"


def _quoted(text: str) -> str:
    """Text that can stand between quotation marks in a profile and holds none of its separators."""
    clean = "".join(c if c.isprintable() and c not in '"{}[]' else "_" for c in text)
    return clean.replace("=>", "->")


def _timer(name: str, calls: int, time: float, group: str) -> str:
    return f'"{name}" {calls} 0 {time:.6f} {time:.6f} 0 GROUP="{group}"'


def _event(name: str, values: Sequence[float]) -> str:
    if not values:
        return f'"{name}" 0 0 0 0 0'
    mean = sum(values) / len(values)
    squares = sum(value * value for value in values)
    return f'"{name}" {len(values)} {max(values):.17g} {min(values):.17g} {mean:.17g} {squares:.17g}'


def _metadata(trial: Trial) -> str:
    """One line of XML; readers take the first value for the metric's name."""
    facts: dict[str, str] = {"Metric Name": "TIME"}
    facts.update(trial.metadata)
    facts["Starting Timestamp"] = str(round(_MICRO * trial.time.timestamp()))
    facts["UTC Time"] = show_time(trial.time)
    facts.update(_outcome(trial))
    pairs = (
        f"<attribute><name>{_xml(name)}</name><value>{_xml(value)}</value></attribute>"
        for name, value in facts.items()
    )
    return f"<metadata>{''.join(pairs)}</metadata>"


def _outcome(trial: Trial) -> Mapping[str, str]:
    key = trial.key
    digests = {
        "task": key.task,
        "toolchain": key.toolchain,
        "environment": key.environment,
        "code": trial.code,
    }
    found = {f"orio:digest:{name}": value for name, value in digests.items()}
    found["orio:configuration"] = trial.configuration.show()
    match trial.measurement:
        case Success(clock=clock):
            found |= {"orio:outcome": "ok", "orio:clock": str(clock)}
        case Failure(stage=stage, reason=reason):
            found |= {"orio:outcome": str(stage), "orio:reason": reason}
    return found


def _xml(text: str) -> str:
    # Line breaks would end the line that metadata stand on; other control characters are not XML.
    return escape("".join(c if c.isprintable() else " " for c in text))

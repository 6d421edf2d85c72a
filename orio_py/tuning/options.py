"""What the caller of a session may decide beside the specification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orio_py.core.expr import Value
from orio_py.core.units import Seconds
from orio_py.spec.assumptions import Promise
from orio_py.tuning.files.compile_commands import CompileCommands


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneOptions:
    """Options of `tune`; None leaves the decision to the specification or to a default.

    `assume` is what is promised of all regions; `search` is `NAME` or `NAME:option=value,…`; `objective` is an expression over times and counters, or several,
    of which the first ranks variants; `device` is `emulated:GPU`, whose times are emulated; with `accept_predicted` that of the architecture stands in where this machine has no GPU; `pins` fixes parameters and input sizes; `timeout` is for one run of one variant; `keep` is a folder for generated sources and binaries.  `full_samples`
    times every valid variant in full, however slow, for those who train models on the results.  `pin`
    keeps the kernels on one processor; None does so for serial ones.  `include` and
    `exclude` are globs that choose files of folders; `compile_commands` is a compilation database.  `db` is
    the file or address of the results database, None for none; unless `db_required`, one that cannot be
    used gives a warning.  `fresh` measures anew what is stored.  `cluster` is the address of a Dask cluster that
    builds and measures (`dask://host:port`, `local:4`); None for this machine.
    """

    spec: Path | None = None
    assume: Sequence[Promise] = ()
    target: str | None = None
    device: str | None = None
    accept_predicted: bool = False
    search: str | None = None
    objective: str | Sequence[str] | None = None
    trials: int | None = None
    time: Seconds | None = None
    seed: int | None = None
    jobs: int | None = None
    repeats: int | None = None
    timeout: Seconds | None = None
    pins: Mapping[str, Value] = field(default_factory=dict[str, Value])
    cc: str | None = None
    keep: Path | None = None
    full_samples: bool = False
    pin: bool | None = None
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    compile_commands: Path | CompileCommands | None = None
    db: Path | str | None = None
    db_required: bool = True
    fresh: bool = False
    cluster: str | None = None

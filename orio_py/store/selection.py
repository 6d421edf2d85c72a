"""Which of the stored trials are meant."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, or_, true

from orio_py.store.schema import TRIAL


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions that a trial's task has to meet; None is no condition.

    `file` is a path as it was given to `tune`, or its end (`mm.c` finds `src/mm.c`); `region` is the
    region's name; `task`, `toolchain` and `environment` are digests or their beginnings.
    """

    file: str | None = None
    region: str | None = None
    task: str | None = None
    toolchain: str | None = None
    environment: str | None = None

    @property
    def is_everything(self) -> bool:
        """Whether no condition was given."""
        return self == Selection()

    def condition(self) -> ColumnElement[bool]:
        """The conditions on the table `trial`."""
        found: ColumnElement[bool] = true()
        if self.file is not None:
            columns = TRIAL.c.file
            found &= or_(columns == self.file, columns.endswith(f"/{self.file}", autoescape=True))
        if self.region is not None:
            found &= TRIAL.c.name == self.region
        for column, beginning in (
            (TRIAL.c.task, self.task),
            (TRIAL.c.toolchain, self.toolchain),
            (TRIAL.c.environment, self.environment),
        ):
            if beginning is not None:
                found &= column.startswith(beginning, autoescape=True)
        return found

    def show(self) -> str:
        """The conditions in words."""
        named = (("file", self.file), ("region", self.region), ("task", self.task))
        return ", ".join(f"{name} `{value}`" for name, value in named if value is not None) or "anything"

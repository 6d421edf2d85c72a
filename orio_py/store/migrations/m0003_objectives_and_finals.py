"""Version 3: values of objectives, whether a trial was timed in full, and the samples of finals.

Of older trials it is not known whether they were timed in full, and which objective ranked them: it stays open.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    text,
)


def upgrade(connection: Connection) -> None:
    """Change version 2 to version 3."""
    for statement in (
        "ALTER TABLE trial ADD COLUMN is_full BOOLEAN",
        "ALTER TABLE tuning_run ADD COLUMN objective TEXT",
    ):
        connection.execute(text(statement))
    tables = MetaData()
    for older in ("trial", "tuning_run"):
        Table(older, tables, Column("id", Integer, primary_key=True))
    created = [_objective(tables), _finalist(tables), _final_round(tables), _final_sample(tables)]
    tables.create_all(connection, tables=created, checkfirst=False)


def _objective(tables: MetaData) -> Table:
    return Table(
        "objective",
        tables,
        Column("trial", Integer, ForeignKey("trial.id", ondelete="CASCADE"), primary_key=True),
        Column("number", Integer, primary_key=True, autoincrement=False),
        Column("expression", Text, nullable=False),
        Column("value", Float),
    )


def _finalist(tables: MetaData) -> Table:
    return Table(
        "finalist",
        tables,
        Column("run", Integer, ForeignKey("tuning_run.id", ondelete="CASCADE"), primary_key=True),
        Column("number", Integer, primary_key=True, autoincrement=False),
        Column("is_original", Boolean, nullable=False),
        Column("parameters", Text, nullable=False),
        Column("flags", Text),
        Column("stage", String(64)),
        Column("reason", Text),
    )


def _final_round(tables: MetaData) -> Table:
    return Table(
        "final_round",
        tables,
        Column("run", Integer, ForeignKey("tuning_run.id", ondelete="CASCADE"), primary_key=True),
        Column("finalist", Integer, primary_key=True, autoincrement=False),
        Column("round", Integer, primary_key=True, autoincrement=False),
        Column("value", Float, nullable=False),
    )


def _final_sample(tables: MetaData) -> Table:
    return Table(
        "final_sample",
        tables,
        Column("run", Integer, ForeignKey("tuning_run.id", ondelete="CASCADE"), primary_key=True),
        Column("finalist", Integer, primary_key=True, autoincrement=False),
        Column("round", Integer, primary_key=True, autoincrement=False),
        Column("repetition", Integer, primary_key=True, autoincrement=False),
        Column("wall_seconds", Float, nullable=False),
        Column("cpu_seconds", Float, nullable=False),
    )

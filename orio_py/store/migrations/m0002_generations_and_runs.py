"""Version 2: trials may be measured anew (generations); counters; tuning runs and their results.

Trials of version 1 become generation 1.
"""

from __future__ import annotations

from sqlalchemy import Column, Connection, Float, ForeignKey, Integer, MetaData, String, Table, Text, text


def upgrade(connection: Connection) -> None:
    """Change version 1 to version 2."""
    for statement in (
        "ALTER TABLE trial ADD COLUMN generation INTEGER NOT NULL DEFAULT 1",
        "DROP INDEX trial_key",
        "CREATE UNIQUE INDEX trial_key ON trial (task, toolchain, environment, generation, configuration)",
    ):
        connection.execute(text(statement))
    tables = MetaData()
    Table("trial", tables, Column("id", Integer, primary_key=True))
    created = [_counter(tables), *_generation(tables), *_runs(tables)]
    tables.create_all(connection, tables=created, checkfirst=False)
    connection.execute(
        text(
            "INSERT INTO generation (task, toolchain, environment, number, started) "
            "SELECT task, toolchain, environment, 1, min(time) FROM trial "
            "GROUP BY task, toolchain, environment"
        )
    )


def _counter(tables: MetaData) -> Table:
    return Table(
        "counter",
        tables,
        Column("trial", Integer, ForeignKey("trial.id", ondelete="CASCADE"), primary_key=True),
        Column("name", String(128), primary_key=True),
        Column("value", Float, nullable=False),
        Column("unit", String(32), nullable=False),
        Column("source", String(32), nullable=False),
    )


def _generation(tables: MetaData) -> list[Table]:
    return [
        Table(
            "generation",
            tables,
            Column("task", String(64), primary_key=True),
            Column("toolchain", String(64), primary_key=True),
            Column("environment", String(64), primary_key=True),
            Column("number", Integer, primary_key=True, autoincrement=False),
            Column("started", String(32), nullable=False),
        )
    ]


def _runs(tables: MetaData) -> list[Table]:
    return [
        Table(
            "tuning_run",
            tables,
            Column("id", Integer, primary_key=True),
            Column("plan", String(64), nullable=False),
            Column("task", String(64), nullable=False),
            Column("toolchain", String(64), nullable=False),
            Column("environment", String(64), nullable=False),
            Column("generation", Integer, nullable=False),
            Column("host", Text, nullable=False),
            Column("process", Integer, nullable=False),
            Column("started", String(32), nullable=False),
            Column("finished", String(32)),
        ),
        Table(
            "tuning_result",
            tables,
            Column("plan", String(64), primary_key=True),
            Column("generation", Integer, primary_key=True, autoincrement=False),
            Column("run", Integer, ForeignKey("tuning_run.id", ondelete="CASCADE"), nullable=False),
            Column("task", String(64), nullable=False),
            Column("toolchain", String(64), nullable=False),
            Column("environment", String(64), nullable=False),
            Column("time", String(32), nullable=False),
            Column("report", Text, nullable=False),
        ),
    ]

"""The tables of the results database, as its newest version has them.

`trial`, `primary_metadata`, `counter` and `schema_version` are named after TAUdb's tables of the same
meaning (TAU, tools/src/perfdmf); columns that TAUdb lacks stand beside its own.  `store.migrations`
creates these tables step by step; this module is what queries are written against.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, ForeignKey, Integer, MetaData, String, Table, Text

DESCRIPTION = "orio_py results"
"""What `schema_version.description` holds, by which a file is known to be ours."""

TABLES = MetaData()

SCHEMA_VERSION = Table(
    "schema_version",
    TABLES,
    Column("version", Integer, nullable=False),
    Column("description", String(64), nullable=False),
)

TRIAL = Table(
    "trial",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("data_source", String(32), nullable=False),
    Column("node_count", Integer, nullable=False),
    Column("contexts_per_node", Integer, nullable=False),
    Column("threads_per_context", Integer, nullable=False),
    Column("total_threads", Integer, nullable=False),
    Column("file", Text, nullable=False),
    Column("task", String(64), nullable=False),
    Column("configuration", String(64), nullable=False),
    Column("toolchain", String(64), nullable=False),
    Column("environment", String(64), nullable=False),
    Column("generation", Integer, nullable=False),
    Column("parameters", Text, nullable=False),
    Column("inputs", Text, nullable=False),
    Column("code", String(64), nullable=False),
    Column("stage", String(64)),
    Column("reason", Text),
    Column("clock", String(32)),
    Column("median_seconds", Float),
    Column("build_seconds", Float),
    Column("run_seconds", Float, nullable=False),
    Column("time", String(32), nullable=False),
    Column("is_full", Boolean),
)

SAMPLE = Table(
    "sample",
    TABLES,
    Column("trial", Integer, ForeignKey("trial.id", ondelete="CASCADE"), primary_key=True),
    Column("repetition", Integer, primary_key=True, autoincrement=False),
    Column("wall_seconds", Float, nullable=False),
    Column("cpu_seconds", Float, nullable=False),
)

METADATA = Table(
    "primary_metadata",
    TABLES,
    Column("trial", Integer, ForeignKey("trial.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String(128), primary_key=True),
    Column("value", Text, nullable=False),
)

COUNTER = Table(
    "counter",
    TABLES,
    Column("trial", Integer, ForeignKey("trial.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String(128), primary_key=True),
    Column("value", Float, nullable=False),
    Column("unit", String(32), nullable=False),
    Column("source", String(32), nullable=False),
)

FEATURE = Table(
    "feature",
    TABLES,
    Column("trial", Integer, ForeignKey("trial.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String(64), primary_key=True),
    Column("value", Float, nullable=False),
)

OBJECTIVE = Table(
    "objective",
    TABLES,
    Column("trial", Integer, ForeignKey("trial.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("expression", Text, nullable=False),
    Column("value", Float),
)

PROFILE = Table(
    "profile",
    TABLES,
    Column("trial", Integer, ForeignKey("trial.id", ondelete="CASCADE"), primary_key=True),
    Column("method", String(32), primary_key=True),
    Column("path", String(255), primary_key=True),
    Column("text", Text, nullable=False),
)

GENERATION = Table(
    "generation",
    TABLES,
    Column("task", String(64), primary_key=True),
    Column("toolchain", String(64), primary_key=True),
    Column("environment", String(64), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("started", String(32), nullable=False),
)

RUN = Table(
    "tuning_run",
    TABLES,
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
    Column("objective", Text),
)

FINALIST = Table(
    "finalist",
    TABLES,
    Column("run", Integer, ForeignKey("tuning_run.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("is_original", Boolean, nullable=False),
    Column("parameters", Text, nullable=False),
    Column("flags", Text),
    Column("stage", String(64)),
    Column("reason", Text),
)

FINAL_ROUND = Table(
    "final_round",
    TABLES,
    Column("run", Integer, ForeignKey("tuning_run.id", ondelete="CASCADE"), primary_key=True),
    Column("finalist", Integer, primary_key=True, autoincrement=False),
    Column("round", Integer, primary_key=True, autoincrement=False),
    Column("value", Float, nullable=False),
)

FINAL_SAMPLE = Table(
    "final_sample",
    TABLES,
    Column("run", Integer, ForeignKey("tuning_run.id", ondelete="CASCADE"), primary_key=True),
    Column("finalist", Integer, primary_key=True, autoincrement=False),
    Column("round", Integer, primary_key=True, autoincrement=False),
    Column("repetition", Integer, primary_key=True, autoincrement=False),
    Column("wall_seconds", Float, nullable=False),
    Column("cpu_seconds", Float, nullable=False),
)

RESULT = Table(
    "tuning_result",
    TABLES,
    Column("plan", String(64), primary_key=True),
    Column("generation", Integer, primary_key=True, autoincrement=False),
    Column("run", Integer, ForeignKey("tuning_run.id", ondelete="CASCADE"), nullable=False),
    Column("task", String(64), nullable=False),
    Column("toolchain", String(64), nullable=False),
    Column("environment", String(64), nullable=False),
    Column("time", String(32), nullable=False),
    Column("report", Text, nullable=False),
)

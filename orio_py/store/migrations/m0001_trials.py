"""Version 1: trials with their samples and metadata, one trial per key."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)


def upgrade(connection: Connection) -> None:
    """Create the tables of version 1."""
    tables = MetaData()
    Table(
        "schema_version",
        tables,
        Column("version", Integer, nullable=False),
        Column("description", String(64), nullable=False),
        UniqueConstraint("description", name="one_schema_version"),
    )
    Table(
        "trial",
        tables,
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
        Index("trial_key", "task", "configuration", "toolchain", "environment", unique=True),
    )
    Table(
        "sample",
        tables,
        Column("trial", Integer, ForeignKey("trial.id", ondelete="CASCADE"), primary_key=True),
        Column("repetition", Integer, primary_key=True, autoincrement=False),
        Column("wall_seconds", Float, nullable=False),
        Column("cpu_seconds", Float, nullable=False),
    )
    Table(
        "primary_metadata",
        tables,
        Column("trial", Integer, ForeignKey("trial.id", ondelete="CASCADE"), primary_key=True),
        Column("name", String(128), primary_key=True),
        Column("value", Text, nullable=False),
    )
    tables.create_all(connection, checkfirst=False)

"""Version 5: the static features of a trial's code are kept with it."""

from __future__ import annotations

from sqlalchemy import Column, Connection, Float, ForeignKey, Integer, MetaData, String, Table


def upgrade(connection: Connection) -> None:
    """Change version 4 to version 5."""
    tables = MetaData()
    Table("trial", tables, Column("id", Integer, primary_key=True))
    created = Table(
        "feature",
        tables,
        Column("trial", Integer, ForeignKey("trial.id", ondelete="CASCADE"), primary_key=True),
        Column("name", String(64), primary_key=True),
        Column("value", Float, nullable=False),
    )
    tables.create_all(connection, tables=[created], checkfirst=False)

"""Version 4: the files that profilers wrote are kept with the trials."""

from __future__ import annotations

from sqlalchemy import Column, Connection, ForeignKey, Integer, MetaData, String, Table, Text


def upgrade(connection: Connection) -> None:
    """Change version 3 to version 4."""
    tables = MetaData()
    Table("trial", tables, Column("id", Integer, primary_key=True))
    created = Table(
        "profile",
        tables,
        Column("trial", Integer, ForeignKey("trial.id", ondelete="CASCADE"), primary_key=True),
        Column("method", String(32), primary_key=True),
        Column("path", String(255), primary_key=True),
        Column("text", Text, nullable=False),
    )
    tables.create_all(connection, tables=[created], checkfirst=False)

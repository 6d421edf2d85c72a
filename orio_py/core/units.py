"""Numbers with units, told apart by the type checker."""

from typing import NewType

Seconds = NewType("Seconds", float)
"""A duration or time in seconds."""

Bytes = NewType("Bytes", int)
"""A size in bytes."""

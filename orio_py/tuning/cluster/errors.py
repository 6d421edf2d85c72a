"""What goes wrong with workers."""


class WorkerLostError(Exception):
    """Raised when the worker that was asked is gone."""

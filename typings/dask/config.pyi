from collections.abc import Mapping
from contextlib import AbstractContextManager

def set(  # noqa: A001 - its name in Dask
    values: Mapping[str, object],
) -> AbstractContextManager[object]: ...

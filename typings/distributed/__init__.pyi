"""What is used of Dask's scheduler and client."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

class Future:
    def done(self) -> bool: ...
    def result(self, timeout: float | None = ...) -> Any: ...
    def cancel(self) -> None: ...

class LocalCluster:
    scheduler_address: str
    def __init__(
        self,
        *,
        n_workers: int | None = ...,
        threads_per_worker: int = ...,
        processes: bool = ...,
        dashboard_address: str | None = ...,
    ) -> None: ...
    def close(self) -> None: ...

class Client:
    def __init__(self, address: str | LocalCluster, *, timeout: str = ...) -> None: ...
    def submit(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        pure: bool = ...,
        retries: int = ...,
        workers: Collection[str] | None = ...,
        allow_other_workers: bool = ...,
    ) -> Future: ...
    def run(
        self, function: Callable[..., Any], *arguments: Any, on_error: str = ..., nanny: bool = ...
    ) -> Any: ...
    def nthreads(self) -> Mapping[str, int]: ...
    def close(self) -> None: ...

class Worker:
    address: str
    local_directory: str

def get_worker() -> Worker: ...
def wait(futures: Collection[Future], *, timeout: float = ..., return_when: str = ...) -> object: ...

"""The observers by the names of their methods, real counters before simulated ones."""

from __future__ import annotations

from orio_py.core.registry import Registry
from orio_py.measure.observers.base import AnyObserver
from orio_py.measure.observers.papi import Papi
from orio_py.measure.observers.perf import Perf
from orio_py.measure.observers.rapl import Rapl
from orio_py.measure.observers.rusage import Rusage
from orio_py.measure.observers.tau import Tau
from orio_py.measure.observers.valgrind import Valgrind

_ALL: tuple[AnyObserver, ...] = (Perf(), Papi(), Rusage(), Rapl(), Tau(), Valgrind())

OBSERVERS: Registry[AnyObserver] = Registry("observer", ((observer.name, observer) for observer in _ALL))

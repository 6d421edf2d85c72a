"""Ensembles of scikit-learn's regression trees in pickle files, read without unpickling.

A pickle file is a program that may call whatever its author chose.  Here its instructions are followed on paper: names
stay names, calls stay terms, and nothing is imported or called.  In the terms, the arrays of each tree's nodes are looked
up and decoded.  Files of scikit-learn 0.23 to 1.5 differ in one field of the nodes, which is not needed.
"""

from __future__ import annotations

import pickletools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from orio_py.core.diagnostics import fail
from orio_py.model.counters.model import Domain
from orio_py.model.counters.trees import TreeModel
from orio_py.model.regression_trees import Tree

NODE_FIELDS = ("left_child", "right_child", "feature", "threshold")
MOST_BYTES = 1 << 30
"""Larger files are no models."""

_MARK = object()
_SAME = frozenset({"PROTO", "FRAME"})
_MEMORISE, _RECALL = ("PUT", "BINPUT", "LONG_BINPUT"), ("GET", "BINGET", "LONG_BINGET")
_LITERALS = ("BIN", "SHORT_BIN", "LONG", "INT", "FLOAT", "UNICODE", "STRING", "BYTEARRAY")
"""How instructions begin that give a number or text."""
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


@dataclass(frozen=True)
class ImportedName:
    """Something that the file asks to import, by its name."""

    text: str


@dataclass
class Term:
    """A call that the file asks for, not made; `state` is what it would set afterwards."""

    function: Any
    arguments: Sequence[Any]
    state: Any = None
    items: list[Any] = field(default_factory=list[Any])


class _Reader:
    """The machine of the pickle format, as far as such files use it, over terms instead of objects."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def follow(self, content: bytes) -> Any:
        """What the file describes.  Raises ValueError for an instruction that trees do not need."""
        for opcode, argument, _ in pickletools.genops(content):
            if opcode.name == "STOP":
                return self.stack.pop()
            if opcode.name not in _SAME:
                self._step(opcode.name, argument)
        raise ValueError("it has no end")

    def _step(self, name: str, argument: Any) -> None:
        stack = self.stack
        if name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name in _TUPLES:
            count = _TUPLES[name]
            parts = tuple(stack[len(stack) - count :])
            del stack[len(stack) - count :]
            stack.append(parts)
        elif name in _MEMORISE or name == "MEMOIZE":
            self.memo[len(self.memo) if argument is None else int(argument)] = stack[-1]
        elif name in _RECALL:
            stack.append(self.memo[int(argument)])
        elif name == "MARK":
            stack.append(_MARK)
        elif name.startswith(_LITERALS):
            stack.append(argument)
        else:
            self._build(name, argument)

    def _build(self, name: str, argument: Any) -> None:
        stack = self.stack
        match name:
            case "GLOBAL":
                stack.append(ImportedName(str(argument).replace(" ", ".")))
            case "STACK_GLOBAL":
                last = stack.pop()
                stack.append(ImportedName(f"{stack.pop()}.{last}"))
            case "EMPTY_LIST" | "EMPTY_SET":
                stack.append([])
            case "EMPTY_DICT":
                stack.append({})
            case "TUPLE" | "LIST":
                parts = self._to_mark()
                stack.append(tuple(parts) if name == "TUPLE" else parts)
            case "APPEND":
                item = stack.pop()
                self._add(stack[-1], [item])
            case "APPENDS" | "ADDITEMS":
                items = self._to_mark()
                self._add(stack[-1], items)
            case "SETITEM":
                value, key = stack.pop(), stack.pop()
                self._set(stack[-1], [key, value])
            case "SETITEMS" | "DICT":
                items = self._to_mark()
                if name == "DICT":
                    stack.append({})
                self._set(stack[-1], items)
            case "REDUCE" | "NEWOBJ":
                arguments, function = stack.pop(), stack.pop()
                stack.append(Term(function, arguments))
            case "BUILD":
                state = stack.pop()
                if isinstance(stack[-1], Term):
                    stack[-1].state = state
            case "POP":
                stack.pop()
            case _:
                raise ValueError(f"it has the instruction {name}, which trees do not need")

    def _to_mark(self) -> list[Any]:
        parts: list[Any] = []
        while (part := self.stack.pop()) is not _MARK:
            parts.append(part)
        return parts[::-1]

    @staticmethod
    def _add(to: Any, items: list[Any]) -> None:
        (to.items if isinstance(to, Term) else to).extend(items)

    @staticmethod
    def _set(to: Any, items: list[Any]) -> None:
        pairs = zip(items[::2], items[1::2], strict=True)
        if isinstance(to, Term):
            to.items.extend(pairs)
        else:
            to.update((key, value) for key, value in pairs if isinstance(key, str | int | bytes))


def read_pickled_trees(path: Path, domain: Domain) -> TreeModel:
    """The model in a pickle file, whose parameters and counters the caller names, in the file's order.

    Raises DiagnosticError ORIO-U006, U008 (no file, or one that cannot be read), D022 (no such trees in it).
    """
    if not path.exists():
        fail("ORIO-U006", f"there is no file `{path}`")
    try:
        content = path.read_bytes()
    except OSError as error:
        fail("ORIO-U008", f"`{path}` cannot be read: {error.strerror or error}")
    try:
        if len(content) > MOST_BYTES:
            raise ValueError("it is too large")
        top = _Reader().follow(content)
        trees = tuple(_tree(term) for term in _terms(top, "._tree.Tree"))
        if not trees:
            raise ValueError("there are no trees of scikit-learn in it")
        for tree in trees:
            tree.check(len(domain.parameters), len(domain.counters))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        fail("ORIO-D022", f"`{path}` has no model of counters that can be read: {error}")
    return TreeModel(domain, trees, is_logarithmic=False)


def _terms(top: Any, ending: str) -> Iterator[Term]:
    """All calls of a name with some ending, in the order of the file, each once."""
    pending, seen = [top], set[int]()
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Term):
            if isinstance(part.function, ImportedName) and part.function.text.endswith(ending):
                yield part
                continue
            pending += [part.items, part.state, part.arguments]
        elif isinstance(part, dict):
            pending += reversed(list(cast("dict[Any, Any]", part).values()))
        elif isinstance(part, list | tuple):
            pending += reversed(cast("list[Any]", part))


def _tree(term: Term) -> Tree:
    state = term.state
    nodes, values = _array(state["nodes"]), _array(state["values"])
    left, right, feature, threshold = (np.ascontiguousarray(nodes[name]) for name in NODE_FIELDS)
    return Tree(
        left.astype(np.int64),
        right.astype(np.int64),
        feature.astype(np.int64),
        threshold.astype(np.float64),
        values.astype(np.float64).reshape(len(values), -1),
    )


def _array(term: Any) -> npt.NDArray[Any]:
    """The array that a term describes, from its type, shape and bytes."""
    if not isinstance(term, Term) or not isinstance(term.function, ImportedName):
        raise ValueError("an array is not described as numpy does")
    if term.function.text.endswith("._frombuffer"):
        data, described, shape, order = term.arguments
        is_columns = order == "F"
    else:
        _, shape, described, is_columns, data = term.state
    if isinstance(data, Term):
        # Old protocols have no bytes: they ask for a text to be encoded.
        data = str(data.arguments[0]).encode("latin-1")
    flat = np.frombuffer(bytes(data), dtype=_type(described))
    return flat.reshape(tuple(map(int, shape)), order="F" if is_columns else "C")


def _type(term: Any) -> np.dtype[Any]:
    """A type of numbers, or of records of them."""
    code = str(term.arguments[0])
    _, order, _, names, fields, *sizes = term.state
    if names is None:
        if code[:1] not in "iufb":
            raise ValueError(f"an array has elements of the type {code}")
        return np.dtype(f"{order if order in '<>' else '='}{code}")
    parts = [fields[name] for name in names]
    kinds, offsets = [_type(part[0]) for part in parts], [int(part[1]) for part in parts]
    return np.dtype(
        {
            "names": [str(name) for name in names],
            "formats": kinds,
            "offsets": offsets,
            "itemsize": int(sizes[0]),
        }
    )

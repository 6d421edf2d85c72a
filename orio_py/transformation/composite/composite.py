"""Composite: several transformations in one, always in the same order.

    transform Composite(                for (int jj = 0; jj < n; jj += 32)
      tile   = [('j', 32, 'jj')],         for (i = 0; i < n; i++)
      permut = [['jj', 'i', 'j']])          for (j = jj; j < (n - jj < 32 ? n : jj + 32); j++)
    for (i = 0; i < n; i++)                   a[i][j] = b[j][i];
      for (j = 0; j < n; j++)
        a[i][j] = b[j][i];

The order is that of `ORDER`, however the keys are written.  Source: the language definition of Orio for the
keys from `tile` to `vector` that it has; A. Hartono, B. Norris, P. Sadayappan, "Annotation-based empirical
performance tuning using Orio", IPDPS 2009.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from math import prod

from orio_py.ctree.build import flat_block
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import innermost_loops, loops_in
from orio_py.ctree.nodes import Comment, Node
from orio_py.kernel.backends import BACKENDS
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.composite.steps import Over, Place, ScheduleStep
from orio_py.transformation.loop_names import index_name, show_loops
from orio_py.transformation.offload.device_step import DeviceStep
from orio_py.transformation.parallel.pragma_text import is_omp, pragma_lines
from orio_py.transformation.unrolling.unroll_rewrite import require_moderate, require_size, unrolled_size

Keys = Mapping[str, tuple[ScheduleStep, ...]]
"""What each key asks for, in the order written."""


class Turn(Enum):
    """What is done when a key has its turn."""

    APPLY = auto()
    OUTER = auto()  # applied to loops that hold others
    CHECK = auto()  # examined, and applied at a later turn
    CHECKED = auto()  # applied without another dependence test


ORDER: tuple[tuple[str, Turn], ...] = (
    # First, so that the versions profit from what is known of them.
    ("specialize", Turn.APPLY),
    ("peel", Turn.APPLY),
    ("distribute", Turn.APPLY),
    ("fuse", Turn.APPLY),
    ("reverse", Turn.APPLY),
    ("skew", Turn.APPLY),
    ("interchange", Turn.APPLY),
    ("stripmine", Turn.APPLY),
    ("tile", Turn.APPLY),
    ("permut", Turn.APPLY),
    # The dependence tests see the loops before unrolling makes their bounds hard to read: iterations
    # that are independent one by one are independent in groups too.
    ("pragma", Turn.CHECK),
    ("openmp", Turn.CHECK),
    ("parallelize", Turn.CHECK),
    *((backend, Turn.CHECK) for backend in BACKENDS),
    ("arrcopy", Turn.APPLY),
    ("regtile", Turn.APPLY),
    ("unrolljam", Turn.OUTER),
    ("vector", Turn.CHECK),
    ("vectorize", Turn.CHECK),
    ("unrolljam", Turn.APPLY),
    ("unrollreduction", Turn.APPLY),
    ("scalarreplace", Turn.APPLY),
    ("boundreplace", Turn.APPLY),
    ("prefetch", Turn.APPLY),
    ("pragma", Turn.CHECKED),
    ("parallelize", Turn.CHECKED),
    ("openmp", Turn.CHECKED),
    ("vectorize", Turn.CHECKED),
    ("vector", Turn.CHECKED),
    ("restrict", Turn.APPLY),
    *((backend, Turn.CHECKED) for backend in BACKENDS),
)
"""The keys in the order of their turns."""

_DEPENDENCE = frozenset({"ORIO-T040", "ORIO-T041"})


@dataclass(frozen=True, slots=True)
class ScheduleStage:
    """The steps that a key asks for at one time."""

    key: str
    steps: tuple[ScheduleStep, ...]
    is_check: bool = False
    """Whether the steps are only tried: what they make is dropped."""

    def apply(self, node: Node, context: Context) -> Node:
        """The statement after the steps.  Raises Refusal; where an argument of a step is to blame, the key is."""
        result = node
        work = ScheduleStep.tried if self.is_check else ScheduleStep.apply
        try:
            for step in _outermost_first(self.steps, node):
                before, result = result, work(step, result, context)
                if result is not before:
                    require_moderate(result)
        except Refusal as refusal:
            if refusal.argument is None:
                raise
            raise Refusal(*refusal.diagnostics, argument=self.key) from None
        return node if self.is_check else result

    def untrue_texts(self, node: Node, context: Context) -> dict[str, str]:
        """The pragmas of `vector` that promise what some innermost loop does not keep, each with the reason.

        Raises Refusal, where one of OpenMP's is among them.
        """
        found: dict[str, str] = {}
        for step in self.steps:
            for text in step.transformation.pragmas:
                try:
                    replace(self, steps=(step.having(pragmas=(text,)),)).apply(node, context)
                except Refusal as refusal:
                    if is_omp(text) or refusal.diagnostics[0].code not in _DEPENDENCE:
                        raise
                    found[text] = refusal.diagnostics[0].message
        return found

    def untrusting(self) -> ScheduleStage:
        """The stage with a dependence test of its own."""
        return replace(self, steps=tuple(step.having(trusted=False) for step in self.steps))

    def adds_to_code(self, node: Node, context: Context) -> bool:
        """Whether what the dependence test finds changes what is written, as atomic statements, scans and `safelen` do.

        Raises Refusal.
        """
        tested, trusted = (
            replace(self, is_check=False, steps=tuple(step.having(trusted=trusted) for step in self.steps))
            for trusted in (False, True)
        )
        result = tested.apply(node, context)
        try:
            return not equal(result, trusted.apply(node, context))
        except Refusal:
            return True  # Without the test it is not known what to write.

    def updates(self, node: Node, context: Context) -> bool:
        """Whether loops that are to be kernels update elements in single steps.  Raises Refusal."""
        return any(step.updates(node, context) for step in self.steps)

    def without_texts(self, untrue: Container[str]) -> ScheduleStage:
        """The stage without some pragmas of `vector`."""
        if self.key != "vector":
            return self
        steps = [
            step.having(pragmas=tuple(text for text in step.transformation.pragmas if text not in untrue))
            for step in self.steps
        ]
        return replace(self, steps=tuple(steps))


@dataclass(frozen=True, slots=True)
class Composite:
    """Transformations one after the other."""

    stages: tuple[ScheduleStage, ...] = ()
    factors: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many copies of the bodies of which loops all stages together make."""

    def apply(self, node: Node, context: Context) -> Node:
        """The transformed statement; the same object if nothing is asked for.

        Raises Refusal: ORIO-T050, and the codes of the transformations used.
        """
        tiled = self._in_registers(node)
        if tiled is not self and not self._update_elements(node, context):
            return tiled.apply(node, context)
        if self.factors:
            require_size(unrolled_size(node, self.factors), "Composite", node, "unrolljam")
        untrue: dict[str, str] = {}
        taken: frozenset[str] = frozenset()
        again: dict[str, bool] = {}
        updates = False
        for stage in self.stages:
            if stage.key == "vector" and stage.is_check:
                untrue = stage.untrue_texts(node, context)
                continue
            if stage.key in ("parallelize", "vectorize"):
                if stage.is_check:
                    again[stage.key] = stage.adds_to_code(node, context)
                    continue
                stage = stage.untrusting() if again[stage.key] else stage
            if stage.key in BACKENDS:
                if stage.is_check:
                    stage.apply(node, context)
                    updates = stage.updates(node, context)
                    continue
                # What unrolling has made of updates becomes single steps, too, if it can.
                stage = stage.untrusting() if updates else stage
            if stage.key == "regtile":
                taken = _around_others(node).intersection(self.factors)
            node = self._settled(stage, untrue, taken).apply(node, context)
        remarks = [Comment(f"/* Left out: {why}. */") for why in untrue.values()]
        return flat_block(*remarks, node) if remarks else node

    def _update_elements(self, node: Node, context: Context) -> bool:
        """Whether kernels update elements in single steps, which items do for one iteration after the other."""
        with suppress(Refusal):
            return any(stage.updates(node, context) for stage in self.stages if stage.key in BACKENDS)
        return False

    def _in_registers(self, node: Node) -> Composite:
        """The stages in which kernels do what `unrolljam` asks of the loops that they map; the same where they cannot.

        So the bounds of these loops may be any, and nothing is left over that needs a kernel of its own.
        """
        kernels: list[DeviceStep] = [
            step.transformation for stage in self.stages if stage.key in BACKENDS for step in stage.steps
        ]
        if len(kernels) == 0 or {"regtile", "unrollreduction"} & {stage.key for stage in self.stages}:
            return self
        loops, kernel = show_loops(node), kernels[0]
        mapped = kernel.nd if isinstance(kernel.nd, tuple) else tuple(loops[: kernel.nd])
        tile = tuple(self.factors.get(name, 1) for name in reversed(mapped))
        is_first = kernel.loop in (None, *loops[:1])
        if prod(tile) == 1 or not is_first or not all(each.takes_register_tiles for each in kernels):
            return self
        stages: list[ScheduleStage] = []
        for stage in self.stages:
            steps = stage.steps
            if stage.key in BACKENDS:
                steps = tuple(step.having(registerTile=tile) for step in steps)
            elif stage.key == "unrolljam":
                steps = tuple(
                    s for s in steps if not isinstance(s.loops, Over) or s.loops.index not in mapped
                )
            if (
                steps and stage.key != "scalarreplace"
            ):  # Kernels keep in registers what iterations use repeatedly.
                stages.append(replace(stage, steps=steps))
        return Composite(tuple(stages), {n: f for n, f in self.factors.items() if n not in mapped})

    def _settled(self, stage: ScheduleStage, untrue: Container[str], taken: frozenset[str]) -> ScheduleStage:
        """A stage without pragmas that are untrue, and with the loops `taken` unrolled by `regtile` alone.

        Copies are fused while the loops inside are still single ones.
        """
        match stage.key:
            case "vector":
                return stage.without_texts(untrue)
            case "regtile":
                return replace(stage, steps=tuple(self._with_all_factors(s, taken) for s in stage.steps))
            case "unrolljam":
                left = (s for s in stage.steps if not isinstance(s.loops, Over) or s.loops.index not in taken)
                return replace(stage, steps=tuple(left))
            case _:
                return stage

    def _with_all_factors(self, step: ScheduleStep, taken: frozenset[str]) -> ScheduleStep:
        own = dict(zip(step.transformation.loops, step.transformation.ufactors, strict=False))
        own.update((name, self.factors[name]) for name in taken)
        return step.having(loops=tuple(own), ufactors=tuple(own.values()))


def _around_others(node: Node) -> frozenset[str]:
    """The indices of loops that hold others."""
    innermost = {id(loop) for loop in innermost_loops(node)}
    return frozenset(
        name for loop in loops_in(node) if id(loop) not in innermost and (name := index_name(loop))
    )


def schedule(keys: Keys, *, force: bool = False) -> Composite:
    """The stages for what the keys ask for; `force` counts for all of them."""
    keys = _unrolled_once(keys)
    return Composite(tuple(_stages(keys, force)), _factors(keys))


def _unrolled_once(keys: Keys) -> Keys:
    """The keys; loops that `regtile` names are unrolled by it alone.

    In Orio, whose register tiles have indices of their own, `unrolljam` finds the iterations that they leave over.
    """
    tiled = _tiled(keys)
    steps = keys.get("unrolljam", ())
    left = tuple(s for s in steps if not isinstance(s.loops, Over) or s.loops.index not in tiled)
    return keys if len(left) == len(steps) else {**keys, "unrolljam": left}


def _tiled(keys: Keys) -> dict[str, int]:
    """The factors of `regtile`."""
    found: dict[str, int] = {}
    for step in keys.get("regtile", ()):
        found.update(zip(step.transformation.loops, step.transformation.ufactors, strict=False))
    return found


def _factors(keys: Keys) -> dict[str, int]:
    """The factors by which `regtile` and `unrolljam` unroll each loop."""
    found = _tiled(keys)
    for step in keys.get("unrolljam", ()):
        if isinstance(step.loops, Over):
            found[step.loops.index] = step.transformation.ufactor
    return found


def _stages(keys: Keys, force: bool) -> Iterator[ScheduleStage]:
    # Unrolling keeps what was found of the loops before, unless it splits accumulators up.
    keeps_order = not keys.get("unrollreduction")
    keeps_kernels = keeps_order and bool(keys.get("regtile") or keys.get("unrolljam"))
    canonical = _annotates(keys)
    for key, turn in ORDER:
        steps = tuple(step.having(force=True) for step in keys.get(key, ())) if force else keys.get(key, ())
        if key in ("regtile", "unrolljam", "unrollreduction"):
            steps = tuple(step.having(canonical=canonical) for step in steps)
        if turn is Turn.OUTER:
            steps = tuple(replace(step, loops=_outer(step.loops)) for step in steps)
        if turn is Turn.CHECK and key in BACKENDS and not keeps_kernels:
            continue  # They are examined when they are made.
        if turn is Turn.CHECKED:
            trusted = key == "vector" or (keeps_kernels if key in BACKENDS else keeps_order)
            steps = tuple(step.having(trusted=trusted) for step in steps)
        if steps:
            yield ScheduleStage(key, steps, turn is Turn.CHECK)


def _outer(loops: Place) -> Place:
    return replace(loops, innermost=False) if isinstance(loops, Over) else loops


def _annotates(keys: Keys) -> bool:
    """Whether something stands before loops, counts them or unrolls them again, and needs them in a simple form."""
    if any(keys.get(key) for key in ("parallelize", "vectorize", *BACKENDS)):
        return True
    if keys.get("regtile") and keys.get("unrolljam"):
        return True  # one unrolls what the other makes
    written = (step.transformation for key in ("openmp", "vector") for step in keys.get(key, ()))
    if any(pragma_lines(each.pragmas) for each in written):
        return True
    return any(step.transformation is not None for step in keys.get("pragma", ()))


def _outermost_first(steps: tuple[ScheduleStep, ...], node: Node) -> Iterator[ScheduleStep]:
    """The steps; those over an index in the order of the loops.

    The copies of an inner loop are fused while it is still one loop.
    """
    over = {step.loops.index: step for step in steps if isinstance(step.loops, Over)}
    if not over:
        yield from steps
        return
    for name in show_loops(node):
        if name in over:
            yield over[name]

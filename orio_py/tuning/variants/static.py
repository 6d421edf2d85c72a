"""The static features of a task's variants: from a configuration to numbers, without compiling anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from orio_py.build.compiler import Compiler
from orio_py.build.detect import host
from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.expr import Value
from orio_py.core.units import Seconds
from orio_py.ctree.nodes import Node
from orio_py.features.catalog import features_of
from orio_py.features.expressions import WalkScope
from orio_py.features.family import FeatureValues
from orio_py.features.profile import MachineTraits
from orio_py.features.scope import scope_of
from orio_py.record.prediction_trust import PredictionTrust
from orio_py.search_space.configuration import Configuration
from orio_py.spec.inputs import InputPoint
from orio_py.spec.task import TuningTask
from orio_py.tuning.result import PredictionUse
from orio_py.tuning.variants.variant import VariantGenerator


@dataclass(frozen=True, slots=True)
class FeatureExtractor:
    """Computes features of variants at one problem size; what is known of each region is looked up once."""

    generator: VariantGenerator
    point: InputPoint
    compiler: Compiler
    machine: MachineTraits
    scopes: tuple[WalkScope, ...]

    @classmethod
    def of(
        cls,
        generator: VariantGenerator,
        point: InputPoint,
        compiler: Compiler,
        machine: MachineTraits | None = None,
    ) -> FeatureExtractor:
        """The extractor of a task; without `machine` for this one."""
        sizes = dict(point.values)
        regions = zip(generator.task.regions, generator.contexts, strict=True)
        scopes = tuple(scope_of(region.tree, context, sizes) for region, context in regions)
        return cls(generator, point, compiler, machine or MachineTraits.of(host()), scopes)

    def features(self, values: Mapping[str, Value]) -> FeatureValues:
        """The features of a configuration.  Raises Refusal and other DiagnosticErrors as the recipe does."""
        trees = [tree for tree, _ in self.generator.trees(self.point, values)]
        return self.of_trees(trees, values)

    def of_trees(self, trees: Sequence[Node], values: Mapping[str, Value]) -> FeatureValues:
        """The features of a configuration whose trees are made already.

        None at all for code that they cannot be computed of: no variant fails for that.
        """
        regions = list(zip(trees, self.scopes, strict=True))
        try:
            return features_of(regions, self.machine, self.compiler.words(values))
        except (ArithmeticError, ValueError, RecursionError):
            return {}


@dataclass(slots=True)
class LazyFeatures:
    """The features that a search asks for, of the variants of a task; nothing is prepared before it asks.

    `use` counts what it was asked for.
    """

    task: TuningTask
    point: InputPoint
    compiler: Compiler
    use: PredictionUse = field(default_factory=PredictionUse)
    _extractor: FeatureExtractor | None = field(default=None, repr=False)

    def __call__(self, configurations: Sequence[Configuration]) -> list[FeatureValues | None]:
        """The features of each configuration, None where a transformation refuses it."""
        began = perf_counter()
        found = [self._features(configuration) for configuration in configurations]
        refused = sum(one is None for one in found)
        seconds = Seconds(self.use.seconds + perf_counter() - began)
        self.use = replace(
            self.use,
            ranked=self.use.ranked + len(found) - refused,
            refused=self.use.refused + refused,
            seconds=seconds,
        )
        return found

    def judge(self, trust: PredictionTrust) -> None:
        """Take note of how a prediction does."""
        self.use = replace(self.use, trust=trust)

    def _features(self, configuration: Configuration) -> FeatureValues | None:
        if self._extractor is None:
            self._extractor = FeatureExtractor.of(VariantGenerator.of(self.task), self.point, self.compiler)
        try:
            return self._extractor.features(configuration)
        except DiagnosticError:
            return None

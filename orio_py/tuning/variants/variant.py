"""From a configuration to the code of each region."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from orio_py.codegen.device import DeviceProgram
from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.expr import Value
from orio_py.ctree.build import const
from orio_py.ctree.c89 import in_c89, is_before_c99
from orio_py.ctree.emit import emit
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import substitute
from orio_py.kernel.call import joined, kernel_groups, kernel_plans
from orio_py.kernel.plan import KernelPlan
from orio_py.spec.inputs import InputPoint
from orio_py.spec.region import Region
from orio_py.spec.task import TuningTask
from orio_py.transformation.base import Context, Remarks
from orio_py.transformation.context import context_for
from orio_py.transformation.recipe import apply_recipe
from orio_py.tuning.files.host_functions import HostedCode
from orio_py.tuning.variants.device_test import device_test
from orio_py.tuning.variants.dispatch import DispatchCase, dispatch


@dataclass(frozen=True, slots=True)
class VariantParts:
    """The code of every region, and the kernels that it calls, one program for each region that has any.

    `trees` are what the codes are printed from.
    """

    codes: tuple[str, ...]
    devices: tuple[DeviceProgram, ...] = ()
    trees: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class VariantGenerator:
    """Makes the code of a task's regions; what the file says around each region is looked up once."""

    task: TuningTask
    contexts: tuple[Context, ...]

    @classmethod
    def of(cls, task: TuningTask) -> VariantGenerator:
        """The generator of a task.  Raises DiagnosticError ORIO-C006."""
        contexts: list[Context] = []
        for region in task.regions:
            with _bounded(region):
                contexts.append(context_for(task, region))
        return cls(task, tuple(contexts))

    def codes(self, point: InputPoint, values: Mapping[str, Value]) -> list[str]:
        """The code of every region at one configuration.  Raises Refusal and other DiagnosticErrors.

        Code that is specialised for the problem size stands behind its dispatch, as it will in the file.
        """
        return list(self.parts(point, values).codes)

    def parts(self, point: InputPoint, values: Mapping[str, Value]) -> VariantParts:
        """The code of every region as `codes` gives it, and the device programs that it needs."""
        found: list[str] = []
        devices: list[DeviceProgram] = []
        trees = self.trees(point, values)
        for index, (region, (tree, remark)) in enumerate(zip(self.task.regions, trees, strict=True)):
            with _bounded(region):
                code, plans = remark + self._emitted(tree, index), kernel_plans(tree)
            if self.task.inputs.specialize:
                code = dispatch(self.task, region, [DispatchCase(point, code)], indent=region.indent)
            found.append(f"\n{code}")
            if plans:
                from orio_py.codegen.languages import device_programs  # takes time to load

                devices += device_programs(plans)
        return VariantParts(tuple(found), tuple(devices), tuple(tree for tree, _ in trees))

    def trees(self, point: InputPoint, values: Mapping[str, Value]) -> list[tuple[Node, str]]:
        """The tree of every region at one configuration, with the remarks to stand before it.  Raises as `codes`."""
        found: list[tuple[Node, str]] = []
        for index, region in enumerate(self.task.regions):
            with _bounded(region):
                found.append(self._tree(index, point, values))
        return found

    def code(self, index: int, point: InputPoint, values: Mapping[str, Value]) -> str:
        """The code of one region at one configuration, indented as the region is."""
        return self.generated(index, point, values)[0]

    def generated(
        self, index: int, point: InputPoint, values: Mapping[str, Value]
    ) -> tuple[str, tuple[KernelPlan, ...]]:
        """The code of one region at one configuration, and the kernels that it calls, one call for each."""
        with _bounded(self.task.regions[index]):
            tree, remark = self._tree(index, point, values)
            return remark + self._emitted(tree, index), kernel_plans(tree)

    def written(self, index: int, point: InputPoint, values: Mapping[str, Value]) -> HostedCode:
        """As `generated`, with one call for kernels that share arrays on the device, and with all remarks: as it stands in a file."""
        with _bounded(self.task.regions[index]):
            idle = Remarks()
            tree, remark = self._tree(index, point, values, idle)
            tree = joined(tree)
            return HostedCode(
                remark + self._remark(index, idle.texts) + self._emitted(tree, index),
                kernel_plans(tree),
                kernel_groups(tree),
                device_test(tree, self.contexts[index]),
            )

    def _emitted(self, tree: Node, index: int) -> str:
        region = self.task.regions[index]
        return emit(tree, indent=region.indent, step=region.step) + region.definitions

    def _tree(
        self, index: int, point: InputPoint, values: Mapping[str, Value], idle: Remarks | None = None
    ) -> tuple[Node, str]:
        """The tree of one region at one configuration, and the remarks to stand before it; `idle` takes others."""
        region = self.task.regions[index]
        context = replace(self.contexts[index], overruled=Remarks(), idle=idle or Remarks())
        tree: Node = apply_recipe(region, {**dict(point.values), **values}, context)
        for name in self.task.inputs.specialize:
            tree = substitute(tree, name, _literal(point[name]))
        if is_before_c99(self.task.build.command):
            tree = in_c89(tree)
        return tree, self._remark(index, [f"force=True overruled {text}" for text in context.overruled.texts])

    def _remark(self, index: int, texts: Sequence[str]) -> str:
        """Texts as comments, one a line, that end where they should."""
        plain = (text.encode("ascii", "replace").decode("ascii") for text in texts)
        safe = (text.replace("*/", "* /").replace("/*", "/ *") for text in plain)
        return "".join(f"{self.task.regions[index].indent}/* {text} */\n" for text in safe)


@contextmanager
def _bounded(region: Region) -> Generator[None]:
    """Code, or what a recipe makes of it, that is nested deeper than trees can be followed: ORIO-C006."""
    try:
        yield
    except RecursionError:
        message = "the code of the region, or what its recipe makes of it, is nested too deeply"
        help_text = "fewer stages in the recipe, shorter lists of values, or several smaller regions"
        raise DiagnosticError(Diagnostic("ORIO-C006", message, region.position, help=help_text)) from None


def _literal(value: Value) -> Node:
    if isinstance(value, float):
        return c_ast.Constant("double", repr(value))
    return const(int(value)) if isinstance(value, int) else c_ast.ID(str(value))

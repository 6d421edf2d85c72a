"""Random recipes on random nests: a small share of what `benchmarks/same_result.py` does at length.

The other tests show that the comparison notices mistakes: transformations with seeded faults are reported.
"""

from __future__ import annotations

import importlib
import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from proof import Apply, Case, Tried, apply, known_names, make_case, report, run_batch, seeded_case
from proof_shrinking import shrunk
from random_code_choices import Replayed, strategy
from random_real_nests import REAL_FORMS

from orio_py.ctree.nodes import Compound, For, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, substitute
from orio_py.spec.region import Region
from orio_py.spec.target import DIRECTIVES
from orio_py.transformation.base import Context
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.recipe import apply_recipe

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

CASES = 60
SHARES = 5


@pytest.mark.proof
@pytest.mark.parametrize("share", range(SHARES))
def test_random_recipes_keep_the_results(share: int, tmp_path: Path) -> None:
    tried = [apply(seeded_case(seed)) for seed in range(share * CASES, (share + 1) * CASES)]
    run_batch(tried, tmp_path)
    found = [each for each in tried if each.outcome is not None and each.outcome.kind == "wrong"]
    assert not found, report(found[0])
    kinds = Counter(each.outcome.kind for each in tried if each.outcome is not None)
    assert kinds["same"] > CASES / 8, kinds  # a third is usual


@pytest.mark.proof
@pytest.mark.parametrize("share", range(SHARES))
def test_random_recipes_keep_the_results_of_whole_files(share: int, tmp_path: Path) -> None:
    seeds = range(share * CASES, (share + 1) * CASES)
    tried = [apply(seeded_case(seed, (), REAL_FORMS)) for seed in seeds]
    run_batch(tried, tmp_path)
    found = [each for each in tried if each.outcome is not None and each.outcome.kind == "wrong"]
    assert not found, report(found[0])
    kinds = Counter(each.outcome.kind for each in tried if each.outcome is not None)
    assert kinds["same"] > CASES / 10, kinds


@pytest.mark.parametrize("form", REAL_FORMS)
def test_each_form_of_whole_files_can_be_drawn(form: str) -> None:
    code = seeded_case(1, (), (form,)).code
    assert code.file is not None
    assert code.file.forms == (form,)


def test_every_transformation_can_be_drawn() -> None:
    # Kernels are compared on a device: test_offload_equivalence.py; sums of products: test_same_contract.py.
    # Directives are compared in test_same_parallel.py, DeviceData in test_same_device_data.py.
    assert set(known_names()) == set(TRANSFORMATIONS) - {
        "OpenCL",
        "CUDA",
        "HIP",
        "DeviceData",
        "Contract",
        *DIRECTIVES,
    }


@pytest.mark.proof
@pytest.mark.parametrize(
    "name", ["Fuse", "Distribute", "ArrCopy", "UnrollReduction", "Interchange", "Prefetch", "Restrict"]
)
def test_a_quarter_of_what_is_drawn_for_one_is_not_refused(name: str) -> None:
    outcomes = [apply(seeded_case(seed, (name,))).outcome for seed in range(48)]
    assert sum(outcome is None for outcome in outcomes) >= 12


def test_the_simplest_choices_give_the_simplest_case() -> None:
    case = make_case(Replayed([]))
    assert [loop.header for loop in case.code.loops] == ["i = 0; @?i; i < n; i++"]
    assert len(case.recipe.names) == 1


@settings(max_examples=8, deadline=None, phases=(Phase.generate,))
@given(strategy(make_case))
def test_hypothesis_draws_such_cases_too(case: Case) -> None:
    outcome = apply(case).outcome
    assert outcome is None or outcome.kind != "wrong"


def findings(name: str, how: Apply | None, folder: Path, count: int = 60) -> list[Tried]:
    """The cases of one transformation that are wrong."""
    tried = [apply(seeded_case(seed, (name,)), how) for seed in range(5000, 5000 + count)]
    run_batch(tried, folder)
    return [each for each in tried if each.outcome is not None and each.outcome.kind == "wrong"]


def test_a_missing_remainder_is_noticed(tmp_path: Path) -> None:
    class WithoutRemainder(Rewriter):
        def visit_Compound(self, node: Compound) -> Node:
            items = [
                item for item in node.block_items or [] if not (isinstance(item, For) and item.init is None)
            ]
            return self.generic(copy_with(node, block_items=items))

    def forgetful(region: Region, context: Context) -> Compound:
        result = WithoutRemainder().rewrite(apply_recipe(region, {}, context))
        assert isinstance(result, Compound)
        return result

    assert findings("Unroll", forgetful, tmp_path, 30)


@pytest.mark.proof
def test_a_forbidden_exchange_of_loops_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        importlib.import_module("orio_py.transformation.tiling.permute"),
        "require_legal",
        lambda *_, **__: None,
    )
    assert findings("Permut", None, tmp_path)


@pytest.mark.proof
def test_a_forgotten_final_index_is_noticed(tmp_path: Path) -> None:
    def forgetful(region: Region, context: Context) -> Compound:
        return apply_recipe(region, {}, Context(context.declarations, macros=context.macros))

    found = findings("Tile", forgetful, tmp_path, 160)
    assert any(each.outcome is not None and "live value" in each.outcome.text for each in found)


@pytest.mark.proof
def test_one_iteration_too_many_is_noticed(tmp_path: Path) -> None:
    class TooFar(Rewriter):
        def visit_For(self, node: For) -> Node:
            match node.cond:
                case c_ast.BinaryOp(op="<") as test:
                    node = copy_with(node, cond=copy_with(test, op="<="))
                case _:
                    pass
            return self.generic(node)

    def careless(region: Region, context: Context) -> Compound:
        result = TooFar().rewrite(apply_recipe(region, {}, context))
        assert isinstance(result, Compound)
        return result

    found = findings("Pragma", careless, tmp_path, 5)
    assert any(each.outcome is not None and "AddressSanitizer" in each.outcome.text for each in found)


def test_a_changed_input_and_a_warning_are_noticed(tmp_path: Path) -> None:
    def destructive(region: Region, context: Context) -> Compound:
        result = apply_recipe(region, {}, context)
        region.tree.block_items = []
        return result

    assert findings("Unroll", destructive, tmp_path, 3)

    def with_a_spare_variable(region: Region, context: Context) -> Compound:
        result = apply_recipe(region, {}, context)
        spare = substitute(c_ast.BinaryOp("+", c_ast.ID("n"), c_ast.ID("m")), "m", c_ast.ID("s"))
        return copy_with(result, block_items=[*(result.block_items or []), spare])

    found = findings("Unroll", with_a_spare_variable, tmp_path, 6)
    assert any(each.outcome is not None and "warning" in each.outcome.text for each in found)


@pytest.mark.proof
def test_a_failing_case_is_simplified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        importlib.import_module("orio_py.transformation.tiling.permute"),
        "require_legal",
        lambda *_, **__: None,
    )
    first = findings("Permut", None, tmp_path)[0]
    seed = first.case.seed
    assert seed is not None
    simple = shrunk(seed, tmp_path, ("Permut",), seconds=2)
    assert simple.outcome is not None
    assert simple.outcome.kind == "wrong"
    assert len(simple.case.source) <= len(first.case.source)

"""What is remembered of statements that every variant begins with: the same question in the same context only."""

from __future__ import annotations

from dataclasses import replace

from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.effects import EffectsMemory
from orio_py.ctree.nodes import Node, c_ast
from orio_py.transformation.base import Answers, Context


def test_a_question_is_asked_once_for_a_statement_in_contexts_that_are_alike() -> None:
    asked: list[Node] = []

    def question(node: Node, _: Context) -> int:
        asked.append(node)
        return len(asked)

    answers, one, two, context = Answers(), c_ast.ID("x"), c_ast.ID("x"), Context()
    known = replace(context, facts=(Polynomial.symbol("n"),))
    whole = replace(context, memory=EffectsMemory(integers=frozenset({"n"})))
    places = [(one, context), (two, context), (one, known), (one, whole)]
    assert [answers.to(question, *place) for place in places] == [1, 2, 3, 4]
    alike = [(one, Context()), (two, replace(context)), (one, replace(known, memory=EffectsMemory()))]
    assert [answers.to(question, *place) for place in alike] == [1, 2, 3]
    assert len(asked) == 4


def test_questions_are_told_apart() -> None:
    answers, node, context = Answers(), c_ast.ID("x"), Context()
    assert answers.to(lambda _, __: "one", node, context) == "one"
    assert answers.to(lambda _, __: "two", node, context) == "two"


def test_old_answers_are_forgotten() -> None:
    answers, context = Answers(most=2), Context()
    nodes = [c_ast.ID(name) for name in "abc"]
    asked: list[Node] = []

    def question(node: Node, _: Context) -> None:
        asked.append(node)

    for node in (*nodes, nodes[2], nodes[0]):
        answers.to(question, node, context)
    assert asked == [*nodes, nodes[0]]

"""Parsers that are kept between processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from lark import Lark

from orio_py.core.resources import CACHE_FOLDER
from orio_py.frontend import grammars

GRAMMARS = [
    ("expression", "value", "1 + a * 2, 'x'"),
    ("tuning_spec", "statement", "param U[] = [1, 2]"),
    ("loop_recipe", "arguments", "a=1, b=[2, x]"),
    ("chill", "command", "tile(0, 1, 32)"),
    ("annotation", "start", "begin Loop (x)"),
]


@pytest.fixture
def cache(tmp_path: Path):
    token = CACHE_FOLDER.set(tmp_path)
    grammars._parser.cache_clear()
    yield tmp_path
    CACHE_FOLDER.reset(token)
    grammars._parser.cache_clear()


@pytest.mark.parametrize(("grammar", "start", "text"), GRAMMARS)
def test_a_kept_parser_parses_as_a_new_one(cache, monkeypatch, grammar, start, text):
    new = grammars.parse(grammar, start, text)
    assert len(list(cache.iterdir())) == 1
    grammars._parser.cache_clear()
    monkeypatch.setattr(Lark, "open", classmethod(lambda *_, **__: pytest.fail("built once more")))
    again = grammars.parse(grammar, start, text)
    assert again == new
    assert [grammars.offset(t) for t in again.iter_subtrees()] == [
        grammars.offset(t) for t in new.iter_subtrees()
    ]


def test_a_damaged_parser_is_built_again(cache):
    grammars.parse("expression", "value", "1")
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    grammars._parser.cache_clear()
    assert grammars.parse("expression", "value", "1")
    assert len(file.read_bytes()) > len(whole) // 2

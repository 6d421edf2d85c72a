"""Types of the parser."""

from pycparser.c_ast import FileAST
from pycparser.c_lexer import CLexer

class ParseError(Exception): ...

class CParser:
    clex: CLexer
    def __init__(self, *, lexer: type[CLexer] = ...) -> None: ...
    def parse(self, text: str, filename: str = "") -> FileAST: ...

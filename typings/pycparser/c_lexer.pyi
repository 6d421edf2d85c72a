"""Types of the lexer."""

class Token:
    type: str
    value: str
    lineno: int
    column: int
    filename: str

class CLexer:
    def input(self, text: str, filename: str = ...) -> None: ...
    def token(self) -> Token | None: ...

"""Random functions of scalars with every kind of control flow, which end whatever their values are."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

NAMES = ("a", "b", "c", "d")
LEAVE = "LEAVE"
"""What stands for `break` or `continue` until it is known in which of loops, `switch` and function it is."""

REGION = ("/*@ begin Loop(transform Unroll(ufactor=2)) @*/", "/*@ end @*/")


@dataclass
class RandomFunction:
    """Statements drawn one after the other.

    `fuel` is a counter in the C code that every jump backwards consumes.  One statement is the region.
    """

    draw: random.Random
    labels: int = 0
    ahead: list[str] = field(default_factory=list)
    hidden: int = 0

    def text(self, name: str) -> str:
        """A function of that name, with a region in it; what it computes is put into `out`."""
        parts = [self.statement(3, in_loop=False) for _ in range(self.draw.randint(2, 5))]
        parts.insert(self.draw.randrange(len(parts) + 1), self.around_region(self.draw.randint(0, 3)))
        targets = " ".join(f"{label}: ;" for label in self.ahead)
        values = " ".join(f"int {n} = {i + 1};" for i, n in enumerate(NAMES))
        body = "\n  ".join(parts)
        body = body.replace(LEAVE, "return")
        return f"void {name}(int *out, int fuel)\n{{\n  {values} int k = 0;\n  {body}\n  {targets}\n  out[0] += {self.reads()};\n}}\n"

    def reads(self) -> str:
        return " + ".join(self.draw.sample(NAMES, self.draw.randint(0, 2))) or "0"

    def value(self) -> str:
        draw = self.draw
        return draw.choice(
            [str(draw.randint(0, 9)), draw.choice(NAMES), f"{draw.choice(NAMES)} + {draw.choice(NAMES)}"]
        )

    def condition(self) -> str:
        return f"({self.value()}) % {self.draw.randint(2, 4)} == {self.draw.randint(0, 1)}"

    def simple(self) -> str:
        draw, name = self.draw, self.draw.choice(NAMES)
        return draw.choice(
            [
                f"{name} = ({self.value()}) % 100;",
                f"{name} = {draw.randint(0, 9)};",
                f"out[1] += {self.value()};",
                f"{name} += {draw.randint(1, 3)};",
                f"if ({self.condition()} && ({name} = {draw.randint(0, 9)})) out[2]++;",
                f"{name} = {self.condition()} ? {draw.randint(0, 9)} : {draw.choice(NAMES)} % 50;",
            ]
        )

    def around_region(self, depth: int) -> str:
        """The region inside `depth` other statements."""
        if depth == 0:
            inner = " ".join(self.simple() for _ in range(self.draw.randint(1, 3)))
            return f"{REGION[0]} {inner} {REGION[1]} POISON"
        before, after = (self.statement(1, in_loop=True) for _ in range(2))
        return self.wrapped(f"{before}\n  {self.around_region(depth - 1)}\n  {after}")

    def wrapped(self, body: str) -> str:
        """A compound statement around some code."""
        draw, jump = self.draw, "if (fuel-- < 0) break;"
        hiding = f"int {draw.choice(NAMES)} = {draw.randint(0, 9)};" if draw.random() < 0.2 else ""
        body = f"{hiding} {body}"
        inside = jump + " " + body.replace(LEAVE, draw.choice(["break", "continue"]))
        return draw.choice(
            [
                f"for (k = 0; k < {draw.randint(1, 3)}; k++) {{ {inside} }}",
                f"while ({self.condition()}) {{ {inside} }}",
                f"do {{ {inside} }} while ({self.condition()});",
                f"for (;;) {{ {inside} }}",
                f"if ({self.condition()}) {{ {body} }} else {{ {self.simple()} }}",
                f"if ({self.condition()}) {{ {self.simple()} }} else {{ {body} }}",
                f"switch (({self.value()}) % 3) {{ case 0: {{ {body.replace(LEAVE, 'break')} }} {draw.choice(['break;', ''])} "
                f"case 1: {self.simple()} {draw.choice(['break; default:', 'default:', ''])} ; }}",
                f"{{ {body} }}",
            ]
        )

    def statement(self, depth: int, *, in_loop: bool) -> str:
        draw = self.draw
        if depth == 0 or draw.random() < 0.4:
            return self.jump(in_loop) if draw.random() < 0.2 else self.simple()
        inner = " ".join(self.statement(depth - 1, in_loop=True) for _ in range(draw.randint(1, 4)))
        return self.wrapped(inner)

    def jump(self, in_loop: bool) -> str:
        """A jump forwards, or a return."""
        if self.draw.random() < 0.4:
            return f"if ({self.condition()}) {LEAVE};"
        if self.draw.random() < 0.5:
            self.labels += 1
            self.ahead.append(f"label_{self.labels}")
            return f"if ({self.condition()}) goto {self.ahead[-1]};"
        return f"if ({self.condition()}) {{ out[3] += {self.value()}; return; }}"

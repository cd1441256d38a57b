"""Random Python functions over ints, floats, bools and lists: what a compiled function has to do exactly as Python does."""

from __future__ import annotations

import random

INTS, FLOATS, BOOLS = ("n", "m", "p", "q"), ("a", "b"), ("t", "u")


class Generator:
    """Writes ``def f(n, m, a)``. Every program ends; integers stay small by ``%``."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.loops = 0
        self.names = 0

    def source(self) -> str:
        self.lines = ["def f(n, m, a):", "    p, q, b, t, u = 1, n - m, 0.5, n > m, False", "    xs = [n, 2, m]", "    def g(x, y=2):"]
        self.lines += [f"        {line}" for line in ("if x > y:", "    return x - y", "return x * 2 + n")]
        self.block(1, 2 + self.random.randrange(7))
        self.lines.append("    return p, q, b, t, u, n, m, tuple(xs)")
        return "\n".join(self.lines) + "\n"

    def pick(self, *items: str) -> str:
        return self.random.choice(items)

    def int_expr(self, depth: int = 0) -> str:
        r = self.random.randrange(14 if depth < 3 else 3)
        x = lambda: self.int_expr(depth + 1)  # noqa: E731
        if r < 2:
            return self.pick(*INTS)
        if r == 2:
            return str(self.random.randrange(-4, 9))
        if r < 6:
            return f"({x()} {self.pick('+', '-', '*')} {x()}) % {self.random.randrange(2, 40)}"
        if r == 6:
            return f"({x()} // {self.pick('3', '-2', '(1 + abs(m) % 5)')})"
        if r == 7:
            return f"({x()} % {self.pick('5', '-3', '(1 + n % 4)')})"
        if r == 8:
            return f"{self.pick('min', 'max')}({x()}, {x()})"
        if r == 9:
            return f"({x()} if {self.bool_expr(depth + 1)} else {x()})"
        if r == 10:
            return f"g({x()} % 7)"
        if r == 11:
            return f"xs[{self.random.randrange(3)}]"
        if r == 12:
            return f"sum([k * {x()} for k in range({self.random.randrange(1, 4)})])"
        return f"int({self.bool_expr(depth + 1)})"

    def float_expr(self, depth: int = 0) -> str:
        r = self.random.randrange(8 if depth < 3 else 2)
        x = lambda: self.float_expr(depth + 1)  # noqa: E731
        if r < 2:
            return self.pick(*FLOATS)
        if r == 2:
            return str(self.random.randrange(-20, 20) / 4)
        if r < 5:
            return f"({x()} {self.pick('+', '-', '*')} {x()})"
        if r == 5:
            return f"({x()} / (1.0 + abs({x()})))"
        if r == 6:
            return f"({self.int_expr(depth + 1)} / 4)"
        return f"({self.int_expr(depth + 1)} + {x()})"

    def bool_expr(self, depth: int = 0) -> str:
        r = self.random.randrange(8 if depth < 3 else 3)
        if r == 0:
            return self.pick(*BOOLS)
        if r < 4:
            return f"({self.int_expr(depth + 1)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.int_expr(depth + 1)})"
        if r == 4:
            return f"({self.float_expr(depth + 1)} {self.pick('<', '>', '<=')} {self.float_expr(depth + 1)})"
        if r == 5:
            return f"(not {self.bool_expr(depth + 1)})"
        if r == 6:
            return f"({self.bool_expr(depth + 1)} {self.pick('and', 'or')} {self.bool_expr(depth + 1)})"
        return f"({self.int_expr(depth + 1)} in ({self.int_expr(depth + 1)}, 3))"

    def block(self, indent: int, count: int) -> None:
        for _ in range(count):
            self.statement(indent)

    def add(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def statement(self, indent: int) -> None:
        r = self.random.randrange(13 if indent < 4 else 6)
        if r < 3:
            self.add(indent, f"{self.pick(*INTS)} = {self.int_expr()}")
        elif r == 3:
            self.add(indent, f"{self.pick(*FLOATS)} = {self.float_expr()}")
        elif r == 4:
            self.add(indent, f"{self.pick(*BOOLS)} = {self.bool_expr()}")
        elif r == 5:
            self.add(indent, f"{self.pick('p', 'q')} {self.pick('+=', '-=')} {self.int_expr()} % 11")
        elif r == 6:
            self.add(indent, f"xs[{self.random.randrange(3)}] = {self.int_expr()}")
        elif r < 10:
            self.add(indent, f"if {self.bool_expr()}:")
            self.block(indent + 1, 1 + self.random.randrange(3))
            if self.random.randrange(3) == 0:
                self.leave(indent + 1)
            if self.random.randrange(2):
                self.add(indent, "else:")
                self.block(indent + 1, 1 + self.random.randrange(3))
        elif r == 10:
            self.names += 1
            bounds = self.pick("n % 7", "m % 5, 6", "6, n % 3, -2", "3", "abs(q) % 9 + 70, 70, -1")
            self.add(indent, f"for k{self.names} in range({bounds}):")
            self.add(indent + 1, f"p = (p + k{self.names}) % 100")
            self.loop_body(indent + 1)
        elif r == 11:
            self.names += 1
            self.add(indent, f"w{self.names} = 0")
            self.add(indent, f"while w{self.names} < {self.pick('n % 6', '4', 'abs(m) % 5')}:")
            self.add(indent + 1, f"w{self.names} += 1")
            self.loop_body(indent + 1)
        else:
            self.add(indent, f"{self.pick('p, q = q, p', 'xs[0], p = p, xs[0]', 'p = q = ' + self.int_expr())}")

    def loop_body(self, indent: int) -> None:
        self.loops += 1
        self.block(indent, 1 + self.random.randrange(3))
        if self.random.randrange(3) == 0:
            self.add(indent, f"if {self.bool_expr()}:")
            self.add(indent + 1, self.pick("break", "continue"))
        self.loops -= 1

    def leave(self, indent: int) -> None:
        self.add(indent, "return p, q, b, t, u, n, m, (p, q, 1)")

"""Input errors, with one line for each problem."""

from collections.abc import Iterable

MAX_LINE_CHARS = 2000


def single_line(text: str) -> str:
    """The text as one printable line of bounded length."""
    joined = " ".join(text.split())
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in joined)
    return line if len(line) <= MAX_LINE_CHARS else line[:MAX_LINE_CHARS] + " ..."


class InputError(Exception):
    """Invalid input of the user; each problem is one line (exit code 2)."""

    def __init__(self, problems: str | Iterable[str]) -> None:
        lines = [problems] if isinstance(problems, str) else problems
        self.problems = [single_line(line) for line in lines]
        super().__init__("; ".join(self.problems))

    def __reduce__(self) -> tuple[type["InputError"], tuple[list[str]]]:
        return type(self), (self.problems,)

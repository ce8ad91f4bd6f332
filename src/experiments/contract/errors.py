"""What a user can get wrong, told in one line each."""

from collections.abc import Iterable

LONGEST = 2000  # characters of a line


def one_line(text: str) -> str:
    """Text that fills a line and no more, whatever a user managed to get into it."""
    words = " ".join(text.split())
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words)
    return plain if len(plain) <= LONGEST else plain[:LONGEST] + " ..."


class BadInput(Exception):
    """Something the user typed or supplied is wrong; each problem is one line (exit code 2)."""

    def __init__(self, problems: str | Iterable[str]) -> None:
        found = [problems] if isinstance(problems, str) else problems
        self.problems = [one_line(problem) for problem in found]
        super().__init__("; ".join(self.problems))

    def __reduce__(self) -> tuple[type["BadInput"], tuple[list[str]]]:
        return type(self), (self.problems,)

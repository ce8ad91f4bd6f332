"""What a user can get wrong, told in one line each."""

from collections.abc import Iterable


class BadInput(Exception):
    """Something the user typed or supplied is wrong; each problem is one line (exit code 2)."""

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        super().__init__("; ".join(self.problems))

    def __reduce__(self) -> tuple[type["BadInput"], tuple[list[str]]]:
        return type(self), (self.problems,)

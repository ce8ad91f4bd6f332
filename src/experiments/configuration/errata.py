"""The errata ledger: what is wrong in a text, told once for all the places where it shows.

`conf/errata/<book>/<cause>.yaml` states a cause; the claims that show it name it (`cause`). One
wrong covariance that shows in ten cells of a table is one erratum with ten places.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from experiments.configuration.catalogue import ROOT, strict_yaml
from experiments.contract.errors import BadInput
from experiments.contract.suggestions import meant
from experiments.contract.type_check import Unfit, built

COPIES = ("possible", "unlikely")  # can the copy of the text at hand be to blame?


@dataclass(frozen=True)
class Erratum:
    """One mistake of a text."""

    says: str = ""  # what is wrong, and where, in our words
    cause: str = ""  # where it comes from
    perhaps: bool = False  # the cause is a guess
    readings: list[str] = field(default_factory=list)  # tried, each with why it does not help
    copy: str = ""
    because: str = ""  # why the copy can, or cannot, be to blame

    def problems(self) -> Iterator[str]:
        """One line for each thing that a sceptic would miss."""
        for name in ("says", "cause", "readings", "copy", "because"):
            if not getattr(self, name):
                yield f"`{name}` is missing"
        if self.copy and self.copy not in COPIES:
            yield f"copy={self.copy}; allowed: {', '.join(COPIES)}"


def names(book: str) -> list[str]:
    """The causes that the ledger has for a book."""
    return sorted(path.stem for path in (ROOT / "errata" / book).glob("*.yaml"))


@cache
def read(book: str, name: str) -> Erratum:
    """One entry of the ledger."""
    if name not in names(book):
        raise BadInput(
            f"cause={name} is not in conf/errata/{book}{meant(name, names(book))};"
            f" there are: {', '.join(names(book)) or 'none'}"
        )
    try:
        found: Erratum = built(Erratum, strict_yaml(ROOT / "errata" / book / f"{name}.yaml"))
    except Unfit as unfit:
        raise BadInput(f"errata/{book}/{name}.yaml: {unfit.value!r} is not allowed") from None
    problems = [f"errata/{book}/{name}.yaml: {line}" for line in found.problems()]
    if problems:
        raise BadInput(problems)
    return found

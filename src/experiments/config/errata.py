"""The errata ledger: one file for each cause of wrong numbers or statements in a text.

A cause is described in `conf/errata/<book>/<cause>.yaml`, and claims refer to it by `cause`. One
wrong covariance that appears in ten cells of a table is one erratum with ten claims.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from bythebook.experiments.config.catalogue import CONF_DIR, load_yaml_safely
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.suggestions import did_you_mean
from bythebook.experiments.core.type_check import InvalidValueError, build_dataclass

COPY_ERROR_LEVELS = ("possible", "unlikely")  # that our copy of the text is the cause


@dataclass(frozen=True)
class Erratum:
    """One error of a text."""

    says: str = ""  # what is wrong, and in which equation or section
    cause: str = ""  # the origin of the error
    perhaps: bool = False  # whether the cause is a conjecture
    readings: list[str] = field(default_factory=list)  # each with the reason why it fails
    copy: str = ""  # one of COPY_ERROR_LEVELS
    because: str = ""  # the reason for `copy`

    def problems(self) -> Iterator[str]:
        """One line for each missing or invalid field."""
        for name in ("says", "cause", "readings", "copy", "because"):
            if not getattr(self, name):
                yield f"`{name}` is missing"
        if self.copy and self.copy not in COPY_ERROR_LEVELS:
            yield f"copy={self.copy}; allowed: {', '.join(COPY_ERROR_LEVELS)}"


def erratum_names(book: str) -> list[str]:
    """The names of the causes in the ledger of a book."""
    return sorted(path.stem for path in (CONF_DIR / "errata" / book).glob("*.yaml"))


@cache
def load_erratum(book: str, name: str) -> Erratum:
    """One entry of the ledger."""
    if name not in erratum_names(book):
        raise InputError(
            f"cause={name} is not in conf/errata/{book}{did_you_mean(name, erratum_names(book))};"
            f" allowed: {', '.join(erratum_names(book)) or 'none'}"
        )
    try:
        erratum: Erratum = build_dataclass(
            Erratum, load_yaml_safely(CONF_DIR / "errata" / book / f"{name}.yaml")
        )
    except InvalidValueError as unfit:
        raise InputError(f"errata/{book}/{name}.yaml: {unfit.value!r} is not allowed") from None
    problems = [f"errata/{book}/{name}.yaml: {line}" for line in erratum.problems()]
    if problems:
        raise InputError(problems)
    return erratum

"""Study: a family of experiments with typed knobs; how to compute it, and how to draw it."""

import importlib
import inspect
import pkgutil
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

from numpy.random import Generator, SeedSequence, default_rng

from experiments import knobs
from experiments.errors import BadInput
from experiments.knobs import knob
from experiments.outcome import Outcome, Series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

__all__ = ["Outcome", "Series", "Study", "generator", "knob", "studies"]

_registry: dict[str, type["Study"]] = {}


@dataclass
class Study(ABC):
    """The base of every study. A subclass is a dataclass of knobs with `run` and `draw`.

    `run` is pure: the same knobs and the same generator give the same bits. `draw` makes figures
    from a recorded outcome and computes nothing.
    """

    name: ClassVar[str]  # PolynomialOrder is `polynomial_order` on the command line

    def __init_subclass__(cls) -> None:
        hidden = set(inspect.get_annotations(cls)) & set(dir(Study))
        if hidden:
            raise TypeError(f"{cls.__name__}: a knob may not be called {', '.join(sorted(hidden))}")
        cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
        if cls.__module__.startswith("experiments.studies."):
            _registry[cls.name] = cls

    def __post_init__(self) -> None:
        found = list(knobs.problems(self)) or list(self.problems())
        if found:
            raise BadInput(found)

    def problems(self) -> "Iterator[str]":
        """Rules between knobs that no single bound can state: yield a line for each one broken."""
        yield from ()

    @abstractmethod
    def run(self, rng: Generator) -> Outcome:
        """Compute. Nothing is read but the knobs and the data sets they name."""

    @abstractmethod
    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        """The figures of a recorded outcome, by name; the first is the headline."""

    def data_sets(self) -> list[str]:
        """The names of the data sets this study reads."""
        return [
            name
            for field in fields(self)
            if field.metadata.get("dataset") and (value := getattr(self, field.name)) is not None
            for name in (value if isinstance(value, list) else [value])
        ]


def studies() -> dict[str, type[Study]]:
    """Every study by name."""
    package = importlib.import_module("experiments.studies")
    for module in pkgutil.iter_modules(package.__path__):
        try:
            importlib.import_module(f"experiments.studies.{module.name}")
        except (ImportError, SyntaxError) as error:
            raise BadInput(f"the study module {module.name} cannot be loaded: {error}") from error
    return dict(sorted(_registry.items()))


def generator(study: str, seed: int) -> Generator:
    """The random stream of a run: a function of the study's name and the seed alone.

    Knobs do not enter, so that the cells of a sweep see the same random numbers and their
    differences are due to the knob; nor do the launcher, the worker or the order.
    """
    return default_rng(SeedSequence([seed, *study.encode()]))

"""Study: a family of experiments with typed knobs, and how to compute it."""

import importlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

from numpy.random import Generator

from experiments.contract import knobs
from experiments.contract.errors import BadInput
from experiments.contract.knobs import knob
from experiments.contract.outcome import Outcome
from experiments.contract.places import PACKAGE, places, snake
from experiments.contract.streams import generator

__all__ = ["Study", "generator", "knob", "studies"]


@dataclass
class Study(ABC):
    """The base of every study. A subclass is a dataclass of knobs with `run`.

    `run` is pure: the same knobs and the same generator give the same bits. It returns quantities;
    what they mean for a claim is said in the experiment's file, and how they look in a figure's.
    """

    name: ClassVar[str] = ""  # PolynomialOrder is `polynomial_order` on the command line
    topic: ClassVar[str]  # the package it lives in
    headline: ClassVar[dict[str, str]] = {}  # expressions by name: what a list of runs shows first

    def __init_subclass__(cls) -> None:
        hidden = set(inspect.get_annotations(cls)) & set(dir(Study))
        if hidden:
            raise TypeError(f"{cls.__name__}: a knob may not be called {', '.join(sorted(hidden))}")
        cls.name = snake(cls.__name__)
        cls.topic = cls.__module__.split(".")[-2] if "." in cls.__module__ else ""

    def __post_init__(self) -> None:
        found = list(knobs.problems(self)) or list(self.problems())
        if found:
            raise BadInput(found)

    def problems(self) -> Iterator[str]:
        """Rules between knobs that no single bound can state: yield a line for each one broken."""
        yield from ()

    @abstractmethod
    def run(self, rng: Generator) -> Outcome:
        """Compute. Nothing is read but the knobs and the data sets they name."""

    def data_sets(self) -> list[str]:
        """The names of the data sets this study reads."""
        return [
            name
            for field in fields(self)
            if field.metadata.get("dataset") and (value := getattr(self, field.name)) is not None
            for name in (value if isinstance(value, list) else [value])
        ]


class Studies(Mapping[str, type[Study]]):
    """Every study by name. Asking for one imports its module; asking for the names imports none."""

    def __init__(self, topics: dict[str, str]) -> None:
        self._topics = topics

    def __getitem__(self, name: str) -> type[Study]:
        module = f"{self._topics[name]}.{name}"
        try:
            content = importlib.import_module(f"{PACKAGE}.{module}")
        except (ImportError, SyntaxError) as error:
            raise BadInput(f"the study module {module} cannot be loaded: {error}") from error
        for kind in vars(content).values():
            if isinstance(kind, type) and issubclass(kind, Study) and kind.name == name:
                return kind
        raise BadInput(f"the study module {module} has no study of its name")

    def __iter__(self) -> Iterator[str]:
        return iter(self._topics)

    def __len__(self) -> int:
        return len(self._topics)

    def __contains__(self, name: object) -> bool:
        return name in self._topics


def studies() -> Studies:
    """The studies there are."""
    return Studies(places())

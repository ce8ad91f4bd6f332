"""Study: a family of experiments with typed knobs; how to compute it, and how to draw it."""

import importlib
import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from numpy.random import Generator, SeedSequence, default_rng

from experiments import knobs
from experiments.errors import BadInput
from experiments.knobs import knob
from experiments.outcome import Outcome, Series

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Outcome", "Series", "Study", "generator", "knob", "studies"]

_registry: dict[str, type["Study"]] = {}
_PACKAGE = "experiments.studies"
_DEFINITION = re.compile(r"^class (\w+)\([^)]*\bStudy\):", re.MULTILINE)


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
        cls.name = _snake(cls.__name__)
        if cls.__module__.startswith(f"{_PACKAGE}."):
            _registry[cls.name] = cls

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


class Studies(Mapping[str, type[Study]]):
    """Every study by name. Asking for one imports its module; asking for the names imports none."""

    def __init__(self, modules: dict[str, str]) -> None:
        self._modules = modules

    def __getitem__(self, name: str) -> type[Study]:
        module = self._modules[name]
        try:
            importlib.import_module(f"{_PACKAGE}.{module}")
        except (ImportError, SyntaxError) as error:
            raise BadInput(f"the study module {module} cannot be loaded: {error}") from error
        return _registry[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __contains__(self, name: object) -> bool:
        return name in self._modules


def studies() -> Studies:
    """The studies there are."""
    return _found(tuple(importlib.import_module(_PACKAGE).__path__))


@cache
def _found(folders: tuple[str, ...]) -> Studies:
    modules = {
        _snake(name): path.stem
        for folder in folders
        for path in Path(folder).glob("*.py")
        for name in _DEFINITION.findall(path.read_text(encoding="utf-8"))
    }
    return Studies(dict(sorted(modules.items())))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def generator(study: str, seed: int) -> Generator:
    """The random stream of a run: a function of the study's name and the seed alone.

    Knobs do not enter, so that the cells of a sweep see the same random numbers and their
    differences are due to the knob; nor do the launcher, the worker or the order.
    """
    return default_rng(SeedSequence([seed, *study.encode()]))

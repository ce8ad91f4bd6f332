"""Base class of the studies, and the registry that imports studies by name."""

import importlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, get_origin

from numpy.random import Generator

from bythebook.experiments.core import declarations, knobs
from bythebook.experiments.core.declarations import AxisDeclaration, QuantityDeclaration
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.knobs import knob
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.core.registry import PACKAGE, study_topics, to_snake_case
from bythebook.models import datasets

__all__ = ["Study", "knob", "studies"]


@dataclass
class Study(ABC):
    """Base class of a study: a dataclass of knobs, declared quantities, and a method `run`.

    `run` is deterministic: equal parameters and an equal generator give bitwise identical
    quantities. The experiment's file relates the quantities to claims; a module of `figures` draws
    them. A call returns the outcome: `PolynomialOrder(orders=[1, 3])()`.
    """

    name: ClassVar[str] = ""  # `polynomial_order` for the class PolynomialOrder
    topic: ClassVar[str]  # the package of its module
    headline: ClassVar[dict[str, str]] = {}  # expressions by name: summary metrics of a run
    quantities: ClassVar[Mapping[str, QuantityDeclaration]] = {}  # with those of base classes
    axes: ClassVar[Mapping[str, AxisDeclaration]] = {}
    more_quantities: ClassVar[bool] = False  # `run` computes quantities that are not declared
    declares_all: ClassVar[bool] = False  # the class has `quantities`, and no others are computed

    def __init_subclass__(cls) -> None:
        annotations = inspect.get_annotations(cls).items()
        parameters = {name for name, kind in annotations if not _is_class_variable(kind)}
        hidden = parameters & set(dir(Study))
        if hidden:
            names = ", ".join(sorted(hidden))
            raise TypeError(f"{cls.__name__}: a parameter may not be called {names}")
        own = vars(cls)
        cls.declares_all = "quantities" in own and not own.get("more_quantities", False)
        cls.quantities = declarations.merged(cls, "quantities")
        cls.axes = declarations.merged(cls, "axes")
        cls.name = to_snake_case(cls.__name__)
        cls.topic = cls.__module__.split(".")[-2] if "." in cls.__module__ else ""

    def __post_init__(self) -> None:
        problems = list(knobs.problems(self)) or list(self.problems())
        if problems:
            raise InputError(problems)

    def problems(self) -> Iterator[str]:
        """One line for each violated rule that involves several parameters."""
        yield from ()

    @abstractmethod
    def run(self, rng: Generator) -> Outcome:
        """Compute the quantities from the parameters and the data sets that they name."""

    def compute(self, rng: Generator) -> Outcome:
        """The outcome of `run`, if its quantities are the declared ones."""
        outcome = self.run(rng)
        if self.quantities:
            dims = {name: quantity.dims for name, quantity in outcome.items()}
            declarations.check_layouts(dims, self.quantities, complete=self.declares_all)
        return outcome

    def __call__(self, seed: int = 0) -> Outcome:
        """The outcome, with the meanings of its quantities; nothing is recorded."""
        with datasets.originals_in(None, seed):
            outcome = self.compute(make_rng(seed))
        return outcome.describe(self.quantities, self.axes)

    def dataset_names(self) -> list[str]:
        """The names of the data sets that this study reads."""
        return [
            name
            for field in fields(self)
            if field.metadata.get("dataset") and (value := getattr(self, field.name)) is not None
            for name in (value if isinstance(value, list) else [value])
        ]


def _is_class_variable(annotation: object) -> bool:
    return ClassVar in (annotation, get_origin(annotation))


class StudyRegistry(Mapping[str, type[Study]]):
    """The studies by name. A study is imported when it is accessed; the names need no import."""

    def __init__(self, topics: dict[str, str]) -> None:
        self._topics = topics

    def __getitem__(self, name: str) -> type[Study]:
        module = f"{self._topics[name]}.{name}"
        try:
            content = importlib.import_module(f"{PACKAGE}.{module}")
        except (ImportError, SyntaxError) as error:
            raise InputError(f"the study module {module} could not be imported: {error}") from error
        for kind in vars(content).values():
            if isinstance(kind, type) and issubclass(kind, Study) and kind.name == name:
                return kind
        raise InputError(f"the study module {module} does not define the study '{name}'")

    def __iter__(self) -> Iterator[str]:
        return iter(self._topics)

    def __len__(self) -> int:
        return len(self._topics)

    def __contains__(self, name: object) -> bool:
        return name in self._topics


def studies() -> StudyRegistry:
    """The registry of all studies."""
    return StudyRegistry(study_topics())

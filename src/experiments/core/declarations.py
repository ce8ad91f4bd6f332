"""Declarations of a study's quantities and axes: meaning, axes, unit and equation.

    quantities: ClassVar = {
        "loo_loss": quantity("mean squared error of points left out of the fit", "order"),
    }
    axes: ClassVar = {"order": axis_of("polynomial order")}

They describe an outcome without a run: `show study:<name>`, the labels of figures and the
correction of misspelt names in claims are made of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bythebook.experiments.core.suggestions import did_you_mean


@dataclass(frozen=True)
class AxisDeclaration:
    """The meaning and the unit of an axis."""

    meaning: str
    unit: str = ""

    def format(self) -> str:
        """Meaning and unit as text: `time since the start [s]`."""
        return self.meaning + (f" [{self.unit}]" if self.unit else "")

    def attrs(self) -> dict[str, str]:
        """Meaning and unit under the names that xarray reads for labels of axes."""
        return _nonempty(long_name=self.meaning, units=self.unit)


@dataclass(frozen=True)
class QuantityDeclaration:
    """The meaning, axes, unit and equation of a quantity."""

    meaning: str
    layouts: tuple[tuple[str, ...], ...] = ((),)  # the axes; several if they depend on knobs
    unit: str = ""
    equation: str = ""  # as printed, with the book: FCML 1.19

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of the axes; of the first layout if there are several."""
        return self.layouts[0]

    def format(self) -> str:
        """Meaning, unit and equation as text: `mean squared error [s^2] (FCML 1.19)`."""
        unit = f" [{self.unit}]" if self.unit else ""
        return self.meaning + unit + (f" ({self.equation})" if self.equation else "")

    def format_dims(self) -> str:
        """The axes as text: `n, order or n, ln_lambda`."""
        return " or ".join(", ".join(dims) or "one value" for dims in self.layouts)

    def attrs(self) -> dict[str, str]:
        """Meaning, unit and equation under the names that xarray reads for labels."""
        return _nonempty(long_name=self.meaning, units=self.unit, equation=self.equation)


def quantity(
    meaning: str, dims: str = "", *, unit: str = "", equation: str = ""
) -> QuantityDeclaration:
    """Declare a quantity over axes, which are separated by spaces: `quantity("loss", "n order")`.

    If the axes depend on the knobs, `|` separates what is possible: `"n order | n ln_lambda"`.
    """
    layouts = tuple(tuple(part.split()) for part in dims.split("|"))
    return QuantityDeclaration(meaning, layouts, unit, equation)


def axis_of(meaning: str, *, unit: str = "") -> AxisDeclaration:
    """Declare an axis."""
    return AxisDeclaration(meaning, unit)


def merged(kind: type, attribute: str) -> dict[str, Any]:
    """A class attribute that is a mapping, with the entries of the base classes."""
    result: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        result |= vars(base).get(attribute, {})
    return result


def unknown_names(
    names: Iterable[str], declared: Mapping[str, QuantityDeclaration]
) -> Iterator[str]:
    """One line for each name that is no declared quantity, with the closest that is."""
    for name in sorted(set(names) - declared.keys()):
        hint = did_you_mean(name, declared)
        yield f"there is no quantity '{name}'{hint}; allowed: {', '.join(declared)}"


def check_layouts(
    dims: Mapping[str, tuple[str, ...]],
    declared: Mapping[str, QuantityDeclaration],
    *,
    complete: bool,
) -> None:
    """Refuse quantities over other axes than declared and, if `complete`, undeclared ones."""
    for name, found in dims.items():
        declaration = declared.get(name)
        if declaration is None:
            if complete:
                hint = did_you_mean(name, declared)
                raise ValueError(f"the quantity '{name}' is not declared{hint}")
        elif found not in declaration.layouts:
            raise ValueError(
                f"the quantity '{name}' is over {', '.join(found) or 'no axis'};"
                f" declared: {declaration.format_dims()}"
            )


def _nonempty(**values: str) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}

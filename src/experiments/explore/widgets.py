"""Input widgets for parameters, chosen by the type, bounds and choices of each parameter."""

import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from bythebook.experiments.config.job import Job
from bythebook.experiments.core.knobs import describe_constraints, is_valid_value, knob
from bythebook.experiments.core.type_check import field_types
from bythebook.experiments.explore.values import (
    PARAMETER_PREFIX,
    SEED,
    current_values,
    from_text,
    to_text,
    unwrap_optional,
)
from bythebook.models import datasets

SWITCH, CHOICE, MULTI_CHOICE, NUMBER, TEXT = "switch", "choice", "several", "number", "text"
SLIDER_STEPS = 120  # about so many values on a slider
SLIDER_RANGE = 100.0  # a slider without a bound spans this factor around the published value
MAX_INPUT_CHARS = 44  # a longer text gets several lines
MAX_CHECKBOXES = 20


@dataclass
class _SeedField:
    seed: int = knob(0, "seed of the random numbers", at_least=0)


@dataclass(frozen=True)
class Widget:
    """The widget of one parameter."""

    name: str  # study.orders, seed
    kind: str
    doc: str
    constraints: str
    default: str  # the published value
    value: str  # the present value
    explicit: bool = True  # set in the file of the result, not by a default of the study
    optional: bool = False
    choices: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()  # the ticked entries of a list
    slider_values: tuple[str, ...] = ()  # the values on the slider of a number

    @property
    def short(self) -> str:
        return self.name.removeprefix(PARAMETER_PREFIX)

    @property
    def is_changed(self) -> bool:
        return self.value != self.default

    @property
    def is_wide(self) -> bool:
        return max(len(self.default), len(self.value)) > MAX_INPUT_CHARS

    @property
    def slider_position(self) -> int:
        """Index of the slider value that is nearest to the present value."""
        try:
            value = float(self.value)
            return min(
                range(len(self.slider_values)),
                key=lambda i: abs(float(self.slider_values[i]) - value),
            )
        except ValueError:
            return 0


def make_widgets(
    book: Job, texts: Mapping[str, str], explicit_names: Collection[str] = ()
) -> list[Widget]:
    """Widgets of all parameters of a result and of its seed, with the values in `texts`.

    The parameters `explicit_names`, which the file of the result sets, come first.
    """
    kind, published = type(book.study), current_values(book)
    entries = [
        (PARAMETER_PREFIX + f.name, f, field_types(kind)[f.name]) for f in dataclasses.fields(kind)
    ]
    (seed,) = dataclasses.fields(_SeedField)
    widgets = [
        dataclasses.replace(
            _widget(name, field, annotation, published[name], texts.get(name)),
            explicit=name == SEED or field.name in explicit_names,
        )
        for name, field, annotation in [*entries, (SEED, seed, int)]
    ]
    return sorted(widgets, key=lambda widget: not widget.explicit)


def _widget(
    name: str, field: dataclasses.Field[Any], kind: Any, value: Any, text: str | None
) -> Widget:
    inner, meta = unwrap_optional(kind), field.metadata
    offered = datasets.names(meta["dataset"]) if meta["dataset"] else list(meta["choices"])
    plain = Widget(
        name=name,
        kind=TEXT,
        doc=meta["doc"],
        constraints=describe_constraints(field).replace(" | None", " or none"),
        default=to_text(value),
        value=to_text(value) if text is None else text,
        optional=inner is not kind,
    )
    choices = tuple(map(to_text, offered))
    if inner is bool and plain.value in ("true", "false"):
        return dataclasses.replace(plain, kind=SWITCH)
    if offered and get_origin(inner) is list and _is_checkbox_list(inner, value, offered):
        ranked = _ordered_choices(value, offered)
        chosen = tuple(map(to_text, from_text(plain.value, inner)))
        if set(chosen) <= set(ranked):
            return dataclasses.replace(plain, kind=MULTI_CHOICE, choices=ranked, chosen=chosen)
        return plain
    if offered and get_origin(inner) is None:
        return dataclasses.replace(plain, kind=CHOICE, choices=choices)
    if inner in (int, float):
        numbers = tuple(map(to_text, _slider_values(field, inner, value)))
        return dataclasses.replace(plain, kind=NUMBER, slider_values=numbers)
    return plain


def _is_checkbox_list(kind: Any, value: list[Any], offered: list[Any]) -> bool:
    """True if checkboxes can show the list: no entry twice, and few choices."""
    simple = get_args(kind)[0] in (str, int)
    return simple and len(set(value)) == len(value) and len(offered) <= MAX_CHECKBOXES


def _ordered_choices(value: Iterable[Any], offered: Iterable[Any]) -> tuple[str, ...]:
    """The published entries first, in their order, so that ticking them restores the list."""
    return tuple(map(to_text, dict.fromkeys([*value, *offered])))


def _slider_values(field: dataclasses.Field[Any], kind: Any, value: Any) -> list[Any]:
    """The valid numbers of a slider, sorted, with the published value among them."""
    low, high = _bounds(field)
    middle = value if value is not None else next((b for b in (low, high) if b is not None), 0)
    numbers = _integers(int(middle), low, high) if kind is int else _reals(float(middle), low, high)
    valid = {number for number in numbers if is_valid_value(field, number)}
    return sorted(valid | ({value} if value is not None else set()))


def _bounds(field: dataclasses.Field[Any]) -> tuple[float | None, float | None]:
    low = [bound for symbol, bound in field.metadata["bounds"] if ">" in symbol]
    high = [bound for symbol, bound in field.metadata["bounds"] if "<" in symbol]
    return max(low, default=None), min(high, default=None)


def _integers(middle: int, low: float | None, high: float | None) -> Iterable[int]:
    first = math.floor(low) if low is not None else min(0, middle - 10)
    last = math.ceil(high) if high is not None else max(4 * middle, first + 20)
    if last - first <= 2 * SLIDER_STEPS:
        return range(first, last + 1)
    start = max(first, 1)
    ratio = last / start
    steps = (start * ratio ** (i / SLIDER_STEPS) for i in range(SLIDER_STEPS + 1))
    return [first, *(int(_rounded(step)) for step in steps)]


def _reals(middle: float, low: float | None, high: float | None) -> Iterable[float]:
    positive = low is not None and low >= 0
    if low is not None and high is not None and (middle <= 0 or high / middle <= SLIDER_RANGE):
        return [_rounded(low + (high - low) * i / 100) for i in range(101)]
    if positive:  # geometric steps
        scale = middle if middle > 0 else 1.0
        powers = [
            scale * SLIDER_RANGE ** (2 * i / SLIDER_STEPS - 1) for i in range(SLIDER_STEPS + 1)
        ]
        return [float(low or 0), *map(_rounded, powers)]
    span = 3 * max(abs(middle), 1.0)
    return [_rounded(middle + span * (2 * i / SLIDER_STEPS - 1)) for i in range(SLIDER_STEPS + 1)]


def _rounded(number: float) -> float:
    return float(f"{number:.3g}")

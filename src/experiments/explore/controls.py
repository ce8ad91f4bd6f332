"""Controls: what a page offers for each knob, made from its type, bounds and choices."""

import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from experiments.configuration.jobs import Job
from experiments.contract.knobs import allowed, knob, may_be
from experiments.contract.type_check import field_types
from experiments.explore.values import KNOB, SEED, not_none, read, settings, told
from models import datasets

SWITCH, CHOICE, SEVERAL, NUMBER, TEXT = "switch", "choice", "several", "number", "text"
STOPS = 120  # places of a slider, or a few more
FAR = 100.0  # a slider without an end goes so many times as far as the book
LONG = 44  # characters of a text that fills more than a line


@dataclass
class _Seed:
    seed: int = knob(0, "the random stream: another seed, another draw", at_least=0)


@dataclass(frozen=True)
class Control:
    """One knob on the page."""

    name: str  # study.orders, seed
    form: str
    doc: str
    takes: str
    book: str  # the book's setting
    text: str  # as it stands now
    stated: bool = True  # by the result's file, and not left as the study has it
    optional: bool = False
    choices: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()  # of several
    stops: tuple[str, ...] = ()  # where the slider of a number can stand

    @property
    def short(self) -> str:
        return self.name.removeprefix(KNOB)

    @property
    def moved(self) -> bool:
        return self.text != self.book

    @property
    def long(self) -> bool:
        return max(len(self.book), len(self.text)) > LONG

    @property
    def place(self) -> int:
        """Where the slider stands: at the number, or at the one nearest to it."""
        try:
            value = float(self.text)
            return min(range(len(self.stops)), key=lambda i: abs(float(self.stops[i]) - value))
        except ValueError:
            return 0


def controls(
    book: Job, texts: Mapping[str, str], stated_names: Collection[str] = ()
) -> list[Control]:
    """Every knob of a result and its seed; those that the texts name stand where these say.

    First come the knobs that the result's file states: it is about them.
    """
    kind, stated = type(book.study), settings(book)
    entries = [(KNOB + f.name, f, field_types(kind)[f.name]) for f in dataclasses.fields(kind)]
    (seed,) = dataclasses.fields(_Seed)
    made = [
        dataclasses.replace(
            _control(name, field, of, stated[name], texts.get(name)),
            stated=name == SEED or field.name in stated_names,
        )
        for name, field, of in [*entries, (SEED, seed, int)]
    ]
    return sorted(made, key=lambda control: not control.stated)


def _control(
    name: str, field: dataclasses.Field[Any], kind: Any, value: Any, text: str | None
) -> Control:
    of, meta = not_none(kind), field.metadata
    offered = datasets.names(meta["dataset"]) if meta["dataset"] else list(meta["choices"])
    plain = Control(
        name=name,
        form=TEXT,
        doc=meta["doc"],
        takes=allowed(field).replace(" | None", " or none"),
        book=told(value),
        text=told(value) if text is None else text,
        optional=of is not kind,
    )
    choices = tuple(map(told, offered))
    if of is bool and plain.text in ("true", "false"):
        return dataclasses.replace(plain, form=SWITCH)
    if offered and get_origin(of) is list and _ticks(of, value, offered):
        ranked = _ranked(value, offered)
        chosen = tuple(map(told, read(plain.text, of)))
        if set(chosen) <= set(ranked):
            return dataclasses.replace(plain, form=SEVERAL, choices=ranked, chosen=chosen)
        return plain
    if offered and get_origin(of) is None:
        return dataclasses.replace(plain, form=CHOICE, choices=choices)
    if of in (int, float):
        stops = tuple(told(stop) for stop in _stops(field, of, value))
        return dataclasses.replace(plain, form=NUMBER, stops=stops)
    return plain


def _ticks(kind: Any, value: list[Any], offered: list[Any]) -> bool:
    """Can boxes to tick say it? Each entry once, and a few of them."""
    return get_args(kind)[0] in (str, int) and len(set(value)) == len(value) and len(offered) <= 20


def _ranked(value: Iterable[Any], offered: Iterable[Any]) -> tuple[str, ...]:
    """The book's entries first, in its order: ticked anew, they come back as they were."""
    return tuple(map(told, dict.fromkeys([*value, *offered])))


def _stops(field: dataclasses.Field[Any], kind: Any, value: Any) -> list[Any]:
    """The numbers of a slider, the book's among them, all of them allowed."""
    low, high = _ends(field)
    middle = value if value is not None else next((b for b in (low, high) if b is not None), 0)
    found = _whole(int(middle), low, high) if kind is int else _real(float(middle), low, high)
    kept = {number for number in found if may_be(field, number)}
    return sorted(kept | ({value} if value is not None else set()))


def _ends(field: dataclasses.Field[Any]) -> tuple[float | None, float | None]:
    low = [bound for symbol, bound in field.metadata["bounds"] if ">" in symbol]
    high = [bound for symbol, bound in field.metadata["bounds"] if "<" in symbol]
    return max(low, default=None), min(high, default=None)


def _whole(middle: int, low: float | None, high: float | None) -> Iterable[int]:
    first = math.floor(low) if low is not None else min(0, middle - 10)
    last = math.ceil(high) if high is not None else max(4 * middle, first + 20)
    if last - first <= 2 * STOPS:
        return range(first, last + 1)
    start = max(first, 1)
    ratio = last / start
    steps = (start * ratio ** (i / STOPS) for i in range(STOPS + 1))
    return [first, *(int(_rounded(step)) for step in steps)]


def _real(middle: float, low: float | None, high: float | None) -> Iterable[float]:
    positive = low is not None and low >= 0
    if low is not None and high is not None and (middle <= 0 or high / middle <= FAR):
        return [_rounded(low + (high - low) * i / 100) for i in range(101)]
    if positive:  # over powers, as scales are
        scale = middle if middle > 0 else 1.0
        powers = [scale * FAR ** (2 * i / STOPS - 1) for i in range(STOPS + 1)]
        return [float(low or 0), *map(_rounded, powers)]
    span = 3 * max(abs(middle), 1.0)
    return [_rounded(middle + span * (2 * i / STOPS - 1)) for i in range(STOPS + 1)]


def _rounded(number: float) -> float:
    return float(f"{number:.3g}")

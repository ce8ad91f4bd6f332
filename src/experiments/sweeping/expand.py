"""Hydra's `-m`: the overrides of a sweep, expanded into cells.

Composing a configuration takes Hydra a tenth of a second. So the seed and the knobs of a study are
swept on one composed configuration, checked by the same schema; whatever else is swept
(experiments, studies, tracking) is composed anew. The override grammar is Hydra's.
"""

import bisect
import itertools
import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.override_parser.types import ChoiceSweep, Override, QuotedString, RangeSweep

from experiments.configuration.build import Template
from experiments.configuration.compose import Composer, parsed
from experiments.configuration.jobs import Address
from experiments.configuration.schema import MOST_CELLS, Settings
from experiments.contract.errors import BadInput
from experiments.sweeping.plan import Cell

Axis = list[tuple[str, str, Any]]  # the values of a knob: its name, as typed, as read


@dataclass(frozen=True)
class Block:
    """The cells that one composed configuration stands for: all combinations of the knobs."""

    template: Template
    chosen: dict[str, str]  # what Hydra composed it with
    axes: list[Axis]

    def __len__(self) -> int:
        return math.prod(len(axis) for axis in self.axes)

    def point(self, index: int) -> Axis:
        """One combination; the last knob turns fastest, as in Hydra."""
        found = []
        for axis in reversed(self.axes):
            index, place = divmod(index, len(axis))
            found.append(axis[place])
        return found[::-1]


class Grid(Sequence[Cell]):
    """The cells of a sweep, made whenever they are asked for: ten thousand take little room."""

    def __init__(self, blocks: Sequence[Block], swept: Sequence[str]) -> None:
        self.blocks, self.swept = blocks, swept
        self.starts = list(itertools.accumulate((len(block) for block in blocks), initial=0))
        self._keys = array("Q", bytes(8 * len(self)))  # 0 where it is not known yet
        self._canonical: set[int] = set()

    def __len__(self) -> int:
        return self.starts[-1]

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < len(self):
            raise IndexError(index)
        place = bisect.bisect(self.starts, index) - 1
        block = self.blocks[place]
        point = block.point(index - self.starts[place])
        texts = {**block.chosen, **{key: text for key, text, _ in point}}
        job = block.template.job({key: value for key, _, value in point})
        job = job.known(f"{self._keys[index]:016x}" if self._keys[index] else None)
        self._keys[index] = int(job.key, 16)
        if job.canonical:
            self._canonical.add(index)
        return Cell({key: texts[key] for key in self.swept}, job)

    def addresses(self) -> Iterator[Address]:
        """Where the runs of every cell are; of a cell that was looked at, without its job."""
        for start, block in zip(self.starts, self.blocks, strict=False):
            place = f"study/{block.template.kind.name}"
            for index in range(start, start + len(block)):
                if self._keys[index] and index not in self._canonical:
                    yield Address(place, f"{self._keys[index]:016x}")
                else:
                    yield self[index].job.address


def cells(words: list[str], compose: Composer) -> tuple[Grid, Settings]:
    """The cells of a sweep, and the settings that are one choice for all of it."""
    overrides = parsed(words)
    _check_size(overrides)
    knobs = [override for override in overrides if _is_swept_knob(override)]
    others = [override for override in overrides if not _is_swept_knob(override)]
    axes = [_values(override) for override in knobs]
    blocks, common = [], None
    for chosen in itertools.product(*(_strings(override) for override in others)):
        composed = compose([text for _, _, text in chosen])
        texts = {key: value for key, value, _ in chosen}
        blocks.append(Block(composed.template, texts, axes))
        common = common or composed.settings
    if common is None or not any(map(len, blocks)):
        raise BadInput(f"{' '.join(words)}: the sweep has no cells; allowed: one value or more")
    swept = [o.get_key_element() for o in overrides if o.is_sweep_override()]
    return Grid(blocks, swept), common


def _check_size(overrides: list[Override]) -> None:
    """Count the cells before any is made: a range of a billion is typed in a second."""
    stated = [o.value() for o in overrides if o.key_or_group == "most_cells"]
    most = stated[-1] if stated and isinstance(stated[-1], int) else MOST_CELLS
    count = math.prod(_count(override) for override in overrides)
    if count > most:
        told = f"{count:,}" if count < math.inf else "endlessly many"
        raise BadInput(
            f"the sweep would have {told} cells; allowed: {most:,}; most_cells=<number> allows more"
        )


def _count(override: Override) -> float:
    """How many values an override has; what is no range is a list that somebody typed."""
    value = override.value()
    if isinstance(value, RangeSweep):
        start, stop, step = (float(part or 0) for part in (value.start, value.stop, value.step))
        if step == 0 or not all(map(math.isfinite, (start, stop, step))):
            return math.inf if step != 0 and math.isinf(stop) and (stop - start) * step > 0 else 1
        return max(0, math.ceil((stop - start) / step))
    if isinstance(value, ChoiceSweep):
        return len(value.list)
    return 1


def _is_swept_knob(override: Override) -> bool:
    key = override.key_or_group
    plain = not (override.is_add() or override.is_force_add() or override.is_delete())
    knob = key == "seed" or key.startswith("study.")
    return knob and plain and override.package is None and override.is_sweep_override()


def _strings(override: Override) -> list[tuple[str, str, str]]:
    """Key, value and whole override for each of its values; one if it is not swept."""
    key = override.get_key_element()
    if not override.is_sweep_override():
        assert override.input_line is not None
        value = "" if override.is_delete() else override.get_value_element_as_str()
        return [(key, value, override.input_line)]
    if not override.is_discrete_sweep():
        raise BadInput(
            f"'{override.input_line}' is not a list of values;"
            " allowed: a,b,c  range(a,b,step)  choice(a,b)  glob(pattern)"
        )
    try:
        return [(key, text, f"{key}={text}") for text in override.sweep_string_iterator()]
    except (ArithmeticError, ValueError) as error:
        raise BadInput(f"'{override.input_line}': {error}") from error


def _values(override: Override) -> Axis:
    texts = _strings(override)
    values = override.sweep_iterator() if override.is_discrete_sweep() else ()
    return [
        (key, text, _plain(value, text))
        for (key, text, _), value in zip(texts, values, strict=True)
    ]


def _plain(value: Any, text: str) -> Any:
    """A swept value as Hydra would set it: quotes off, also inside lists."""
    if isinstance(value, QuotedString | list | dict):
        return parsed([f"x={text}"])[0].value()
    return value

"""The cells of a sweep, expanded from overrides in Hydra's grammar (`run -m`).

Hydra needs a tenth of a second to compose a configuration. The seed and the knobs of a study are
therefore swept on one composed configuration, and checked by the same schema. For anything else
that is swept (experiments, studies, tracking), Hydra composes a configuration per value.
"""

import bisect
import itertools
import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.override_parser.types import ChoiceSweep, Override, QuotedString, RangeSweep

from bythebook.experiments.config.hydra_compose import ConfigComposer, parse_overrides
from bythebook.experiments.config.job import RunLocation
from bythebook.experiments.config.result_names import find_result
from bythebook.experiments.config.schema import MAX_CELLS, RunSettings
from bythebook.experiments.config.validation import JobFactory
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.sweeps.plan import SweepCell

SweptValues = list[tuple[str, str, Any]]  # for each value: the knob, the text, the parsed value


@dataclass(frozen=True)
class GridBlock:
    """The cells of one composed configuration: all combinations of the swept knobs."""

    template: JobFactory
    chosen: dict[str, str]  # the other swept values, with which Hydra composed the configuration
    axes: list[SweptValues]

    def __len__(self) -> int:
        return math.prod(len(axis) for axis in self.axes)

    def combination(self, index: int) -> SweptValues:
        """One combination; the last knob varies fastest, as in Hydra."""
        values = []
        for axis in reversed(self.axes):
            index, position = divmod(index, len(axis))
            values.append(axis[position])
        return values[::-1]


class SweepGrid(Sequence[SweepCell]):
    """The cells of a sweep; each is created on demand, so ten thousand need little memory."""

    def __init__(self, blocks: Sequence[GridBlock], swept: Sequence[str]) -> None:
        self.blocks, self.swept = blocks, swept
        self.starts = list(itertools.accumulate((len(block) for block in blocks), initial=0))
        self._keys = array("Q", bytes(8 * len(self)))  # 0: not yet computed
        self._canonical: set[int] = set()

    def __len__(self) -> int:
        return self.starts[-1]

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < len(self):
            raise IndexError(index)
        number = bisect.bisect(self.starts, index) - 1
        block = self.blocks[number]
        point = block.combination(index - self.starts[number])
        texts = {**block.chosen, **{key: text for key, text, _ in point}}
        job = block.template.job({key: value for key, _, value in point})
        job = job.with_key(f"{self._keys[index]:016x}" if self._keys[index] else None)
        self._keys[index] = int(job.key, 16)
        if job.canonical:
            self._canonical.add(index)
        return SweepCell({key: texts[key] for key in self.swept}, job)

    def locations(self) -> Iterator[RunLocation]:
        """The location of every cell's run; the job is not built if its key is known."""
        for start, block in zip(self.starts, self.blocks, strict=False):
            folder = f"study/{block.template.kind.name}"
            for index in range(start, start + len(block)):
                if self._keys[index] and index not in self._canonical:
                    yield RunLocation(folder, f"{self._keys[index]:016x}")
                else:
                    yield self[index].job.location


def expand_sweep(words: list[str], compose: ConfigComposer) -> tuple[SweepGrid, RunSettings]:
    """The cells of a sweep, and the settings that all cells share."""
    overrides = parse_overrides(words)
    _check_size(overrides)
    knobs = [override for override in overrides if _is_parameter_sweep(override)]
    others = [override for override in overrides if not _is_parameter_sweep(override)]
    axes = [_axis_values(override) for override in knobs]
    blocks, common = [], None
    values = [_override_values(override) for override in others]
    if not compose.config_dirs:  # user files may have any name
        values = [[_with_present_name(*value) for value in texts] for texts in values]
    for chosen in itertools.product(*values):
        composed = compose([text for _, _, text in chosen])
        texts = {key: value for key, value, _ in chosen}
        blocks.append(GridBlock(composed.job_factory, texts, axes))
        common = common or composed.settings
    if common is None or not any(map(len, blocks)):
        raise InputError(
            f"{' '.join(words)}: the sweep has no runs; allowed: at least one value of every knob"
        )
    swept = [o.get_key_element() for o in overrides if o.is_sweep_override()]
    return SweepGrid(blocks, swept), common


def _check_size(overrides: list[Override]) -> None:
    """Count the cells before any is created: a range of a billion values is typed quickly."""
    limits = [o.value() for o in overrides if o.key_or_group == "max_cells"]
    max_cells = limits[-1] if limits and isinstance(limits[-1], int) else MAX_CELLS
    count = math.prod(_count(override) for override in overrides)
    if count > max_cells:
        number = f"{count:,}" if count < math.inf else "infinitely many"
        raise InputError(
            f"the sweep has {number} runs; allowed: {max_cells:,} (set max_cells to raise this)"
        )


def _count(override: Override) -> float:
    """The number of values of an override, without creating those of a range."""
    value = override.value()
    if isinstance(value, RangeSweep):
        start, stop, step = (float(part or 0) for part in (value.start, value.stop, value.step))
        if step == 0 or not all(map(math.isfinite, (start, stop, step))):
            return math.inf if step != 0 and math.isinf(stop) and (stop - start) * step > 0 else 1
        return max(0, math.ceil((stop - start) / step))
    if isinstance(value, ChoiceSweep):
        return len(value.list)
    return 1


def _is_parameter_sweep(override: Override) -> bool:
    key = override.key_or_group
    plain = not (override.is_add() or override.is_force_add() or override.is_delete())
    knob = key == "seed" or key.startswith("study.")
    return knob and plain and override.package is None and override.is_sweep_override()


def _override_values(override: Override) -> list[tuple[str, str, str]]:
    """Key, value and complete override for each value; one entry if the key is not swept."""
    key = override.get_key_element()
    if not override.is_sweep_override():
        assert override.input_line is not None
        value = "" if override.is_delete() else override.get_value_element_as_str()
        return [(key, value, override.input_line)]
    if not override.is_discrete_sweep():
        raise InputError(
            f"'{override.input_line}' is not a list of values;"
            " allowed: a,b,c  range(a,b,step)  choice(a,b)  glob(pattern)"
        )
    try:
        return [(key, text, f"{key}={text}") for text in override.sweep_string_iterator()]
    except (ArithmeticError, ValueError) as error:
        raise InputError(f"'{override.input_line}': {error}") from error


def _with_present_name(key: str, text: str, override: str) -> tuple[str, str, str]:
    """Replace the former name, or the beginning of the name, of a result by its name."""
    result = find_result(text) if key == "experiment" else None
    return (key, text, override) if result is None else (key, result, f"{key}={result}")


def _axis_values(override: Override) -> SweptValues:
    texts = _override_values(override)
    values = override.sweep_iterator() if override.is_discrete_sweep() else ()
    return [
        (key, text, _to_plain_value(value, text))
        for (key, text, _), value in zip(texts, values, strict=True)
    ]


def _to_plain_value(value: Any, text: str) -> Any:
    """A swept value as Hydra sets it: without quotes, also inside lists."""
    if isinstance(value, QuotedString | list | dict):
        return parse_overrides([f"x={text}"])[0].value()
    return value

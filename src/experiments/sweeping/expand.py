"""Hydra's `-m`, with every cell derived from one composition.

Hydra's own sweeper composes each job from scratch, twice, about 0.2 s apiece. Here the seed and the
knobs of a study are swept on one composed configuration, checked by the same schema; whatever else
is swept (experiments, studies, tracking) is composed by Hydra. The override grammar is Hydra's.
"""

import bisect
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from omegaconf import DictConfig, open_dict

from experiments.configuration.compose import Template
from experiments.contract.errors import BadInput
from experiments.sweeping.plan import Cell

OnSweep = Callable[[Sequence[Cell], list[str], DictConfig], Any]
_on_sweep: list[OnSweep] = []


@dataclass
class SweeperConfig:
    """How Hydra names a plugin; nothing else in the project is chosen by an import path."""

    _target_: str = "hydra_plugins.bythebook.CellSweeper"


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
        self._keys: list[str | None] = [None] * len(self)

    def __len__(self) -> int:
        return self.starts[-1]

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < len(self):
            raise IndexError(index)
        place = bisect.bisect(self.starts, index) - 1
        block = self.blocks[place]
        point = block.point(index - self.starts[place])
        texts = {**block.chosen, **{key: text for key, text, _ in point}}
        job = block.template.job({key: value for key, _, value in point}).known(self._keys[index])
        self._keys[index] = job.key
        return Cell({key: texts[key] for key in self.swept}, job)


def sweep(loader: ConfigLoader, master: DictConfig, arguments: list[str]) -> Any:
    """Expand the overrides into cells and hand all of them over at once."""
    overrides = OverridesParser.create(config_loader=loader).parse_overrides(arguments)
    knobs = [override for override in overrides if _is_swept_knob(override)]
    others = [override for override in overrides if not _is_swept_knob(override)]
    axes = [_values(override) for override in knobs]
    blocks, common = [], None
    for chosen in itertools.product(*(_strings(override) for override in others)):
        config = loader.load_sweep_config(master, [f"{key}={text}" for key, text in chosen])
        experiment = config.hydra.runtime.choices.get("experiment")
        with open_dict(config):
            del config["hydra"]
        blocks.append(Block(Template(config, experiment), dict(chosen), axes))
        # Where to write, how to track and how many processes are one choice for the whole sweep.
        common = common or config
    if common is None or not any(map(len, blocks)):
        raise BadInput(f"{' '.join(arguments)}: the sweep has no cells; allowed: one value or more")
    swept = [o.get_key_element() for o in overrides if o.is_sweep_override()]
    return _on_sweep[-1](Grid(blocks, swept), arguments, common)


def _is_swept_knob(override: Override) -> bool:
    key = override.key_or_group
    plain = not (override.is_add() or override.is_force_add() or override.is_delete())
    knob = key == "seed" or key.startswith("study.")
    return knob and plain and override.package is None and override.is_sweep_override()


def _strings(override: Override) -> list[tuple[str, str]]:
    """The values of an override as Hydra writes them; one value if it is not swept."""
    key = override.get_key_element()
    if not override.is_sweep_override():
        return [(key, override.get_value_element_as_str())]
    if not override.is_discrete_sweep():
        raise BadInput(
            f"'{override.input_line}' is not a list of values;"
            " allowed: a,b,c  range(a,b,step)  choice(a,b)  glob(pattern)"
        )
    return [(key, text) for text in override.sweep_string_iterator()]


def _values(override: Override) -> Axis:
    values = override.sweep_iterator() if override.is_discrete_sweep() else ()
    return [(*pair, value) for pair, value in zip(_strings(override), values, strict=True)]


def register(on_sweep: OnSweep) -> None:
    """Make the sweeper known to Hydra, and what to do with the cells of a sweep."""
    from hydra_plugins.bythebook import CellSweeper

    ConfigStore.instance().store(group="hydra/sweeper", name="bythebook", node=SweeperConfig)
    Plugins.instance().register(CellSweeper)
    _on_sweep[:] = [on_sweep]

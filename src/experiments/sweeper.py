"""Hydra's `-m`, with every cell derived from one composition.

Hydra's own sweeper composes each job from scratch, about 0.2 s apiece. Here the configuration is
composed once for each combination of config groups (experiment, study, tracking); plain values are
then set on a copy, checked by the same schema. The override grammar is Hydra's.
"""

import copy
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from experiments.config import explained, job_from
from experiments.errors import BadInput
from experiments.sweeps import Cell

OnSweep = Callable[[list[Cell], list[str], DictConfig], Any]
_on_sweep: list[OnSweep] = []


@dataclass
class SweeperConfig:
    """How Hydra names a plugin; nothing else in the project is chosen by an import path."""

    _target_: str = "hydra_plugins.bythebook.CellSweeper"


def sweep(loader: ConfigLoader, master: DictConfig, arguments: list[str]) -> Any:
    """Expand the overrides into cells and hand all of them over at once."""
    overrides = OverridesParser.create(config_loader=loader).parse_overrides(arguments)
    pairs = list(_cells(loader, master, overrides))
    # Where to write, how to track and how many processes are one choice for the whole sweep.
    return _on_sweep[-1]([cell for cell, _ in pairs], arguments, pairs[0][1])


def _cells(
    loader: ConfigLoader, master: DictConfig, overrides: list[Override]
) -> Iterator[tuple[Cell, DictConfig]]:
    groups = [o for o in overrides if not _is_value(loader, o)]
    values = [o for o in overrides if _is_value(loader, o)]
    for chosen in itertools.product(*(_strings(o) for o in groups)):
        base = loader.load_sweep_config(master, [f"{k}={v}" for k, v in chosen])
        experiment = base.hydra.runtime.choices.get("experiment")
        config = copy.deepcopy(base)
        with open_dict(config):
            del config["hydra"]
        for point in itertools.product(*(_values(o) for o in values)):
            cell = copy.deepcopy(config)
            for override, (_, _, value) in zip(values, point, strict=True):
                _set(cell, override, value)
            swept = {
                name: text
                for override, (name, text) in zip(
                    [*groups, *values],
                    [*chosen, *((name, text) for name, text, _ in point)],
                    strict=True,
                )
                if override.is_sweep_override()
            }
            yield Cell(swept, job_from(cell, experiment)), cell


def _is_value(loader: ConfigLoader, override: Override) -> bool:
    """A plain value, as opposed to the choice of a config group or a setting of Hydra's."""
    if override.is_delete() or override.is_force_add() or override.package is not None:
        return False
    key = override.key_or_group
    return (
        not loader.list_groups(key)
        and not loader.get_group_options(key)
        and not key.startswith("hydra.")
    )


def _strings(override: Override) -> list[tuple[str, str]]:
    key = override.get_key_element()
    if override.is_sweep_override():
        return [(key, text) for text in _sweep_strings(override)]
    return [(key, override.get_value_element_as_str())]


def _values(override: Override) -> list[tuple[str, str, Any]]:
    key = override.get_key_element()
    if not override.is_sweep_override():
        return [(key, override.get_value_element_as_str(), override.value())]
    if not override.is_discrete_sweep():
        _sweep_strings(override)
    return [
        (key, text, value)
        for text, value in zip(_sweep_strings(override), override.sweep_iterator(), strict=True)
    ]


def _sweep_strings(override: Override) -> list[str]:
    if not override.is_discrete_sweep():
        raise BadInput(
            f"'{override.input_line}' is not a list of values;"
            " allowed: a,b,c  range(a,b,step)  choice(a,b)  glob(pattern)"
        )
    return list(override.sweep_string_iterator())


def _set(config: DictConfig, override: Override, value: Any) -> None:
    key = override.key_or_group
    try:
        OmegaConf.update(config, key, value, merge=True, force_add=override.is_add())
    except OmegaConfBaseException as error:
        raise explained(error) from error


def register(on_sweep: OnSweep) -> None:
    """Make the sweeper known to Hydra, and what to do with the cells of a sweep."""
    from hydra_plugins.bythebook import CellSweeper

    ConfigStore.instance().store(group="hydra/sweeper", name="bythebook", node=SweeperConfig)
    Plugins.instance().register(CellSweeper)
    _on_sweep[:] = [on_sweep]

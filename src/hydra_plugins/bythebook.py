"""The door through which Hydra finds our sweeper: it takes plugins from this namespace only.

Every Hydra program in the environment imports this file, so it imports nothing of ours by itself.
"""

from typing import Any

from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class CellSweeper(Sweeper):
    """Hydra's `-m` for `bythebook run`: see `experiments.sweeping.expand`."""

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        self.hydra_context = hydra_context
        self.config = config

    def sweep(self, arguments: list[str]) -> Any:
        from experiments.sweeping.expand import sweep

        assert self.hydra_context is not None
        assert self.config is not None
        return sweep(self.hydra_context.config_loader, self.config, arguments)

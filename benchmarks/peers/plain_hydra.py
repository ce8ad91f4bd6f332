"""A Hydra program with MLflow's fluent API, one call per value, as in the tutorials."""

from dataclasses import dataclass, field

import hydra
import mlflow
import numpy as np
from hydra.core.config_store import ConfigStore

from bythebook.models.datasets import load


@dataclass
class Config:
    orders: list[int] = field(default_factory=lambda: list(range(1, 9)))
    seed: int = 0
    store: str = ""


ConfigStore.instance().store(name="config", node=Config)


@hydra.main(version_base="1.3", config_path=None, config_name="config")
def main(cfg: Config) -> None:
    mlflow.set_tracking_uri(cfg.store)
    mlflow.set_experiment("plain")
    x, t = load("olympics-100m-men").xt
    z = (x - x.mean()) / x.std()
    with mlflow.start_run():
        mlflow.log_param("seed", cfg.seed)
        mlflow.log_param("orders", list(cfg.orders))
        losses = []
        for order in cfg.orders:
            errors = []
            for n in range(len(z)):
                kept = np.arange(len(z)) != n
                errors.append(t[n] - np.polyval(np.polyfit(z[kept], t[kept], order), z[n]))
            losses.append(float(np.mean(np.square(errors))))
            mlflow.log_metric("loo_loss", losses[-1], step=order)
            mlflow.log_metric(f"loo_loss_order_{order}", losses[-1])
        mlflow.log_metric("loo_best_order", cfg.orders[int(np.argmin(losses))])


if __name__ == "__main__":
    main()

"""Our study in a Hydra program that tracks the same values, one MLflow call per value."""

from dataclasses import dataclass, field

import hydra
import mlflow
from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from bythebook.experiments.core import summaries
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.execution.provenance import collect_environment
from bythebook.experiments.studies.regression.ridge_path import RidgePath


@dataclass
class Config:
    study: RidgePath = field(default_factory=RidgePath)
    seed: int = 0
    store: str = ""


ConfigStore.instance().store(name="config", node=Config)


@hydra.main(version_base="1.3", config_path=None, config_name="config")
def main(cfg: Config) -> None:
    mlflow.set_tracking_uri(cfg.store)
    mlflow.set_experiment("plain")
    study: RidgePath = OmegaConf.to_object(cfg.study)  # type: ignore[assignment, arg-type]
    outcome = study.run(make_rng(cfg.seed))
    facts = collect_environment()
    with mlflow.start_run():
        for name, value in vars(study).items():
            mlflow.log_param(name, value)
        mlflow.log_param("seed", cfg.seed)
        for name, number in summaries.scalar_metrics(outcome, study.headline).items():
            if not isinstance(number, str):
                mlflow.log_metric(name, float(number))
        for name, (steps, values) in summaries.metric_curves(outcome).items():
            for step, value in zip(steps, values, strict=True):
                mlflow.log_metric(name, value, step=step)
        for name in ("user", "command", "platform", "python"):
            mlflow.set_tag(name, facts[name])
        for name, version in facts["packages"].items():
            mlflow.set_tag(f"version.{name}", version)
        for name, value in facts["git"].items():
            mlflow.set_tag(f"git_{name}", str(value))


if __name__ == "__main__":
    main()

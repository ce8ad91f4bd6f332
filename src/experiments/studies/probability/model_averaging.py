"""Averaging over models and combining them (PRML 14.1, MLAPP 16.6.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.probability import model_posterior as models
from bythebook.models.types import Floats

_NEW = 2000  # points to predict, the same for all


@dataclass
class ModelAveraging(Study):
    """Posterior of models and weights of their mixture as data sets grow (PRML 14.1, MLAPP 16.6.3).

    Models are "gaussians", "cauchys" (equal mixtures of two at -2 and 2) or coins, "coin 0.3". The
    truth is one of them, or "both": half of the points from the first, half from the last.
    """

    headline = {"surest": "mean(max(posterior, over='model'))"}
    quantities = {
        "posterior": quantity("posterior probability of a model", "truth n repetition model"),
        "mixture_weight": quantity(
            "weight of a model in the most likely mixture", "truth n repetition model"
        ),
        "expected_log_loss": quantity(
            "expected log loss of a model on new data", "truth model", unit="nats"
        ),
        "expected_log_loss_averaged": quantity(
            "expected log loss of the averaged prediction", "truth n repetition", unit="nats"
        ),
        "first_posterior": quantity(
            "posterior probability of a model, first data set", "truth point model"
        ),
    }
    axes = {
        "truth": axis_of("distribution of the data"),
        "n": axis_of("points in a data set"),
        "repetition": axis_of("data set"),
        "model": axis_of("model"),
        "point": axis_of("points seen"),
    }

    models: list[str] = knob(["gaussians", "cauchys"], "known distributions", distinct=True)
    truths: list[str] = knob(["gaussians"], "what the data come from", distinct=True)
    sizes: list[int] = knob([1, 10, 100], "points in a data set", at_least=1, distinct=True)
    repetitions: int = knob(100, "data sets of each truth", at_least=1, at_most=10_000)

    def problems(self) -> Iterator[str]:
        for name in self.models:
            bias = name.removeprefix("coin ")
            coin = name.startswith("coin ") and bias.replace(".", "", 1).isdigit()
            if name not in ("gaussians", "cauchys") and not (coin and 0 < float(bias) < 1):
                yield f"study.models: '{name}'; allowed: gaussians, cauchys, coin <chance of a 1>"
        if len({name.startswith("coin ") for name in self.models}) > 1 or len(self.models) < 2:
            yield f"study.models={self.models}; allowed: two or more, all coins or none"
        strange = set(self.truths) - {*self.models, models.BOTH}
        if strange:
            yield f"study.truths: '{min(strange)}'; allowed: some of study.models, both"

    def run(self, rng: Generator) -> Outcome:
        sizes, shape = np.sort(self.sizes), (self.repetitions, max(self.sizes))
        posterior, weights, first, single, averaged = [], [], [], [], []
        for name in self.truths:
            x = models.sample(name, self.models, shape, rng)
            log_p = self._log_densities(x)
            after = models.posterior(log_p)
            posterior.append(after[:, sizes - 1].swapaxes(0, 1))
            weights.append([models.mixture_weights(log_p[:, :size]) for size in sizes])
            first.append(after[0])
            new = self._log_densities(models.sample(name, self.models, (_NEW,), rng))
            single.append(-new.mean(0))
            averaged.append(-np.log(posterior[-1] @ np.exp(new).T).mean(-1))
        return outcome(
            {
                "truth": self.truths,
                "n": sizes,
                "repetition": self.repetitions,
                "model": self.models,
                "point": np.arange(1, shape[1] + 1),
            },
            posterior=("truth n repetition model", posterior),
            mixture_weight=("truth n repetition model", weights),
            expected_log_loss=("truth model", single),
            expected_log_loss_averaged=("truth n repetition", averaged),
            first_posterior=("truth point model", first),
        )

    def _log_densities(self, x: Floats) -> Floats:
        return np.stack([models.log_density(name, x) for name in self.models], axis=-1)

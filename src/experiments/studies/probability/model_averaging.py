"""Averaging over models and combining them (PRML 14.1, MLAPP 16.6.3, Ghahramani 1.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.probability import model_posterior as models
from bythebook.models.types import Floats

_NEW = 2000  # points to predict, the same for all
_LEVELS = [-3.0, 0.0, 0.5, 1.0, 2.0]  # at which densities, and shares of points below, are recorded


@dataclass
class ModelAveraging(Study):
    """Posterior of models and weights of their mixture as data sets grow (PRML 14.1, MLAPP 16.6.3).

    Models are "gaussians", "cauchys" (equal mixtures of two at -2 and 2) or coins, "coin 0.3". The
    truth is one of them, or "both": half of the points from the first, half from the last.
    """

    headline = {"surest": "mean(max(posterior, over='model'))"}
    more_quantities = True
    quantities = {
        "posterior": quantity("posterior probability of a model", "truth n set model"),
        "mixture_weight": quantity(
            "weight of a model in the most likely mixture", "truth n set model"
        ),
        "expected_log_loss": quantity(
            "expected log loss of a model on new data", "truth model", unit="nats"
        ),
        "expected_log_loss_averaged": quantity(
            "expected log loss of the averaged prediction", "truth n set", unit="nats"
        ),
        "regret": quantity(
            "log probability of the best model minus that of the average", "truth set", unit="nats"
        ),
        "first_posterior": quantity(
            "posterior probability of a model, first data set", "truth point model"
        ),
        "share_below": quantity("share of the true distribution below a level", "truth level"),
        "log_density": quantity("log density of a model", "level model"),
        "counted_posterior": quantity(
            "posterior probability of a coin, from the counts", "n set model"
        ),
        "counted_predictive": quantity("probability of heads, from the counts", "n set"),
        "predictive": quantity("averaged probability of heads", "n set"),
    }

    models: list[str] = knob(["gaussians", "cauchys"], "known distributions", distinct=True)
    truths: list[str] = knob(["gaussians"], "what the data come from", distinct=True)
    sizes: list[int] = knob([1, 10, 100], "points in a data set", at_least=1, distinct=True)
    sets: int = knob(100, "data sets of each truth", at_least=1, at_most=10_000)

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

    @property
    def coins(self) -> bool:
        return self.models[0].startswith("coin ")

    def run(self, rng: Generator) -> Outcome:
        truth, n = axis("truth", self.truths), axis("n", sorted(self.sizes))
        sets, model = axis("set", self.sets), axis("model", self.models)
        axes = truth, n, sets, model
        posterior, weights = np.empty((2, *map(len, axes)))
        regret = np.empty((len(truth), len(sets)))
        single = np.empty((len(truth), len(model)))
        averaged = np.empty((len(truth), len(n), len(sets)))
        first = np.empty((len(truth), int(n.values[-1]), len(model)))
        slope, below = np.empty(weights.shape), np.empty((len(truth), len(_LEVELS)))
        found: dict[str, Quantity] = {}
        for i, name in enumerate(self.truths):
            x = models.sample(name, self.models, (self.sets, int(n.values[-1])), rng)
            log_p = self._log_densities(x)
            after = models.posterior(log_p)
            posterior[i] = after[:, n.values - 1].swapaxes(0, 1)
            weights[i] = [models.mixture_weights(log_p[:, :size]) for size in n.values]
            slope[i] = [_slope(log_p[:, :m], w) for m, w in zip(n.values, weights[i], strict=True)]
            below[i] = [(x < level).mean() for level in _LEVELS]
            first[i] = after[0]
            regret[i] = log_p.sum(1).max(-1) - self._one_by_one(log_p, after)
            new = self._log_densities(models.sample(name, self.models, (_NEW,), rng))
            single[i] = -new.mean(0)
            averaged[i] = -np.log(posterior[i] @ np.exp(new).T).mean(-1)
            if self.coins and i == 0:
                found |= self._counted(x, posterior[i], n, sets, model)
        point = axis("point", np.arange(1, first.shape[1] + 1))
        return Outcome(
            posterior=over(posterior, *axes),
            mixture_weight=over(weights, *axes),
            expected_log_loss=over(single, truth, model),
            expected_log_loss_averaged=over(averaged, truth, n, sets),
            regret=over(regret, truth, sets),
            first_posterior=over(first, truth, point, model),
            weight_slope=over(slope, *axes),
            share_below=over(below, truth, axis("level", _LEVELS)),
            log_density=over(self._log_densities(np.array(_LEVELS)), axis("level", _LEVELS), model),
            **found,
        )

    def _log_densities(self, x: Floats) -> Floats:
        return np.stack([models.log_density(name, x) for name in self.models], axis=-1)

    def _one_by_one(self, log_p: Floats, after: Floats) -> Floats:
        """Sum of the log densities of all points, each predicted from those before it."""
        equal = np.full_like(after[:, :1], 1 / len(self.models))
        before = np.concatenate([equal, after[:, :-1]], axis=1)
        with np.errstate(divide="ignore"):  # the probability of a model may be 0
            return np.asarray(logsumexp(log_p + np.log(before), axis=-1).sum(-1))

    def _counted(
        self, x: Floats, posterior: Floats, n: Axis, sets: Axis, model: Axis
    ) -> dict[str, Quantity]:
        """Coins by counting: the posterior from the number of ones, the next toss from sums."""
        bias = np.array([float(name.removeprefix("coin ")) for name in self.models])
        ones = np.cumsum(x, axis=1)[:, n.values - 1].T[..., None]  # (n, set, 1)
        zeros = n.values[:, None, None] - ones
        log_all = ones * np.log(bias) + zeros * np.log(1 - bias)
        shift = log_all.max(-1, keepdims=True)
        p = np.exp(log_all - shift)
        return {
            "counted_posterior": over(p / p.sum(-1, keepdims=True), n, sets, model),
            # P(all data, then a 1) / P(all data)
            "counted_predictive": over((p * bias).sum(-1) / p.sum(-1), n, sets),
            "predictive": over(posterior @ bias, n, sets),
        }


def _slope(log_p: Floats, weights: Floats) -> Floats:
    """The mean over points of p(x | h) / p(x), minus one, for each data set and model."""
    p = np.exp(log_p)
    return np.asarray((p / (p @ weights[..., None])).mean(1) - 1)

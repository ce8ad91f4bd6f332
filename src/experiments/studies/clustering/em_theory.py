"""Properties of EM on data: its bound, its limit K-means, EM point by point, and other models.

PRML 9.3.2 and 9.4, Ghahramani 2.5 and 3.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import Clusters, place_problems
from bythebook.models.clustering import kmeans_limit
from bythebook.models.clustering.gaussian_mixture import GaussianMixture, fit, log_joint
from bythebook.models.clustering.gaussian_mixture_starts import start_at, start_at_points
from bythebook.models.clustering.gaussian_mixture_variants import fit_in_orders
from bythebook.models.clustering.mixture import free_energy, kl_to_posterior, posterior
from bythebook.models.em import first_reached, held, path, smallest_gain
from bythebook.models.em_examples import EXAMPLES
from bythebook.models.types import Floats

Found = tuple[dict[str, Any], dict[str, Any]]  # coordinates and quantities


@dataclass
class EmTheory(Clusters, Study):
    """The bound after each half step of EM for a Gaussian mixture.

    Optional, from the same start: EM point by point, and EM with covariances held at epsilon I,
    which is K-means in the limit. Also the increase of the log likelihood by EM for other models.
    """

    headline = {
        "final_log_likelihood": "last(log_likelihood[:, 'M'])",
        "median_incremental_passes": "median(incremental_passes)",
        "final_difference": "max(last(difference, over='epsilon'))",
    }
    quantities = {
        "log_likelihood": quantity(
            "log likelihood after each half step", "iteration step", unit="nats"
        ),
        "bound": quantity(
            "lower bound after each half step", "iteration step", unit="nats", equation="PRML 9.71"
        ),
        "divergence": quantity(
            "divergence of q from the posterior", "iteration step", equation="PRML 9.72"
        ),
        "maximum": quantity("log likelihood where batch EM ends", unit="nats"),
        "batch_passes": quantity("passes until batch EM is close to the maximum"),
        "incremental_log_likelihood": quantity(
            "log likelihood after each pass of incremental EM", "order passes", unit="nats"
        ),
        "incremental_passes": quantity(
            "passes until incremental EM is close to the maximum", "order"
        ),
        "smallest_gain": quantity("smallest gain of the bound in a pass, relative to the largest"),
        "difference": quantity(
            "largest difference of a centre from that of K-means", "epsilon weighting"
        ),
        "responsibilities_off_labels": quantity(
            "largest difference of a responsibility from the label of K-means", "epsilon weighting"
        ),
        "weights_off_fractions": quantity(
            "largest difference of a mixing coefficient from the fraction of points",
            "epsilon weighting",
        ),
        "path_difference": quantity(
            "largest difference of a centre from K-means, with the smallest epsilon", "cycle"
        ),
        "distortion": quantity("distortion of K-means after each half step", "half_step"),
        "climb": quantity(
            "log likelihood after each iteration of EM", "model restart steps", unit="nats"
        ),
    }
    axes = {
        "iteration": axis_of("iteration"),
        "step": axis_of("E or M step"),
        "order": axis_of("order of the points, first that of the file"),
        "passes": axis_of("passes over the data"),
        "epsilon": axis_of("variance of the components"),
        "weighting": axis_of("initial mixing coefficients"),
        "cycle": axis_of("iteration"),
        "half_step": axis_of("half step of K-means"),
        "model": axis_of("model"),
        "restart": axis_of("start"),
        "steps": axis_of("iteration"),
    }

    k: int = knob(2, "components", at_least=1, at_most=20)
    start: list[list[float]] = knob([], "initial means; random points if empty", may_be_empty=True)
    iterations: int = knob(40, "iterations of EM: passes over the data", at_least=1, at_most=10_000)
    orders: int = knob(0, "random orders of EM point by point; 0 is none", at_least=0, at_most=1000)
    close: float = knob(1e-3, "log units below the maximum that count as close", above=0)
    epsilons: list[float] = knob(
        [], "values of epsilon for the limit", above=0, distinct=True, may_be_empty=True
    )
    weights: list[list[float]] = knob(
        [], "mixing weights for the limit, one list per run; equal if empty", may_be_empty=True
    )
    fixed_weights: bool = knob(False, "hold the mixing weights at their initial values")
    models: list[str] = knob(
        [], "other models", choices=tuple(EXAMPLES), distinct=True, may_be_empty=True
    )
    restarts: int = knob(10, "random starts of each other model", at_least=1, at_most=1000)

    def rules(self) -> Iterator[str]:
        if self.k > self.size[0]:
            yield f"study.k={self.k}: there are {self.size[0]} points; allowed: no more components"
        yield from place_problems("start", self.start, self.size[1], self.k)
        for weights in self.weights:
            if len(weights) != self.k or min(weights) <= 0 or abs(sum(weights) - 1) > 1e-9:
                yield f"study.weights: {weights}; allowed: {self.k} numbers > 0 that sum to one"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        given, unit = self.start, np.eye(X.shape[1])
        start = start_at([given], unit) if given else start_at_points(X, self.k, rng)
        em = fit(X, start, tol=0, max_iter=self.iterations, snapshots=range(self.iterations + 1))
        parts = [self._half_steps(log_joint(X, path(em, int(em.iterations[0]))))]
        if self.orders:
            parts.append(self._one_by_one(X, start, em.objective, rng))
        if self.epsilons:
            parts.append(self._limit(X, start.mu[0]))
        if self.models:
            parts.append(self._climbs(rng))
        coords = {name: at for axes, _ in parts for name, at in axes.items()}
        return outcome(coords, **{name: v for _, found in parts for name, v in found.items()})

    def _half_steps(self, joint: Floats) -> Found:
        """From ln p(x_n, z_n = k | theta_t), (T + 1, N, K): iterations are a batch axis."""
        gamma, log_evidence = posterior(joint)
        L, q = log_evidence.sum(axis=1), gamma[:-1]
        steps = joint[:-1], joint[1:]  # after an E step theta is the old one
        bound = [free_energy(step, q) for step in steps]
        divergence = [kl_to_posterior(step, q) for step in steps]
        return {"iteration": range(1, len(joint)), "step": ["E", "M"]}, {
            "log_likelihood": ("iteration step", np.stack([L[:-1], L[1:]], axis=1)),
            "bound": ("iteration step", np.stack(bound, axis=1)),
            "divergence": ("iteration step", np.stack(divergence, axis=1)),
        }

    def _one_by_one(
        self, X: Floats, start: GaussianMixture, batch: Floats, rng: Generator
    ) -> Found:
        """EM that updates one point at a time, in the order of the file and in random orders."""
        maximum = float(fit(X, start, tol=0, max_iter=10_000).final[0])
        N, R = len(X), self.orders + 1
        orders = np.stack([np.arange(N), *(rng.permutation(N) for _ in range(self.orders))])
        L, bound = fit_in_orders(X, start, orders, self.iterations)
        return {"order": R, "passes": L.shape[1]}, {
            "maximum": maximum,
            "batch_passes": int(first_reached(batch, maximum - self.close)[0]),
            "incremental_log_likelihood": ("order passes", L),
            "incremental_passes": ("order", first_reached(L, maximum - self.close)),
            "smallest_gain": smallest_gain(bound),
        }

    def _limit(self, X: Floats, centres: Floats) -> Found:
        """EM with covariances epsilon I against K-means from the same centres."""
        weights = np.array(self.weights or [[1 / self.k] * self.k])
        epsilon = np.sort(np.array(self.epsilons))[::-1]
        found = kmeans_limit.approach(X, centres, epsilon, weights, fixed_pi=self.fixed_weights)
        coords = {
            "epsilon": epsilon,
            "weighting": len(weights),
            "cycle": len(found.path_difference),
        }
        ends = {name: ("epsilon weighting", v) for name, v in found.ends._asdict().items()}
        return coords | {"half_step": len(found.distortion)}, {
            **ends,
            "path_difference": ("cycle", found.path_difference),
            "distortion": ("half_step", found.distortion),
        }

    def _climbs(self, rng: Generator) -> Found:
        """The log likelihood by iteration of EM. Each model has its own random stream."""
        streams = dict(zip(EXAMPLES, rng.spawn(len(EXAMPLES)), strict=True))
        size = self.restarts, self.iterations
        found = [EXAMPLES[name](*size, streams[name]) for name in self.models]
        longest = max(L.shape[1] for L in found)
        climbs = [held(L, longest) for L in found]
        coords = {"model": self.models, "restart": self.restarts, "steps": longest}
        return coords, {"climb": ("model restart steps", climbs)}

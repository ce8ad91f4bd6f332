"""The posterior of a regression by Metropolis-Hastings and by its Laplace approximation."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.stats import gaussian_kde

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation.laplace import Laplace, approximate, expected_sigmoid
from bythebook.models.classification import logistic
from bythebook.models.classification.drawn_regression import draw
from bythebook.models.classification.logistic import RESPONSES, OnGrid, Posterior, predict
from bythebook.models.datasets import load
from bythebook.models.probability.gaussian import log_density
from bythebook.models.sampling.chain_summaries import scale_reduction
from bythebook.models.sampling.metropolis import sample
from bythebook.models.types import Floats

MAP = np.linspace(-5, 5, 51)  # attributes of the predictions
MAP_SAMPLES, KERNEL_SAMPLES = 4000, 2000  # of all samples, evenly spaced
Found = dict[str, tuple[str, Any]]


@dataclass
class MetropolisPosterior(Study):
    """Samples of a regression posterior, and their predictions (FCML 4.5.2, EX 4.6-4.8)."""

    headline = {"scale_reduction": "max(scale_reduction)", "accepted": "mean(accepted)"}
    quantities = {
        "accepted": quantity("accepted proposals of a chain", "chain"),
        "scale_reduction": quantity("potential scale reduction of a weight", "weight"),
        "sampled_mean": quantity("posterior mean of a weight, from samples", "weight"),
        "exact_mean": quantity("posterior mean of a weight, by a sum over a grid", "weight"),
        "sampled_sd": quantity("posterior deviation of a weight, from samples", "weight"),
        "laplace_mean": quantity("mean of the Laplace approximation", "weight"),
        "laplace_sd": quantity("deviation of the Laplace approximation", "weight"),
        "half_mean": quantity("mean of half of a chain", "half chain weight"),
        "path": quantity("samples of the first chain", "sample weight"),
        "inputs": quantity("attributes of the data", "point attribute"),
        "targets": quantity("targets of the data", "point"),
        "log_posterior": quantity("log of the unnormalised posterior", "w2 w1"),
        "log_laplace": quantity("log density of the Laplace approximation", "w2 w1"),
        "kernel_density": quantity("density of a weight, from samples", "weight w"),
        "predictive": quantity("probability of class 1 on the map", "method x2 x1"),
        "exact_predictive": quantity("exact probability of class 1 on the map", "x2 x1"),
        "new_probability": quantity("probability of class 1 at the new point", "method"),
        "boundary": quantity("weights of a sampled boundary", "boundary_number weight"),
    }
    axes = {
        "attribute": axis_of("attribute"),
        "boundary_number": axis_of("number of the boundary"),
        "chain": axis_of("chain"),
        "half": axis_of("half of a chain"),
        "method": axis_of("method of averaging"),
        "point": axis_of("point of the data"),
        "sample": axis_of("number of the sample"),
        "w": axis_of("value of a weight"),
        "w1": axis_of("first weight"),
        "w2": axis_of("second weight"),
        "weight": axis_of("weight"),
        "x1": axis_of("first attribute"),
        "x2": axis_of("second attribute"),
    }

    data: str | None = knob(
        "fcml-logistic", "attributes and response; null: drawn from the model", dataset="classes"
    )
    response: str = knob("binary", "the kind of response", choices=tuple(RESPONSES))
    sigma2: float = knob(10.0, "variance of the prior of each weight", above=0)
    n: int = knob(50, "drawn data: their number, x = (1, N(0, 1), ...)", at_least=2, at_most=10_000)
    weights: list[float] = knob([0.5, 0.8], "drawn data: the true weights")
    samples: int = knob(10_000, "samples of a chain", at_least=100, at_most=100_000)
    chains: int = knob(20, "chains, each from a draw of the prior", at_least=2, at_most=1000)
    step_variance: float = knob(0.5, "variance of the proposal in each direction", above=0)
    burn_in: int = knob(0, "burn-in samples", at_least=0)
    boundaries: int = knob(20, "boundaries to draw", at_least=1, at_most=1000)
    new: list[float] = knob([-3.0, 5.0], "attributes of a new object")

    def problems(self) -> Iterator[str]:
        columns = len(self.weights) if self.data is None else load(self.data).matrix.shape[1] - 1
        if columns != 2:
            yield f"the model has {columns} weights; allowed: 2"
        elif len(self.new) != 2:
            yield f"study.new={self.new}; allowed: 2 numbers"
        if self.data is not None:
            t = load(self.data).matrix[:, -1]
            if self.response == "binary" and not set(np.unique(t)) <= {0.0, 1.0}:
                yield f"study.data={self.data} has no binary response: it is not 0 and 1"
            elif self.response == "counts" and not np.all((t >= 0) & (t == np.round(t))):
                yield f"study.data={self.data} has no counts: its last column is not 0, 1, 2, ..."
        if self.burn_in > self.samples // 2:
            yield f"study.burn_in={self.burn_in}; allowed: <= {self.samples // 2}, half the samples"
        if self.samples * self.chains > 5_000_000:
            yield "study.samples times study.chains; allowed: <= 5000000"

    def posterior(self, rng: Generator) -> Posterior:
        """The data, observed or drawn, with the prior."""
        if self.data is None:
            return draw(np.array(self.weights), self.n, self.sigma2, self.response, rng)
        matrix = load(self.data).matrix
        return Posterior(matrix[:, :-1], matrix[:, -1], self.sigma2, self.response)

    def run(self, rng: Generator) -> Outcome:
        posterior = self.posterior(rng)
        mode = logistic.newton_raphson(posterior, np.zeros((1, 2)), tol=1e-20).path[-1, 0]
        height = float(logistic.log_g(posterior, mode))
        laplace = approximate(mode, logistic.hessian(posterior, mode), height)
        starts = np.sqrt(self.sigma2) * rng.standard_normal((self.chains, 2))
        step = self.step_variance * np.eye(2)
        chains = sample(lambda w: logistic.log_g(posterior, w), starts, self.samples, step, rng)
        w = chains.w[self.burn_in :]  # (S, C, 2)
        halves = [w[: len(w) // 2].mean(0), w[len(w) // 2 :].mean(0)]
        pooled = w.reshape(-1, 2)
        exact = logistic.quadrature(posterior, pooled.mean(0), 6 * pooled.std(0), 101)
        densities, coords = _densities(posterior, laplace, pooled)
        found: Found = {
            "sampled_mean": ("weight", pooled.mean(0)),
            "exact_mean": ("weight", exact.probability @ exact.w),
            "sampled_sd": ("weight", pooled.std(0)),
            "laplace_mean": ("weight", laplace.mean),
            "laplace_sd": ("weight", np.sqrt(np.diag(laplace.covariance))),
            "scale_reduction": ("weight", scale_reduction(w)),
            "accepted": ("chain", chains.accepted.sum(0)),
            "half_mean": ("half chain weight", halves),
            "path": ("sample weight", chains.w[:, 0]),
            "inputs": ("point attribute", posterior.X),
            "targets": ("point", posterior.t),
        }
        coords |= {"weight": [1, 2], "chain": self.chains, "half": ["first", "second"]}
        coords |= {"sample": self.samples, "point": len(posterior.t), "attribute": [1, 2]}
        if self.response == "binary":
            found |= self._predictions(exact, laplace, w)
            found["boundary"] = "boundary_number weight", rng.choice(w[:, 0], self.boundaries)
            coords |= {"boundary_number": self.boundaries, "x1": MAP, "x2": MAP}
            coords["method"] = ["samples", "laplace", "point"]
        return outcome(coords, **found, **densities)

    def _predictions(self, exact: OnGrid, laplace: Laplace, w: Floats) -> Found:
        """P(T = 1) by the samples, Laplace and the point estimate over the plane; and exactly."""
        plane = np.stack(np.meshgrid(MAP, MAP), axis=-1)
        thin = w[:: max(1, w.shape[0] * w.shape[1] // MAP_SAMPLES)].reshape(-1, 2)
        new = np.array([self.new])
        each = np.mean([predict(w[:, c], new)[0] for c in range(w.shape[1])])
        maps = [part.reshape(51, 51) for part in _predict(thin, laplace, plane.reshape(-1, 2))]
        at_new = [each, *(p[0] for p in _predict(thin, laplace, new)[1:])]
        return {
            "predictive": ("method x2 x1", maps),
            "exact_predictive": ("x2 x1", [exact.predict(row) for row in plane]),
            "new_probability": ("method", at_new),
        }


def _predict(w: Floats, laplace: Laplace, X: Floats) -> list[Floats]:
    """P(T = 1) at points (P, 2): averaged over samples and over Laplace's Gaussian; at its mean."""
    spread = np.einsum("pi,ij,pj->p", X, laplace.covariance, X)
    averaged = expected_sigmoid(X @ laplace.mean, spread)
    return [predict(w, X), averaged, predict(laplace.mean[None], X)]


def _densities(
    posterior: Posterior, laplace: Laplace, pooled: Floats
) -> tuple[Found, dict[str, Any]]:
    """Both log densities at the samples, and kernel estimates of the marginals; with their axes."""
    low, high = np.quantile(pooled, [0.0005, 0.9995], axis=0)
    low, high = low - (high - low) / 5, high + (high - low) / 5
    w1, w2 = np.linspace(low, high, 81).T
    where = np.stack(np.meshgrid(w1, w2), axis=-1)
    line = np.linspace(low.min(), high.max(), 200)
    thin = pooled[:: max(1, len(pooled) // KERNEL_SAMPLES)]
    found: Found = {
        "log_posterior": ("w2 w1", logistic.log_g(posterior, where)),  # up to its constant
        "log_laplace": ("w2 w1", log_density(where, laplace.mean, laplace.covariance)),
        "kernel_density": ("weight w", [gaussian_kde(column)(line) for column in thin.T]),
    }
    return found, {"w1": w1, "w2": w2, "w": line}

"""The posterior of a regression by Metropolis-Hastings and by its Laplace approximation."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation.laplace import Laplace, approximate, expected_sigmoid
from bythebook.models.classification import logistic
from bythebook.models.classification.drawn_regression import derivative_gaps, draw
from bythebook.models.classification.logistic import RESPONSES, Posterior, predict
from bythebook.models.datasets import load
from bythebook.models.probability.gaussian import log_density
from bythebook.models.sampling.chain_summaries import scale_reduction
from bythebook.models.sampling.metropolis import kernel_density, sample
from bythebook.models.types import Floats

SHOWN = ("samples", "marginals", "trace", "predictive")


@dataclass
class MetropolisPosterior(Study):
    """Samples of a regression posterior, and their predictions (FCML 4.5.2, EX 4.6-4.8)."""

    headline = {"scale_reduction": "max(scale_reduction)", "accepted": "mean(accepted)"}
    quantities = {
        "accepted": quantity("accepted proposals of a chain", "chain"),
        "scale_reduction": quantity("potential scale reduction of a weight", "weight"),
        "sampled_mean": quantity("posterior mean of a weight, from samples", "weight"),
        "sampled_sd": quantity("posterior deviation of a weight, from samples", "weight"),
        "laplace_mean": quantity("mean of the Laplace approximation", "weight"),
        "laplace_sd": quantity("deviation of the Laplace approximation", "weight"),
        "half_mean": quantity("mean of half of a chain", "half chain weight"),
        "derivative_gap": quantity(
            "difference between derivatives of the log posterior and differences", "derivative"
        ),
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
        "derivative": axis_of("gradient or second derivatives"),
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
    show: list[str] = knob(["samples"], "what to draw", choices=SHOWN, distinct=True)

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
        if self.response != "binary" and "predictive" in self.show:
            yield "study.show=predictive needs study.response=binary"

    def posterior(self, rng: Generator) -> Posterior:
        """The data, observed or drawn, with the prior."""
        if self.data is None:
            return draw(np.array(self.weights), self.n, self.sigma2, self.response, rng)
        matrix = load(self.data).matrix
        return Posterior(matrix[:, :-1], matrix[:, -1], self.sigma2, self.response)

    def run(self, rng: Generator) -> Outcome:
        posterior = self.posterior(rng)
        newton_path = logistic.newton_raphson(posterior, np.zeros((1, 2)), tol=1e-20).path[:, 0]
        mode, height = newton_path[-1], float(logistic.log_g(posterior, newton_path[-1]))
        laplace = approximate(mode, logistic.hessian(posterior, mode), height)
        starts = np.sqrt(self.sigma2) * rng.standard_normal((self.chains, 2))
        step = self.step_variance * np.eye(2)
        chains = sample(lambda w: logistic.log_g(posterior, w), starts, self.samples, step, rng)
        w = chains.w[self.burn_in :]  # (S, C, 2)
        halves = [w[: len(w) // 2].mean(0), w[len(w) // 2 :].mean(0)]
        pooled = w.reshape(-1, 2)
        weight, chain = axis("weight", [1, 2]), axis("chain", self.chains)
        point = axis("point", len(posterior.t))
        of_weights = {
            "sampled_mean": pooled.mean(0),
            "sampled_sd": pooled.std(0),
            "laplace_mean": laplace.mean,
            "laplace_sd": np.sqrt(np.diag(laplace.covariance)),
            "scale_reduction": scale_reduction(w),
        }
        gaps = derivative_gaps(posterior, newton_path)
        found = {
            **{name: weight.of(values) for name, values in of_weights.items()},
            "accepted": chain.of(chains.accepted.sum(0)),
            "half_mean": over(halves, axis("half", ["first", "second"]), chain, weight),
            "derivative_gap": axis("derivative", ["gradient", "hessian"]).of(gaps),
            "path": over(chains.w[:, 0], axis("sample", self.samples), weight),
            "inputs": over(posterior.X, point, axis("attribute", [1, 2])),
            "targets": point.of(posterior.t),
        }
        found |= _densities(posterior, laplace, pooled)
        if self.response == "binary":
            found |= self._predictions(posterior, laplace, w)
            lines = rng.choice(w[:, 0], self.boundaries)
            found["boundary"] = over(lines, axis("boundary_number", self.boundaries), weight)
        return Outcome(**found)

    def _predictions(
        self, posterior: Posterior, laplace: Laplace, w: Floats
    ) -> dict[str, Quantity]:
        """P(T = 1) by the samples, Laplace and the point estimate over the plane; and exactly."""
        place = np.linspace(-5, 5, 51)
        exact = logistic.quadrature(posterior, w.mean((0, 1)), 6 * w.std((0, 1)), 101)
        plane = np.stack(np.meshgrid(place, place), axis=-1)
        thin = w[:: max(1, w.shape[0] * w.shape[1] // 4000)].reshape(-1, 2)
        new = np.array([self.new])
        method = axis("method", ["samples", "laplace", "point"])
        each = np.mean([predict(w[:, c], new)[0] for c in range(w.shape[1])])
        return {
            "predictive": over(
                [part.reshape(51, 51) for part in _predict(thin, laplace, plane.reshape(-1, 2))],
                method,
                axis("x2", place),
                axis("x1", place),
            ),
            "exact_predictive": over(
                [exact.predict(row) for row in plane], axis("x2", place), axis("x1", place)
            ),
            "new_probability": method.of([each, *(p[0] for p in _predict(thin, laplace, new)[1:])]),
        }


def _predict(w: Floats, laplace: Laplace, X: Floats) -> list[Floats]:
    """P(T = 1) at points (P, 2): averaged over samples and over Laplace's Gaussian; at its mean."""
    spread = np.einsum("pi,ij,pj->p", X, laplace.covariance, X)
    averaged = expected_sigmoid(X @ laplace.mean, spread)
    return [predict(w, X), averaged, predict(laplace.mean[None], X)]


def _densities(posterior: Posterior, laplace: Laplace, pooled: Floats) -> dict[str, Quantity]:
    """Both log densities at the samples, and kernel estimates of the marginals."""
    low, high = np.quantile(pooled, [0.0005, 0.9995], axis=0)
    low, high = low - (high - low) / 5, high + (high - low) / 5
    w1, w2 = np.linspace(low, high, 81).T
    where = np.stack(np.meshgrid(w1, w2), axis=-1)
    plane = axis("w2", w2), axis("w1", w1)
    w = axis("w", np.linspace(low.min(), high.max(), 200))
    thin = pooled[:: max(1, len(pooled) // 2000)]
    kernels = [kernel_density(column, w.values) for column in thin.T]
    return {
        "log_posterior": over(logistic.log_g(posterior, where), *plane),  # up to its constant
        "log_laplace": over(log_density(where, laplace.mean, laplace.covariance), *plane),
        "kernel_density": over(kernels, axis("weight", [1, 2]), w),
    }

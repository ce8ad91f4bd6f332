"""Posteriors of logistic regression by Laplace, bounds, EP and exact (PRML 10.6; Notes 2.3.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import variational_logistic
from bythebook.models.approximation.bounds import sigmoid_integral
from bythebook.models.approximation.laplace import approximate
from bythebook.models.classification import logistic
from bythebook.models.classification.logistic import Posterior
from bythebook.models.probability.gaussian import log_density
from bythebook.models.types import Floats

METHODS = ["exact", "laplace", "variational", "ep"]
INPUTS = [-3.0, -2.0, -1.0, -0.3, 0.3, 1.0, 2.0, 3.0]
PASSES = 12  # of expectation propagation

Rival = tuple[Floats, Floats, float]  # mean, covariance, log evidence


@dataclass
class BayesianLogistic(Study):
    """Gaussian posteriors of two weights, by three methods, against the exact one (PRML 10.6)."""

    headline = {"variational": "median(total_variation[:, 'variational'])"}
    quantities = {
        "total_variation": quantity(
            "total variation between approximate and exact posterior", "points method repetition"
        ),
        "log_evidence": quantity("log evidence", "points method repetition", unit="nats"),
        "mean_error": quantity(
            "distance of the mean from the exact one", "points method repetition"
        ),
        "log_determinant": quantity(
            "log determinant of the covariance", "points method repetition"
        ),
        "predicted": quantity(
            "probability of the second class at an input", "predictor points repetition input"
        ),
        "em_iterations": quantity(
            "iterations of EM until the variational bound has converged",
            "points repetition",
        ),
    }
    axes = {
        "points": axis_of("number of points"),
        "method": axis_of("method"),
        "repetition": axis_of("data set"),
        "predictor": axis_of("method, or the mode alone"),
        "input": axis_of("input"),
    }

    points: list[int] = knob([20], "points of a data set", at_least=2, at_most=1000, distinct=True)
    repetitions: int = knob(20, "data sets of each size", at_least=1, at_most=1000)
    weights: list[float] = knob([0.0, 2.0], "bias and slope that data are drawn with")
    prior_variance: float = knob(4.0, "of both weights", above=0, at_most=100)
    iterations: int = knob(150, "iterations of EM", at_least=2, at_most=10_000)

    def problems(self) -> Iterator[str]:
        if len(self.weights) != 2:
            yield f"study.weights={self.weights}; allowed: two, a bias and a slope"

    def run(self, rng: Generator) -> Outcome:
        shape = len(self.points), len(METHODS), self.repetitions
        variation, evidence, error, determinant = np.empty((4, *shape))
        predicted = np.empty((len(METHODS) + 1, shape[0], shape[2], len(INPUTS)))
        iterations = np.empty((shape[0], shape[2]), dtype=int)
        for i, N in enumerate(self.points):
            x = rng.standard_normal((self.repetitions, N))
            X = np.stack([np.ones_like(x), x], axis=-1)
            t = (rng.random(x.shape) < expit(X @ np.array(self.weights))).astype(float)
            vb = variational_logistic.fit(X, t, 1 / self.prior_variance, self.iterations)
            ep = variational_logistic.propagate(X, t, 1 / self.prior_variance, PASSES)
            iterations[i] = (np.diff(vb.course, axis=0) >= 1e-3).sum(0) + 1
            for k in range(self.repetitions):
                rivals = [
                    (vb.weights.mean[k], vb.weights.covariance[k], vb.course[-1, k]),
                    (ep.weights.mean[k], ep.weights.covariance[k], ep.log_evidence[k]),
                ]
                p = Posterior(X[k], t[k], self.prior_variance)
                errors, predicted[:, i, k] = _compared(p, rivals)
                variation[i, :, k], evidence[i, :, k], error[i, :, k] = errors[:3]
                determinant[i, :, k] = errors[3]
        every = "points method repetition"
        return outcome(
            {
                "points": self.points,
                "method": METHODS,
                "repetition": self.repetitions,
                "predictor": [*METHODS, "plug-in"],
                "input": INPUTS,
            },
            total_variation=(every, variation),
            log_evidence=(every, evidence),
            mean_error=(every, error),
            log_determinant=(every, determinant),
            predicted=("predictor points repetition input", predicted),
            em_iterations=("points repetition", iterations),
        )


def _compared(p: Posterior, rivals: list[Rival]) -> tuple[Floats, Floats]:
    """Errors of all Gaussians against the posterior on a grid (4, methods), and predictions."""
    mode = logistic.newton_raphson(p, np.zeros((1, 2)), tol=1e-20).path[-1, 0]
    H = logistic.hessian(p, mode)
    laplace = approximate(mode, H, float(logistic.log_g(p, mode)))
    exact = logistic.quadrature(p, mode, 9 * np.sqrt(np.diag(laplace.covariance)), 101)
    mean = exact.probability @ exact.w
    S = (exact.probability[:, None] * (exact.w - mean)).T @ (exact.w - mean)
    found: list[Rival] = [(mean, S, exact.log_evidence)]
    found += [(laplace.mean, laplace.covariance, laplace.log_evidence), *rivals]
    rooms = np.ptp(exact.w, axis=0) / 100
    off = [0.0]
    for m, V, _ in found[1:]:
        q = np.exp(log_density(exact.w, m, V)) * rooms.prod()
        off.append(float(np.abs(q - exact.probability).sum() / 2))
    X = np.stack([np.ones(len(INPUTS)), np.array(INPUTS)], axis=-1)
    gaussians = [
        sigmoid_integral(X @ m, ((X @ V) * X).sum(-1), points=401) for m, V, _ in found[1:]
    ]
    errors = [
        off,
        [e for *_, e in found],
        [float(np.linalg.norm(m - mean)) for m, *_ in found],
        [float(np.linalg.slogdet(V)[1]) for _, V, _ in found],
    ]
    return np.array(errors), np.array([exact.predict(X), *gaussians, expit(X @ mode)])

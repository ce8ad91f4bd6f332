"""Bayesian linear regression of a curve as data arrive (notes 1.1.5, 2.2.3).

w ~ N(0, alpha^-1 I),   t | w ~ N(Phi w, beta^-1 I);   k(x, x') = beta phi(x)^T S_N phi(x')
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies._curves import CurveOrData
from bythebook.models.regression import bayesian_regression as bayes
from bythebook.models.regression.bayesian_regression import Posterior
from bythebook.models.regression.curves import powers
from bythebook.models.types import Floats


@dataclass
class BayesianCurve(CurveOrData, Study):
    """Posterior and predictions of y(x, w) = w^T phi(x) as data arrive (notes 1.1.5, 2.2.3).

    The functions phi are powers of x, or a constant and Gaussian functions at equal distances.
    Drawn data arrive in random order.
    """

    headline = {"widest": "max(last(prediction_sd, over='observed'))"}
    quantities = {
        "inputs": quantity("inputs of the data", "point"),
        "targets": quantity("targets of the data", "point"),
        "truth": quantity("true curve", "x"),
        "weight_mean": quantity("posterior mean of the weights", "observed weight"),
        "weight_covariance": quantity(
            "posterior covariance of the weights", "observed weight other"
        ),
        "log_determinant": quantity("log determinant of the posterior covariance", "observed"),
        "prediction": quantity("mean of the prediction", "observed x"),
        "prediction_sd": quantity(
            "standard deviation of the prediction", "observed x", equation="notes 2.20"
        ),
        "kernel": quantity(
            "equivalent kernel: weight of a target in the prediction at x, after all data",
            "x target",
        ),
    }
    axes = {
        "point": axis_of("point of the data"),
        "observed": axis_of("observed points"),
        "weight": axis_of("weight"),
        "other": axis_of("second weight of a covariance"),
        "x": axis_of("input"),
        "target": axis_of("input of a target"),
    }

    basis: str = knob("powers", "kind of basis functions", choices=("powers", "gaussians"))
    functions: int = knob(10, "basis functions, with a constant", at_least=1, at_most=50)
    width: float = knob(0.1, "standard deviation of a Gaussian function", above=0)
    alpha: float = knob(0.005, "prior precision of the weights", above=0)
    beta: float = knob(11.1, "precision of the noise", above=0)
    observed: list[int] = knob([10], "numbers of data that are seen", at_least=0)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.observed != sorted(set(self.observed)) or self.observed[-1] > self.size:
            yield f"study.observed={self.observed}; allowed: ascending, at most {self.size}"

    def phi(self, x: Floats) -> Floats:
        """Basis functions at inputs (n,), shape (n, functions)."""
        if self.basis == "powers":
            return powers(x, self.functions - 1)
        centres = np.linspace(self.low, self.high, self.functions - 1)
        bumps = np.exp(-((x[:, None] - centres) ** 2) / (2 * self.width**2))
        return np.column_stack([np.ones(len(x)), bumps])

    def run(self, rng: Generator) -> Outcome:
        x, t = (part[0] for part in self.sets(rng))
        if self.data is None:
            order = rng.permutation(len(x))
            x, t = x[order], t[order]
        Phi, M, last = self.phi(x), self.functions, self.observed[-1]
        prior = Posterior(np.zeros(M), np.eye(M) / self.alpha)
        beliefs = [
            bayes.posterior(Phi[:n], t[:n], 1 / self.beta, *prior) if n else prior
            for n in self.observed
        ]
        known = self.curve != "unknown"
        grid = self.grid() if known else np.linspace(x.min(), x.max())
        at = self.phi(grid)
        found = [bayes.predictive(at, 1 / self.beta, belief) for belief in beliefs]
        coords: dict[str, Any] = {"point": len(x), "observed": self.observed, "x": grid}
        extra: dict[str, Any] = {"truth": ("x", self.truth(grid))} if known else {}
        if last:
            kernel = bayes.equivalent_kernel(at, Phi[:last], 1 / self.beta, beliefs[-1])
            in_order = np.argsort(x[:last])
            coords["target"] = x[:last][in_order]
            extra["kernel"] = ("x target", kernel[:, in_order])
        return outcome(
            coords | {"weight": M, "other": M},
            inputs=("point", x),
            targets=("point", t),
            weight_mean=("observed weight", [b.mean for b in beliefs]),
            weight_covariance=("observed weight other", [b.covariance for b in beliefs]),
            log_determinant=(
                "observed",
                [np.linalg.slogdet(b.covariance).logabsdet for b in beliefs],
            ),
            prediction=("observed x", [p.mean for p in found]),
            prediction_sd=("observed x", [np.sqrt(p.variance) for p in found]),
            **extra,
        )

"""Bayesian linear regression of a curve as data arrive (notes 1.1.5, 2.2.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies._curves import CurveOrData
from bythebook.models.regression import bayesian_regression as bayes
from bythebook.models.regression.bayesian_regression import Posterior
from bythebook.models.regression.curves import powers
from bythebook.models.regression.linear import least_squares
from bythebook.models.types import Floats

_DRAWS = 4000  # of weights and noise, for the width of a prediction
_GRID = 401  # places along each of two weights


@dataclass
class BayesianCurve(CurveOrData, Study):
    """Posterior and predictions of y(x, w) = w^T phi(x) as data arrive (notes 1.1.5, 2.2.3).

    The functions phi are powers of x, or a constant and Gaussian functions at equal distances.
    Drawn data arrive in random order.
    """

    headline = {"widest": "max(last(prediction_sd, over='observed'))"}
    more_quantities = True
    quantities = {
        "prediction_sd": quantity("standard deviation of the prediction", "observed x"),
        "inputs": quantity("inputs of the data", "point"),
        "targets": quantity("targets of the data", "point"),
        "weight_mean": quantity("posterior mean of the weights", "observed weight"),
        "weight_covariance": quantity(
            "posterior covariance of the weights", "observed weight other"
        ),
        "sequential_mean": quantity(
            "posterior mean of the weights, one point after the other", "observed weight"
        ),
        "sequential_covariance": quantity(
            "posterior covariance of the weights, one point after the other",
            "observed weight other",
        ),
        "log_determinant": quantity("log determinant of the posterior covariance", "observed"),
        "prediction": quantity("mean of the prediction", "observed x"),
        "drawn_sd": quantity(
            "standard deviation of predictions from draws of weights and noise", "observed x"
        ),
        "kernel": quantity(
            "equivalent kernel: weight of a target in the prediction at x", "x target"
        ),
        "basis": quantity("basis functions at x", "x weight"),
        "input_basis": quantity("basis functions at the inputs", "target other"),
        "kernel_prediction": quantity("prediction as a sum over the targets", "x"),
        "shifted_prediction": quantity("prediction with a prior mean of one", "x"),
        "shifted_kernel_prediction": quantity(
            "prediction with a prior mean of one, as a sum over the targets", "x"
        ),
        "truth": quantity("true curve", "x"),
        "grid_mean": quantity(
            "posterior mean of the weights, by sums over a grid", "observed weight"
        ),
        "grid_covariance": quantity(
            "posterior covariance of the weights, by sums over a grid", "observed weight other"
        ),
        "grid_cumulant": quantity(
            "higher cumulants of the posterior, by sums over a grid", "observed cumulant weight"
        ),
    }

    basis: str = knob("powers", "kind of basis functions", choices=("powers", "gaussians"))
    functions: int = knob(10, "basis functions, with a constant", at_least=1, at_most=50)
    width: float = knob(0.1, "standard deviation of a Gaussian function", above=0)
    alpha: float = knob(0.005, "prior precision of the weights", above=0)
    beta: float = knob(11.1, "precision of the noise", above=0)
    observed: list[int] = knob([10], "numbers of data that are seen", at_least=0)
    grid_check: bool = knob(False, "also compute the posterior of two weights on a grid")

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.observed != sorted(set(self.observed)) or self.observed[-1] > self.size:
            yield f"study.observed={self.observed}; allowed: ascending, at most {self.size}"
        if self.grid_check and self.functions != 2:
            yield f"study.grid_check with study.functions={self.functions}; allowed: 2"

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
        Phi, M = self.phi(x), self.functions
        prior = Posterior(np.zeros(M), np.eye(M) / self.alpha)
        beliefs = [self._belief(Phi[:n], t[:n], prior) for n in self.observed]
        in_turn, one_by_one = [prior], prior
        for row, target in zip(Phi, t, strict=True):
            one_by_one = bayes.with_one_more(one_by_one, row, float(target), 1 / self.beta)
            in_turn.append(one_by_one)
        sequential = [in_turn[n] for n in self.observed]
        seen, weight, other = axis("observed", self.observed), axis("weight", M), axis("other", M)
        grid = axis("x", self.grid() if self.curve != "unknown" else np.linspace(x.min(), x.max()))
        at = self.phi(grid.values)
        found = [bayes.predictive(at, 1 / self.beta, belief) for belief in beliefs]
        drawn = []
        for belief in beliefs:
            root = np.linalg.cholesky(
                belief.covariance + 1e-12 * np.trace(belief.covariance) * np.eye(M) / M
            )
            w = belief.mean + rng.standard_normal((_DRAWS, M)) @ root.T
            noise = rng.standard_normal((_DRAWS, len(grid))) / np.sqrt(self.beta)
            drawn.append((w @ at.T + noise).std(0))
        extra: dict[str, Quantity] = {}
        if self.curve != "unknown":
            extra["truth"] = grid.of(self.truth(grid.values))
        if len(t) >= M:
            extra["likelihood_gradient"] = weight.of(self._off_maximum(Phi, t))
        if self.grid_check:
            extra |= self._on_a_grid(Phi, t, beliefs)
        return Outcome(
            inputs=axis("point", len(x)).of(x),
            targets=axis("point", len(x)).of(t),
            weight_mean=over([b.mean for b in beliefs], seen, weight),
            weight_covariance=over([b.covariance for b in beliefs], seen, weight, other),
            sequential_mean=over([b.mean for b in sequential], seen, weight),
            sequential_covariance=over([b.covariance for b in sequential], seen, weight, other),
            log_determinant=seen.of([np.linalg.slogdet(b.covariance).logabsdet for b in beliefs]),
            prediction=over([p.mean for p in found], seen, grid),
            prediction_sd=over([np.sqrt(p.variance) for p in found], seen, grid),
            drawn_sd=over(drawn, seen, grid),
            **self._kernels(Phi, t, at),
            **extra,
        )

    def _belief(self, Phi: Floats, t: Floats, prior: Posterior) -> Posterior:
        if not len(t):
            return prior
        return bayes.posterior(Phi, t, 1 / self.beta, *prior)

    def _off_maximum(self, Phi: Floats, t: Floats) -> Floats:
        """Newton step of each weight at the least-squares fit, by differences of the likelihood."""
        w = least_squares(Phi, t).w
        step = 1e-3

        def height(weights: Floats) -> Floats:
            return np.asarray(-self.beta / 2 * ((t - weights @ Phi.T) ** 2).sum(-1))

        up, down = (height(w + sign * step * np.eye(len(w))) for sign in (1, -1))
        return np.asarray((up - down) * step / (2 * np.abs(up + down - 2 * height(w))))

    def _kernels(self, Phi: Floats, t: Floats, at: Floats) -> dict[str, Quantity]:
        """Predictions as sums over targets after all data, and with a prior mean of one."""
        n, M, sigma2 = self.observed[-1], self.functions, 1 / self.beta
        if n == 0 or self.curve == "unknown":
            return {}
        Phi, t = Phi[:n], t[:n]
        belief = self._belief(Phi, t, Posterior(np.zeros(M), np.eye(M) / self.alpha))
        moved = self._belief(Phi, t, Posterior(np.ones(M), np.eye(M) / self.alpha))
        kernel = bayes.equivalent_kernel(at, Phi, sigma2, belief)
        grid, target = axis("x", self.grid()), axis("target", n)
        return {
            "kernel": over(kernel, grid, target),
            "basis": over(at, grid, axis("weight", M)),  # phi(x)
            "input_basis": over(Phi, target, axis("other", M)),  # phi(x_n)
            "kernel_prediction": grid.of((kernel * t).sum(-1)),
            "shifted_prediction": grid.of(at @ moved.mean),
            "shifted_kernel_prediction": grid.of(
                bayes.equivalent_kernel(at, Phi, sigma2, moved) @ t
            ),
        }

    def _on_a_grid(self, Phi: Floats, t: Floats, beliefs: list[Posterior]) -> dict[str, Quantity]:
        """Prior times likelihood over a grid of weights: moments and cumulants."""
        seen, weight, other = axis("observed", self.observed), axis("weight", 2), axis("other", 2)
        means, covariances, cumulants = [], [], []
        for n, belief in zip(self.observed, beliefs, strict=True):
            sd = np.sqrt(np.diag(belief.covariance))
            sides = [
                m + 9 * s * np.linspace(-1, 1, _GRID) for m, s in zip(belief.mean, sd, strict=True)
            ]
            w = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1)
            residual = t[:n] - w @ Phi[:n].T
            log_p = -(self.alpha * (w**2).sum(-1) + self.beta * (residual**2).sum(-1)) / 2
            p = np.exp(log_p - log_p.max())
            p /= p.sum()
            mean = np.einsum("ij,ijd->d", p, w)
            away = w - mean
            means.append(mean)
            covariances.append(np.einsum("ij,ijd,ije->de", p, away, away))
            z = away / np.sqrt(np.diag(covariances[-1]))
            third, fourth = (np.einsum("ij,ijd->d", p, z**k) for k in (3, 4))
            cumulants.append([third, fourth - 3])
        kind = axis("cumulant", ["third", "fourth"])
        return {
            "grid_mean": over(means, seen, weight),
            "grid_covariance": over(covariances, seen, weight, other),
            "grid_cumulant": over(cumulants, seen, kind, weight),
        }
